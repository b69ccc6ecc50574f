"""A real worker with real house bots: rules that never return, and how it ends when it is asked to."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from arena.bench.processes import free_port
from arena.doorbell import Doorbell
from arena.host.processes import dies_with_parent
from arena.host.store import Spool, Spooled
from arena.host.watchdog import EXIT_STATUS
from arena.host.worker import Worker
from arena.settings import Settings, load
from arena.storage.db import Database
from arena.storage.tables import attempt, game_set, result, worker
from arena.storage.workers import register_worker
from engines.balloon_challenge.rules import State
from tests.integration.harness import ROOT, until
from tests.storage.support import World, result_of, small_arena
from tests.web.support import redis_url

__all__ = ["redis_url"]

STUCK = """
import sys
from arena.host.store import Spool, Spooled
from arena.host.watchdog import LoopWatch
LoopWatch.__init__.__kwdefaults__["stuck_s"] = 2.0  # nobody waits for 20

from arena.host.worker import Worker
from arena.settings import load
from arena.storage.workers import register_worker
from engines.balloon_challenge.rules import State

def never(state, actions):
    while True:
        pass

State.apply = never
worker = Worker(load(), "worker-1")
worker.start()
worker.play(sys.argv[1])
"""

CELERY = """
import time
from arena.storage.workers import register_worker
from engines.balloon_challenge.rules import State
from workers.app import app

apply = State.apply

def slowly(state, actions):
    time.sleep(0.02)
    return apply(state, actions)

State.apply = slowly
app.worker_main(["worker", "--pool=threads", "--concurrency=1"])
"""
"""A worker as `arena up` starts it, with rules that think."""


class Place:
    """A folder with a small arena, whose rules have no worker yet."""

    def __init__(self, folder: Path, redis_url: str) -> None:
        self.environment = {
            "ARENA_DATA_DIR": str(folder),
            "ARENA_REDIS_URL": redis_url,
            "ARENA_WORKER_METRICS_LISTEN": f"127.0.0.1:{free_port()}",
            "ARENA_WORKER_NAME": "worker-1",
        }
        self.settings: Settings = load(environ=self.environment)
        self.database = Database(self.settings.database_url)
        self.world: World = small_arena(self.database)

    def program(self, text: str, *words: str) -> subprocess.Popen[bytes]:
        """A process of this arena that runs some Python."""
        command = dies_with_parent((sys.executable, "-c", text, *words))
        return subprocess.Popen(command, cwd=ROOT, env={**os.environ, **self.environment})

    def attempts(self) -> list[tuple[str | None, str | None]]:
        """How the attempts ended, and why."""
        with self.database.read() as connection:
            rows = connection.execute(select(attempt.c.outcome, attempt.c.reason).order_by(attempt.c.started_at))
            return [(outcome, reason) for outcome, reason in rows]

    def results(self) -> int:
        with self.database.read() as connection:
            return len(connection.execute(select(result.c.match_id)).all())

    def claimed(self, set_id: str) -> bool:
        with self.database.read() as connection:
            row = connection.execute(select(game_set.c.worker_id).where(game_set.c.id == set_id)).one()
        return row.worker_id is not None

    def lease_until(self) -> int:
        with self.database.read() as connection:
            return int(connection.execute(select(worker.c.lease_until).where(worker.c.name == "worker-1")).scalar_one())


@pytest.fixture
def place(tmp_path: Path, migrated: Path, redis_url: str) -> Iterator[Place]:
    shutil.copy(migrated, tmp_path / "arena.db")
    place = Place(tmp_path, redis_url)
    yield place
    place.database.close()


def test_r76_77_a_worker_whose_rules_never_return_ends_and_its_set_is_an_engine_error(place: Place) -> None:
    """Its own watch ends it; the set is voided by name, as the rules' fault and nobody's loss, and waits for another try."""
    set_id = place.world.queue()
    assert place.program(STUCK, set_id).wait(120) == EXIT_STATUS
    assert set(place.attempts()) == {("VOID", "ENGINE_ERROR")}
    assert place.world.state(set_id) == ("QUEUED", 2)
    assert place.results() == 0


def test_r70_a_worker_begins_with_what_its_earlier_life_could_not_write(place: Place) -> None:
    """A result on the disk is written before the new lease ends the claim under which it was played."""
    with place.database.write() as connection:
        lease = register_worker(connection, "worker-1")
    plan = place.world.begun(place.world.queue(), lease)
    for index in (0, 1):
        place.world.record(plan, index, (1, 2, 3), lease)
    spool = Spool(place.settings.data_dir / "spool" / "worker-1")
    spool.put(Spooled(lease, plan.set_id, result_of(plan, 2, (1, 2, 3)), last=True))
    runtime = Worker(place.settings, "worker-1")
    runtime.start()
    runtime.stop()
    assert list(spool) == []
    assert place.world.state(plan.set_id) == ("FINISHED", 1)


def test_r84_a_worker_finishes_what_it_plays_before_it_ends(place: Place) -> None:
    """SIGTERM: the set that runs comes to its results, none is begun any more, and the lease is given up."""
    running, later = place.world.queue(), place.world.queue()
    celery = place.program(CELERY)
    Doorbell(place.environment["ARENA_REDIS_URL"]).ring(running)
    Doorbell(place.environment["ARENA_REDIS_URL"]).ring(later)
    until(lambda: place.results() == 1, 120, "a first result")
    celery.send_signal(signal.SIGTERM)
    assert celery.wait(60) == 0
    assert place.world.state(running) == ("FINISHED", 1)
    assert place.attempts() == [("FINISHED", None)] * 3
    assert place.world.state(later) == ("QUEUED", 1)
    assert place.lease_until() == 0


def test_r84_what_runs_when_a_worker_must_end_is_void(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is waited for any more: what has no result is free for other workers at once, with the lease."""
    apply = State.apply

    def slowly(state: State, actions: object) -> object:
        time.sleep(0.05)
        return apply(state, actions)  # type: ignore[arg-type]

    monkeypatch.setattr(State, "apply", slowly)
    set_id = place.world.queue()
    runtime = Worker(place.settings, "worker-1")
    runtime.start()
    playing = threading.Thread(target=runtime.play, args=(set_id,), daemon=True)
    playing.start()
    until(lambda: place.results() == 1, 120, "a first result")
    runtime.stop()
    assert place.attempts().count(("FINISHED", None)) == place.results() < 3
    assert set(place.attempts()) == {("FINISHED", None), ("VOID", "INFRA_VOID")}
    assert place.world.state(set_id) == ("QUEUED", 2)
    assert place.lease_until() == 0
