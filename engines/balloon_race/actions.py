"""Actions and chance outcomes: as typed values, as canonical texts, and as ids.

==================  ====================================================================  ==============================
text                meaning                                                               id within its kind
==================  ====================================================================  ==============================
``assign 24631>``   dice of R, G, Y, P, B; ``>`` moves them left to right, ``<`` back     2 * base 6 of (die - 1) + (<)
``to 3,7``          where the balloon with a 6 goes: row, column                          15 * row + column
``put 4,7``         where the new obstacle goes                                           15 * row + column
``move 4,4-7,7``    an obstacle, from and to: a straight line as long as its value        (8 * from + way) * 4 + value-1
``timeout``         the referee's when the dice timer has run out; never a bot's
==================  ====================================================================  ==============================

then the chance outcomes ``pad 3``, ``zone 5``, ``balloon R``, ``card R``, ``order 1``, ``obstacle 3``, ``roll 23336``.

Each id has one text and each text one id, whatever the position. Moves that would leave the board have an id too: they
are never legal, and their text names the square outside, as ``move 0,3--2,3`` does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from math import factorial, prod
from typing import Final, TypeAlias

from engines.balloon_race.data import COLOURS, DICE, DIRECTIONS, OBSTACLES, ORDER_CARDS, PAD_OFFSETS, SIZE, SQUARES
from engines.game import MalformedAction


@dataclass(frozen=True, slots=True)
class Assign:
    """The dice of the balloons R, G, Y, P, B, and from which side of the template the balloons move."""

    dice: tuple[int, ...]
    rightwards: bool
    """True: red first, blue last."""

    def __str__(self) -> str:
        return f"assign {''.join(map(str, self.dice))}{'>' if self.rightwards else '<'}"


@dataclass(frozen=True, slots=True)
class To:
    """Where the balloon with a 6 goes."""

    row: int
    column: int

    def __str__(self) -> str:
        return f"to {self.row},{self.column}"


@dataclass(frozen=True, slots=True)
class Put:
    """Where the new obstacle goes."""

    row: int
    column: int

    def __str__(self) -> str:
        return f"put {self.row},{self.column}"


@dataclass(frozen=True, slots=True)
class Move:
    """An obstacle moves in a straight line."""

    row: int
    column: int
    to_row: int
    to_column: int

    def __str__(self) -> str:
        return f"move {self.row},{self.column}-{self.to_row},{self.to_column}"


@dataclass(frozen=True, slots=True)
class Timeout:
    """The referee lays the dice for a player who did not."""

    def __str__(self) -> str:
        return "timeout"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chance outcome: ``what`` is the first word of its text, ``value`` what came out.

    pad: its first column; zone: its column; balloon and card: the colour 0..4; order: the card 1..4; obstacle: its value.
    """

    what: str
    value: int

    def __str__(self) -> str:
        return f"{self.what} {COLOURS[self.value] if self.what in ('balloon', 'card') else self.value}"


@dataclass(frozen=True, slots=True)
class Roll:
    """A throw of the five dice, sorted."""

    dice: tuple[int, ...]

    def __str__(self) -> str:
        return f"roll {''.join(map(str, self.dice))}"


Action: TypeAlias = Assign | To | Put | Move | Timeout
Event: TypeAlias = Action | Drawn | Roll

OBSTACLE_VALUES: Final = max(OBSTACLES)
ASSIGNMENTS: Final = tuple(product(range(1, 7), repeat=DICE))
"""Every die of every balloon; the place in this table is the number in base 6."""
THROWS: Final = tuple(combinations_with_replacement(range(1, 7), DICE))
"""All sorted throws, in the order of their ids."""

FIRST_ASSIGN: Final = 0
FIRST_TO: Final = FIRST_ASSIGN + 2 * len(ASSIGNMENTS)
FIRST_PUT: Final = FIRST_TO + SQUARES
FIRST_MOVE: Final = FIRST_PUT + SQUARES
TIMEOUT: Final = FIRST_MOVE + SQUARES * len(DIRECTIONS) * OBSTACLE_VALUES
NUM_ACTIONS: Final = TIMEOUT + 1

FIRST_PAD: Final = NUM_ACTIONS
FIRST_ZONE: Final = FIRST_PAD + PAD_OFFSETS
FIRST_BALLOON: Final = FIRST_ZONE + SIZE
FIRST_CARD: Final = FIRST_BALLOON + len(COLOURS)
FIRST_ORDER: Final = FIRST_CARD + len(COLOURS)
"""Of the order card 1, ``First``."""
FIRST_OBSTACLE: Final = FIRST_ORDER + len(ORDER_CARDS)
"""Of the obstacle with value 1."""
FIRST_ROLL: Final = FIRST_OBSTACLE + OBSTACLE_VALUES
NUM_EVENTS: Final = FIRST_ROLL + len(THROWS)

ROLLS: Final = tuple(
    (FIRST_ROLL + place, factorial(DICE) // prod(factorial(times) for times in Counter(throw).values()))
    for place, throw in enumerate(THROWS)
)
"""The chance event of a throw: (id, number of ordered throws)."""


def move_id(square: int, direction: int, value: int) -> int:
    """The id of moving the obstacle on ``square`` by ``value`` squares along ``DIRECTIONS[direction]``."""
    return FIRST_MOVE + (square * len(DIRECTIONS) + direction) * OBSTACLE_VALUES + value - 1


def _events() -> Iterator[Event]:
    """Every event, in the order of the ids."""
    squares = [divmod(square, SIZE) for square in range(SQUARES)]
    for dice in ASSIGNMENTS:
        yield Assign(dice, rightwards=True)
        yield Assign(dice, rightwards=False)
    yield from (To(row, column) for row, column in squares)
    yield from (Put(row, column) for row, column in squares)
    for row, column in squares:
        for down, right in DIRECTIONS:
            for value in range(1, OBSTACLE_VALUES + 1):
                yield Move(row, column, row + value * down, column + value * right)
    yield Timeout()
    yield from (Drawn("pad", offset) for offset in range(PAD_OFFSETS))
    yield from (Drawn("zone", column) for column in range(SIZE))
    yield from (Drawn("balloon", colour) for colour in range(len(COLOURS)))
    yield from (Drawn("card", colour) for colour in range(len(COLOURS)))
    yield from (Drawn("order", card) for card in range(1, len(ORDER_CARDS) + 1))
    yield from (Drawn("obstacle", value) for value in range(1, OBSTACLE_VALUES + 1))
    yield from (Roll(dice) for dice in THROWS)


_EVENTS: Final = tuple(_events())
_TEXTS: Final = tuple(map(str, _EVENTS))
_IDS: Final = {text: event for event, text in enumerate(_TEXTS)}


def typed(event: int) -> Event:
    """The typed form of an id. Raises MalformedAction."""
    if not 0 <= event < NUM_EVENTS:
        raise MalformedAction(f"ids of balloon-race are 0..{NUM_EVENTS - 1}, not {event}")
    return _EVENTS[event]


def text(event: int) -> str:
    """The canonical text of an id. Raises MalformedAction."""
    if not 0 <= event < NUM_EVENTS:
        raise MalformedAction(f"ids of balloon-race are 0..{NUM_EVENTS - 1}, not {event}")
    return _TEXTS[event]


def parse(text: str) -> int:
    """The id of a canonical text. Raises MalformedAction."""
    event = _IDS.get(text) if isinstance(text, str) else None
    if event is None:
        raise MalformedAction(f"{repr(text)[:40]} is no text of balloon-race; such are 'assign 24631>', 'move 4,4-7,7'")
    return event
