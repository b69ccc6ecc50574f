"""An event on a running arena: remote and house bots, a killed runner, a bot that never comes, a hidden final."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from arena.storage import matches as stored_matches
from arena.storage import queries
from arena.storage import tournaments as store
from arena.storage.tables import game_set, ladder
from arena.tournaments.entry import listed
from arena.tournaments.progress import State
from tests.integration.harness import RAW_BOT, Arena, until
from tests.tournaments.support import match_ids, write_event

EVENT = """\
slug = "cup"
format = "round-robin"
[[games]]
game = "balloon-challenge"
[field]
join_code = true
[final]
top = 2
max_sets = 5
[publication]
final = "hidden"
[absence]
wait_s = 8
missed = 2
"""


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Arena]:
    made = Arena(tmp_path)
    made.start()
    yield made
    made.stop()


def tournament(arena: Arena, *words: str, token: str = "") -> subprocess.CompletedProcess[str]:
    """Runs ``arena tournament WORDS`` beside the arena."""
    variables = {**arena.variables, **({"ARENA_TOKEN": token} if token else {})}
    command = [sys.executable, "-m", "arena", "tournament", *words, "--data-dir", str(arena.data)]
    return subprocess.run(command, cwd=arena.folder, env=variables, capture_output=True, text=True, check=False)


def from_afar(arena: Arena, token: str, *words: str) -> str:
    """What ``arena tournament WORDS`` prints to an author who has the arena's address and a token, and nothing else."""
    variables = {**os.environ, "ARENA_ADDRESS": arena.gateway, "ARENA_TOKEN": token}
    command = [sys.executable, "-m", "arena", "tournament", *words]
    done = subprocess.run(command, cwd=arena.folder, env=variables, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def state_of(arena: Arena) -> State:
    with arena.database() as database, database.read() as connection:
        return store.load(connection, store.get(connection, "cup"))


def started(arena: Arena) -> bool:
    with arena.database() as database, database.read() as connection:
        return store.get(connection, "cup").state != "OPEN"


def enter(arena: Arena, owner: str, code: str, *, connects: bool) -> str:
    """An account with a bot of the same name that has joined; returns its token."""
    token = arena.register(owner, owner)
    program = arena.start_bot(RAW_BOT, token)
    until(lambda: has_version(arena, owner), 60, f"{owner} connects")
    if not connects:
        program.kill()
    assert f"{owner} is in cup" in from_afar(arena, token, "join", code)
    return token


def has_version(arena: Arena, name: str) -> bool:
    with arena.database() as database, database.read() as connection:
        return bool(queries.bot_page(connection, name).versions)


def test_event_on_a_running_arena(running: Arena) -> None:
    """Joined by code, played by the workers, its runner killed and resumed: each set once, the absent one withdrawn, the
    final certain or at its end, nothing rated, and the hidden final on no page until it is published."""
    file = write_event(running.folder, EVENT)
    fill(running, file)
    before = run_and_kill(running, file)
    ended = tournament(running, "resume", str(file))
    assert ended.returncode == 0, ended.stderr
    state = state_of(running)
    games = match_ids(state)
    assert before.items() <= games.items()
    assert set(games.values()) == {1}
    assert state.main.by_name["cid"].withdrawn
    assert sorted(state.final_table()) == ["ann", "bob", "cid", "heuristic"]
    order = state.final_order()
    assert order is not None
    assert order.sets == 5
    assert len(state.sets) == 3 + 5
    check_arena(running, state)
    check_publication(running, file, state)


def fill(arena: Arena, file: Path) -> None:
    """Opens the event for two bots that are there, one that is gone again, and a house bot."""
    opened = tournament(arena, "create", str(file))
    assert opened.returncode == 0, opened.stderr
    code = opened.stdout.split()[-1]
    for owner in ("ann", "bob", "cid"):
        enter(arena, owner, code, connects=owner != "cid")
    dot = arena.register("dot", "dot")
    assert "dot is in cup" in from_afar(arena, dot, "join", code)
    assert "field: ann, bob, cid, dot" in from_afar(arena, dot, "show", "cup")
    assert "it is out of cup" in from_afar(arena, dot, "leave", "cup")
    with arena.database() as database, database.write() as connection:
        store.enter(connection, store.get(connection, "cup").id, listed(connection, "heuristic"))


def run_and_kill(arena: Arena, file: Path) -> dict[str, int]:
    """Runs the event until a set is written down, then kills the runner; the games that are there."""
    command = [sys.executable, "-m", "arena", "tournament", "run", str(file), "--data-dir", str(arena.data)]
    with (arena.folder / "run.log").open("ab") as log:
        runner = subprocess.Popen(command, cwd=arena.folder, env=arena.variables, stdout=log, stderr=log)
        until(lambda: started(arena) and bool(state_of(arena).sets), 120, "the first set is played")
        os.kill(runner.pid, signal.SIGKILL)
        runner.wait()
    return match_ids(state_of(arena))


def check_arena(arena: Arena, state: State) -> None:
    """Each set that the arena finished for the event counts in it, none is rated, and ladders are as their ledgers say."""
    with arena.database() as database, database.read() as connection:
        mine = (
            select(game_set).join(ladder, ladder.c.id == game_set.c.ladder_id).where(ladder.c.slug.like("event-cup%"))
        )
        sets = connection.execute(mine).all()
    assert not any(row.rated for row in sets)
    assert sum(row.state == "FINISHED" for row in sets) == len(match_ids(state)) // 2
    assert all(row.state == "FINISHED" or row.reason.startswith("not ready") for row in sets)
    assert arena.problems() == ()


def check_publication(arena: Arena, file: Path, state: State) -> None:
    """The final's matches are on no page before it is published, then they are; strangers publish nothing."""
    hidden = {game.match_id for pairing in state.final.pairings for game in state.sets[pairing.id][0].games}
    seen = shown(arena)
    assert not hidden & seen
    assert set(match_ids(state)) - hidden <= seen
    refused = tournament(arena, "publish", str(file), "final", "public", token=arena.register("eve", "eve"))
    assert refused.returncode == 2
    assert "no organiser" in refused.stderr
    assert tournament(arena, "publish", str(file), "final", "public").returncode == 0
    assert hidden <= shown(arena)
    made = tournament(arena, "archive", str(file), str(arena.folder / "pages"))
    assert made.returncode == 0, made.stderr
    assert len(list((arena.folder / "pages" / "records").iterdir())) == len(match_ids(state))


def shown(arena: Arena) -> set[str]:
    """Matches that are on the arena's pages."""
    found, cursor = set(), ""
    with arena.database() as database, database.read() as connection:
        while True:
            rows, cursor = stored_matches.recent_matches(connection, limit=200, cursor=cursor)
            found |= {row.match_id for row in rows}
            if not cursor:
                return found
