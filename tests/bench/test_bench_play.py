"""``arena bench play``, ``idle``, ``workers`` and ``match``, small: each gives its figures; how fast is not asked here."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.bench.processes import raise_file_limit
from arena.errors import UserError


def run(*words: str, **environment: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "arena", "bench", *words, "--json"]
    own = {**os.environ, **environment}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=own)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_play_compares_the_relay_with_raw_grpc() -> None:
    """Four matches of two bots: decisions of ours and round trips of raw gRPC, with the processor time of each process."""
    [relay] = run(*["play", "--part", "relay", "--matches", "4", "--processes", "2", "--seconds", "1"]).values()
    assert relay["decisions_per_s"] > 0
    assert relay["ratio"] == pytest.approx(relay["decisions_per_s"] / relay["raw_round_trips_per_s"], abs=0.02)
    assert relay["workers"] == os.cpu_count()  # as an arena has them
    assert set(relay["cpu_us_per_decision"]) == {"worker", "gateway", "valkey", "bots"}


def test_idle_asks_every_session() -> None:
    """60 bots over three connections of two processes: all are in the registry, and each answers its one request."""
    found = run(*["idle", "--sessions", "60", "--clients", "2", "--a-connection", "20", "--rest-s", "1"])
    assert (found["sessions"], found["registry_listed"], found["answered"]) == (60, 60, 60)
    assert found["answer_p50_s"] <= found["answer_p99_s"] <= found["all_answered_s"]
    assert 0 < found["kib_a_session"] < 1000
    assert found["goals"]["the gateway stays under 1 GiB"]


def test_workers_play_at_two_gateways() -> None:
    """Bots at two gateways, two workers: results come, and the time of each kind of process is told."""
    [row] = run(*["workers", "--workers", "2", "--gateways", "2", "--processes", "4", "--seconds", "2"])["runs"]
    assert (row["workers"], row["gateways"]) == (2, 2)
    assert row["matches_per_s"] > 0
    assert row["cpu_ms_per_match"]["worker"] > 0
    assert set(row["cpu_ms_per_match"]) == {"valkey", "gateway", "worker", "scheduler", "bots"}


def test_match_says_who_is_left_out(tmp_path: Path) -> None:
    """Where the others cannot be installed, ours is compared with the bare loop alone, and a line says why."""
    found = run("match", "--seconds", "1", XDG_CACHE_HOME=str(tmp_path), PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    assert set(found["moves_per_s"]) == {"arena", "arena_sdk", "json_lines"}
    assert set(found["ratios"]) == {"arena to json_lines", "arena_sdk to json_lines"}
    assert len(found["left_out"]) == 1
    assert "pip" in found["left_out"][0]
    assert found["goals"] == {}


def test_too_few_files_are_told_before_anything_starts() -> None:
    """A hard limit of open files that is too low is an error that says how to raise it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with pytest.raises(UserError, match=f"at most {hard} allowed here"):
        raise_file_limit(hard + 1)
