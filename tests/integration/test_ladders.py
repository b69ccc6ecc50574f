"""Ladders as authors meet them: one with minutes a move beside a fast one, trials, challenges, versions."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from sqlalchemy import select

from arena.match.record import parse_record
from arena.storage import matches as stored_matches
from arena.storage import queries
from arena.storage.records import RecordStore
from arena.storage.running import running_matches
from arena.storage.tables import game_set, ladder, result
from tests.integration.harness import DEMO_BOT, Arena, until
from tests.web.support import next_message

HERE = Path(__file__).parent
FAST, SLOW = "balloon-challenge-2p", "thinkers"
LADDERS = f"""
[[ladders]]
game = "balloon-challenge"
players = 2

[[ladders]]
slug = "{SLOW}"
game = "balloon-challenge"
players = 2
bank_ms = 3600000
increment_ms = 60000
move_cap_ms = 600000
"""
PLACES = 4
"""How many sets the only worker plays at once."""


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    running = Arena(tmp_path, LADDERS, environment={"ARENA_WORKER_MAX_SETS": str(PLACES)})
    running.start()
    yield running
    running.stop()


def in_flight(arena: Arena, slug: str) -> int:
    with arena.database() as database, database.read() as connection:
        query = select(game_set.c.id).join(ladder, ladder.c.id == game_set.c.ladder_id)
        return len(connection.execute(query.where(ladder.c.slug == slug, game_set.c.state == "CLAIMED")).all())


def results(arena: Arena, slug: str) -> int:
    with arena.database() as database, database.read() as connection:
        query = select(result.c.match_id).join(ladder, ladder.c.id == result.c.ladder_id).where(ladder.c.slug == slug)
        return len(connection.execute(query).all())


def table(arena: Arena, slug: str) -> dict[str, queries.TableRow]:
    with arena.database() as database, database.read() as connection:
        return {f"{row.bot} {row.version}": row for row in queries.leaderboard(connection, slug)}


def command(arena: Arena, token: str, *words: str) -> subprocess.CompletedProcess[str]:
    """An ``arena`` command as an author gives it."""
    environment = {**arena.variables, "ARENA_ADDRESS": arena.gateway, "ARENA_TOKEN": token}
    return subprocess.run(
        [sys.executable, "-m", "arena", *words],
        env=environment,
        cwd=arena.folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def running(arena: Arena, slug: str) -> str | None:
    """A match of a ladder that is being played."""
    with arena.database() as database, database.read() as connection:
        return next((one.match_id for one in running_matches(connection, 50) if one.ladder == slug), None)


def watch(arena: Arena, slug: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first two messages to somebody who watches a running match of a ladder."""
    until(lambda: running(arena, slug) is not None, 60, "a match is under way")
    match_id = running(arena, slug)
    with urlopen(f"http://{arena.web}/matches/{match_id}/live", timeout=60) as stream:
        return next_message(stream), next_message(stream)


