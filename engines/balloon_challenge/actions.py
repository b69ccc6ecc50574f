"""Actions and chance outcomes: id, canonical text and typed form.

Ids: ``play`` of card 0..49, ``drop`` 50; then chance: ``start`` of seat 0..4 51..55, ``deal`` of card 0..49 56..105.
An action id to play a card is the card itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from engines.balloon_challenge.data import CARD_NAMES, CARDS, MAX_PLAYERS
from engines.game import MalformedAction


@dataclass(frozen=True, slots=True)
class Play:
    """Plays ``card`` 0..49 from the hand."""

    card: int


@dataclass(frozen=True, slots=True)
class Drop:
    """Drops out of the round."""


@dataclass(frozen=True, slots=True)
class Start:
    """Chance: ``seat`` starts the first round."""

    seat: int


@dataclass(frozen=True, slots=True)
class Deal:
    """Chance: ``card`` 0..49 is dealt, to the next hand in turn or to row 0."""

    card: int


Event: TypeAlias = Play | Drop | Start | Deal

DROP: Final = CARDS
NUM_ACTIONS: Final = CARDS + 1
START: Final = NUM_ACTIONS
"""Chance id of ``start 0``."""
DEAL: Final = START + MAX_PLAYERS
"""Chance id of ``deal R0``."""
NUM_CHANCE: Final = MAX_PLAYERS + CARDS

EVENTS: Final[tuple[Event, ...]] = (
    *(Play(card) for card in range(CARDS)),
    Drop(),
    *(Start(seat) for seat in range(MAX_PLAYERS)),
    *(Deal(card) for card in range(CARDS)),
)
TEXTS: Final = (
    *(f"play {name}" for name in CARD_NAMES),
    "drop",
    *(f"start {seat}" for seat in range(MAX_PLAYERS)),
    *(f"deal {name}" for name in CARD_NAMES),
)
_IDS: Final = {text: event for event, text in enumerate(TEXTS)}


def text_of(event: int) -> str:
    """The canonical text of an id. Raises MalformedAction."""
    _check(event)
    return TEXTS[event]


def typed_of(event: int) -> Event:
    """The typed form of an id. Raises MalformedAction."""
    _check(event)
    return EVENTS[event]


def id_of(text: str) -> int:
    """The id of a canonical text. Raises MalformedAction."""
    event = _IDS.get(text) if isinstance(text, str) else None
    if event is None:
        raise MalformedAction(f"{text!r} is no event of Balloon Challenge; an action is like 'play R5', or 'drop'")
    return event


def _check(event: int) -> None:
    if not 0 <= event < len(TEXTS):
        raise MalformedAction(f"event ids of Balloon Challenge are 0 to {len(TEXTS) - 1}, not {event}")
