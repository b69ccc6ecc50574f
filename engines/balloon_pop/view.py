"""What a seat may know: everything. Hands are public, the bag's contents follow from what lies open, and its order is
not settled before a cube is drawn. Cards that are chosen at the same time come out in one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engines.balloon_pop.board import Board
from engines.balloon_pop.data import Counts, Phase
from engines.game import Json
from engines.game import View as BaseView

if TYPE_CHECKING:
    from engines.balloon_pop.rules import State


@dataclass(frozen=True, slots=True)
class View(BaseView):
    """A position as ``seat`` sees it, None for a spectator. Tuples over players are by seat."""

    seat: int | None
    simultaneous_cards: bool
    bonus: bool
    round: int
    """1 to 8."""
    first: int
    """The seat that is first in this round (0 before chance has said)."""
    phase: Phase
    step: int
    """Seats that are through with the phase, in its order; in the draw phase cubes drawn."""
    bag: Counts
    """Cubes left in the bag of each kind, in the order ``rgbyRGBYw``."""
    discarded: Counts
    """The same for the discard."""
    boards: tuple[Board, ...]
    """Six columns a board, from the left; each the string of its cubes from the top down."""
    hands: tuple[tuple[int, ...], ...]
    """The cards that each seat still has, ascending."""
    points: tuple[int, ...]
    """The score track; at the end with what the empty columns and rows gave."""
    cards: tuple[int, ...]
    """The card that each seat has played in this round, 0 before."""
    groups: tuple[str, ...]
    """This round's groups of cubes, positions as drawn; empty once placed."""
    taken: tuple[int, ...]
    """The number of the group that each seat has taken, from 1, 0 before."""
    popped: int
    """Sets that the seat whose turn it is to score has popped in this round."""


def view_of(state: State, seat: int | None) -> View:
    """What ``seat`` sees of ``state``."""
    return View(
        seat,
        state.simultaneous,
        state.bonus,
        state.round,
        state.first,
        state.phase,
        state.step,
        state.bag,
        state.discarded,
        state.boards,
        state.hands,
        state.points,
        state.cards,
        state.groups,
        state.taken,
        state.popped,
    )


def view_from_json(doc: Json) -> View:
    """The inverse of ``View.to_json``."""
    return View(**{name: _tuples(value) for name, value in doc.items()})


def _tuples(value: Json) -> Json:
    return tuple([_tuples(item) for item in value]) if isinstance(value, list) else value
