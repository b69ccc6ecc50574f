"""The rules of the games. Pure: standard library only, no clock, no I/O, no random generator of its own."""

from engines.game import (
    SPECTATOR,
    BadConfig,
    Game,
    GameError,
    IllegalAction,
    MalformedAction,
    State,
    UnknownGame,
    View,
)
from engines.registry import get, names

__all__ = [
    "SPECTATOR",
    "BadConfig",
    "Game",
    "GameError",
    "IllegalAction",
    "MalformedAction",
    "State",
    "UnknownGame",
    "View",
    "get",
    "names",
]
