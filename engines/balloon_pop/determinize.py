"""From a view back to a state. With nothing hidden there is exactly one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engines.balloon_pop.view import View

if TYPE_CHECKING:
    from engines.balloon_pop.rules import State


def state_of(view: View) -> State:
    """The state that has this view."""
    from engines.balloon_pop.rules import State  # noqa: PLC0415 - rules imports this module

    state = State()
    state.players = len(view.boards)
    state.simultaneous = view.simultaneous_cards
    state.bonus = view.bonus
    state.round = view.round
    state.first = view.first
    state.phase = view.phase
    state.step = view.step
    state.bag = view.bag
    state.discarded = view.discarded
    state.boards = view.boards
    state.hands = view.hands
    state.points = view.points
    state.cards = view.cards
    state.groups = view.groups
    state.taken = view.taken
    state.popped = view.popped
    return state
