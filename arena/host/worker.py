"""A worker process's runtime: one event loop in a thread of its own, on which many sets are played at once.

The Celery task blocks on :meth:`Worker.play`, so that the pool's concurrency is the number of sets admitted, and a warm
shutdown waits for what runs; sets with slow clocks play on without their task. What is played and written is ``arena.host.player``'s business.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from functools import partial

from arena import metrics
from arena.errors import ArenaError, Unavailable
from arena.gateway.registry import SessionRegistry, connect_redis
from arena.gateway.relay import dial_grpc
from arena.gateway.tls import relay_channel_credentials
from arena.host.blackbox import BlackBox
from arena.host.broadcast import Broadcast
from arena.host.house import HouseBots
from arena.host.journal import write_spooled
from arena.host.player import SetPlayer
from arena.host.remote import Gateways
from arena.host.store import ThreadedStore
from arena.host.watchdog import EXIT_STATUS, LoopWatch
from arena.keys import load_or_create
from arena.loops import new_event_loop
from arena.match.spec import VoidReason
from arena.settings import Settings
from arena.storage import sets
from arena.storage.db import Database

log = logging.getLogger(__name__)


class Worker:
    """Claims sets and plays them. ``play`` may be called from any thread between ``start`` and ``stop``."""

    def __init__(self, settings: Settings, name: str) -> None:
        self._settings = settings
        self._name = name
        self._loop = new_event_loop()
        self._thread = threading.Thread(target=self._run, name="sets", daemon=True)
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._database = Database(settings.database_url)
        self._store = ThreadedStore(self._database, settings.data_dir, name)
        self._broadcast = Broadcast()
        self._box = BlackBox(settings.data_dir / "crashes", name)
        self._player = SetPlayer(
            name,
            self._store,
            load_or_create(settings.data_dir),
            max_sets=settings.worker.max_sets,
            broadcast=self._broadcast.of,
            watched=self._box.watch,
        )
        self._watch = LoopWatch(self._loop, self._void_stuck)
        self._stopping = asyncio.Event()

    def start(self) -> None:
        """Registers the worker and begins its heartbeat. Raises ArenaError if the database does not answer."""
        self._database.refuse_newer()
        write_spooled(self._database, self._store.spooled)
        blame_crash(self._database, self._box)
        self._box.open()
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure
        self._watch.start()

    def play(self, set_id: str) -> None:
        """Plays a set to its end, or returns at once if it is slow or not to be had. Blocks the calling thread."""
        asyncio.run_coroutine_threadsafe(self._player.play(set_id), self._loop).result()

    def stop(self) -> None:
        """Ends what still runs without a result, gives up the lease, and ends the bots that were started here."""
        self._watch.stop()
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()
        self._box.close()
        self._store.close()
        self._database.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._main())
        except Exception as error:
            log.exception("this worker's loop has failed")
            if self._ready.is_set():
                os._exit(EXIT_STATUS)  # Celery's threads would take doorbells and answer none.
            self._failure = error
            self._ready.set()
        self._loop.close()

    async def _main(self) -> None:
        redis = connect_redis(self._settings.required_redis())
        dial = partial(dial_grpc, credentials=relay_channel_credentials(self._settings.relay))

        async def pulse() -> None:
            try:
                await metrics.Snapshots.publish(redis, self._name)
            except Unavailable as error:
                log.info("no numbers for the dashboard: %s", error)

        async with (
            HouseBots(self._settings.data_dir / "logs") as house,
            Gateways(SessionRegistry(redis), self._name, lambda: self._player.lease.epoch, dial=dial) as gateways,
        ):
            await self._player.register()
            self._loop.call_soon(self._ready.set)
            beside = [self._loop.create_task(one) for one in (metrics.watch_loop(), self._broadcast.run(redis))]
            await self._player.run(house, gateways, self._stopping, pulse)
            for task in beside:
                task.cancel()
        await redis.aclose()

    def _void_stuck(self, set_id: str | None) -> None:
        """The set in which the rules did not return; the others of this process are taken by the sweeper."""
        if set_id is None:
            return
        try:
            with self._database.write() as connection:
                sets.void_attempts(connection, self._player.lease, set_id, VoidReason.ENGINE_ERROR)
        except ArenaError as error:
            log.critical("cannot void the set %s that never ends: %s", set_id, error)


def blame_crash(database: Database, box: BlackBox) -> None:
    """If the process before this one crashed in a set's code, that is an engine error of the set. Raises Unavailable."""
    if (crash := box.read()) is None:
        return
    log.critical("the process before this one crashed in set %s: %s", crash.set_id, crash.trace)
    with database.write() as connection:
        sets.blame(connection, crash.set_id, crash.attempt)
