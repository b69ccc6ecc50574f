"""Wyścig balonów: data, actions, board, rules, view, render, in this order like the rulebook; race.py is the game."""

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
