"""Wyścig balonów. Read data, actions, board, position, rules, view and render, like the rulebook; race is the game itself."""

from engines.balloon_race.actions import Action, Assign, Drawn, Event, Move, Put, Roll, Timeout, To
from engines.balloon_race.race import GAME, BalloonRace
from engines.balloon_race.rules import RaceState
from engines.balloon_race.view import RaceView

__all__ = [
    "GAME",
    "Action",
    "Assign",
    "BalloonRace",
    "Drawn",
    "Event",
    "Move",
    "Put",
    "RaceState",
    "RaceView",
    "Roll",
    "Timeout",
    "To",
]