def test_minutes_a_move_beside_a_fast_ladder(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bots that think for long have far more seats than the worker has places, and name their ladder. They never hold
    more than half of the places, can be watched meanwhile, the fast ladder goes on, and their own sets are rated without
    a fault."""
    monkeypatch.setenv("ARENA_TEST_THINKS", "0.4")
    for owner in ("ann", "bob"):
        token = arena.register(owner, f"{owner}-llm")
        arena.start_bot(HERE / "slow_bot.py", token, "--credit", "8", "--ladders", SLOW, "--name", f"{owner}-llm")
    until(lambda: in_flight(arena, SLOW) == PLACES // 2, 60, "the slow ladder has its share")
    first, more = watch(arena, SLOW)
    assert first["film"]["eyes"] == "public"
    assert len(first["film"]["frames"]) > 12, "the cards are dealt"
    assert more["frames"]
    assert not any("private" in frame for frame in first["film"]["frames"] + more["frames"])
    arena.start_bot(DEMO_BOT, arena.register("cid", "demo"), "--credit", str(PLACES))
    until(lambda: "demo 1" in table(arena, FAST), 90, "the fast bot is on its ladder")
    before = results(arena, FAST)
    until(lambda: results(arena, FAST) >= before + 40, 90, "40 more fast games")
    assert 0 < in_flight(arena, SLOW) <= PLACES // 2
    until(lambda: any(row.games and not row.house for row in table(arena, SLOW).values()), 120, "a slow set is rated")
    reasons = arena.reasons()  # of those whose games have ended: the first set may be one bot's against the house
    assert set().union(*(reasons.get(name, set()) for name in ("ann-llm", "bob-llm"))) == {"NORMAL"}
    assert {row.bot for row in table(arena, FAST).values() if not row.house} == {"demo"}
    assert {row.bot for row in table(arena, SLOW).values() if not row.house} == {"ann-llm", "bob-llm"}
    assert arena.problems() == ()


def test_a_trial_challenges_and_a_roll_back(arena: Arena) -> None:
    """Version 2 is found better than 1 by the arena while its scheduler and its worker are killed; two challenges with
    one seed have the same deals, which are marked; then the author rolls back."""
    token = arena.register("ann", "annbot")

    def is_there(version: str) -> bool:
        return f"annbot {version}" in table(arena, FAST)

    for version in ("1", "2"):
        flags = (version, "--name", "annbot", "--instance", version, "--credit", "4")
        arena.start_bot(HERE / "two_versions.py", token, *flags)
        # One after the other: which is newer is which came later.
        until(partial(is_there, version), 60, f"version {version} is on the ladder")
    asked = command(arena, token, "trial", FAST, "annbot@2", "annbot@1", "--elo1", "100", "--no-wait", "--json")
    trial = json.loads(asked.stdout)
    assert (trial["verdict"], trial["away"]) == ("CONTINUE", [])
    until(lambda: show(arena, token, trial["id"])["summary"]["sets"] >= 3, 60, "sets of the trial")
    arena.kill("scheduler")
    arena.kill("celery")
    ended = command(arena, token, "trial", "--follow", trial["id"], "--json")
    found = json.loads(ended.stdout)
    assert (ended.returncode, found["verdict"], found["reason"]) == (0, "H1", "H1 accepted")
    assert found["llr"] >= found["bounds"][1]
    assert sum(found["counts"]) == found["summary"]["sets"] >= 20

    words = ("challenge", FAST, "annbot@2", "greedy", "--games", "4", "--seed", "11", "--json")
    first, second = (json.loads(command(arena, token, *words).stdout) for _ in range(2))
    assert (first["over"], len(first["matches"]), first["seed"]) == (True, 4, 11)
    deals = [[deal(arena, match_id) for match_id in one["matches"]] for one in (first, second)]
    assert deals[0] == deals[1]
    assert len(set(deals[0])) == 4

    assert command(arena, "", "bot", "rollback", "annbot", "1").returncode == 2
    assert command(arena, token, "bot", "rollback", "annbot", "1").returncode == 0
    assert "annbot 2" not in table(arena, FAST)
    assert "annbot 1" in table(arena, FAST)
    assert arena.problems() == ()


def show(arena: Arena, token: str, trial_id: str) -> Any:
    return json.loads(command(arena, token, "trial", "--follow", trial_id, "--no-wait", "--json").stdout)


def deal(arena: Arena, match_id: str) -> tuple[int, ...]:
    """What chance did before the first decision."""
    with arena.database() as database, database.read() as connection:
        digest = stored_matches.match_page(connection, match_id).match.record_digest
    record = parse_record(RecordStore(arena.data).read(digest))
    assert not record.header["deal"]["proven"]
    found = []
    for event in record.events:
        if "chance" not in event:
            break
        found.append(event["chance"])
    return tuple(found)
