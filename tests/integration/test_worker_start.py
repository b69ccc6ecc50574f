"""A worker that cannot start ends, so that whoever keeps it running starts it again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from arena.bench.processes import free_port
from arena.host.watchdog import EXIT_STATUS
from arena.supervisor import python
from tests.web.support import redis_url

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
