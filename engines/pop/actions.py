"""Actions and chance outcomes of POP!: id, text and typed form.

Ids: ``play`` of one card 0..49, ``play`` of two cards 50..1274 (pairs in lexicographic order, lower card first), then chance:
``row``, ``deal``, ``draw`` and ``chief``, 50 ids each.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Final, TypeAlias

from engines.game import MalformedAction
from engines.pop.data import CARDS, Cards


@dataclass(frozen=True, slots=True)
class Play:
    """Choose one card of the hand."""

    card: int


@dataclass(frozen=True, slots=True)
class PlayPair:
    """Choose two cards of the hand, ``low < high`` (two-player variant)."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Row:
    """Chance: the next card of the first row, columns A to E."""

    card: int


@dataclass(frozen=True, slots=True)
class Deal:
    """Chance: a card dealt to a hand before the first turn."""

    card: int


@dataclass(frozen=True, slots=True)
class Draw:
    """Chance: a card drawn to a hand before a turn (two-player variant)."""

    card: int


@dataclass(frozen=True, slots=True)
class Chief:
    """Chance: a card for the Multicolour Chief, face up before the choices or face down, shown after them."""

    card: int


Event: TypeAlias = Play | PlayPair | Row | Deal | Draw | Chief

EVENTS: Final[tuple[Event, ...]] = (
    *(Play(card) for card in CARDS),
    *(PlayPair(low, high) for low, high in combinations(CARDS, 2)),
    *(Row(card) for card in CARDS),
    *(Deal(card) for card in CARDS),
    *(Draw(card) for card in CARDS),
    *(Chief(card) for card in CARDS),
)
"""By id."""

NUM_ACTIONS: Final = 50 + 1225
NUM_CHANCE: Final = 4 * 50

ROW: Final = NUM_ACTIONS
"""Chance ids: ``ROW + card - 1`` and so on."""
DEAL: Final = ROW + 50
DRAW: Final = DEAL + 50
CHIEF: Final = DRAW + 50


def _text(event: Event) -> str:
    if isinstance(event, PlayPair):
        return f"play {event.low}+{event.high}"
    return f"{type(event).__name__.lower()} {event.card}"


_TEXTS: Final = tuple(_text(event) for event in EVENTS)
_IDS: Final = {text: event for event, text in enumerate(_TEXTS)}
_PLAYED: Final[tuple[Cards, ...]] = (*((card,) for card in CARDS), *combinations(CARDS, 2))
_PLAYS: Final = {cards: action for action, cards in enumerate(_PLAYED)}

PAIRS_FROM: Final = (0, *(_PLAYS[low, 50] - 50 for low in range(1, 50)))
"""The id of the pair (low, high) is ``PAIRS_FROM[low] + high``."""


def text(event: int) -> str:
    """The canonical text of an id."""
    _check(event)
    return _TEXTS[event]


def parse(written: str) -> int:
    """The id of a canonical text."""
    try:
        return _IDS[written]
    except (KeyError, TypeError):
        raise MalformedAction(
            f"{written!r} is no action of pop: write `play 17` or, for two cards, `play 17+23`, lower card first"
        ) from None


def typed(event: int) -> Event:
    """The typed form of an id."""
    _check(event)
    return EVENTS[event]


def cards_of(action: int) -> Cards:
    """The card or the two cards that an action id plays."""
    if not 0 <= action < NUM_ACTIONS:
        raise MalformedAction(f"{action} is no action id of pop: they are 0 to {NUM_ACTIONS - 1}")
    return _PLAYED[action]


def _check(event: int) -> None:
    if not 0 <= event < len(EVENTS):
        raise MalformedAction(f"{event} is no id of pop: they are 0 to {len(EVENTS) - 1}")
