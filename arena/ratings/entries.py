"""What a ladder's ledger consists of: everything that changes a rating is one of these, in one dense sequence.

Bots are named by the id of their version. Results are kept as places alone, so that the arithmetic of ratings can be
folded again from nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class SetResult:
    """A finished, rated set.

    ``versions`` by position. ``places[game][position]`` is 1..n with ties shared; every position has been seated
    everywhere once when the set has n games.
    """

    set_id: str
    versions: tuple[int, ...]
    places: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class SetVoid:
    """A set that was to be rated and ended without a result. For the audit trail: changes no rating."""

    set_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A version joins the ladder. ``predecessor``: the version of the same bot whose rating it starts with."""

    version: int
    rating: float
    predecessor: int | None = None


@dataclass(frozen=True, slots=True)
class AnchorSet:
    """From here on the version's rating is frozen at ``rating``."""

    version: int
    rating: float


@dataclass(frozen=True, slots=True)
class Recentring:
    """``delta`` is added to all ratings but the anchors'."""

    delta: float


LedgerEntry: TypeAlias = SetResult | SetVoid | Entry | AnchorSet | Recentring
