"""What is in the box: cubes, cards and the board, as tables. Nothing here decides anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

COLUMNS: Final = 6
ROWS: Final = 8
"""Row 0 is at the top, where balloons float to."""

ROUNDS: Final = 8
GROUP_SIZE: Final = 4
MIN_PLAYERS: Final = 2
MAX_PLAYERS: Final = 4
CARDS: Final = tuple(range(1, 11))
"""Each player's hand; two cards are left at the end."""

COLOURS: Final = "rgby"
NEUTRAL: Final = "w"
SYMBOLS: Final = "*"

CUBES: Final = (
    ("r", 14),
    ("g", 14),
    ("b", 14),
    ("y", 14),
    ("R", 6),
    ("G", 6),
    ("B", 6),
    ("Y", 6),
    ("w", 8),
)
"""The bag at the start: kind and how many. Upper case carries the symbol. Canonical data: six symbols a colour."""

KINDS: Final = "".join(kind for kind, _ in CUBES)
SUPPLY: Final[tuple[int, ...]] = tuple(count for _, count in CUBES)

Counts: TypeAlias = tuple[int, ...]
"""How many cubes of each of KINDS, in that order."""

NO_CUBES: Final[Counts] = (0,) * len(KINDS)

SET_KINDS: Final = COLOURS + NEUTRAL + SYMBOLS
"""What a set is made of: a colour (neutrals included), neutrals alone, or symbols of any colours."""

COLOUR_SET_SIZE: Final = 4
COLOUR_SET_COST: Final = 2
SYMBOL_SET_SIZE: Final = 2
SYMBOL_SET_COST: Final = 1
"""A set of at least SIZE cubes gives its number of cubes less COST."""

BONUS_PER_FURTHER_SET: Final = 1
"""With the option ``bonus``: for each set that a player scores in a round after the first."""

EMPTY_COLUMN_POINTS: Final = 1
EMPTY_ROW_POINTS: Final = 3
TOP_ROWS: Final = 3
"""At the end empty columns score, and empty rows among the TOP_ROWS highest ones."""

Phase: TypeAlias = Literal["first", "draw", "card", "group", "place", "pop", "over"]
"""What the game waits for: who is first, cubes, cards, choices of a group, placements, pops, nothing any more."""

FIRST: Final = "first"
DRAW: Final = "draw"
CARD: Final = "card"
GROUP: Final = "group"
PLACE: Final = "place"
POP: Final = "pop"
OVER: Final = "over"

FIRST_OR_LAST: Final = (1, -1)
SECOND_OR_THIRD: Final = (2, 3)


@dataclass(frozen=True, slots=True)
class CardRule:
    """How the group may lie, and which position of it, as drawn, may be dropped (-1 is the last one)."""

    vertical: bool
    horizontal: bool
    may_drop: tuple[int, ...] = ()


_BY_PAIR = (
    ((10, 9), CardRule(vertical=True, horizontal=False)),
    ((8, 7), CardRule(vertical=False, horizontal=True)),
    ((6, 5), CardRule(vertical=True, horizontal=True)),
    ((4, 3), CardRule(vertical=True, horizontal=True, may_drop=FIRST_OR_LAST)),
    ((2, 1), CardRule(vertical=True, horizontal=True, may_drop=SECOND_OR_THIRD)),
)
CARD_RULES: Final = {card: rule for pair, rule in _BY_PAIR for card in pair}
