"""The web process's /metrics: its own, and what many processes share, read from SQL and Redis when it is scraped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from prometheus_client import CollectorRegistry, Gauge, Histogram, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from arena.metrics import LOOP_LATENESS_SECONDS
from arena.storage import overview, queries
from arena.storage.overview import Backlog, BotStanding
from arena.storage.plans import SetState
from arena.storage.queries import Counters, LadderRow, TableRow
from arena.storage.tables import database_time
from arena.web.site import Site, Totals
from arena.web.watch import Sample

TOP: Final = 10
"""Bots of each ladder that have a gauge: labels stay bounded."""
WATCHED: Final = 100
"""Connected bots that have metrics of their own."""
CACHE_S: Final = 2.0
SETTLED_MS: Final = 60_000
"""No transaction lasts so long: older results are all there, and are counted once and for all."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one scrape shows."""

    counters: Counters
    sets: Mapping[str, int]
    matches: Mapping[tuple[str, str], int]
    ladders: tuple[LadderRow, ...]
    tops: Mapping[str, tuple[TableRow, ...]]
    backlog: Backlog
    quarantined: int
    standings: tuple[BotStanding, ...]
    endings: Mapping[tuple[str, str], int]


class ResultCounter:
    """Counts results by two labels without reading old ones again, from ``since`` (ms since 1970)."""

    def __init__(self, count: Callable[[Connection, int, int], Counter[tuple[str, str]]], since: int = 0) -> None:
        self._count = count
        self._until = since
        self._settled: Counter[tuple[str, str]] = Counter()

    def count(self, connection: Connection) -> Counter[tuple[str, str]]:
        """All results so far. Not for two threads at once."""
        settled = max(self._until, database_time(connection) - SETTLED_MS)
        self._settled += self._count(connection, self._until, settled)
        self._until = settled
        return self._settled + self._count(connection, settled, 2**62)


class SharedCollector(Collector):
    """The newest reading and sample as Prometheus wants them."""

    def __init__(self) -> None:
        self.reading: Reading | None = None
        self.sample: Sample | None = None
        self.redis_up = False

    def collect(self) -> Iterator[Metric]:
        """As prometheus_client wants it."""
        yield GaugeMetricFamily("arena_redis_up", "Whether Redis answers this process.", int(self.redis_up))
        if self.reading is not None:
            yield from _of_database(self.reading)
        if self.sample is not None:
            yield from _of_redis(self.sample)


