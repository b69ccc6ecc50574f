"""The scheduler as a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Sequence
from typing import Final

from arena import metrics
from arena.doorbell import Doorbell
from arena.errors import ArenaError, Unavailable
from arena.gateway.registry import SessionRegistry, connect_redis
from arena.ladder.desk import OnlineBot
from arena.ladder.entry import open_ladders
from arena.ladder.scheduler import Scheduler
from arena.live import publisher
from arena.settings import Settings
from arena.storage.db import Database

OFFICIAL_S: Final = 60

log = logging.getLogger(__name__)


class _Snapshot:
    """Who was connected when the registry was last asked."""

    def __init__(self, registry: SessionRegistry) -> None:
        self._registry = registry
        self._online: tuple[OnlineBot, ...] | None = None

    async def refresh(self) -> None:
        try:
            sessions = await self._registry.list_online()
        except Unavailable as error:
            log.warning("sessions are not known: %s", error)
            self._online = None
            return
        self._online = tuple(map(OnlineBot.of, sessions))

    def online(self) -> Sequence[OnlineBot]:
        if self._online is None:
            raise Unavailable("the registry of sessions does not answer")
        return self._online


async def serve(settings: Settings) -> None:
    """Rounds until SIGTERM or SIGINT. A round that fails is told in the log and tried again."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    redis_url = settings.required_redis()
    database = Database(settings.database_url)
    database.refuse_newer()
    with database.write() as connection:
        open_ladders(connection, settings.ladders)
    redis = connect_redis(redis_url)
    snapshot = _Snapshot(SessionRegistry(redis))
    scheduler = Scheduler(
        database,
        settings.scheduler,
        snapshot,
        ring=Doorbell(redis_url).ring,
        publish=publisher(redis_url),
        slots_a_worker=settings.worker.max_sets,
    )
    metrics.serve(settings.scheduler.metrics_listen)
    officials = asyncio.create_task(_officials(scheduler, stop))
    lateness = asyncio.create_task(metrics.watch_loop())
    while not stop.is_set():
        await snapshot.refresh()
        try:
            await asyncio.to_thread(scheduler.round)
        except ArenaError as error:
            log.warning("no sets this time: %s", error)
        try:
            async with asyncio.timeout(settings.scheduler.interval_ms / 1000):
                await stop.wait()
        except TimeoutError:
            continue
    lateness.cancel()
    await officials
    await asyncio.to_thread(scheduler.close)
    await redis.aclose()
    database.close()


async def _officials(scheduler: Scheduler, stop: asyncio.Event) -> None:
    """Looks each minute whether an official table is due; beside the rounds, which go on while one is computed."""
    while not stop.is_set():
        try:
            await asyncio.to_thread(scheduler.make_official)
        except ArenaError as error:
            log.warning("no official table this time: %s", error)
        except Exception:
            log.exception("the official table failed; it is tried again in a minute")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(OFFICIAL_S):
                await stop.wait()
