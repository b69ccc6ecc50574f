"""The table of POP!: five columns of cards, and what happens when five more are placed.

A column is written floor first. Its Queue card is its floor: a placement moves the floor one row down and puts the card right above
it, under the others, which stay where they are. Card ``i`` of a column whose floor has moved ``F`` times is in row ``F - i``.
Two cards touch if they follow each other in a column or lie in the same row of neighbouring columns. In the middle of a turn the
columns already served are one row lower than the others, so floors count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

from engines.pop.data import ARROW, ARROWS_TO_REVERSE, COLOUR, Cards

Columns: TypeAlias = tuple[Cards, ...]
"""Columns A to E, each floor first."""

CHIEF_OWNER: Final = -1
"""Who owns the Chief's cards, where a seat owns the others."""


@dataclass(frozen=True, slots=True)
class Witnessed:
    """A moment within a turn: ``slots`` the cards not yet placed with their owners, by column; ``placed`` the last one that was,
    and ``doomed`` the cards that are about to vanish."""

    columns: Columns
    floors: tuple[int, ...]
    slots: tuple[tuple[int, int] | None, ...]
    placed: tuple[int, int] | None
    doomed: frozenset[int]


def place_faces(columns: Columns, faces: Iterable[tuple[int, int]]) -> tuple[Columns, list[tuple[int, list[int]]]]:
    """Place a turn's five cards, given as (card, owner).

    Returns the columns after it and the explosions in their order: (owner of the card that set it off, cards gone). All
    waves of one placement are one explosion.
    """
    sorted_faces = sorted(faces)
    order = range(5)
    if sum([ARROW[card] for card, _ in sorted_faces]) >= ARROWS_TO_REVERSE:
        order = range(4, -1, -1)
    table, floors = list(columns), [0, 0, 0, 0, 0]
    blasts = []
    for column in order:
        card, owner = sorted_faces[column]
        floors[column] = 1
        table[column] = (card, *table[column])
        if _starts(table, floors, column):
            blasts.append((owner, _explode(table, floors)))
    return tuple(table), blasts


def witness(columns: Columns, faces: Iterable[tuple[int, int]]) -> Iterator[Witnessed]:
    """What ``place_faces`` does, for those who watch: the five cards before, each placement, and each wave as it goes off."""
    waiting = sorted(faces)
    reverse = sum([ARROW[card] for card, _ in waiting]) >= ARROWS_TO_REVERSE
    table, floors = list(columns), [0, 0, 0, 0, 0]
    slots: list[tuple[int, int] | None] = list(waiting)
    yield Witnessed(columns, (0, 0, 0, 0, 0), tuple(slots), None, frozenset())
    for column in range(4, -1, -1) if reverse else range(5):
        card, owner = waiting[column]
        slots[column] = None
        floors[column] = 1
        table[column] = (card, *table[column])
        while doomed := touching(table, floors):
            yield Witnessed(tuple(table), tuple(floors), tuple(slots), (card, owner), frozenset(doomed))
            for at, cards in enumerate(table):
                table[at] = tuple([one for one in cards if one not in doomed])
        yield Witnessed(tuple(table), tuple(floors), tuple(slots), (card, owner), frozenset())


def _starts(table: list[Cards], floors: list[int], column: int) -> bool:
    """Whether the card just placed in ``column`` touches its colour. Nothing else can: before it nothing touched.

    It lies in the lowest row there is, so beside it are at most the lowest cards of columns already served.
    """
    cards = table[column]
    colour = COLOUR[cards[0]]
    if len(cards) > 1 and COLOUR[cards[1]] == colour:
        return True
    for beside in (column - 1, column + 1):
        if 0 <= beside < 5 and floors[beside] and table[beside] and COLOUR[table[beside][0]] == colour:
            return True
    return False


def _explode(table: list[Cards], floors: list[int]) -> list[int]:
    """Remove, wave after wave, whatever touches its own colour, in place; the cards above fall. Returns all that went."""
    gone: list[int] = []
    while doomed := touching(table, floors):
        gone += sorted(doomed)
        for column, cards in enumerate(table):
            if not doomed.isdisjoint(cards):
                table[column] = tuple([card for card in cards if card not in doomed])
    return gone


def touching(table: list[Cards], floors: list[int]) -> set[int]:
    """The cards that touch a card of their colour: exactly the members of groups of two and more."""
    doomed: set[int] = set()
    for cards in table:
        for lower, upper in pairwise(cards):
            if COLOUR[lower] == COLOUR[upper]:
                doomed.update((lower, upper))
    for column in range(4):
        left, right = table[column], table[column + 1]
        shift = floors[column + 1] - floors[column]
        if shift > 0:
            right = right[shift:]
        elif shift < 0:
            left = left[-shift:]
        for west, east in zip(left, right, strict=False):
            if COLOUR[west] == COLOUR[east]:
                doomed.update((west, east))
    return doomed
