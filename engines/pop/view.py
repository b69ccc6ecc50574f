"""What a seat, or a spectator, may know of a position of POP!."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engines.game import Json, View
from engines.pop.data import Cards

if TYPE_CHECKING:
    from engines.pop.rules import PopState


@dataclass(frozen=True, slots=True)
class PopView(View):
    """Everything public, and the hand of ``seat``. Cards are numbers 1..50, seats count from 0.

    The cards that a seat has not seen in this round are those in no field of its view.
    """

    seat: int | None
    """None for a spectator."""
    players: int
    two_player_variant: bool
    """As configured; it matters with two players only."""
    rounds: int
    round: int
    """From 1."""
    turn: int
    """1..8; 0 while the round is set up."""
    step: int
    """Events of this round so far; a joint decision is one."""
    phase: str
    """What is due: row, deal, draw, chief or choose; or over."""
    columns: tuple[Cards, ...]
    """Five, A to E, each floor first."""
    hand: Cards
    """The seat's own cards, ascending; empty for a spectator."""
    hand_sizes: tuple[int, ...]
    """By seat."""
    chief: Cards
    """The Chief's cards of this turn that lie open, as they came."""
    chosen: tuple[Cards, ...]
    """By seat what was chosen, once all have and until it is placed; else empty."""
    taken: tuple[Cards, ...]
    """By seat the cards collected in this round."""
    pile: Cards
    """Cards that the Chief blew up: they go to the next player who sets off an explosion."""
    points: tuple[int, ...]
    """By seat the explosions collected so far in the match."""
    left: Cards
    """By seat the card left in the hand, when the match is over; else empty."""


def make_view(state: PopState, seat: int | None) -> PopView:
    """The view of ``seat`` (None: a spectator) in ``state``."""
    plan = state.plan
    due = state.due
    return PopView(
        seat,
        plan.players,
        plan.two_player_variant,
        plan.rounds,
        state.round,
        due.turn,
        state.step,
        due.phase,
        state.columns,
        () if seat is None else state.hands[seat],
        tuple([len(hand) for hand in state.hands]),
        state.chief,
        state.chosen,
        state.taken,
        state.pile,
        state.scores(),
        tuple([hand[0] for hand in state.hands]) if state.is_terminal else (),
    )


def view_from_json(doc: Json) -> PopView:
    """The inverse of ``PopView.to_json``."""
    return PopView(**{name: _frozen(doc[name]) for name in PopView.__dataclass_fields__})


def _frozen(value: Json) -> Json:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
