"""A worker process's runtime: one event loop in a thread of its own, on which many sets are played at once.

The Celery task blocks on :meth:`Worker.play`, so that the pool's concurrency is the number of sets admitted, and a warm
shutdown waits for what runs.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Connection

from arena import metrics
from arena.errors import Fenced, Unavailable
from arena.host.house import HouseBots
from arena.host.play import Finished, Voided
from arena.host.port import Port
from arena.host.remote import Gateways
from arena.host.sets import GameDeal, GameJob, NotReady, SetJob, play_set
from arena.keys import load_or_create
from arena.ladder.settlement import Settlement, finish_set
from arena.loops import new_event_loop
from arena.match.spec import Player, VoidReason
from arena.settings import Settings
from arena.storage import sets
from arena.storage.db import Database
from arena.storage.plans import Beginning, MatchResult, Recorded, SeatPlan, SetPlan
from arena.storage.records import RecordStore
from arena.storage.workers import HEARTBEAT_S, LEASE_MS, WorkerLease, heartbeat, register_worker, retire_worker
from botarena.v1.play_pb2 import RatingChange

log = logging.getLogger(__name__)
T = TypeVar("T")

RETRY_S = 0.5
DATABASE_THREADS = 4


class Worker:
    """Claims sets and plays them. ``play`` may be called from any thread between ``start`` and ``stop``."""

    def __init__(self, settings: Settings, name: str) -> None:
        self._settings = settings
        self._name = name
        self._loop = new_event_loop()
        self._thread = threading.Thread(target=self._run, name="sets", daemon=True)
        self._ready = threading.Event()
        self._database = Database(settings.database_url)
        self._threads = ThreadPoolExecutor(DATABASE_THREADS, thread_name_prefix="sql")
        self._key = load_or_create(settings.data_dir)
        self._records = RecordStore(settings.data_dir)
        self._sets: set[asyncio.Task[None]] = set()
        self._lease: WorkerLease | None = None
        self._stopping = asyncio.Event()

    def start(self) -> None:
        """Registers the worker and begins its heartbeat. Raises ArenaError if the database does not answer."""
        with self._database.write() as connection:
            self._lease = register_worker(connection, self._name)
        self._thread.start()
        self._ready.wait()

    def play(self, set_id: str) -> None:
        """Plays a set to its end, or returns at once if it is not to be had. Blocks the calling thread."""
        asyncio.run_coroutine_threadsafe(self._admit(set_id), self._loop).result()

    def stop(self) -> None:
        """Ends what still runs without a result, gives up the lease, and ends the bots that were started here."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()
        self._threads.shutdown()
        self._database.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._main())
        self._loop.close()

    async def _main(self) -> None:
        async with (
            HouseBots(self._settings.data_dir / "logs") as self._house,
            Gateways(self._settings.redis_url or "", self._name, lambda: self._held.epoch) as self._gateways,
        ):
            beat = asyncio.create_task(self._beat())
            self._ready.set()
            await self._stopping.wait()
            beat.cancel()
            self._drop_sets()
            await asyncio.gather(beat, *self._sets, return_exceptions=True)
        await self._in_transaction(lambda connection: retire_worker(connection, self._held))

    @property
    def _held(self) -> WorkerLease:
        assert self._lease is not None, "start() comes first"
        return self._lease

    async def _beat(self) -> None:
        """Renews the lease. Whatever goes wrong for as long as the lease holds ends every set of this worker."""
        renewed = time.monotonic()
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            await self._publish_numbers()
            try:
                await self._in_transaction(lambda connection: heartbeat(connection, self._held))
                renewed = time.monotonic()
            except Fenced:
                log.error("the lease has lapsed; all sets of this worker end here")
                await self._register_again()
                renewed = time.monotonic()
            except Unavailable as error:
                log.warning("no heartbeat: %s", error)
                if time.monotonic() - renewed > LEASE_MS / 1000:
                    self._drop_sets()

    async def _publish_numbers(self) -> None:
        """Gives dashboards this process's numbers; without Redis they do without."""
        try:
            await metrics.Snapshots.publish(self._gateways.redis, self._name)
        except Unavailable as error:
            log.info("no numbers for the dashboard: %s", error)

    def _drop_sets(self) -> None:
        for playing in self._sets:
            playing.cancel()

    async def _register_again(self) -> None:
        self._drop_sets()
        while True:
            try:
                self._lease = await self._in_transaction(lambda connection: register_worker(connection, self._name))
                return
            except Unavailable:
                await asyncio.sleep(RETRY_S)

    async def _admit(self, set_id: str) -> None:
        playing = asyncio.create_task(self._play(set_id))
        self._sets.add(playing)
        try:
            await asyncio.gather(playing, return_exceptions=True)
        finally:
            self._sets.discard(playing)

    async def _play(self, set_id: str) -> None:
        """One set under one claim. A bot's fault is in its result; whatever else goes wrong voids it."""
        lease = self._held
        plan = await self._in_transaction(lambda connection: sets.claim(connection, set_id, lease))
        if plan is None:
            return
        journal = _SqlJournal(self, plan, lease)
        ports = _WorkerPorts(plan.seats, self._house, self._gateways)
        try:
            await play_set(_job(plan), ports, journal, self._key)
        except NotReady as error:
            names = ", ".join(plan.seats[position].bot for position in error.positions)
            await self._give_up(lambda c: sets.release_set(c, lease, set_id, f"not ready: {names}"))
        except Voided as error:
            log.warning("set %s is void: %s", set_id, error)
            metrics.VOIDS.labels(str(error.reason)).inc()
            reason = error.reason
            await self._give_up(lambda c: sets.void_attempts(c, lease, set_id, reason))
        except Fenced as error:
            log.warning("set %s is not ours any more: %s", set_id, error)
        except asyncio.CancelledError:
            await asyncio.shield(self._give_up(lambda c: sets.void_attempts(c, lease, set_id, VoidReason.INFRA_VOID)))
            raise
        except Exception:
            log.exception("set %s failed in the arena itself", set_id)
            metrics.VOIDS.labels(str(VoidReason.INFRA_VOID)).inc()
            await self._give_up(lambda c: sets.void_attempts(c, lease, set_id, VoidReason.INFRA_VOID))
        finally:
            ports.release()

    async def _give_up(self, write: Callable[[Connection], object]) -> None:
        """Says that a set ends without a result; if that cannot be written the sweeper finds out by the lease."""
        try:
            await self._in_transaction(write)
        except (Fenced, Unavailable) as error:
            log.warning("cannot give a set up: %s", error)

    async def _in_transaction(self, work: Callable[[Connection], T]) -> T:
        """Runs ``work`` in a write transaction in a thread."""

        def run() -> T:
            with self._database.write() as connection:
                return work(connection)

        return await self._loop.run_in_executor(self._threads, run)

    async def persist(self, work: Callable[[Connection], T]) -> T:
        """As ``_in_transaction``, but a database that does not answer is asked again as long as the lease holds."""
        deadline = time.monotonic() + LEASE_MS / 1000
        while True:
            try:
                return await self._in_transaction(work)
            except Unavailable:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(RETRY_S)

    async def keep_record(self, finished: Finished) -> str:
        """Writes a record file, fsynced, and returns its digest."""
        data = finished.record.to_bytes
        return await self._loop.run_in_executor(self._threads, lambda: self._records.write(data()))


