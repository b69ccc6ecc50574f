"""A worker that cannot start, or that its sets end: whoever keeps it running starts it again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from sqlalchemy import select

from arena.bench.processes import free_port
from arena.host.watchdog import EXIT_STATUS
from arena.match.spec import VoidReason
from arena.storage.plans import SetState
from arena.storage.tables import game_set
from arena.supervisor import python
from tests.web.seed import SeededArena
from tests.web.support import LADDERS, POP, redis_url

__all__ = ["redis_url"]

WORKER = python("-m", "celery", "-A", "workers.app", "worker", "--pool=threads", "--concurrency=2")


def test_without_a_database_it_ends_and_says_why(tmp_path: Path, redis_url: str) -> None:
    """It does not stay and take doorbells that it cannot answer, as it did when a database was away at its start."""
    environment = {
        **os.environ,
        "ARENA_DATA_DIR": str(tmp_path),
        "ARENA_REDIS_URL": redis_url,
        "ARENA_WORKER_METRICS_LISTEN": f"127.0.0.1:{free_port()}",
        "ARENA_DATABASE_URL": f"postgresql+psycopg://arena@/arena?host={tmp_path / 'nobody'}",
    }
    ended = subprocess.run(WORKER, env=environment, capture_output=True, text=True, timeout=60, check=False)
    said = ended.stdout + ended.stderr
    assert ended.returncode == EXIT_STATUS, said
    assert "this worker cannot start and ends: the database does not answer" in said


CRASHES = """
import ctypes, sys
from arena import settings
from arena.host.worker import Worker
from arena.match.referee import Referee

Referee.advance = lambda *_, **__: ctypes.string_at(0)
worker = Worker(settings.load(), "crashing")
worker.start()
for set_id in sys.argv[1:]:
    worker.play(set_id)
worker.stop()
"""


def test_r76_native_rules_that_crash_their_worker_three_times_end_as_errored(tmp_path: Path, redis_url: str) -> None:
    """A real worker dies of SIGSEGV in the middle of a match; its next life counts that, and after three there is no fourth."""
    arena = SeededArena(tmp_path, LADDERS, bots=())
    set_id = arena.queue(POP, ("greedy", "random"))
    environment = {**os.environ, "ARENA_DATA_DIR": str(tmp_path), "ARENA_REDIS_URL": redis_url}
    crash = [sys.executable, "-c", CRASHES, set_id]
    died = [
        subprocess.run(crash, env=environment, capture_output=True, timeout=60, check=False).returncode
        for _ in range(4)
    ]
    with arena.database.read() as connection:
        row = connection.execute(select(game_set.c.state, game_set.c.reason).where(game_set.c.id == set_id)).one()
    assert died == [-signal.SIGSEGV] * 3 + [0]
    assert tuple(row) == (SetState.ERRORED, VoidReason.ENGINE_ERROR)