class Exporter:
    """Makes the text of /metrics, at most every CACHE_S."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._matches = ResultCounter(overview.matches_by_reason)
        self._endings: ResultCounter | None = None
        self._shared = SharedCollector()
        self.registry: Final = CollectorRegistry()
        self.registry.register(LOOP_LATENESS_SECONDS)
        PlatformCollector(registry=self.registry)
        ProcessCollector(registry=self.registry)
        self.registry.register(self._shared)
        self.seconds: Final = Histogram(
            "arena_web_request_seconds", "Time to answer a request.", ["route", "status"], registry=self.registry
        )
        viewers = Gauge("arena_web_viewers", "Open live streams.", registry=self.registry)
        viewers.set_function(lambda: site.hub.viewers)

    async def text(self) -> bytes:
        """The exposition."""
        return await self._site.cache.get("metrics", CACHE_S, self._make)

    async def _make(self) -> bytes:
        totals = await self._site.totals()
        self._shared.reading = await self._site.read(lambda connection: self._read(connection, totals))
        self._shared.sample = self._site.watch.last
        self._shared.redis_up = self._site.watch.up
        return generate_latest(self.registry)

    def _read(self, connection: Connection, totals: Totals) -> Reading:
        ladders = queries.ladders(connection)
        watched = _watched(self._site.watch.last)
        names = set(watched.values())
        self._endings = self._endings or ResultCounter(overview.endings_by_bot, database_time(connection))
        return Reading(
            counters=queries.counters(connection, totals.matches),
            sets=totals.sets,
            matches=self._matches.count(connection),
            ladders=ladders,
            tops={row.spec.slug: queries.leaderboard(connection, row.spec.slug, TOP) for row in ladders},
            backlog=overview.backlog(connection),
            quarantined=overview.quarantined(connection),
            standings=overview.standings_of(connection, list(watched)),
            endings={key: seats for key, seats in self._endings.count(connection).items() if key[0] in names},
        )


async def page(request: Request) -> Response:
    """``/metrics``"""
    exporter: Exporter = request.app.state.exporter
    return Response(await exporter.text(), media_type=CONTENT_TYPE_LATEST)


def _of_database(reading: Reading) -> Iterator[Metric]:
    counters = reading.counters
    yield _counter(
        "arena_results",
        "Matches with a result, by how their worst seat ended.",
        ("game", "reason"),
        reading.matches.items(),
    )
    states = {(str(state),): reading.sets.get(state, 0) for state in SetState}
    yield _gauge("arena_sets", "Sets by state.", ("state",), states.items())
    yield GaugeMetricFamily("arena_queue_depth", "Sets that wait for a worker.", counters.sets_queued)
    yield GaugeMetricFamily(
        "arena_queue_age_seconds", "How long the oldest of them has waited.", counters.oldest_queued_ms / 1000
    )
    yield GaugeMetricFamily("arena_workers", "Workers whose lease holds.", counters.workers)
    yield GaugeMetricFamily("arena_bots", "Bots with an account.", counters.bots)
    entries = {(row.spec.slug,): row.entries for row in reading.ladders}
    yield _counter("arena_ledger_entries", "Entries of each ladder's ledger.", ("ladder",), entries.items())
    yield GaugeMetricFamily("arena_outbox_events", "Events that wait to be published.", reading.backlog.events)
    yield GaugeMetricFamily(
        "arena_outbox_age_seconds", "How long the oldest of them has waited.", reading.backlog.oldest_ms / 1000
    )
    yield GaugeMetricFamily("arena_quarantined_results", "Results that contradict another.", reading.quarantined)
    labels = ("ladder", "bot", "version")
    tops = [((slug, row.bot, row.version), row) for slug, rows in reading.tops.items() for row in rows]
    yield _gauge("arena_rating", "Live Elo of each ladder's top.", labels, ((key, row.rating) for key, row in tops))
    yield _gauge("arena_rating_rank", "Their ranks.", labels, ((key, row.rank or 0) for key, row in tops))
    yield _gauge("arena_rating_games", "Their games.", labels, ((key, row.games) for key, row in tops))
    yield from _of_watched(reading)


def _watched(sample: Sample | None) -> Mapping[int, str]:
    """Bots that have metrics of their own, by version id: those that are connected, the oldest first."""
    sessions = sorted(sample.sessions, key=lambda session: (session.bot_id, session.version_id)) if sample else ()
    return dict([(session.version_id, session.bot) for session in sessions][:WATCHED])


def _of_watched(reading: Reading) -> Iterator[Metric]:
    labels = ("bot", "version", "ladder")
    rows = [((row.bot, row.version, row.ladder), row) for row in reading.standings]
    yield _gauge("arena_bot_rating", "Live Elo of a connected bot.", labels, ((key, row.rating) for key, row in rows))
    outcomes = [
        ((*key, outcome), number)
        for key, row in rows
        for outcome, number in (("win", row.wins), ("draw", row.draws), ("loss", row.losses))
    ]
    yield _counter("arena_bot_outcomes", "Rated games of a connected bot by outcome.", (*labels, "outcome"), outcomes)
    yield _counter(
        "arena_bot_endings",
        "Games of a connected bot by how they ended for it, since this process began.",
        ("bot", "reason"),
        reading.endings.items(),
    )


def _of_redis(sample: Sample) -> Iterator[Metric]:
    by_gateway = Counter((session.gateway,) for session in sample.sessions)
    yield _gauge("arena_sessions", "Bot processes connected.", ("gateway",), by_gateway.items())
    yield GaugeMetricFamily(
        "arena_all_sets_running", "Sets being played, by all workers.", sample.snapshot.sets_running
    )
    board = sample.switchboard
    yield GaugeMetricFamily("arena_doorbells", "Celery's tasks that no worker has taken.", board.doorbells)
    yield GaugeMetricFamily("arena_doorbells_unacked", "Celery's tasks taken and not yet begun.", board.unacked)
    yield GaugeMetricFamily("arena_redis_memory_bytes", "Memory that Redis uses.", board.memory_bytes)
    yield GaugeMetricFamily("arena_redis_clients", "Connections to Redis.", board.clients)
    decisions = sample.snapshot.decisions
    yield HistogramMetricFamily(
        "arena_all_decision_seconds",
        "From the write of a request to the arrival of its answer, of all workers.",
        buckets=decisions.buckets(),
        sum_value=decisions.sum_s,
    )


Labelled: TypeAlias = Iterable[tuple[tuple[str, ...], float]]


def _gauge(name: str, text: str, labels: tuple[str, ...], values: Labelled) -> Metric:
    family = GaugeMetricFamily(name, text, labels=labels)
    for key, value in values:
        family.add_metric(key, value)
    return family


def _counter(name: str, text: str, labels: tuple[str, ...], values: Labelled) -> Metric:
    family = CounterMetricFamily(name, text, labels=labels)
    for key, value in values:
        family.add_metric(key, value)
    return family
