"""Prometheus metrics, each with one home. No label ever holds a match, and bots appear only in the top of a table."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from prometheus_client import Counter, Gauge, Histogram, start_http_server
from redis.asyncio import Redis
from redis.exceptions import RedisError

from arena.errors import Unavailable, UserError
from arena.settings import split_address

LATENESS_EVERY_S = 0.5
LATENCY_BUCKETS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

MATCHES = Counter("arena_matches_total", "Finished matches by how their worst seat ended.", ["game", "reason"])
VOIDS = Counter("arena_voided_attempts_total", "Attempts without a result, by reason.", ["reason"])
DECISIONS = Counter("arena_decisions_total", "Decisions asked of bots.", ["game"])
DECISION_SECONDS = Histogram(
    "arena_decision_seconds", "Time from writing a request to the arrival of its answer.", buckets=LATENCY_BUCKETS_S
)
SETS_RUNNING = Gauge("arena_sets_running", "Sets that this worker plays now.")
LOOP_LATENESS_SECONDS = Gauge("arena_loop_lateness_seconds", "How late this process's event loop last ran a timer.")


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
class Latency:
    """A histogram of seconds: ``counts`` has one number a bucket of LATENCY_BUCKETS_S, and one for what is longer."""

    counts: tuple[int, ...] = (0,) * (len(LATENCY_BUCKETS_S) + 1)
    sum_s: float = 0.0

    @property
    def total(self) -> int:
        """How many durations are counted."""
        return sum(self.counts)

    def __add__(self, other: Latency) -> Latency:
        return Latency(tuple(map(sum, zip(self.counts, other.counts, strict=True))), self.sum_s + other.sum_s)

    def since(self, earlier: Latency) -> Latency:
        """What was added after ``earlier``; all of it where counting began anew in between."""
        counts = tuple(now - then for now, then in zip(self.counts, earlier.counts, strict=True))
        return self if min(counts) < 0 else Latency(counts, self.sum_s - earlier.sum_s)

    def quantile_s(self, q: float) -> float | None:
        """The ``q`` quantile (0..1) in seconds, interpolated within its bucket; None of nothing."""
        wanted, below = q * self.total, 0
        if not self.total:
            return None
        for number, low, high in zip(self.counts, (0.0, *LATENCY_BUCKETS_S), LATENCY_BUCKETS_S, strict=False):
            if number and below + number >= wanted:
                return low + (high - low) * (wanted - below) / number
            below += number
        return float(LATENCY_BUCKETS_S[-1])


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a process, or all together, says of the sets it plays."""

    decisions: Latency = Latency()
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
            sum((one.decisions for one in found), Latency()),
            sum(one.sets_running for one in found),
        )


def current() -> Snapshot:
    """This process's own numbers."""
    cumulative: list[int] = []
    sum_s = 0.0
    for sample in next(iter(DECISION_SECONDS.collect())).samples:
        if sample.name.endswith("_bucket"):
            cumulative.append(int(sample.value))
        elif sample.name.endswith("_sum"):
            sum_s = sample.value
    return Snapshot(Latency(_differences(cumulative), sum_s), int(SETS_RUNNING.collect()[0].samples[0].value))  # type: ignore[index]


def _differences(cumulative: Sequence[int]) -> tuple[int, ...]:
    return tuple(upper - lower for lower, upper in zip((0, *cumulative), cumulative, strict=False))


def _parsed(text: str | bytes) -> Snapshot:
    document = json.loads(text)
    return Snapshot(Latency(tuple(document["counts"]), document["sum_s"]), document["sets_running"])


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
