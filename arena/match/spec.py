"""Everything that is settled before the first event of a match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import log10
from typing import Any, Final

import engines
from arena.match.deal import Deal

DECISIONS: Final = 40
"""How often the increment is counted for a clock's pace, as chess servers do."""
USUAL_PACE: Final = 4


class SeatReason(StrEnum):
    """How a seat's game ended. All but NORMAL are faults of the bot, and rated."""

    NORMAL = "NORMAL"
    TIMEOUT = "TIMEOUT"
    ILLEGAL = "ILLEGAL"
    MALFORMED = "MALFORMED"
    BOT_CRASH = "BOT_CRASH"
    DISCONNECT = "DISCONNECT"


class VoidReason(StrEnum):
    """Why an attempt has no result. Never a bot's doing; the match is played again."""

    INFRA_VOID = "INFRA_VOID"
    ENGINE_ERROR = "ENGINE_ERROR"


@dataclass(frozen=True, slots=True)
class TimeControl:
    """Bank, increment a decision and cap a decision, in ms; ``move_cap_ms`` 0 means no cap."""

    bank_ms: int = 10_000
    increment_ms: int = 100
    move_cap_ms: int = 3_000

    @property
    def pace(self) -> int:
        """The order of magnitude of a player's time for a game: 4 for 10 to 100 s, 5 for up to a quarter of an hour, ..."""
        return int(log10(max(1, self.bank_ms + DECISIONS * self.increment_ms)))

    @property
    def slow(self) -> bool:
        """Whether games may last much longer than usual ones."""
        return self.pace > USUAL_PACE

    def to_json(self) -> dict[str, int]:
        return {"bank_ms": self.bank_ms, "increment_ms": self.increment_ms, "move_cap_ms": self.move_cap_ms}


@dataclass(frozen=True, slots=True)
class Player:
    """Who sits on a seat."""

    bot: str
    version: str
    owner: str

    def to_json(self) -> dict[str, str]:
        return {"bot": self.bot, "version": self.version, "owner": self.owner}


@dataclass(frozen=True, slots=True)
class Spec:
    """Everything needed to play a match. ``seats`` in seat order; ``game_index`` counts the games of the set from 0.

    ``bot_seeds``: by seat, for the bots' own randomness; unrelated to the deal, and on record so that a rerun can repeat.
    """

    match_id: str
    set_id: str
    attempt: int
    game_index: int
    game: str
    config: Mapping[str, bool | int]
    seats: tuple[Player, ...]
    time_control: TimeControl
    deal: Deal
    rated: bool
    bot_seeds: tuple[int, ...]

    def new_state(self) -> engines.State:
        """The first state. Raises engines.GameError if game, players or config do not exist here."""
        return engines.get(self.game).new_state(len(self.seats), **self.config)

    def to_json(self) -> dict[str, Any]:
        """The members of a record's header that say what is played."""
        return {
            "game": self.game,
            "players": len(self.seats),
            "config": dict(self.config),
            "match_id": self.match_id,
            "set_id": self.set_id,
            "attempt": self.attempt,
            "game_index": self.game_index,
            "rated": self.rated,
            "seats": [seat.to_json() for seat in self.seats],
            "time_control": self.time_control.to_json(),
            "deal": self.deal.to_json(),
            "bot_seeds": list(self.bot_seeds),
        }

    @classmethod
    def from_json(cls, doc: Mapping[str, Any], secret: bytes | None) -> Spec:
        """The inverse of ``to_json``; the secret is not in a header, so the caller adds it (None: not known yet)."""
        return cls(
            match_id=doc["match_id"],
            set_id=doc["set_id"],
            attempt=doc["attempt"],
            game_index=doc["game_index"],
            game=doc["game"],
            config=doc["config"],
            seats=tuple(Player(**seat) for seat in doc["seats"]),
            time_control=TimeControl(**doc["time_control"]),
            deal=Deal.from_json(doc["deal"], secret),
            rated=doc["rated"],
            bot_seeds=tuple(doc["bot_seeds"]),
        )
