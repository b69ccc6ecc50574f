"""Balloon Pop: groups of balloons float up your board; four of a colour or two symbols together pop and score."""

from engines.balloon_pop.actions import Action, Discard, Draw, First, Outcome, Place, PlayCard, Pop, TakeGroup
from engines.balloon_pop.rules import GAME, BalloonPop, State
from engines.balloon_pop.view import View

__all__ = [
    "GAME",
    "Action",
    "BalloonPop",
    "Discard",
    "Draw",
    "First",
    "Outcome",
    "Place",
    "PlayCard",
    "Pop",
    "State",
    "TakeGroup",
    "View",
]
