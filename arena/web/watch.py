"""What this process sees of the whole arena: who is connected, how fast bots answer, and how that went lately."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from arena import live
from arena.doorbell import QUEUE
from arena.durations import Durations
from arena.endless import again_and_again
from arena.errors import Unavailable
from arena.gateway.registry import OnlineSession, SessionRegistry
from arena.metrics import Snapshot, Snapshots

log = logging.getLogger(__name__)

EVERY_S: Final = 2.0
WINDOW_S: Final = 60.0
KEPT: Final = 150
RETRY_S: Final = 1.0
OUTAGES: Final = 20
"""The last so many times that Redis did not answer are remembered."""
UNACKED: Final = "unacked"
"""Celery's own name, on Redis."""


@dataclass(frozen=True, slots=True)
class Switchboard:
    """How Redis is. ``doorbells``: Celery's tasks that no worker has taken; ``unacked``: taken and not yet begun."""

    doorbells: int
    unacked: int
    memory_bytes: int
    clients: int


@dataclass(frozen=True, slots=True)
class Sample:
    """One look. ``recent``: the decisions of the last minute; ``at`` on the monotonic clock, in seconds."""

    at: float
    sessions: tuple[OnlineSession, ...]
    snapshot: Snapshot
    recent: Durations
    switchboard: Switchboard


class Watch:
    """Looks at Redis every other second; without Redis there is simply nothing to see."""

    def __init__(self, redis: Redis | None, on_event: Callable[[], None]) -> None:
        """``on_event`` is called when something has happened anywhere in the arena."""
        self._redis = redis
        self._registry = SessionRegistry(redis) if redis is not None else None
        self._on_event = on_event
        self._samples: deque[Sample] = deque(maxlen=KEPT)
        self.up = False
        """Whether Redis answered the last time."""
        self._outages: deque[tuple[int, int | None]] = deque(maxlen=OUTAGES)

    @property
    def last(self) -> Sample | None:
        """The newest sample, if Redis answers."""
        return self._samples[-1] if self._samples and self.up else None

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The last five minutes, oldest first."""
        return tuple(self._samples)

    @property
    def online(self) -> frozenset[int]:
        """Version ids with a connected process."""
        return frozenset(session.version_id for session in self.last.sessions) if self.last else frozenset()

    @property
    def outages(self) -> tuple[tuple[int, int | None], ...]:
        """When Redis did not answer this process, from and until, in ms since 1970; None: until now. Oldest first."""
        return tuple(self._outages)

    async def run(self) -> None:
        """Until cancelled."""
        if self._redis is None:
            return
        await asyncio.gather(
            again_and_again(self._look_and_note, pause_s=EVERY_S, what="looking at the arena", log=log),
            again_and_again(self._listen, pause_s=RETRY_S, what="listening to events", log=log),
        )

    async def look(self) -> None:
        """One look. Raises Unavailable."""
        assert self._redis is not None
        assert self._registry is not None
        sessions = tuple(await self._registry.list_online())
        snapshot = await Snapshots.read(self._redis)
        now = time.monotonic()
        earlier = next((one for one in self._samples if now - one.at <= WINDOW_S), None)
        recent = snapshot.decisions.since(earlier.snapshot.decisions) if earlier else snapshot.decisions
        self._samples.append(Sample(now, sessions, snapshot, recent, await _switchboard(self._redis)))

    async def _look_and_note(self) -> None:
        try:
            await self.look()
            self._note(up=True)
        except Unavailable as error:
            if self.up:
                log.warning("%s; pages show what SQL says", error)
            self._note(up=False)

    def _note(self, *, up: bool) -> None:
        now = time.time_ns() // 1_000_000
        under_way = bool(self._outages) and self._outages[-1][1] is None
        if up and under_way:
            self._outages[-1] = self._outages[-1][0], now
        elif not up and not under_way:
            self._outages.append((now, None))
        self.up = up

    async def _listen(self) -> None:
        assert self._redis is not None
        with contextlib.suppress(Unavailable):
            async for _ in live.events(self._redis):
                self._on_event()


async def _switchboard(redis: Redis) -> Switchboard:
    try:
        async with redis.pipeline(transaction=False) as pipeline:
            pipeline.llen(QUEUE)
            pipeline.hlen(UNACKED)
            pipeline.info("memory")
            pipeline.info("clients")
            doorbells, unacked, memory, clients = await pipeline.execute()
    except RedisError as error:
        raise Unavailable(f"Redis does not answer: {error}") from None
    return Switchboard(doorbells, unacked, memory["used_memory"], clients["connected_clients"])
