"""Every state that is not final has a deadline. These functions find what is past it and say what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from sqlalchemy import Connection, and_, bindparam, or_, select, update

from arena.match.spec import VoidReason
from arena.storage.plans import SetState
from arena.storage.sets import end_void, void
from arena.storage.tables import game_set, now_ms, worker
from arena.storage.workers import WorkerLease

RING_AGAIN_MS: Final = 15_000
"""A queued set that nobody has claimed so long after the doorbell: it rings again."""
OVERDUE_MS: Final = 25_000
"""A queued set that nobody has claimed so long after it was queued: workers with room take it without being rung for."""
QUEUE_LIMIT_MS: Final = 10 * 60_000
"""A queued set that nobody has claimed for so long is given up: its seats are held for nothing."""

_LAPSED: Final = (
    select(game_set)
    .join(worker, worker.c.id == game_set.c.worker_id)
    .where(
        game_set.c.state == SetState.CLAIMED,
        or_(
            worker.c.epoch > game_set.c.epoch,
            # Of a newer start than the worker's row tells this is not known: PostgreSQL locks a set as it is now, and
            # joins it with a worker as it was when the statement began.
            and_(worker.c.epoch == game_set.c.epoch, worker.c.lease_until < now_ms()),
            game_set.c.claimed_at + game_set.c.budget_ms < now_ms(),
        ),
    )
    .with_for_update(of=game_set, skip_locked=True)
)
_WAITING: Final = game_set.c.state == SetState.QUEUED
_STALE: Final = (
    select(game_set).where(_WAITING, game_set.c.queued_at + QUEUE_LIMIT_MS < now_ms()).with_for_update(skip_locked=True)
)
_RING: Final = (
    update(game_set)
    .where(_WAITING, game_set.c.rung_at + RING_AGAIN_MS < now_ms())
    .values(rung_at=now_ms())
    .returning(game_set.c.id)
)
_HELD: Final = (
    select(game_set)
    .where(
        game_set.c.state == SetState.CLAIMED,
        game_set.c.worker_id == bindparam("lease_id"),
        game_set.c.epoch == bindparam("lease_epoch"),
    )
    .with_for_update()
)
_OVERDUE: Final = (
    select(game_set.c.id)
    .where(_WAITING, game_set.c.queued_at + OVERDUE_MS < now_ms())
    .order_by(game_set.c.queued_at)
    .limit(bindparam("room"))
)


def sweep_claims(connection: Connection) -> tuple[str, ...]:
    """Takes sets from workers that are gone or too slow: void, to be played again. Returns the sets' ids."""
    rows = connection.execute(_LAPSED).all()
    for row in rows:
        void(connection, row, VoidReason.INFRA_VOID)
    return tuple(row.id for row in rows)


def sweep_queue(connection: Connection) -> tuple[str, ...]:
    """Gives up sets that waited too long; returns the ids of those for which the doorbell is to ring again."""
    for row in connection.execute(_STALE).all():
        end_void(connection, row, SetState.VOID, VoidReason.INFRA_VOID)
    return tuple(connection.execute(_RING).scalars())


def sweep_strays(connection: Connection, lease: WorkerLease, playing: Callable[[], Collection[str]]) -> tuple[str, ...]:
    """Gives back sets that this worker holds and does not play: the answer to a claim, or the giving up, got lost.

    ``playing`` is asked while the sets are locked: a set that is in it from before its claim to after its end is safe.
    """
    held = connection.execute(_HELD, lease.parameters).all()
    strays = [row for row in held if row.id not in playing()]
    for row in strays:
        void(connection, row, VoidReason.INFRA_VOID)
    return tuple(row.id for row in strays)


def overdue_sets(connection: Connection, limit: int) -> tuple[str, ...]:
    """The sets that have waited longest, as many as a worker has room for, if no doorbell seems to reach anybody."""
    if limit <= 0:
        return ()
    return tuple(connection.execute(_OVERDUE, {"room": limit}).scalars())