class _SqlJournal:
    """A claimed set's story in SQL. The record's file is on disk before the row that names it."""

    def __init__(self, worker: Worker, plan: SetPlan, lease: WorkerLease) -> None:
        self._worker = worker
        self._plan = plan
        self._lease = lease
        self._left = len(plan.games)

    async def begin(self, deals: Sequence[GameDeal]) -> None:
        beginnings = [Beginning(deal.game.match_id, deal.game.attempt, deal.commitment, deal.secret) for deal in deals]
        await self._worker.persist(
            lambda connection: sets.begin_attempts(connection, self._lease, self._plan.set_id, beginnings)
        )

    async def finished(self, game: GameJob, finished: Finished) -> Mapping[int, RatingChange]:
        digest = await self._worker.keep_record(finished)
        outcome = finished.outcome
        ended = MatchResult(
            match_id=game.match_id,
            attempt=game.attempt,
            places=outcome.places,
            scores=outcome.scores,
            reasons=tuple(str(reason) for reason in outcome.reasons),
            record_digest=digest,
            record_head=finished.record.head.hex(),
            events=finished.events,
        )
        self._left -= 1

        def write(connection: Connection) -> Settlement | None:
            recorded = sets.record_result(connection, self._lease, ended)
            if recorded is Recorded.QUARANTINED:
                log.error("match %s has another result already; this one is in quarantine", ended.match_id)
            return finish_set(connection, self._lease, self._plan.set_id) if self._left == 0 else None

        settlement = await self._worker.persist(write)
        return {} if settlement is None else self._changes(settlement)

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


class _WorkerPorts:
    """The sessions of a set's bots: house bots are processes of this worker, the others are at gateways."""

    def __init__(self, seats: Sequence[SeatPlan], house: HouseBots, gateways: Gateways) -> None:
        self._seats = seats
        self._house = house
        self._gateways = gateways
        self._remote: dict[int, Port] = {}

    async def open(self, position: int) -> Port:
        seat = self._seats[position]
        if seat.kind == "house":
            return await self._house.port(seat.bot, seat.version)
        if position not in self._remote:
            self._remote[position] = await self._gateways.acquire(seat.bot_id, seat.instance)
        return self._remote[position]

    async def close_game(self) -> None:
        pass

    def release(self) -> None:
        """The set is over."""
        for position in self._remote:
            self._gateways.release(self._seats[position].bot_id, self._seats[position].instance)


def _job(plan: SetPlan) -> SetJob:
    return SetJob(
        set_id=plan.set_id,
        attempt=plan.set_attempt,
        game=plan.ladder.game,
        config=plan.ladder.config,
        players=tuple(Player(seat.bot, seat.version, seat.owner) for seat in plan.seats),
        games=tuple(GameJob(game.match_id, game.index, game.attempt, game.order) for game in plan.games),
        time_control=plan.ladder.time_control,
        deal_mode=plan.deal_mode,
        rated=plan.rated,
    )
