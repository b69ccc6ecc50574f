"""What is known of a worker that died: whose code killed it, if it was code."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from arena.host.blackbox import BlackBox, beside

ROOT = Path(__file__).parents[2]
DIES = """
import asyncio, ctypes, os, signal, sys
from pathlib import Path
from arena.host.blackbox import BlackBox, beside

async def crash():
    await asyncio.sleep(0)
    {how}

async def seats(work):
    await asyncio.gather(asyncio.create_task(beside(work)), asyncio.create_task(beside(innocent)))

async def innocent():
    while True:
        await asyncio.sleep(0)

async def main():
    box = BlackBox(Path(sys.argv[1]), "w")
    box.open()
    other = asyncio.create_task(box.watch("s_beside", 1, innocent()))
    await box.watch("s_native", 3, {work})

asyncio.run(main())
"""
SEGFAULT, ABORT, KILL = "ctypes.string_at(0)", "os.abort()", "os.kill(os.getpid(), signal.SIGKILL)"


@pytest.mark.parametrize("work", ["crash()", "seats(crash)"])
@pytest.mark.parametrize("how", [SEGFAULT, ABORT])
def test_r76_native_rules_that_crash_are_named(tmp_path: Path, how: str, work: str) -> None:
    """In the set's own task or in one that it began, and not the set beside it; the next life knows it once."""
    assert dies(tmp_path, how, work) < 0
    crash = BlackBox(tmp_path, "w").read()
    assert crash is not None
    assert (crash.set_id, crash.attempt) == ("s_native", 3)
    assert "in crash" in crash.trace
    assert BlackBox(tmp_path, "another").read() is None
    again = BlackBox(tmp_path, "w")
    again.open()
    again.close()
    assert again.read() is None


@pytest.mark.parametrize("how", [KILL, "os._exit(70)", "raise RuntimeError"])
def test_r76_whoever_kills_a_worker_blames_no_set(tmp_path: Path, how: str) -> None:
    """Wherever the process is at that moment: a kill from outside leaves no word of a crash, nor does an end of its own."""
    assert dies(tmp_path, how, "crash()") != 0
    assert BlackBox(tmp_path, "w").read() is None


def test_r76_a_crash_of_nobodys_code_blames_no_set(tmp_path: Path) -> None:
    """What runs between the steps of sets is the arena's own."""
    assert (
        dies(tmp_path, "loop = asyncio.get_running_loop(); loop.call_soon(ctypes.string_at, 0); await asyncio.sleep(1)")
        < 0
    )
    assert BlackBox(tmp_path, "w").read() is None


def dies(folder: Path, how: str, work: str = "crash()") -> int:
    """The status of a process that plays two sets, one of which ends it."""
    program = DIES.format(how=how, work=work)
    command = [sys.executable, "-c", program, folder]
    return subprocess.run(command, cwd=ROOT, capture_output=True, timeout=45, check=False).returncode


async def test_what_is_watched_goes_as_without(tmp_path: Path) -> None:
    """Results, errors and cancellation pass, into the work and out of it."""
    box = BlackBox(tmp_path, "w")
    box.open()
    told: list[str] = []

    async def work(how: str) -> None:
        try:
            await asyncio.sleep(0 if how != "cancelled" else 60)
        except asyncio.CancelledError:
            told.append("cancelled")
            raise
        if how == "error":
            raise LookupError(how)
        told.append(how)

    await box.watch("s_1", 1, work("result"))
    with pytest.raises(LookupError):
        await box.watch("s_1", 1, work("error"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await box.watch("s_1", 1, beside(work, "cancelled"))
    box.close()
    assert told == ["result", "cancelled"]


async def test_what_is_given_up_before_it_begins_is_never_made() -> None:
    """As when a match ends in the moment in which several seats are asked: nothing is left behind that nobody awaits."""
    made: list[str] = []

    async def work() -> None:
        made.append("work")

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        task = asyncio.create_task(beside(work))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        del task
    assert (made, warned) == ([], [])
