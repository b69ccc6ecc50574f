"""The status page: what the arena says of its own failures."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import insert, update

from arena import valkey
from arena.gateway.registry import connect_redis
from arena.match.spec import VoidReason
from arena.storage import sets
from arena.storage.incidents import IncidentKind, incidents
from arena.storage.tables import attempt, game_set, now_ms, worker
from arena.web.watch import Watch
from tests.web.support import PATIENCE_S, POP, WebArena, showing

DAY_MS = 24 * 60 * 60 * 1000


def test_incidents_are_what_sql_remembers_and_no_older_than_a_week(web: WebArena) -> None:
    """Void attempts, given up sets and lost workers are counted, on the page and in the API; old ones are not."""
    arena = web.arena
    # To begin renews the worker's lease: it may count as lost before, and not after.
    set_ids = [arena.begin(arena.queue(POP, ["zephyr", "updraft"]))[0].set_id for _ in range(2)]
    before = Counter[IncidentKind]()
    with arena.database.read() as connection:
        for one in incidents(connection):
            before[one.kind] += one.count
    for set_id, reason in zip(set_ids, (VoidReason.INFRA_VOID, VoidReason.ENGINE_ERROR), strict=True):
        with arena.database.write() as connection:
            sets.void_attempts(connection, arena.lease, set_id, reason)
            lost = {"name": f"lost-{set_id}", "epoch": 1, "started_at": 1}
            connection.execute(insert(worker).values(**lost, lease_until=now_ms() - 1_000))
    with arena.database.write() as connection:
        for set_id in set_ids:
            sets.end_void(connection, sets.locked_set(connection, set_id), sets.SetState.ERRORED, "engine")
    with arena.database.read() as connection:
        found = incidents(connection)
    counts = Counter[IncidentKind]()
    for one in found:
        counts[one.kind] += one.count
    assert counts - before >= Counter(
        {
            IncidentKind.BROKEN_OFF: 2,
            IncidentKind.ENGINE_ERROR: 2,
            IncidentKind.GIVEN_UP: 2,
            IncidentKind.WORKER_LOST: 2,
        }
    )
    web.get_when("/status", showing("were broken off by us", "failed in their games"))
    expected = {"BROKEN_OFF", "ENGINE_ERROR", "GIVEN_UP", "WORKER_LOST"}
    web.get_when("/api/v1/status", lambda answer: expected <= {one["kind"] for one in answer.json()["incidents"]})
    with arena.database.write() as connection:
        connection.execute(update(attempt).where(attempt.c.outcome == "VOID").values(ended_at=now_ms() - 8 * DAY_MS))
        connection.execute(
            update(game_set).where(game_set.c.state == "ERRORED").values(queued_at=now_ms() - 8 * DAY_MS)
        )
        connection.execute(update(worker).where(worker.c.name.like("lost-%")).values(lease_until=0))
    with arena.database.read() as connection:
        assert incidents(connection) == ()


async def test_an_outage_of_redis_is_remembered_from_its_beginning_to_its_end() -> None:
    """While Redis does not answer the outage is open; once it does it is closed, and remembered."""
    with tempfile.TemporaryDirectory(prefix="arena-v-") as folder:
        path = Path(folder) / "s"
        async with connect_redis(f"unix://{path}") as redis:
            watch = Watch(redis, lambda: None)
            running = asyncio.create_task(watch.run())
            try:
                await until(lambda: bool(watch.outages))
                assert watch.outages[0][1] is None
                server = await asyncio.create_subprocess_exec(*valkey.command(path), stdout=subprocess.DEVNULL)
                try:
                    await until(lambda: watch.up)
                    ((began, ended),) = watch.outages
                    assert ended is not None
                    assert began <= ended
                finally:
                    server.terminate()
                    await server.wait()
            finally:
                running.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await running


async def until(true: Callable[[], bool]) -> None:
    """Waits till it is."""
    async with asyncio.timeout(PATIENCE_S):
        while not true():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.05)
