"""The status page: is the arena well, and if not, where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from arena.storage import incidents, overview, queries
from arena.storage.incidents import Incident, IncidentKind
from arena.storage.overview import Activity, Backlog, VoidSet, WorkerRow
from arena.storage.queries import Counters
from arena.web.parts import Parts
from arena.web.site import Site, Totals
from arena.web.watch import Watch

MINUTES: Final = 60
SLOW_QUEUE_MS: Final = 60_000
SLOW_OUTBOX_MS: Final = 30_000
VOIDS: Final = 10


@dataclass(frozen=True, slots=True)
class Status:
    """All that the page shows. ``problems`` are sentences; none is good news."""

    counters: Counters
    activity: Activity
    sets: Mapping[str, int]
    workers: tuple[WorkerRow, ...]
    voids: tuple[VoidSet, ...]
    backlog: Backlog
    quarantined: int
    incidents: tuple[Incident, ...]


def read_status(connection: Connection, totals: Totals) -> Status:
    """Reads it."""
    return Status(
        counters=queries.counters(connection, totals.matches),
        activity=overview.activity(connection, MINUTES),
        sets=totals.sets,
        workers=overview.workers(connection),
        voids=overview.recent_voids(connection, VOIDS),
        backlog=overview.backlog(connection),
        quarantined=overview.quarantined(connection),
        incidents=incidents.incidents(connection),
    )


def all_incidents(status: Status, watch: Watch) -> tuple[Incident, ...]:
    """What SQL remembers and what this process has seen, newest first."""
    outages = [Incident(IncidentKind.REDIS_OUTAGE, at, until, 1) for at, until in watch.outages]
    return tuple(sorted([*status.incidents, *outages], key=lambda one: -one.at))


def problems(status: Status, *, redis_up: bool) -> list[str]:
    """What is wrong, in words."""
    found = []
    if not status.counters.workers:
        found.append("No worker is alive: nothing is being played.")
    if status.counters.oldest_queued_ms > SLOW_QUEUE_MS:
        found.append("Sets have been waiting for more than a minute.")
    if not redis_up:
        found.append("Redis does not answer: matches go on, but new bots are not seen.")
    if status.backlog.oldest_ms > SLOW_OUTBOX_MS:
        found.append("Events are not being published: no scheduler leads, or it cannot reach Redis.")
    if status.quarantined:
        found.append("Results that contradict each other wait for a person to look at them.")
    return found


async def status_topic(site: Site, _rest: str) -> Parts:
    """Live parts of the status page."""
    totals = await site.totals()
    status = await site.read(lambda connection: read_status(connection, totals))
    last = site.watch.last
    gateways = Counter(session.gateway for session in last.sessions) if last else Counter[str]()
    wrong = problems(status, redis_up=site.watch.up or site.redis is None)
    return Parts(
        skeleton="status",
        blocks={
            "verdict": site.part("_status.html", "verdict", wrong),
            "facts": site.part("_status.html", "facts", status, last),
            "hour": site.part("_status.html", "hour", status.activity),
            "workers": site.part("_status.html", "workers", status.workers),
            "gateways": site.part("_status.html", "gateways", sorted(gateways.items()), last is not None),
            "incidents": site.part("_status.html", "incidents", all_incidents(status, site.watch)),
            "voids": site.part("_status.html", "voids", status.voids),
        },
    )


async def page(request: Request) -> Response:
    """``/status``"""
    site: Site = request.app.state.site

    async def context() -> Mapping[str, Any]:
        return {}

    return await site.live_page(request, "status", "status.html", context)
