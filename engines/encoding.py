"""Views as numbers of a fixed count, for programs that learn.

A game declares an :class:`Encoding` (``Game.encoding``) as named blocks, each a function of the view:

    Encoding((
        one_of("phase", PHASES, lambda view: view.phase),
        members("hand", 50, lambda view: view.hand, first=1),
        numbers("points", players, 0, 80, lambda view: around(view.points, view.seat)),
    ))

Since a block gets nothing but the view, an encoding tells no more than the view does. Values over players go around the table
from the seat whose view it is, so that what is learned at one seat holds at the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

Values: TypeAlias = Callable[[Any], Sequence[int]]
"""From a game's own view to the numbers of a block."""


@dataclass(frozen=True, slots=True)
class Block:
    """``size`` numbers in ``low..high`` with one meaning."""

    name: str
    size: int
    low: int
    high: int
    values: Values


@dataclass(frozen=True, slots=True)
class Encoding:
    """The blocks of a game for one number of players and configuration, in order."""

    blocks: tuple[Block, ...]

    @property
    def size(self) -> int:
        """How many numbers there are in all."""
        return sum(block.size for block in self.blocks)

    @property
    def low(self) -> list[int]:
        """The least value of each number."""
        return [block.low for block in self.blocks for _ in range(block.size)]

    @property
    def high(self) -> list[int]:
        """The greatest value of each number."""
        return [block.high for block in self.blocks for _ in range(block.size)]

    def encode(self, view: Any) -> list[int]:
        """The numbers of a view of the game."""
        values: list[int] = []
        for block in self.blocks:
            values += block.values(view)
        return values

    def slices(self) -> dict[str, slice]:
        """Where each block lies."""
        found, start = {}, 0
        for block in self.blocks:
            found[block.name] = slice(start, start + block.size)
            start += block.size
        return found


def around(values: Sequence[T], seat: int | None) -> Sequence[T]:
    """``values`` by seat, beginning with ``seat`` and going on clockwise; a spectator's begin with seat 0."""
    return (*values[seat:], *values[:seat]) if seat else values


def distance(seat: int, view_seat: int | None, players: int) -> int:
    """How many seats ``seat`` is clockwise from the one whose view it is."""
    return (seat - (view_seat or 0)) % players


def numbers(name: str, size: int, low: int, high: int, values: Values) -> Block:
    """Numbers as they are."""
    return Block(name, size, low, high, values)


def number(name: str, low: int, high: int, value: Callable[[Any], int]) -> Block:
    """One number as it is."""
    return Block(name, 1, low, high, lambda view: (value(view),))


def one_of(name: str, choices: Sequence[T], value: Callable[[Any], T | None]) -> Block:
    """A 1 at the place of the value among ``choices``, 0 elsewhere; all 0 where the value is none of them."""
    place = {choice: index for index, choice in enumerate(choices)}

    def values(view: Any) -> Sequence[int]:
        bits = [0] * len(place)
        index = place.get(value(view))  # type: ignore[arg-type]
        if index is not None:
            bits[index] = 1
        return bits

    return Block(name, len(place), 0, 1, values)


def members(name: str, size: int, items: Callable[[Any], Iterable[int]], first: int = 0) -> Block:
    """A 1 for each of ``first .. first+size-1`` that is among the items."""
    return Block(name, size, 0, 1, lambda view: bits(items(view), size, first))


def members_by_seat(
    name: str, players: int, size: int, items: Callable[[Any], Sequence[Iterable[int]]], first: int = 0
) -> Block:
    """:func:`members` for each seat in turn, the view's own first."""

    def values(view: Any) -> Sequence[int]:
        found: list[int] = []
        for own in around(items(view), view.seat):
            found += bits(own, size, first)
        return found

    return Block(name, players * size, 0, 1, values)


def by_seat(name: str, players: int, low: int, high: int, values: Callable[[Any], Sequence[int]]) -> Block:
    """A number for each seat, the view's own first."""
    return Block(name, players, low, high, lambda view: around(values(view), view.seat))


def bits(items: Iterable[int], size: int, first: int = 0) -> list[int]:
    """A list of ``size`` with a 1 for each of ``first .. first+size-1`` that is among ``items``."""
    found = [0] * size
    for item in items:
        found[item - first] = 1
    return found
