"""A process that cannot listen, or is told nonsense, says so in one line and ends: no traceback, nobody left behind."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from arena.bench.processes import free_port
from arena.host.watchdog import EXIT_STATUS
from arena.settings import Settings
from arena.storage.db import Database
from arena.supervisor import python
from tests.web.support import redis_url

__all__ = ["redis_url"]

GATEWAY, SCHEDULER, WEB = (python("-m", "arena", name) for name in ("gateway", "scheduler", "web"))
WORKER = python("-m", "celery", "-A", "workers.app", "worker", "--pool=threads", "--concurrency=2", "--loglevel=ERROR")
PROCESSES = {"gateway": GATEWAY, "scheduler": SCHEDULER, "web": WEB, "worker": WORKER}
LISTENERS = (
    ("gateway", "GATEWAY_LISTEN", 2),
    ("gateway", "GATEWAY_RELAY_LISTEN", 2),
    ("gateway", "GATEWAY_METRICS_LISTEN", 2),
    ("scheduler", "SCHEDULER_METRICS_LISTEN", 2),
    ("web", "WEB_LISTEN", 2),
    ("web", "WEB_ADMIN_LISTEN", 2),
    ("worker", "WORKER_METRICS_LISTEN", EXIT_STATUS),
)


@pytest.fixture
def taken() -> Iterator[str]:
    """An address at which somebody else listens."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield f"127.0.0.1:{other.getsockname()[1]}"


def run(command: Sequence[str], folder: Path, *, upgrade: bool = True, **variables: str) -> tuple[int, str]:
    """A process of an arena with ports of its own: its status and what it said."""
    database = Database(Settings(data_dir=folder).database_url)
    if upgrade:
        database.upgrade()
    database.close()
    own = {f"ARENA_{name}": f"127.0.0.1:{free_port()}" for _, name, _ in LISTENERS}
    environment = {**os.environ, **own, "ARENA_DATA_DIR": str(folder), **variables}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return ended.returncode, ended.stdout + ended.stderr


@pytest.mark.parametrize("process", PROCESSES)
def test_r83_no_process_serves_on_a_newer_schema(process: str, tmp_path: Path, redis_url: str) -> None:
    """Whichever is started from an older installation beside the others says so and ends."""
    database = Database(Settings(data_dir=tmp_path).database_url)
    database.upgrade()
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    database.close()
    ended, said = run(PROCESSES[process], tmp_path, upgrade=False, ARENA_REDIS_URL=redis_url)
    assert ended == (EXIT_STATUS if process == "worker" else 2), said
    assert "the database was written by a newer version of the arena (schema 9999); install that version" in said


@pytest.mark.parametrize(("process", "setting", "status"), LISTENERS)
def test_an_address_that_is_taken(
    process: str, setting: str, status: int, taken: str, tmp_path: Path, redis_url: str
) -> None:
    """Whichever of its addresses it is, the process ends and names it."""
    ended, said = run(PROCESSES[process], tmp_path, ARENA_REDIS_URL=redis_url, **{f"ARENA_{setting}": taken})
    assert ended == status, said
    assert f"annot listen on {taken}" in said
    assert "Traceback" not in said


def test_off_loopback_without_tls_the_gateway_says_what_to_do_and_nothing_else(tmp_path: Path) -> None:
    """It had started other servers by then, which are ended too."""
    ended, said = run(GATEWAY, tmp_path, ARENA_GATEWAY_LISTEN="0.0.0.0:0", ARENA_GATEWAY_RELAY_LISTEN="")
    assert ended == 2
    assert said.startswith("arena: 0.0.0.0:0 is not a loopback address: serving there needs TLS")
    assert said.count("\n") == 1, said


@pytest.mark.parametrize("process", ["scheduler", "worker"])
@pytest.mark.parametrize(
    ("url", "why"), [("", "needs the arena's Redis"), ("localhost:6379", "a URL that begins with one of redis://")]
)
def test_a_redis_that_cannot_be_meant(process: str, url: str, why: str, tmp_path: Path) -> None:
    """None where one is needed, and one without a scheme."""
    ended, said = run(PROCESSES[process], tmp_path, ARENA_REDIS_URL=url)
    assert ended in {1, 2}
    assert why in said
    assert "ARENA_REDIS_URL" in said
    assert "Traceback" not in said
