"""The contract between a game's rules and everything that plays, referees, watches or searches it.

A :class:`Game` is the fixed part: names, limits, the table of actions and chance outcomes. A :class:`State` is one
immutable position. Rules are pure: no clock, no I/O, no random generator. Whatever is random is a *chance event*,
listed with integer weights by :meth:`State.chance` and resolved by the caller with :meth:`State.apply_chance`;
so a recorded game replays without a generator.

    game = engines.get("balloon-challenge")
    state = game.new_state(players=3)
    while not state.is_terminal:
        if outcomes := state.chance():                     # ((id, weight), ...)
            state = state.apply_chance(pick(outcomes))
        else:                                              # every seat in actors() decides, at once
            state = state.apply({seat: choose(state.legal(seat)) for seat in state.actors()})
    state.scores(), state.placements()

Action ids are ``0 .. num_actions-1`` and chance ids ``num_actions .. num_actions+num_chance-1``: one id space a game,
the same for every configuration and number of players, so that ``game.text(id)`` and ``game.parse(text)`` need no
state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Final, TypeAlias

from engines.encoding import Encoding

Json: TypeAlias = Any
"""A value that ``json.dumps`` takes: dict with str keys, list, str, int, bool or None. Never a float."""

Config: TypeAlias = Mapping[str, bool | int]
"""A game's options by name, always complete (defaults filled in)."""

Chance: TypeAlias = tuple[tuple[int, int], ...]
"""Outcomes of one chance event: (chance id, weight >= 1), ids ascending."""

SPECTATOR: Final = None
"""The seat of somebody who only watches and may know what is public and nothing else."""


class GameError(ValueError):
    """What a caller asked of an engine cannot be done; the message says what would be right."""


class UnknownGame(GameError):
    """No game of that name is registered."""


class BadConfig(GameError):
    """A number of players or an option that the game does not have."""


class MalformedAction(GameError):
    """A text or id that names no action of this game in any state."""


class IllegalAction(GameError):
    """An action of this game that the rules do not allow now, or from this seat."""


@dataclass(frozen=True, slots=True)
class Option:
    """One configuration option: ``default``, and for an integer the inclusive bounds ``low`` and ``high``."""

    default: bool | int
    help: str
    low: int = 0
    high: int = 0


@dataclass(frozen=True, slots=True)
class View:
    """What one seat, or a spectator, may know of a position. Each game derives its own.

    A view is enough to go on playing: :meth:`Game.determinize` makes a full state from it. Fields hold ints, bools,
    strings, None and tuples of those, so that a view compares, hashes and serialises the same everywhere.
    """

    def to_json(self) -> Json:
        """The view as a JSON object with one member a field, tuples as lists."""
        return {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}


def _plain(value: Any) -> Json:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, View):
        return value.to_json()
    return value


class State(ABC):
    """One position. Immutable: ``apply`` and ``apply_chance`` return a new state and leave the old one as it was.

    Exactly one of three holds: the game is over (:attr:`is_terminal`), a chance event is due (:meth:`chance` is not
    empty), or the seats of :meth:`actors` decide.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def game(self) -> Game: ...

    @property
    @abstractmethod
    def players(self) -> int:
        """How many seats play; seats are ``0 .. players-1``, clockwise."""

    @property
    @abstractmethod
    def config(self) -> Config: ...

    @property
    @abstractmethod
    def is_terminal(self) -> bool: ...

    @abstractmethod
    def actors(self) -> tuple[int, ...]:
        """The seats that must decide now, ascending, all at the same time; empty at a chance event and at the end."""

    @abstractmethod
    def legal(self, seat: int) -> tuple[int, ...]:
        """Legal action ids of ``seat``, ascending; empty if the seat has no decision now."""

    @abstractmethod
    def chance(self) -> Chance:
        """The due chance event's outcomes; empty if none is due."""

    @abstractmethod
    def apply(self, joint: Mapping[int, int]) -> State:
        """The state after each of :meth:`actors` has taken its action: ``{seat: action id}``.

        Raises IllegalAction (a seat missing, or one too many; an action that is not legal now) and MalformedAction (an
        id that is no action of this game). A seat's :meth:`timeout_action` is accepted while that seat has a timer.
        """

    @abstractmethod
    def apply_chance(self, outcome: int) -> State:
        """The state after the due chance event came out as ``outcome``. Raises IllegalAction if it could not."""

    @abstractmethod
    def scores(self) -> tuple[int, ...]:
        """Points a seat: final at the end, before it whatever is public so far."""

    @abstractmethod
    def placements(self) -> tuple[int, ...]:
        """Places 1..n a seat by the rules' ranking, ties shared as 1, 1, 3. Before the end: as publicly known."""

    @abstractmethod
    def view(self, seat: int | None) -> View:
        """What ``seat`` may know; ``view(SPECTATOR)`` is what everybody may know."""

    @abstractmethod
    def render(self, seat: int | None) -> str:
        """The view of ``seat`` as lines of plain text for a terminal."""

    @abstractmethod
    def to_json(self) -> Json:
        """The whole state, hidden parts included; ``Game.from_json`` is the inverse. Never for a seat's eyes."""

    def default_action(self, seat: int) -> int:
        """What is played for a seat that failed: the least legal id unless the game names another."""
        return self.legal(seat)[0]

    def timer_ms(self, seat: int) -> int | None:
        """A time limit that the rules themselves set for this decision, in ms; None if they set none."""
        return None

    def timeout_action(self, seat: int) -> int | None:
        """The referee's action when :meth:`timer_ms` has passed; never among the legal ones."""
        return None

    def sees(self, observer: int | None, actor: int | None, event: int) -> bool:
        """Whether ``observer`` may see that ``actor`` (None: chance) brings about ``event`` in *this* state."""
        return True

    def scenes(self, joint: Mapping[int, int], outcome: int | None) -> tuple[Json, ...]:
        """What is to be seen, by everybody, on the way from here to the state after ``joint``, or after chance's ``outcome``.

        For a viewer that shows the steps of one event, such as a chain of explosions; empty where two positions say it all.
        """
        return ()

    def info_key(self, seat: int | None) -> str:
        """A string that is equal exactly where the views of ``seat`` are equal."""
        return repr(self.view(seat))

    def returns(self) -> tuple[float, ...]:
        """Utility a seat in [-1, 1], zero-sum: the mean over opponents of +1, 0 or -1 by placement."""
        places, n = self.placements(), self.players
        return tuple(sum((other > mine) - (other < mine) for other in places) / (n - 1) for mine in places)

    def resample(self, seat: int, rng: Random) -> State:
        """A state drawn at random among those that ``seat`` cannot tell from this one."""
        return self.game.determinize(self.view(seat), rng)


