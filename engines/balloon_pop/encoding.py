"""Views of Balloon Pop as numbers: the boards as planes of cubes, a plane a kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from engines.balloon_pop.data import (
    BONUS_PER_FURTHER_SET,
    CARDS,
    COLUMNS,
    EMPTY_COLUMN_POINTS,
    EMPTY_ROW_POINTS,
    GROUP_SIZE,
    KINDS,
    ROUNDS,
    ROWS,
    SUPPLY,
    SYMBOL_SET_SIZE,
    TOP_ROWS,
    Phase,
)
from engines.balloon_pop.view import View
from engines.encoding import Block, Encoding, around, by_seat, distance, members_by_seat, number, numbers, one_of

_CELLS = COLUMNS * ROWS
_PLACE = {kind: index for index, kind in enumerate(KINDS)}
_OWN_CUBES = ROUNDS * GROUP_SIZE
_MOST_SETS = _OWN_CUBES // SYMBOL_SET_SIZE
_MOST_POINTS = (
    _OWN_CUBES + BONUS_PER_FURTHER_SET * _MOST_SETS + EMPTY_COLUMN_POINTS * COLUMNS + EMPTY_ROW_POINTS * TOP_ROWS
)
"""A point for every cube, and every bonus there is."""


def encoding(players: int) -> Encoding:
    """The encoding for a number of players."""
    return Encoding(
        (
            one_of("round", range(1, ROUNDS + 1), lambda view: view.round),
            one_of("first", range(players), lambda view: distance(view.first, view.seat, players)),
            one_of("phase", get_args(Phase), lambda view: view.phase),
            number("step", 0, players * GROUP_SIZE, lambda view: view.step),
            number("popped", 0, _MOST_SETS, lambda view: view.popped),
            numbers("bag", len(KINDS), 0, max(SUPPLY), lambda view: view.bag),
            numbers("discarded", len(KINDS), 0, max(SUPPLY), lambda view: view.discarded),
            Block("boards", players * len(KINDS) * _CELLS, 0, 1, _boards),
            Block("groups", players * GROUP_SIZE * len(KINDS), 0, 1, _groups),
            members_by_seat("taken", players, players, lambda view: [[n] if n else [] for n in view.taken], first=1),
            members_by_seat("hands", players, len(CARDS), lambda view: view.hands, first=1),
            members_by_seat("cards", players, len(CARDS), lambda view: [[c] if c else [] for c in view.cards], first=1),
            by_seat("points", players, 0, _MOST_POINTS, lambda view: view.points),
        )
    )


def _boards(view: View) -> Sequence[int]:
    """For each seat in turn and each kind the cells with such a cube, column by column from the top down."""
    found = [0] * (len(view.boards) * len(KINDS) * _CELLS)
    for place, own in enumerate(around(view.boards, view.seat)):
        first = place * len(KINDS) * _CELLS
        for column, cubes in enumerate(own):
            for row, kind in enumerate(cubes):
                found[first + _PLACE[kind] * _CELLS + column * ROWS + row] = 1
    return found


def _groups(view: View) -> Sequence[int]:
    """For each group and each position as drawn the kind of its cube."""
    found = [0] * (len(view.groups) * GROUP_SIZE * len(KINDS))
    for group, cubes in enumerate(view.groups):
        for position, kind in enumerate(cubes):
            found[(group * GROUP_SIZE + position) * len(KINDS) + _PLACE[kind]] = 1
    return found
