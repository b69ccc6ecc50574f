"""What a bot is told: plain frozen values, made from protocol messages where the message arrives."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any, Literal, TypeAlias, overload


@dataclass(frozen=True, slots=True)
class Player:
    """Who sits at a seat."""

    bot: str
    version: str
    owner: str


@dataclass(frozen=True, slots=True)
class TimeControl:
    """``bank_ms`` for the whole game, ``increment_ms`` more after each decision, ``move_cap_ms`` at most for one (0: no
    cap)."""

    bank_ms: int
    increment_ms: int
    move_cap_ms: int


@dataclass(frozen=True, slots=True)
class Match:
    """One game that this bot plays, from one seat."""

    game_id: str
    """Random, for this seat of this game alone."""
    game: str
    players: int
    config: Mapping[str, bool | int]
    """The game's options."""
    rules_version: int
    seat: int
    """Ours, from 0."""
    seats: tuple[Player, ...]
    """Who sits where, by seat."""
    time_control: TimeControl
    rated: bool
    resumed: bool
    """True: it was running before this process connected."""
    bot_seed: int
    """For the bot's own randomness; unrelated to the deal. A seeded local match gives the same one again."""
    game_index: int
    """Which game of its set this is, from 0."""
    commitment: bytes
    """The arena's promise about the deal, made before the first event; see :class:`Receipts`."""
    receipt: bytes


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, as far as our seat may see it."""

    seq: int
    actor: Literal["chance", "seat"]
    seat: int | None
    """Whose action; None for chance."""
    id: int | None
    """None if hidden from us."""
    text: str


@dataclass(frozen=True, slots=True)
class PlayedForYou:
    """An action that the referee took for our seat, and why: ``forced`` (it was the only one), ``default`` (our seat
    has failed) or ``timer`` (the rules' own timer ran out)."""

    id: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Action:
    """One legal action. ``typed`` is the game's own protobuf message, if the bot asked for ``typed_actions``."""

    id: int
    text: str
    typed: Any = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.text


class Legal(Sequence[Action]):
    """The legal actions of a decision, at least two, by ascending id: a sequence, so that ``random.choice(legal)`` works.
    ``17 in legal.ids`` and ``"drop" in legal.texts`` ask for one."""

    __slots__ = ("_default", "_items")

    def __init__(self, actions: Iterable[Any], default: int | None = None) -> None:
        """``actions``: Action objects or messages; ``default``: the id that :attr:`default` names (else the first)."""
        self._items = tuple(actions)
        self._default = default

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple([item.id for item in self._items])

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple([item.text for item in self._items])

    @property
    def default(self) -> Action:
        """What the arena plays where it has to play for us."""
        return self[0] if self._default is None else self.by_id(self._default)

    def by_id(self, action_id: int) -> Action:
        """The action with this id. Raises LookupError, naming the legal ids."""
        for item in self._items:
            if item.id == action_id:
                return _action(item)
        raise LookupError(f"{action_id} is not a legal id; legal are: {_some(self.ids)}")

    def by_text(self, text: str) -> Action:
        """The action with this text. Raises LookupError, naming the legal texts."""
        for item in self._items:
            if item.text == text:
                return _action(item)
        raise LookupError(f"{text!r} is not a legal action; legal are: {_some(self.texts)}")

    @overload
    def __getitem__(self, index: int) -> Action: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Action, ...]: ...
    def __getitem__(self, index: int | slice) -> Action | tuple[Action, ...]:
        if isinstance(index, slice):
            return tuple(_action(item) for item in self._items[index])
        return _action(self._items[index])

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"Legal({_some(self.texts)})"


def _action(item: Any) -> Action:
    if isinstance(item, Action):
        return item
    kind = item.typed.WhichOneof("action")
    return Action(item.id, item.text, getattr(item.typed, kind) if kind else None)


def _some(values: Sequence[object], most: int = 12) -> str:
    shown = ", ".join(str(value) for value in values[:most])
    return shown if len(values) <= most else f"{shown}, ... ({len(values)} in all)"


