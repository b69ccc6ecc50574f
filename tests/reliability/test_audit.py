"""`arena audit` finds what was changed, and nothing where nothing was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.audit import Auditor, Report
from arena.cli.up import prepare
from arena.settings import Settings
from arena.storage.db import Database
from tests.simulation.processes import KEY
from tests.simulation.world import World, simulate

PUBLIC = KEY.public_key().public_bytes_raw()


@pytest.fixture
def world() -> World:
    """An arena at rest in which some matches were played, and some attempts are void."""
    seen: list[World] = []

    async def trouble(world: World) -> None:
        seen.append(world)
        await world.trouble_of_seed()

    history = simulate(22, trouble=trouble)
    assert history.problems == ()
    assert history.matches >= 2
    return seen[0]


def audit(world: World, key: bytes = PUBLIC) -> Report:
    return Auditor(world.database, world.disk.read, key).run()


def sql(statement: str) -> Callable[[World], None]:
    def change(world: World) -> None:
        assert world.database.raw.execute(statement).rowcount >= 1

    return change


def damage(world: World) -> None:
    digest = min(world.disk.records)
    content = world.disk.records[digest]
    world.disk.records[digest] = content[:40] + bytes([content[40] ^ 1]) + content[41:]


CHANGES: dict[str, tuple[Callable[[World], None], str]] = {
    "places": (sql("UPDATE result SET places = '[1, 1]' WHERE places LIKE '%1, 2%'"), "places: the row says"),
    "reasons": (sql("""UPDATE result SET reasons = '["ILLEGAL", "NORMAL"]'"""), "reasons: the row says"),
    "attempt": (sql("UPDATE attempt SET outcome = 'VOID' WHERE outcome = 'FINISHED'"), "it is VOID, and the result is"),
    "secret": (sql("UPDATE attempt SET secret = NULL WHERE outcome IS NOT NULL"), "its secret is not kept"),
    "void deal": (sql("UPDATE attempt SET secret = commitment WHERE outcome = 'VOID'"), "not the one that the arena"),
    "rating": (sql("UPDATE rating SET rating = rating + 0.5 WHERE sets > 0"), "stands at"),
    "player": (sql("UPDATE bot SET name = 'somebody'"), "seats: the row says"),
    "record": (damage, "line"),
    "lost record": (lambda world: world.disk.records.clear(), "is not kept here"),
    "claim": (
        sql("UPDATE game_set SET state = 'CLAIMED', claimed_at = 0 WHERE state = 'FINISHED'"),
        "past its deadline",
    ),
    "orphan": (sql("DELETE FROM ledger WHERE kind = 'RESULT'"), "its ledger entries are []"),
}


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_what_was_changed_is_named(world: World, change: str) -> None:
    """Before the change everything is in order; after it the audit says what is not."""
    assert audit(world).problems == ()
    tamper, expected = CHANGES[change]
    world.database.raw.execute("PRAGMA foreign_keys = OFF")
    world.database.raw.execute("UPDATE leader SET lease_until = lease_until + 1000000")
    tamper(world)
    problems = audit(world).problems
    world.database.raw.execute("PRAGMA foreign_keys = ON")
    assert any(expected in problem for problem in problems), problems


def test_records_of_another_arena_are_not_this_ones(world: World) -> None:
    """A record that somebody else signed does not count."""
    report = audit(world, bytes(32))
    assert len(report.problems) == report.matches
    assert "arena's key" in report.problems[0]


def test_the_command(tmp_path: Path) -> None:
    """On an arena that has played nothing it says OK; with a ladder whose ratings lag it names it and exits 1."""
    prepare(Settings(data_dir=tmp_path))
    command = [sys.executable, "-m", "arena", "audit", "--data-dir", str(tmp_path), "--json"]
    environment = {**os.environ, "ARENA_CONFIG": ""}
    sound = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(sound.stdout) == {"ok": True, "matches": 0, "attempts": 0, "sets": 0, "problems": [], "notes": []}
    database = Database(f"sqlite:///{tmp_path / 'arena.db'}")
    with database.write() as connection:
        connection.exec_driver_sql(
            "INSERT INTO ladder (slug, game, players, config, bank_ms, increment_ms, move_cap_ms, active, seq, cursor,"
            " created_at) VALUES ('another-2p', 'pop', 2, '{}', 1, 1, 1, 1, 1, 0, 0)"
        )
    database.close()
    broken = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert broken.returncode == 1
    assert any("another-2p: the ratings are at entry 0" in problem for problem in json.loads(broken.stdout)["problems"])
