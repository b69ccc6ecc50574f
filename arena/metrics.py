"""Prometheus metrics, each with one home. No label ever holds a match, and bots appear only in the top of a table."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from prometheus_client import REGISTRY, Counter, Gauge, start_http_server
from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from redis.asyncio import Redis
from redis.exceptions import RedisError

from arena.durations import NO_DURATIONS, DurationCounter, Durations
from arena.errors import Unavailable, UserError
from arena.settings import split_address

LATENESS_EVERY_S = 0.5

MATCHES = Counter("arena_matches_total", "Finished matches by how their worst seat ended.", ["game", "reason"])
VOIDS = Counter("arena_voided_attempts_total", "Attempts without a result, by reason.", ["reason"])
DECISIONS = Counter("arena_decisions_total", "Decisions asked of bots.", ["game"])
DECISION_TIMES: Final = DurationCounter()
"""From writing a request to the arrival of its answer, of each decision that a bot was asked for."""
SETS_RUNNING = Gauge("arena_sets_running", "Sets that this worker plays now.")
LOOP_LATENESS_SECONDS = Gauge("arena_loop_lateness_seconds", "How late this process's event loop last ran a timer.")


class _DecisionTimes(Collector):
    def collect(self) -> Iterator[Metric]:
        text = "Time from writing a request to the arrival of its answer."
        times = DECISION_TIMES.read()
        yield HistogramMetricFamily("arena_decision_seconds", text, times.buckets(), times.sum_s)


REGISTRY.register(_DecisionTimes())


async def watch_loop() -> None:
    """Measures until cancelled how late the running loop is."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + LATENESS_EVERY_S
        await asyncio.sleep(LATENESS_EVERY_S)
        LOOP_LATENESS_SECONDS.set(max(0.0, loop.time() - due))


def serve(listen: str) -> None:
    """Serves this process's metrics at ``host:port``, from a thread of its own.

    Raises UserError if the address cannot be had.
    """
    host, port = split_address(listen)
    try:
        start_http_server(port, addr=host)
    except OSError as error:
        raise UserError(f"cannot listen on {listen} for metrics: {error.strerror}") from None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a process, or all together, says of the sets it plays."""

    decisions: Durations = NO_DURATIONS
    sets_running: int = 0


class Snapshots:
    """What dashboards show of all workers together: each publishes its own numbers under a key that lapses."""

    INDEX: Final = "arena:metrics"
    TTL_MS: Final = 20_000

    @classmethod
    async def publish(cls, redis: Redis, process: str) -> None:
        """Publishes this process's numbers, to be called every few seconds. Raises Unavailable."""
        now = current()
        document = {"counts": now.decisions.counts, "sum_s": now.decisions.sum_s, "sets_running": now.sets_running}
        try:
            async with redis.pipeline(transaction=False) as pipeline:
                pipeline.sadd(cls.INDEX, process)
                pipeline.set(f"{cls.INDEX}:{process}", json.dumps(document), px=cls.TTL_MS)
                await pipeline.execute()
        except RedisError as error:
            raise Unavailable(f"Redis does not answer: {error}") from None

    @classmethod
    async def read(cls, redis: Redis) -> Snapshot:
        """The sum over all processes that live. Raises Unavailable."""
        try:
            names = sorted(_text(name) for name in await redis.smembers(cls.INDEX))
            texts = await redis.mget([f"{cls.INDEX}:{name}" for name in names]) if names else []
            if gone := [name for name, text in zip(names, texts, strict=True) if text is None]:
                await redis.srem(cls.INDEX, *gone)
        except RedisError as error:
            raise Unavailable(f"Redis does not answer: {error}") from None
        found = [_parsed(text) for text in texts if text is not None]
        return Snapshot(
            sum((one.decisions for one in found), NO_DURATIONS),
            sum(one.sets_running for one in found),
        )


def current() -> Snapshot:
    """This process's own numbers."""
    return Snapshot(DECISION_TIMES.read(), int(SETS_RUNNING.collect()[0].samples[0].value))  # type: ignore[index]


def _parsed(text: str | bytes) -> Snapshot:
    document = json.loads(text)
    return Snapshot(Durations(tuple(document["counts"]), document["sum_s"]), document["sets_running"])


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
