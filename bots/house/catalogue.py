"""Which house bots there are and what they play: data alone, cheap to import and without any game's code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

BUILT_IN: Final = ("balloon-challenge", "balloon-pop", "balloon-race", "pop")
"""Games with house bots of their own."""


class UnknownBot(LookupError):
    """No house bot has this name or version; the message says which there are."""


@dataclass(frozen=True, slots=True)
class HouseBot:
    """One program of the house. ``version`` goes up when it plays differently; ``games`` None: every installed game."""

    name: str
    version: str
    summary: str
    games: tuple[str, ...] | None = None
    playouts: int = 0
    """For flatmc: its budget for a decision."""

    @property
    def credit(self) -> int:
        """How many games one process takes at once: as many as the arena lets it while a decision takes a few ms, one
        where a search would take the time of another game's search."""
        return 1 if self.playouts else 64


_CATALOGUE: Final = {
    bot.name: bot
    for bot in (
        HouseBot("random", "1", "Any legal action, all equally likely."),
        HouseBot("greedy", "1", "What looks best for the moment.", BUILT_IN),
        HouseBot("heuristic", "1", "Thinks about what the others may hold and do.", BUILT_IN),
        HouseBot("flatmc-200", "1", "200 random games from the position.", playouts=200),
    )
}
NAMES: Final = tuple(_CATALOGUE)
"""The house bots, from the weakest to the strongest."""

_FLATMC: Final = re.compile(r"flatmc-([1-9][0-9]{0,5})")


def find(spec: str) -> HouseBot:
    """The bot of ``name`` or ``name@version``; ``flatmc-N`` exists for every N. Raises UnknownBot."""
    name, _, version = spec.partition("@")
    bot = _CATALOGUE.get(name)
    if bot is None and (budget := _FLATMC.fullmatch(name)):
        bot = HouseBot(name, "1", f"{budget[1]} random games from the position.", playouts=int(budget[1]))
    if bot is None:
        raise UnknownBot(f"no house bot is called {name!r}; there are: {', '.join(NAMES)}, and flatmc-N for any N")
    if version and version != bot.version:
        raise UnknownBot(f"{name} has the version {bot.version}, not {version!r}")
    return bot


def is_house(spec: str) -> bool:
    """Whether ``spec`` names a house bot."""
    try:
        find(spec)
    except UnknownBot:
        return False
    return True


def games_of(spec: str) -> tuple[str, ...]:
    """Names of the installed games that a bot plays, sorted. Raises UnknownBot."""
    import engines  # noqa: PLC0415 - a house bot's process starts faster without

    games = find(spec).games
    return tuple(name for name in engines.names() if games is None or name in games)
