"""One player's board: where a group may lie, which sets there are, what a board is worth at the end.

A board is six strings, the cubes of a column from the top down; since balloons float up there are no gaps. To find
sets the board is turned into bit masks: bit ``9 * column + row``. The ninth bit of a column is never set, so shifting
by 1 and by 9 goes to the neighbours without leaking from one column into the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final, TypeAlias

from engines.balloon_pop.actions import DISCARD, FIRST_POP, Place, placement_id
from engines.balloon_pop.data import (
    CARD_RULES,
    COLOUR_SET_COST,
    COLOUR_SET_SIZE,
    COLOURS,
    COLUMNS,
    EMPTY_COLUMN_POINTS,
    EMPTY_ROW_POINTS,
    KINDS,
    NEUTRAL,
    ROWS,
    SET_KINDS,
    SYMBOL_SET_COST,
    SYMBOL_SET_SIZE,
    SYMBOLS,
    TOP_ROWS,
    CardRule,
)

Board: TypeAlias = tuple[str, ...]
Sets: TypeAlias = Mapping[int, int]
"""The sets of a board: id of the pop -> mask of the cubes, ids ascending. Not to be changed: results are shared."""

EMPTY_BOARD: Final[Board] = ("",) * COLUMNS

STRIDE: Final = ROWS + 1
"""From a cell's bit to that of the cell to its right."""

_COLUMN_MASK: Final = (1 << ROWS) - 1
_CELLS: Final = COLUMNS * ROWS
_NEUTRAL_SET: Final = SET_KINDS.index(NEUTRAL)
_SYMBOL_SET: Final = SET_KINDS.index(SYMBOLS)
_MASK_OF: Final = {kind: (COLOURS + NEUTRAL).index(kind.lower()) for kind in KINDS}
_CACHED: Final = 1 << 13
"""Listing, checking and searching ask about the same few boards again and again."""


# --- Placing -----------------------------------------------------------------------------------------------------


def heights(board: Board) -> tuple[int, ...]:
    """How many cubes hang in each column."""
    return tuple(map(len, board))


@lru_cache(maxsize=_CACHED)
def placements(card: int, length: int, filled: tuple[int, ...]) -> tuple[int, ...]:
    """Ids of all ways to lay a group of ``length`` cubes by the rule of ``card`` on columns filled that high.

    Texts that lead to the same board count separately. Only ``discard`` if there is no other way.
    """
    rule = CARD_RULES[card]
    drops = dropped_positions(rule, length)
    ids: list[int] = []
    for vertical in (True, False):
        if not (rule.vertical if vertical else rule.horizontal):
            continue
        for column in range(COLUMNS):
            if _fits(vertical, column, length, filled):
                ids += _line_ids(vertical, column, drops)
            elif len(drops) > 1 and _fits(vertical, column, length - 1, filled):
                ids += _line_ids(vertical, column, drops[1:])
    return tuple(ids) or (DISCARD,)


