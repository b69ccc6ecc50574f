"""The board's geometry, worked out once: where one step leads, what two steps reach, how obstacles may slide.

A set of squares is an int with bit ``square`` set, so that a whole path is held against all tokens with one ``&``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import permutations
from typing import Final

from engines.balloon_race.actions import FIRST_ASSIGN, FIRST_TO, OBSTACLE_VALUES, move_id
from engines.balloon_race.data import (
    DIRECTIONS,
    FLIGHT,
    FREE_DIE,
    PAD_OFFSETS,
    PAD_ROW,
    PAD_WIDTH,
    SIZE,
    SQUARES,
    START_TILE,
)

OFF: Final = -1
"""What lies beyond the edge."""


def bits(squares: Iterable[int]) -> int:
    """The set of ``squares``."""
    return sum(1 << square for square in squares)


def step(square: int, direction: int, times: int = 1) -> int:
    """The square ``times`` steps along ``DIRECTIONS[direction]``, or OFF."""
    row, column = divmod(square, SIZE)
    down, right = DIRECTIONS[direction]
    row, column = row + times * down, column + times * right
    return SIZE * row + column if 0 <= row < SIZE and 0 <= column < SIZE else OFF


def distance(square: int, other: int) -> int:
    """Steps of a king between two squares."""
    (row, column), (other_row, other_column) = divmod(square, SIZE), divmod(other, SIZE)
    return max(abs(row - other_row), abs(column - other_column))


TILE: Final = bits(START_TILE)
PADS: Final = tuple(
    bits(range(SIZE * PAD_ROW + offset, SIZE * PAD_ROW + offset + PAD_WIDTH)) for offset in range(PAD_OFFSETS)
)
"""The landing pad by its offset."""

AHEAD: Final = tuple(
    tuple(step(square, direction) for square in range(SQUARES)) for direction in range(len(DIRECTIONS))
)
"""One step along a direction from a square, or OFF."""
NEIGHBOURS: Final = tuple(
    tuple(sorted(ways[square] for ways in AHEAD if ways[square] != OFF)) for square in range(SQUARES)
)
AROUND: Final = tuple(bits(near) for near in NEIGHBOURS)
"""NEIGHBOURS as sets."""
WITHIN_FLIGHT: Final = tuple(
    tuple(other for other in range(SQUARES) if distance(square, other) <= FLIGHT) for square in range(SQUARES)
)
"""Squares no farther than a balloon flies, itself included; ascending."""


def drift(square: int, die: int, tokens: int) -> tuple[int, int]:
    """Where a balloon with a die 1..5 ends among ``tokens`` (a set), and the penalties that it costs."""
    ahead = AHEAD[die - 1]
    for left in range(FLIGHT, 0, -1):
        following = ahead[square]
        if following == OFF:
            return square, 0
        if tokens >> following & 1:
            return square, left
        square = following
    return square, 0


def free_flights(square: int, tokens: int) -> tuple[int, ...]:
    """The ``to`` actions of a balloon with a 6: squares reached by exactly two steps, each onto a free square.

    The square it leaves is free. Empty if there is no free neighbour at all.
    """
    free = ~tokens | 1 << square
    reach = 0
    for near in NEIGHBOURS[square]:
        if free >> near & 1:
            reach |= AROUND[near]
    reach &= free
    return tuple([FIRST_TO + other for other in WITHIN_FLIGHT[square] if reach >> other & 1])


def _slides(square: int, value: int) -> tuple[tuple[int, int], ...]:
    return tuple(
        (move_id(square, direction, value), bits(step(square, direction, times) for times in range(1, value + 1)))
        for direction in range(len(DIRECTIONS))
        if step(square, direction, value) != OFF
    )


SLIDES: Final = tuple(_slides(square, value) for square in range(SQUARES) for value in range(1, OBSTACLE_VALUES + 1))
"""For the obstacle ``token`` (see :func:`token`): (id of a move, set of the squares that it enters), ids ascending."""


def token(square: int, value: int) -> int:
    """An obstacle of that value on that square, as an int; ``token >> 2`` is the square, ``(token & 3) + 1`` the value."""
    return OBSTACLE_VALUES * square + value - 1


@lru_cache(maxsize=252)
def assignments(throw: tuple[int, ...]) -> tuple[int, ...]:
    """The ``assign`` actions of a sorted throw: each different laying of the dice, both ways. 2 to 240, ascending."""
    ids = set()
    for dice in permutations(throw):
        number = 0
        for die in dice:
            number = number * FREE_DIE + die - 1
        ids.add(FIRST_ASSIGN + 2 * number)
    return tuple(number + way for number in sorted(ids) for way in (0, 1))
