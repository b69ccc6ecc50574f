"""What a seat may know: everything but the others' balloon cards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engines import game
from engines.balloon_race.data import MAIL

if TYPE_CHECKING:
    from engines.balloon_race.rules import RaceState


@dataclass(frozen=True, slots=True)
class RaceView(game.View):
    """A position of Wyścig balonów as one seat, or a spectator, knows it.

    Squares are ``15 * row + column``, colours 0..4 for red, green, yellow, pink, blue. -1: not laid or placed yet.
    """

    seat: int | None
    """Whose view it is; None for a spectator."""
    players: int
    dice_timer_ms: int
    """Time for an assignment by the rules; 0: no such limit."""
    phase: str
    """What is due: a chance event (pad, zone, balloon, card, order, obstacle, roll), a decision (put, assign, to,
    move), or over."""
    actor: int | None
    """The seat that decides; None if none does."""
    round: int
    """1..5."""
    pad: int
    """First column of the landing pad, which is five squares of row 14."""
    zone: int
    """Column of the landing zone."""
    balloons: tuple[int, ...]
    """Square of each balloon, by colour."""
    obstacles: tuple[tuple[int, int], ...]
    """(square, value) of those on the board, ascending."""
    moved: tuple[int, ...]
    """Squares of the obstacles already moved in this turn."""
    drawn: int
    """Value of the obstacle that waits to be put; 0: none does."""
    mail: tuple[int, ...]
    """Squares with a mail token."""
    order: tuple[int, ...]
    """Order cards 1..4 dealt in this round; the i-th went to seat i modulo players."""
    turn: int
    """Turns completed in this round."""
    dice: tuple[int, ...]
    """Before the assignment the throw, sorted; then the die of each balloon, by colour. Empty between turns."""
    waiting: tuple[int, ...]
    """Colours of the balloons that still move in this turn, in order; at a ``to`` the first is the one to place."""
    penalties: tuple[int, ...]
    """Penalty tokens a seat."""
    letters: tuple[int, ...]
    """Mail tokens a seat."""
    cards: tuple[tuple[int, ...], ...]
    """Colours of each seat's balloon cards: the seat's own only, until the game is over."""
    cards_dealt: int
    """Balloon cards dealt in all; the i-th went to seat i modulo players."""


def view_of(state: RaceState, seat: int | None) -> RaceView:
    """What ``seat`` (None: everybody) may know of ``state``."""
    open_cards = state.is_terminal
    actors = state.actors()
    return RaceView(
        seat=seat,
        players=state.players,
        dice_timer_ms=state.dice_timer_ms,
        phase=state.phase,
        actor=actors[0] if actors else None,
        round=state.round,
        pad=state.pad,
        zone=state.zone,
        balloons=state.balloons,
        obstacles=tuple([(token >> 2, (token & 3) + 1) for token in state.obstacles]),
        moved=tuple([token >> 2 for token in state.moved]),
        drawn=state.drawn,
        mail=tuple([square for square in MAIL if state.mail >> square & 1]),
        order=state.order,
        turn=state.turn,
        dice=state.dice,
        waiting=state.waiting,
        penalties=state.penalties,
        letters=state.letters,
        cards=tuple([state.hand(other) if open_cards or other == seat else () for other in range(state.players)]),
        cards_dealt=len(state.cards),
    )
