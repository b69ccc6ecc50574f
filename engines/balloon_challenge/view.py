"""What a seat may know: its own hand, everything on the table, and the hands that past rounds' scoring revealed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from engines.game import Json
from engines.game import View as BaseView

Cards: TypeAlias = tuple[int, ...]
"""Cards 0..49, an index into ``data.CARD_NAMES``; hands are ascending."""


@dataclass(frozen=True, slots=True)
class PastRound(BaseView):
    """A scored round. ``hands``, ``chips`` and ``points`` are by seat; the hands are what was left, public by scoring."""

    size: int
    hands: tuple[Cards, ...]
    chips: tuple[int, ...]
    points: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class View(BaseView):
    """What ``seat`` (None: a spectator) knows. Tuples over players are by seat.

    The table of the last round stays when the game is over.
    """

    seat: int | None
    players: int
    round: int
    """1..5."""
    start: int | None
    """Who starts the round; None before the game's first event."""
    turn: int | None
    """Whose decision is due; None at a chance event and when the game is over."""
    lap: int
    """The row that is being played, from 1; 0 if no decision is due."""
    pot: int
    """Chips in the middle, without the one put aside."""
    aside: bool
    """Whether the chip for the first to drop out is still there."""
    row0: Cards
    """Two players: the cards laid face up before the first lap, in order."""
    rows: tuple[Cards, ...]
    """Each seat's cards on the table, in order: the k-th of them lies in row k."""
    size: int
    """Cards on the table, row 0 included: what the balloon holds."""
    out: tuple[bool, ...]
    """Who has dropped out of this round."""
    hand: Cards
    """The seat's own cards; none for a spectator."""
    hand_sizes: tuple[int, ...]
    chips: tuple[int, ...]
    """Chips taken in this round."""
    totals: tuple[int, ...]
    """Points of the rounds scored so far."""
    past: tuple[PastRound, ...]
    """The rounds scored so far, in order."""


def past_from_json(doc: Json) -> PastRound:
    """The inverse of ``PastRound.to_json``."""
    return PastRound(
        size=doc["size"],
        hands=tuple(map(tuple, doc["hands"])),
        chips=tuple(doc["chips"]),
        points=tuple(doc["points"]),
    )


def view_from_json(doc: Json) -> View:
    """The inverse of ``View.to_json``."""
    return View(
        seat=doc["seat"],
        players=doc["players"],
        round=doc["round"],
        start=doc["start"],
        turn=doc["turn"],
        lap=doc["lap"],
        pot=doc["pot"],
        aside=doc["aside"],
        row0=tuple(doc["row0"]),
        rows=tuple(map(tuple, doc["rows"])),
        size=doc["size"],
        out=tuple(doc["out"]),
        hand=tuple(doc["hand"]),
        hand_sizes=tuple(doc["hand_sizes"]),
        chips=tuple(doc["chips"]),
        totals=tuple(doc["totals"]),
        past=tuple(map(past_from_json, doc["past"])),
    )
