"""A position as a JSON object and back: what records and tests are written in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engines.balloon_race.data import MAIL
from engines.game import Json

if TYPE_CHECKING:
    from engines.balloon_race.rules import RaceState


def to_doc(state: RaceState) -> Json:
    """The whole position; members are named as in the view, squares are ints."""
    return {
        "players": state.players,
        "dice_timer_ms": state.dice_timer_ms,
        "phase": state.phase,
        "round": state.round,
        "pad": state.pad,
        "zone": state.zone,
        "balloons": list(state.balloons),
        "cards": list(state.cards),
        "order": list(state.order),
        "turn": state.turn,
        "obstacles": [[token >> 2, (token & 3) + 1] for token in state.obstacles],
        "moved": [token >> 2 for token in state.moved],
        "drawn": state.drawn,
        "mail": [square for square in MAIL if state.mail >> square & 1],
        "dice": list(state.dice),
        "waiting": list(state.waiting),
        "penalties": list(state.penalties),
        "letters": list(state.letters),
    }