class Game(ABC):
    """One game's rules: what does not depend on a position."""

    name: ClassVar[str]
    """As in URLs, ladders and records: lower case with hyphens."""
    title: ClassVar[str]
    rules_version: ClassVar[int]
    """Goes up with every change that could make a recorded game replay differently."""
    min_players: ClassVar[int]
    max_players: ClassVar[int]
    options: ClassVar[Mapping[str, Option]]
    num_actions: ClassVar[int]
    num_chance: ClassVar[int]
    summary: ClassVar[str]
    """The rules in our own words, as Markdown, for `arena games` and the web."""

    @abstractmethod
    def new_state(self, players: int, **config: bool | int) -> State:
        """The first state. Raises BadConfig, naming what the game does have."""

    @abstractmethod
    def from_json(self, doc: Json) -> State:
        """The inverse of ``State.to_json``."""

    @abstractmethod
    def view_from_json(self, doc: Json) -> View:
        """The inverse of ``View.to_json``."""

    @abstractmethod
    def determinize(self, view: View, rng: Random) -> State:
        """A full state, drawn at random among those in which a seat has this view; every one can be played to the end.

        This is what a search needs, and since it gets nothing but the view it cannot cheat. Raises GameError for a
        spectator's view.
        """

    @abstractmethod
    def text(self, event: int) -> str:
        """The canonical text of an action id or a chance id. Raises MalformedAction."""

    @abstractmethod
    def parse(self, text: str) -> int:
        """The id of a canonical text: the inverse of :meth:`text`. Raises MalformedAction."""

    @abstractmethod
    def typed(self, event: int) -> Any:
        """The action or chance outcome as a frozen dataclass of this game's ``actions`` module."""

    @abstractmethod
    def max_events(self, players: int, config: Config) -> int:
        """An upper bound on decisions (a joint one counts each seat) plus chance events of one game."""

    def encoding(self, players: int, config: Config) -> Encoding | None:
        """How a view becomes numbers for a program that learns, ``config`` being complete; None: the game declares none."""
        return None

    def check_invariants(self, state: State) -> None:
        """The game's own conservation laws, for the conformance kit. Raises AssertionError."""

    def complete_config(self, players: int, given: Config) -> dict[str, bool | int]:
        """``given`` with defaults filled in. Raises BadConfig."""
        low, high = self.min_players, self.max_players
        if isinstance(players, bool) or not isinstance(players, int) or not low <= players <= high:
            raise BadConfig(f"{self.name} is for {low} to {high} players, not {players!r}")
        for key, value in given.items():
            option = self.options.get(key)
            if option is None:
                known = ", ".join(sorted(self.options)) or "none"
                raise BadConfig(f"{self.name} has no option {key!r}; it has: {known}")
            if isinstance(option.default, bool):
                if not isinstance(value, bool):
                    raise BadConfig(f"{self.name}: {key} is true or false, not {value!r}")
            elif isinstance(value, bool) or not isinstance(value, int) or not option.low <= value <= option.high:
                raise BadConfig(f"{self.name}: {key} is an integer from {option.low} to {option.high}, not {value!r}")
        return {key: given.get(key, option.default) for key, option in self.options.items()}


def shared_placements(keys: tuple[Any, ...]) -> tuple[int, ...]:
    """Places from sort keys, greater is better: equal keys share a place, and the next place skips (1, 1, 3)."""
    return tuple(1 + sum(other > mine for other in keys) for mine in keys)