@cache
def _line_ids(vertical: bool, column: int, drops: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([placement_id(vertical, column, turned, drop) for turned in (False, True) for drop in drops])


def dropped_positions(rule: CardRule, length: int) -> tuple[int, ...]:
    """What may be dropped of a group of that length, ascending: 0 for nothing, then positions from 1 as drawn.

    A position must exist, and at least one cube must be left.
    """
    if length == 1:
        return (0,)
    positions = {length if position == -1 else position for position in rule.may_drop}
    return (0, *sorted(position for position in positions if position <= length))


def _fits(vertical: bool, column: int, length: int, filled: tuple[int, ...]) -> bool:
    if vertical:
        return filled[column] <= ROWS - length
    return column + length <= COLUMNS and max(filled[column : column + length]) < ROWS


def lay(board: Board, group: str, how: Place) -> tuple[Board, str]:
    """The board after a placement that fits, all cubes floated up, and the dropped cube (or an empty string)."""
    dropped = ""
    if how.drop:
        dropped = group[how.drop - 1]
        group = group[: how.drop - 1] + group[how.drop :]
    if how.reversed:
        group = group[::-1]
    columns = list(board)
    if how.orientation == "V":
        columns[how.column] += group
    else:
        for column, cube in enumerate(group, how.column):
            columns[column] += cube
    return tuple(columns), dropped


# --- Scoring -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=_CACHED)
def find_sets(board: Board) -> Sets:
    """All sets that could be popped now."""
    colours, neutral, symbols = masks(board)
    found: list[tuple[int, int]] = []
    for kind, colour in enumerate(colours):
        if colour:
            found += [_named(kind, part) for part in parts(colour | neutral, COLOUR_SET_SIZE) if part & colour]
    if neutral:
        coloured = colours[0] | colours[1] | colours[2] | colours[3]
        lone = [part for part in parts(neutral, COLOUR_SET_SIZE) if not grown(part) & coloured]
        found += [_named(_NEUTRAL_SET, part) for part in lone]
    if symbols & (symbols << 1 | symbols << STRIDE):
        found += [_named(_SYMBOL_SET, part) for part in parts(symbols, SYMBOL_SET_SIZE)]
    if len(found) > 1:
        found.sort()
    return dict(found)


def set_points(pop: int, cubes: int) -> int:
    """Points for the set of that id with so many cubes, without any bonus."""
    is_symbols = (pop - FIRST_POP) // _CELLS == _SYMBOL_SET
    return cubes - (SYMBOL_SET_COST if is_symbols else COLOUR_SET_COST)


def pop_cubes(board: Board, mask: int) -> tuple[Board, str]:
    """The board without the cubes of ``mask``, columns closed upward, and those cubes."""
    columns = list(board)
    popped = ""
    for index, column in enumerate(board):
        here = mask >> index * STRIDE & _COLUMN_MASK
        if here:
            columns[index] = "".join([cube for row, cube in enumerate(column) if not here >> row & 1])
            popped += "".join([cube for row, cube in enumerate(column) if here >> row & 1])
    return tuple(columns), popped


def end_points(filled: tuple[int, ...]) -> int:
    """Points at the end of the game for empty columns and for empty rows at the top."""
    return EMPTY_COLUMN_POINTS * filled.count(0) + EMPTY_ROW_POINTS * max(0, TOP_ROWS - max(filled))


def masks(board: Board) -> tuple[tuple[int, int, int, int], int, int]:
    """Masks of the cubes of the four colours, of the neutral ones and of those with a symbol."""
    by_colour = [0, 0, 0, 0, 0]
    symbols = 0
    bit = 1
    for column in board:
        cell = bit
        for cube in column:
            by_colour[_MASK_OF[cube]] |= cell
            if cube < "a":
                symbols |= cell
            cell <<= 1
        bit <<= STRIDE
    red, green, blue, yellow, neutral = by_colour
    return (red, green, blue, yellow), neutral, symbols


def grown(part: int) -> int:
    """The cells and all their neighbours (and perhaps some that are not on the board)."""
    return part | part << 1 | part >> 1 | part << STRIDE | part >> STRIDE


def parts(cells: int, least: int) -> list[int]:
    """The connected parts of ``cells`` that have at least ``least`` cells, which is 2 or more."""
    up, down, left, right = cells << 1, cells >> 1, cells << STRIDE, cells >> STRIDE
    if least == 2:
        seeds = cells & (up | down | left | right)
    else:  # in a part of three or more some cell has two neighbours; most boards have few such cells
        seeds = cells & (up & down | left & right | (up | down) & (left | right))
    found = []
    while seeds:
        part, larger = 0, seeds & -seeds
        while larger != part:
            part = larger
            larger = grown(part) & cells
        seeds &= ~part
        if part.bit_count() >= least:
            found.append(part)
    return found


def _named(kind: int, part: int) -> tuple[int, int]:
    """A set with the id of its pop, which is named after its least cell by column, then row."""
    column, row = divmod((part & -part).bit_length() - 1, STRIDE)
    return FIRST_POP + kind * _CELLS + column * ROWS + row, part
