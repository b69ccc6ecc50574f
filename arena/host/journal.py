"""A claimed set's story in SQL. A record's file is on disk before the row that names it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Protocol, TypeVar

from sqlalchemy import Connection

from arena.errors import ArenaError, Fenced, Unavailable
from arena.host.play import Finished
from arena.host.sets import GameDeal, GameJob
from arena.host.store import Spooled, Store
from arena.ladder.settlement import Settlement, finish_set
from arena.storage import sets
from arena.storage.db import Database
from arena.storage.plans import Beginning, MatchResult, Recorded, SetPlan
from arena.storage.workers import LEASE_MS, WorkerLease
from botarena.v1.play_pb2 import RatingChange

log = logging.getLogger(__name__)
T = TypeVar("T")

RETRY_S: Final = 0.5


class SpoolLike(Protocol):
    """Results that wait on a disk."""

    def __iter__(self) -> Iterator[Spooled]: ...

    def drop(self, match_id: str) -> None:
        """SQL has it, or does not want it."""


class SqlJournal:
    """Writes under one claim. Every write can be repeated: the answer to a commit may be lost on its way."""

    def __init__(self, store: Store, plan: SetPlan, lease: WorkerLease) -> None:
        self._store = store
        self._plan = plan
        self._lease = lease
        self._left = len(plan.games)

    async def begin(self, deals: Sequence[GameDeal]) -> None:
        beginnings = [Beginning(deal.game.match_id, deal.game.attempt, deal.commitment, deal.secret) for deal in deals]
        await persist(
            self._store,
            lambda connection: sets.begin_attempts(connection, self._lease, self._plan.set_id, beginnings),
        )

    async def finished(self, game: GameJob, finished: Finished) -> Mapping[int, RatingChange]:
        digest = await self._store.keep_record(finished.record.to_bytes)
        self._left -= 1
        result = Spooled(self._lease, self._plan.set_id, _result(game, finished, digest), last=self._left == 0)
        settlement = await self._record(result)
        return {} if settlement is None else self._changes(settlement)

    async def _record(self, result: Spooled) -> Settlement | None:
        """The result into SQL; onto the disk first, where SQL does not take it at once."""
        try:
            return await self._store.in_transaction(lambda connection: record(connection, result))
        except Unavailable as error:
            log.warning("the result of match %s is spooled: %s", result.ended.match_id, error)
        await self._store.spool(result)
        try:
            settlement = await persist(self._store, lambda connection: record(connection, result))
        except Fenced:
            await self._store.unspool(result.ended.match_id)
            raise
        await self._store.unspool(result.ended.match_id)
        return settlement

    def _changes(self, settlement: Settlement) -> dict[int, RatingChange]:
        """Rating changes by position; a version that sits twice hears of it twice."""
        by_version = {change.version_id: change for change in settlement.changes}
        return {
            seat.position: RatingChange(
                ladder=settlement.ladder,
                set_id=settlement.set_id,
                before_milli=round(1000 * change.before),
                after_milli=round(1000 * change.after),
            )
            for seat in self._plan.seats
            if (change := by_version.get(seat.version_id))
        }


def record(connection: Connection, result: Spooled) -> Settlement | None:
    """Writes a match's result, and with the last one of its set what the set did. Raises Fenced."""
    recorded = sets.record_result(connection, result.lease, result.ended)
    if recorded is Recorded.QUARANTINED:
        log.error("match %s has another result already; this one is in quarantine", result.ended.match_id)
    return finish_set(connection, result.lease, result.set_id) if result.last else None


def write_spooled(database: Database, spool: SpoolLike) -> None:
    """Results that an earlier process of this worker could not write: they count while its claims stand.

    To be called before the worker registers anew, which ends those claims. Raises Unavailable.
    """
    for spooled in list(spool):
        match_id = spooled.ended.match_id
        try:
            with database.write() as connection:
                record(connection, spooled)
            log.warning("the spooled result of match %s is written", match_id)
        except Unavailable:
            raise
        except ArenaError as error:
            log.warning("the spooled result of match %s does not count: %s", match_id, error)
        spool.drop(match_id)


async def persist(store: Store, work: Callable[[Connection], T]) -> T:
    """A transaction that is tried again for as long as a lease lasts if the database does not answer."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + LEASE_MS / 1000
    while True:
        try:
            return await store.in_transaction(work)
        except Unavailable:
            if loop.time() > deadline:
                raise
            await asyncio.sleep(RETRY_S)


def _result(game: GameJob, finished: Finished, digest: str) -> MatchResult:
    outcome = finished.outcome
    return MatchResult(
        match_id=game.match_id,
        attempt=game.attempt,
        places=outcome.places,
        scores=outcome.scores,
        reasons=tuple(str(reason) for reason in outcome.reasons),
        record_digest=digest,
        record_head=finished.record.head.hex(),
        events=finished.events,
    )
