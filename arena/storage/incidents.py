"""What went wrong lately and was the arena's own doing, as far as SQL remembers it. Read only. Times are ms since 1970."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import Connection, literal, select

from arena.match.spec import VoidReason
from arena.storage.plans import SetState
from arena.storage.tables import attempt, database_time, game_set, now_ms, quarantine, worker

HOUR_MS: Final = 3_600_000
SINCE_MS: Final = 7 * 24 * HOUR_MS
VOID: Final = literal("VOID", literal_execute=True)
"""Written into the statement: a partial index serves nothing whose value is not known when it is planned."""


class IncidentKind(StrEnum):
    """What happened."""

    BROKEN_OFF = "BROKEN_OFF"
    """Matches were void because a worker, a gateway or a queue was lost or too slow; they are played again."""
    ENGINE_ERROR = "ENGINE_ERROR"
    """Matches were void because a game's rules failed; they are played again."""
    GIVEN_UP = "GIVEN_UP"
    """Sets were given up: their game failed again and again."""
    WORKER_LOST = "WORKER_LOST"
    """Workers ended without a word, and what they played was taken from them."""
    CONTRADICTION = "CONTRADICTION"
    """Results contradicted others, and wait for a person."""
    REDIS_OUTAGE = "REDIS_OUTAGE"
    """Redis did not answer this web process."""


@dataclass(frozen=True, slots=True)
class Incident:
    """How often something happened from ``at`` to ``until``; null: it still goes on."""

    kind: IncidentKind
    at: int
    until: int | None
    count: int


def incidents(connection: Connection, limit: int = 50) -> tuple[Incident, ...]:
    """Of the last seven days, by the hour, newest first."""
    found: dict[tuple[IncidentKind, int], int] = {}
    for kind, times in _times(connection):
        for at in times:
            key = kind, at // HOUR_MS
            found[key] = found.get(key, 0) + 1
    rows = [Incident(kind, hour * HOUR_MS, (hour + 1) * HOUR_MS, count) for (kind, hour), count in found.items()]
    return tuple(sorted(rows, key=lambda one: (-one.at, one.kind))[:limit])


def _times(connection: Connection) -> list[tuple[IncidentKind, list[int]]]:
    """When each kind of thing happened."""
    since = database_time(connection) - SINCE_MS
    void = select(attempt.c.ended_at).where(attempt.c.outcome == VOID, attempt.c.ended_at >= since)
    queries = {
        IncidentKind.BROKEN_OFF: void.where(attempt.c.reason == VoidReason.INFRA_VOID),
        IncidentKind.ENGINE_ERROR: void.where(attempt.c.reason == VoidReason.ENGINE_ERROR),
        IncidentKind.GIVEN_UP: select(game_set.c.finished_at).where(
            game_set.c.state == SetState.ERRORED, game_set.c.queued_at >= since
        ),
        # A worker that ends in order gives its lease back.
        IncidentKind.WORKER_LOST: select(worker.c.lease_until).where(
            worker.c.lease_until >= since, worker.c.lease_until < now_ms()
        ),
        IncidentKind.CONTRADICTION: select(quarantine.c.created_at).where(quarantine.c.created_at >= since),
    }
    return [(kind, [*connection.execute(query).scalars()]) for kind, query in queries.items()]
