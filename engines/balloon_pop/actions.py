"""Actions and chance outcomes in their three forms: id, canonical text, frozen dataclass.

The ids are the positions in one table. Actions: ``card 1``..``card 10``; ``group 1``..``group 4``; the placements, vertical
ones first, then by column, unreversed before reversed, and by the dropped position (none first); ``discard``; the pops
by kind (r g b y w *), then by cell (column, then row). Chance outcomes: ``first 0``..``first 3``; ``draw r``..``draw w``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from engines.balloon_pop.data import CARDS, COLUMNS, GROUP_SIZE, KINDS, MAX_PLAYERS, ROWS, SET_KINDS
from engines.game import MalformedAction

Orientation: TypeAlias = Literal["V", "H"]


@dataclass(frozen=True, slots=True)
class PlayCard:
    """``card 7``: plays the card of this value, 1 to 10, face up."""

    value: int

    def __str__(self) -> str:
        return f"card {self.value}"


@dataclass(frozen=True, slots=True)
class TakeGroup:
    """``group 2``: takes this group of cubes, numbered from 1 in the order drawn."""

    number: int

    def __str__(self) -> str:
        return f"group {self.number}"


@dataclass(frozen=True, slots=True)
class Place:
    """``V2``, ``H0r-4``: lays the group down or across, from ``column`` on to the right.

    ``drop`` is the position, from 1 as drawn, of the cube that goes to the discard first; 0 drops none.
    """

    orientation: Orientation
    column: int
    reversed: bool
    drop: int

    def __str__(self) -> str:
        dropped = f"-{self.drop}" if self.drop else ""
        return f"{self.orientation}{self.column}{'r' if self.reversed else ''}{dropped}"


@dataclass(frozen=True, slots=True)
class Discard:
    """``discard``: the group fits nowhere and goes to the discard."""

    def __str__(self) -> str:
        return "discard"


@dataclass(frozen=True, slots=True)
class Pop:
    """``pop r@2,0``: scores the set of this kind (r g b y, w neutrals alone, * symbols) whose least cell is given."""

    kind: str
    column: int
    row: int

    def __str__(self) -> str:
        return f"pop {self.kind}@{self.column},{self.row}"


@dataclass(frozen=True, slots=True)
class First:
    """Chance, ``first 2``: this seat begins round 1."""

    seat: int

    def __str__(self) -> str:
        return f"first {self.seat}"


@dataclass(frozen=True, slots=True)
class Draw:
    """Chance, ``draw R``: the next cube out of the bag."""

    cube: str

    def __str__(self) -> str:
        return f"draw {self.cube}"


Action: TypeAlias = PlayCard | TakeGroup | Place | Discard | Pop
Outcome: TypeAlias = First | Draw

_ORIENTATIONS: Final[tuple[Orientation, ...]] = ("V", "H")


def _actions() -> Iterator[Action]:
    yield from (PlayCard(value) for value in CARDS)
    yield from (TakeGroup(number + 1) for number in range(MAX_PLAYERS))
    for orientation in _ORIENTATIONS:
        for column in range(COLUMNS):
            for turned in (False, True):
                yield from (Place(orientation, column, turned, drop) for drop in range(GROUP_SIZE + 1))
    yield Discard()
    for kind in SET_KINDS:
        for column in range(COLUMNS):
            yield from (Pop(kind, column, row) for row in range(ROWS))


def _outcomes() -> Iterator[Outcome]:
    yield from (First(seat) for seat in range(MAX_PLAYERS))
    yield from (Draw(cube) for cube in KINDS)


ACTIONS: Final = tuple(_actions())
NUM_ACTIONS: Final = len(ACTIONS)
OUTCOMES: Final = tuple(_outcomes())
NUM_CHANCE: Final = len(OUTCOMES)
EVENTS: Final[tuple[Action | Outcome, ...]] = ACTIONS + OUTCOMES
TEXTS: Final = tuple(map(str, EVENTS))
IDS: Final = {text: event for event, text in enumerate(TEXTS)}

FIRST_CARD: Final = IDS["card 1"]
FIRST_GROUP: Final = IDS["group 1"]
FIRST_PLACEMENT: Final = IDS["V0"]
DISCARD: Final = IDS["discard"]
FIRST_POP: Final = IDS["pop r@0,0"]
FIRST_FIRST: Final = IDS["first 0"]
FIRST_DRAW: Final = IDS[f"draw {KINDS[0]}"]


def placement_id(vertical: bool, column: int, turned: bool, drop: int) -> int:
    """The id of a placement, without going through its text."""
    line = (0 if vertical else COLUMNS) + column
    return FIRST_PLACEMENT + (2 * line + turned) * (GROUP_SIZE + 1) + drop


def typed(event: int) -> Action | Outcome:
    """The dataclass of an id. Raises MalformedAction."""
    _check(event)
    return EVENTS[event]


def text(event: int) -> str:
    """The canonical text of an id. Raises MalformedAction."""
    _check(event)
    return TEXTS[event]


def parse(line: str) -> int:
    """The id of a canonical text. Raises MalformedAction."""
    event = IDS.get(line) if isinstance(line, str) else None
    if event is None:
        raise MalformedAction(
            f"balloon-pop has no {line!r}; there are e.g. 'card 7', 'group 2', 'V2r', 'H0-4', 'pop r@2,0'"
        )
    return event


def _check(event: int) -> None:
    if not 0 <= event < len(EVENTS):
        raise MalformedAction(f"balloon-pop has ids 0 to {len(EVENTS) - 1}, not {event}")
