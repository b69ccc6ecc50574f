"""The course of a round of POP!, which depends on nothing but the number of players and the variant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from engines.pop.data import CHIEF_CARDS, HAND, TURNS

ROW: Final = "row"
DEAL: Final = "deal"
DRAW: Final = "draw"
CHIEF: Final = "chief"
CHOOSE: Final = "choose"
OVER: Final = "over"


class Step(NamedTuple):
    """One event of a round: a card turned up or dealt, or the choice of all players."""

    phase: str
    seat: int
    """Who gets the card of a deal or a draw; otherwise -1."""
    turn: int
    """1..8; 0 while the round is set up."""
    completes: bool
    """Whether the turn's five cards are on the table after it, and are placed."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A configured game: ``script`` lists the events of each round, and OVER behind them."""

    players: int
    two_player_variant: bool
    rounds: int
    cards_each: int
    """Cards that a player chooses in a turn."""
    script: tuple[Step, ...]


@cache
def plan_for(players: int, two_player_variant: bool, rounds: int) -> Plan:
    """The plan of a configuration; the variant is of no account unless two play."""
    variant = players == 2 and two_player_variant
    script = [Step(ROW, -1, 0, False)] * 5
    script += [Step(DEAL, seat, 0, False) for _ in range(HAND) for seat in range(players)]
    for turn in range(1, TURNS + 1):
        script += _turn(players, variant, turn)
    script.append(Step(OVER, -1, TURNS, False))
    return Plan(players, two_player_variant, rounds, 2 if variant else 1, tuple(script))


def _turn(players: int, variant: bool, turn: int) -> list[Step]:
    face_up, face_down = CHIEF_CARDS[players, variant]
    draws = [Step(DRAW, seat, turn, False) for seat in range(players)] if variant else []
    shown = [Step(CHIEF, -1, turn, False)] * face_up
    choice = Step(CHOOSE, -1, turn, False)
    revealed = [Step(CHIEF, -1, turn, False)] * face_down
    steps = [*draws, *shown, choice, *revealed]
    return [*steps[:-1], steps[-1]._replace(completes=True)]
