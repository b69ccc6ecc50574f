"""What a set is made of, what a worker is told to play, and what it reports."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final, Literal

from arena.match.deal import DealMode
from arena.settings import LadderSpec


class SetState(StrEnum):
    """Where a set is. The last three are final."""

    QUEUED = "QUEUED"
    CLAIMED = "CLAIMED"
    FINISHED = "FINISHED"
    VOID = "VOID"
    ERRORED = "ERRORED"


class Recorded(StrEnum):
    """What became of a result."""

    NEW = "NEW"
    SAME = "SAME"
    QUARANTINED = "QUARANTINED"


@dataclass(frozen=True, slots=True)
class NewSeat:
    """Who is to sit on a position of a new set. ``instance``: which process of the bot; empty for house bots."""

    version_id: int
    bot_id: int
    instance: str = ""


@dataclass(frozen=True, slots=True)
class SeatPlan:
    """Who plays on a position of a set."""

    position: int
    version_id: int
    bot_id: int
    bot: str
    version: str
    owner: str
    kind: Literal["house", "remote"]
    instance: str


@dataclass(frozen=True, slots=True)
class GamePlan:
    """A game still to be played. ``order`` names the position by seat."""

    match_id: str
    index: int
    attempt: int
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SetPlan:
    """Everything that a worker needs to play a set that it has claimed. ``seed``: of seeded deals."""

    set_id: str
    ladder: LadderSpec
    set_attempt: int
    rated: bool
    deal_mode: DealMode
    seats: tuple[SeatPlan, ...]
    games: tuple[GamePlan, ...]
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Beginning:
    """An attempt that begins. The secret is kept with it, unseen till the end, so that no crash can hide a deal."""

    match_id: str
    attempt: int
    commitment: bytes
    secret: bytes


@dataclass(frozen=True, slots=True)
class MatchResult:
    """How a match ended; places, scores and reasons by seat. Digest (of the file) and head (of the chain) are hex."""

    match_id: str
    attempt: int
    places: tuple[int, ...]
    scores: tuple[int, ...]
    reasons: tuple[str, ...]
    record_digest: str
    record_head: str
    events: int

    def to_json(self) -> dict[str, Any]:
        """All members by name."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @property
    def content_hash(self) -> str:
        """SHA-256 of all of it: two results of a match are the same result if this is equal."""
        return sha256(json.dumps(self.to_json(), sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def seating(players: int, index: int) -> tuple[int, ...]:
    """The positions by seat in game ``index`` of a set."""
    return tuple((seat + index) % players for seat in range(players))


def not_ready(bots: Sequence[str]) -> str:
    """The reason of a set that is void because these bots did not answer its offer."""
    return _NOT_READY + ", ".join(bots)


def bots_not_ready(reason: str) -> tuple[str, ...]:
    """The bots that :func:`not_ready` named; none if a set is void for another reason."""
    return tuple(reason.removeprefix(_NOT_READY).split(", ")) if reason.startswith(_NOT_READY) else ()


_NOT_READY: Final = "not ready: "
