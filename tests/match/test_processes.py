"""Programs of this machine: how they begin, and how they end."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from arena.bench.echo import until
from arena.bench.processes import alive
from arena.host import processes
from arena.host.processes import BotDidNotConnect, LocalBots, Program

RAW = Path(__file__).parents[2] / "bots" / "python" / "raw_random.py"
WAITS = """
import pathlib, signal, sys, time

def end(*_):
    (folder := pathlib.Path(sys.argv[1])).joinpath(sys.argv[2]).touch()
    while len(list(folder.iterdir())) < 2:
        time.sleep(0.01)
    print("all were asked", flush=True)
    os._exit(0)

"""


async def test_programs_are_asked_to_end_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that end only when both have been asked do: several that hang take no longer than one."""
    monkeypatch.setattr(processes, "STOP_TIMEOUT_S", 20.0)
    bot, asked = tmp_path / "bot.py", tmp_path / "asked"
    asked.mkdir()
    bot.write_text(f"import os\n{WAITS}\nsignal.signal(signal.SIGTERM, end)\n" + RAW.read_text())
    programs = [
        Program(name, "1", (sys.executable, str(bot), str(asked), name), tmp_path / f"{name}.log")
        for name in ("a", "b")
    ]
    async with LocalBots(tmp_path) as bots:
        await bots.stop(*[await bots.start(program) for program in programs])
    assert [program.log.read_text() for program in programs] == ["all were asked\n"] * 2


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            ("sh", "-c", "echo hello; exec sleep 100"),
            r"x did not connect within 1 s: .*ARENA_ADDRESS.*sh -c 'echo .*\nIts log, .*x.log, ends:\nhello$",
        ),
        (("true",), r"x ended with status 0 unconnected: .*started by: true\nIt printed nothing\.$"),
    ],
)
async def test_who_does_not_connect_is_told_how(
    command: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that only runs is told apart from one that ended, and neither by how we ended it."""
    monkeypatch.setattr(processes, "CONNECT_TIMEOUT_S", 1.0)
    async with LocalBots(tmp_path) as bots:
        with pytest.raises(BotDidNotConnect, match=said):
            await bots.start(Program("x", "1", command, tmp_path / "x.log"))


async def test_a_program_for_which_nobody_waits_any_more_is_ended(tmp_path: Path) -> None:
    """A set that is given up while its house bot starts leaves no process behind, which would stay for the worker's life."""
    log = tmp_path / "x.log"
    async with LocalBots(tmp_path) as bots:
        program = Program("x", "1", ("sh", "-c", "echo $$; exec sleep 100"), log)
        starting = asyncio.create_task(bots.start(program))
        await until(lambda: log.exists() and log.read_text().endswith("\n"), 10)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert not alive(int(log.read_text()))
