"""Games found by entry point: a new game, ours or a stranger's, is one line in its package's metadata.

[project.entry-points."botarena.games"]
my-game = "my_package:GAME"
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from engines.game import Game, UnknownGame

GROUP = "botarena.games"


def names() -> tuple[str, ...]:
    """Names of all installed games, sorted."""
    return tuple(sorted(point.name for point in entry_points(group=GROUP)))


@cache
def get(name: str) -> Game:
    """The game registered as ``name``. Raises UnknownGame, naming those that exist."""
    for point in entry_points(group=GROUP):
        if point.name == name:
            game = point.load()
            if not isinstance(game, Game) or game.name != name:
                raise UnknownGame(f"entry point {name!r} of {GROUP} must be a Game named {name!r}, not {game!r}")
            return game
    raise UnknownGame(f"no game {name!r} is installed; there are: {', '.join(names()) or 'none'}")
