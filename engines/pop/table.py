"""The table of POP!: five columns of cards, and what happens when five more are placed.

A column is written floor first. Its Queue card is its floor: a placement moves the floor one row down and puts the card right above
it, under the others, which stay where they are. Card ``i`` of a column whose floor has moved ``F`` times is in row ``F - i``.
Two cards touch if they follow each other in a column or lie in the same row of neighbouring columns. In the middle of a turn the
columns already served are one row lower than the others, so floors count.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final, TypeAlias

from engines.pop.data import ARROW, ARROWS_TO_REVERSE, COLOUR, Cards

Columns: TypeAlias = tuple[Cards, ...]
"""Columns A to E, each floor first."""

CHIEF_OWNER: Final = -1
"""Who owns the Chief's cards, where a seat owns the others."""


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
