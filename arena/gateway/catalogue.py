"""The games that bots may name."""

from __future__ import annotations

import engines


def installed_games() -> dict[str, range]:
    """Numbers of players by game; a game whose package is not there (a missing extra) is left out."""
    games = {}
    for name in engines.names():
        try:
            game = engines.get(name)
        except ModuleNotFoundError:
            continue
        games[name] = range(game.min_players, game.max_players + 1)
    return games
