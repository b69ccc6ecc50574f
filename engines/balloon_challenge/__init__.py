"""Balloon Challenge, for 2 to 5 players: play cards so that the hand left fits into the balloon, and get out in time."""

from engines.balloon_challenge.actions import Deal, Drop, Play, Start
from engines.balloon_challenge.rules import GAME, State
from engines.balloon_challenge.view import PastRound, View

__all__ = ["GAME", "Deal", "Drop", "PastRound", "Play", "Start", "State", "View"]