@dataclass(frozen=True)
class View:
    """The position as our seat may know it."""

    match: Match
    seq: int
    """Number of events of the game so far."""
    decision_id: int
    """Counts our decisions in this game."""
    played_for_you: tuple[PlayedForYou, ...] = ()
    """What was played for our seat since our last decision."""
    history: tuple[Event, ...] = ()
    """All that our seat has seen, for a bot with ``history="full"``."""
    message: Any = field(default=None, repr=False, compare=False)
    """The ``botarena.v1.View`` as it arrived."""

    @property
    def game(self) -> str:
        return self.match.game

    @property
    def seat(self) -> int:
        return self.match.seat

    @property
    def typed(self) -> Any:
        """The game's own protobuf message, ``botarena.games.<game>.v1.View``; None for a game without one."""
        kind = self.message.WhichOneof("view")
        return None if kind in (None, "json") else getattr(self.message, kind)

    @cached_property
    def json(self) -> dict[str, Any]:
        """The view as plain dicts, lists, ints and strings: what the engine's ``game.view_from_json`` takes.

        Raises LookupError if this SDK does not know the game's messages."""
        from botarena import codecs  # noqa: PLC0415 - bots that read typed messages need no codecs

        if self.message.WhichOneof("view") is None:
            raise LookupError(
                f"this SDK does not know the messages of {self.game}: update it (pip install -U botarena), "
                "or ask for JSON with @botarena.bot(..., json=True)"
            )
        document: dict[str, Any] = codecs.view_to_json(self.game, self.message)
        return document

    @property
    def text(self) -> str:
        """The position for people and language models. Raises LookupError unless the bot asked for ``text=True``."""
        if not self.message.text:
            raise LookupError("the arena sends View.text only where it is wanted: write @botarena.bot(..., text=True)")
        return str(self.message.text)

    @cached_property
    def rng(self) -> Random:
        """Random numbers for this decision, a function of the match's ``bot_seed`` and ``decision_id`` alone: a seeded
        match repeats exactly, even where the process was restarted in between."""
        return Random(self.match.bot_seed << 32 | self.decision_id)


@dataclass(frozen=True, slots=True)
class Clock:
    """Time for one decision, in ms. All of it is measured by the arena."""

    bank_ms: int
    limit_ms: int
    """The answer is due within so much, else the game is lost on time."""
    last_charged_ms: int = 0
    """What our previous decision was charged, after the allowance for the network."""
    last_network_ms: int = 0
    arrived: float = field(default_factory=time.monotonic, repr=False, compare=False)
    """``time.monotonic()`` when the request arrived here."""

    @property
    def used_ms(self) -> float:
        """Time since the request arrived here, waiting for the bot's thread included."""
        return (time.monotonic() - self.arrived) * 1000

    @property
    def left_ms(self) -> float:
        """What is left of :attr:`limit_ms`, never negative. The way to the arena and back comes off it as well."""
        return max(0.0, self.limit_ms - self.used_ms)


@dataclass(frozen=True, slots=True)
class Receipts:
    """What proves afterwards that the arena dealt fairly and has not rewritten the game: two signatures by
    ``arena_key`` (Ed25519), one made before the first event and one at the end. `arena verify` checks them."""

    match_id: str
    arena_key: bytes
    commitment: bytes
    opening: bytes
    """Signature over (match, commitment)."""
    head: bytes
    """Head of the record's hash chain."""
    secret: bytes
    """What the commitment was made of; empty for a shared deal until the whole set is over."""
    closing: bytes
    """Signature over (match, head, secret)."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended."""

    outcome: Literal["finished", "void", "unknown"]
    """``void``: the arena failed, nobody loses, the game is played again. ``unknown``: it ended while this process was
    not connected; the arena's pages have the result."""
    seat: int
    places: tuple[int, ...] = ()
    """By seat, from 1; joint places are shared. Empty unless finished."""
    scores: tuple[int, ...] = ()
    reasons: tuple[str, ...] = ()
    """By seat: ``normal``, ``timeout``, ``illegal``, ``malformed``, ``bot_crash``, ``disconnect``."""
    match_id: str = ""
    set_id: str = ""
    receipts: Receipts | None = None

    @property
    def place(self) -> int | None:
        """Ours, from 1; None unless finished."""
        return self.places[self.seat] if self.places else None

    @property
    def score(self) -> int | None:
        return self.scores[self.seat] if self.scores else None


@dataclass(frozen=True, slots=True)
class Annotation:
    """What a bot thinks of its move; shown to nobody before the game is over."""

    comment: str = ""
    value: float | None = None
    """Expected result for our seat, from -1 (certainly last) to 1 (certainly first)."""
    nodes: int = 0
    pv: tuple[str, ...] = ()
    """The line of play it expects, as action texts."""


Choice: TypeAlias = Action | int | str
"""An action, its id or its text."""

Answer: TypeAlias = Choice | tuple[Choice, Annotation | str]
"""What ``act`` returns: a choice, or a choice with an annotation (a str is its comment)."""
