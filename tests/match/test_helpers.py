"""Lanes in processes of their own: everything is done once, failures come home, and nobody is left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from arena.errors import ArenaError, UserError
from arena.host.helpers import Take, Tell, play_beside, together
from arena.host.processes import processors


async def square(lanes: int, take: Take, tell: Tell) -> None:
    """Squares numbers; who squared them is told as well."""

    async def lane() -> None:
        while (number := await take()) is not None:
            await asyncio.sleep(0.01)
            tell((number, number**2, os.getpid()))

    await asyncio.gather(*(lane() for _ in range(lanes)))


async def refuse(lanes: int, take: Take, tell: Tell) -> None:
    """Has no use for 3."""
    while (number := await take()) is not None:
        if number == 3:
            raise UserError("not 3")
        tell(number)


async def fail(lanes: int, take: Take, tell: Tell) -> None:
    """Fails by a mistake of its own."""
    await take()
    raise ZeroDivisionError("oh")


async def die(lanes: int, take: Take, tell: Tell) -> None:
    """Is killed in the middle of its work, by the system's word."""
    await take()
    os.kill(os.getpid(), signal.SIGKILL)
    await asyncio.sleep(60)


async def wait(lanes: int, take: Take, tell: Tell) -> None:
    """Tells who it is, and works for longer than anybody waits."""
    tell(os.getpid())
    await asyncio.sleep(600)


async def beside(lanes: Any, count: int, tasks: int) -> list[Any]:
    """What is told of so many tasks."""
    queue, told = deque(range(tasks)), list[Any]()

    async def take() -> int | None:
        return queue.popleft() if queue else None

    await play_beside(lanes, count, take, told.append)
    return told


async def test_every_task_is_done_once_by_as_many_processes_as_there_are_processors() -> None:
    """Five lanes of at most so many processes do 200 tasks."""
    told = await beside(square, 5, 200)
    assert sorted((number, found) for number, found, _ in told) == [(n, n * n) for n in range(200)]
    assert len({pid for _, _, pid in told}) == min(5, processors())
    assert os.getpid() not in {pid for _, _, pid in told}


@pytest.mark.parametrize(
    ("lanes", "error", "text"),
    [(refuse, UserError, "^not 3$"), (fail, ArenaError, "ZeroDivisionError.*oh"), (die, ArenaError, "status -9")],
)
async def test_a_failure_is_raised_here_and_ends_the_others(lanes: Any, error: type[Exception], text: str) -> None:
    """As what it was, if it was for the user; a process that is killed is a failure too."""
    with pytest.raises(error, match=text):
        await beside(lanes, 2, 10)


async def test_cancelling_ends_the_processes() -> None:
    """When the caller is cancelled none of them runs any more."""
    pids, there = list[int](), asyncio.Event()

    async def take() -> None:
        return None

    def tell(pid: int) -> None:
        pids.append(pid)
        if len(pids) == min(2, processors()):
            there.set()

    playing = asyncio.create_task(play_beside(wait, 2, take, tell))
    await there.wait()
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert not any(map(lives, pids))


async def test_work_that_runs_together_is_cancelled_once() -> None:
    """Whoever is slower to end may take its time, whether the caller is cancelled or another failed."""
    ended: list[float] = []

    async def end_after(seconds: float) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(seconds)
            ended.append(seconds)

    async def fail_soon() -> None:
        await asyncio.sleep(0.01)
        raise UserError("soon")

    running = asyncio.create_task(together(end_after(seconds) for seconds in (0.0, 0.1, 0.3)))
    await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert ended == [0.0, 0.1, 0.3]
    with pytest.raises(UserError, match=r"^soon$"):
        await together([end_after(0.2), fail_soon(), end_after(0.4)])
    assert ended[3:] == [0.2, 0.4]
    await together([])


def lives(pid: int | str) -> bool:
    """Whether there is such a process."""
    return Path(f"/proc/{pid}").exists()


BOT = """
import os, pathlib, sys
pathlib.Path(os.environ["PIDS"], str(os.getpid())).touch()
import botarena

@botarena.bot("balloon-challenge")
def act(view, legal, clock):
    return legal[0]

botarena.run(act)
"""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_nobody_outlives_arena_match(tmp_path: Path, number: signal.Signals, status: int) -> None:
    """Ctrl-C, or a kill that nobody can answer: helpers and bots are gone soon after; Ctrl-C says one line."""
    (tmp_path / "bot.py").write_text(BOT)
    pids, own = tmp_path / "pids", {**os.environ, "PIDS": str(tmp_path / "pids")}
    pids.mkdir()
    words = ["match", str(tmp_path / "bot.py"), str(tmp_path / "bot.py"), "-n", "100000", "--concurrency", "2"]
    running = subprocess.Popen(
        [sys.executable, "-m", "arena", *words],
        env=own,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 60
        while len(list(pids.iterdir())) < 4:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        time.sleep(1)
        running.send_signal(number)
        _, said = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == status
    assert "Traceback" not in said
    deadline = time.monotonic() + 20
    while alive := [one.name for one in pids.iterdir() if lives(one.name)]:
        assert time.monotonic() < deadline, alive
        time.sleep(0.1)


def test_a_seed_repeats_a_match_however_many_play_at_once(tmp_path: Path) -> None:
    """The same games with the same results from one process and from several, each record under its number."""
    reports = []
    for concurrency in ("1", "3"):
        words = ["match", "greedy", "random", "-n", "12", "--seed", "7", "--concurrency", concurrency, "--json"]
        records = tmp_path / concurrency
        done = subprocess.run(
            [sys.executable, "-m", "arena", *words, "--records", str(records)], check=True, capture_output=True
        )
        games = [{**game, "duration_ms": 0} for game in json.loads(done.stdout)["games"]]
        reports.append((games, [one.name for one in sorted(records.iterdir())]))
    assert reports[0] == reports[1]
    assert len(reports[0][0]) == len(reports[0][1]) == 12
