"""How an author says what a bot is: a function ``act`` or a subclass of :class:`Bot`, and what it wants to be sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from botarena.errors import Misconfigured
from botarena.model import Answer, Clock, Event, Legal, Match, Result, View

History: TypeAlias = Literal["none", "delta", "full"]

Act: TypeAlias = Callable[[View, Legal, Clock], Answer | Awaitable[Answer]]
"""The whole of a simple bot. It may be ``async``."""


class Bot:
    """A bot that keeps state during a game. One instance plays one game; all of its methods are called on the same
    thread, in order. Several games may go on at once, each with an instance and a thread of its own."""

    def on_match_start(self, match: Match) -> None:
        """A game begins, or goes on in a new process (``match.resumed``)."""

    def act(self, view: View, legal: Legal, clock: Clock) -> Answer | Awaitable[Answer]:
        """Chooses one of ``legal``. May be ``async``."""
        raise NotImplementedError

    def on_event(self, event: Event) -> None:
        """Something happened that our seat may see; told before the next ``act``. Own actions are told as well."""

    def on_end(self, result: Result) -> None:
        """The game is over."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a bot tells the arena about itself; see :func:`bot` for the fields."""

    games: tuple[str, ...] = ()
    players: tuple[int, ...] = ()
    name: str = ""
    version: str = "1"
    text: bool = False
    typed_actions: bool = False
    json: bool = False
    history: History | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """A bot ready to run: makes an instance for each game."""

    profile: Profile
    make: Callable[[], Bot]
    wants_events: bool

    @property
    def history(self) -> History:
        """Events go over the wire only to bots that listen to them, unless the author says otherwise."""
        return self.profile.history or ("delta" if self.wants_events else "none")


class _FunctionBot(Bot):
    """Lets a plain function play."""

    def __init__(self, function: Act) -> None:
        self._function = function

    def act(self, view: View, legal: Legal, clock: Clock) -> Answer | Awaitable[Answer]:
        return self._function(view, legal, clock)


_T = TypeVar("_T", bound=Callable[..., object])


def bot(
    *games: str,
    name: str = "",
    version: str = "1",
    players: Sequence[int] = (),
    text: bool = False,
    typed_actions: bool = False,
    json: bool = False,
    history: History | None = None,
) -> Callable[[_T], _T]:
    """Marks a function ``act(view, legal, clock)`` or a subclass of :class:`Bot` as a bot.

    games: names of the games it plays, e.g. ``"balloon-challenge"``; none: every game of the arena.
    name: as registered; empty: the bot that the token was made for.
    version: your name for this version of the program; a new one starts its own rating.
    players: numbers of players it plays with; empty: all.
    text: send the position also as text (``view.text``), for a language model or to look at.
    typed_actions: send the game's own message with each action (``action.typed``).
    json: send the position as JSON even where there is a typed message; ``view.json`` works without.
    history: ``"delta"`` sends events as they happen (the default of a class with ``on_event``), ``"full"`` the whole
        history with each decision (``view.history``), ``"none"`` neither.
    """
    for game in games:
        if not isinstance(game, str):
            raise TypeError("write @botarena.bot() with parentheses; games are named by strings")
    if players and not games:
        raise TypeError("players=... needs the games it is for, e.g. @botarena.bot('balloon-challenge', players=[2])")
    for what, given in (("name", name), ("version", version)):
        if not isinstance(given, str):
            raise TypeError(f'{what} is a string: {what}="{given}"')
    profile = Profile(games, tuple(players), name, version, text, typed_actions, json, history)

    def mark(target: _T) -> _T:
        target.__botarena__ = profile  # type: ignore[attr-defined]
        return target

    return mark


def load(target: Act | type[Bot]) -> Program:
    """What :func:`botarena.run` runs. Raises Misconfigured if ``target`` is neither a function nor a Bot class."""
    profile = getattr(target, "__botarena__", None) or Profile()
    if isinstance(target, type):
        if not issubclass(target, Bot):
            raise Misconfigured(f"{target.__name__} must derive from botarena.Bot")
        return Program(profile, target, target.on_event is not Bot.on_event)
    if not callable(target):
        raise Misconfigured(
            f"run() takes a function act(view, legal, clock) or a class of botarena.Bot, not {target!r}"
        )
    return Program(profile, lambda: _FunctionBot(target), False)
