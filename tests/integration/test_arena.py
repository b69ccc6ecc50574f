"""The arena as its users meet it: bots from outside play, and what dies comes back."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from sqlalchemy import select

from arena.storage.tables import bot, match, result, set_seat
from tests.integration.harness import DEMO_BOT, RAW_BOT, Arena, alive, descendants, until


def played_by(arena: Arena, name: str) -> int:
    """How many matches with this bot have a result."""
    with arena.database() as database, database.read() as connection:
        query = (
            select(result.c.match_id)
            .join(match, match.c.id == result.c.match_id)
            .join(set_seat, set_seat.c.set_id == match.c.set_id)
            .join(bot, bot.c.id == set_seat.c.bot_id)
            .where(bot.c.name == name)
        )
        return len(connection.execute(query).all())


def test_bots_from_outside_play_and_ratings_are_what_the_ledger_says(arena: Arena) -> None:
    """An SDK bot and a bot of the bare protocol play rated sets; the ladder check finds nothing wrong."""
    arena.start_bot(DEMO_BOT, arena.register("ann", "demo"), "--credit", "4")
    arena.start_bot(RAW_BOT, arena.register("bob", "raw"))
    arena.wait_results(20)
    until(lambda: played_by(arena, "demo") > 0 and played_by(arena, "raw") > 0, 60, "both play")
    assert arena.problems() == ()


def test_r66_killed_worker(arena: Arena) -> None:
    """R66: after SIGKILL of the worker each match has one result or is played again; connected bots go on."""
    demo = arena.start_bot(DEMO_BOT, arena.register("ann", "demo"), "--credit", "4")
    arena.wait_results(5)
    arena.kill("celery")
    arena.wait_results(20, timeout_s=90)
    assert demo.poll() is None
    assert arena.problems() == ()
    assert set().union(*arena.reasons().values()) == {"NORMAL"}


def test_r69_killed_gateway(arena: Arena) -> None:
    """R69: after SIGKILL of the gateway the SDK's bots come back and go on; nobody lost a game by it."""
    demo = arena.start_bot(DEMO_BOT, arena.register("ann", "demo"), "--credit", "4")
    arena.wait_results(5)
    arena.kill("arena gateway")
    arena.wait_results(20, timeout_s=90)
    assert demo.poll() is None
    assert arena.problems() == ()
    assert set().union(*arena.reasons().values()) == {"NORMAL"}


def test_r67_68_restarted_valkey(arena: Arena) -> None:
    """R67, R68: Valkey dies and comes back empty; registry and queues fill again and matches go on."""
    demo = arena.start_bot(DEMO_BOT, arena.register("ann", "demo"), "--credit", "4")
    arena.wait_results(5)
    arena.kill("valkey")
    arena.wait_results(20, timeout_s=120)
    assert demo.poll() is None
    assert arena.problems() == ()
    assert set().union(*arena.reasons().values()) == {"NORMAL"}


def test_one_ctrl_c_ends_all_and_a_second_start_finds_its_data(tmp_path: Path) -> None:
    """One SIGINT ends every process of the arena; started again it goes on with what it had."""
    arena = Arena(tmp_path)
    arena.start()
    arena.wait_results(3)
    processes = descendants(arena.pid)
    assert len(processes) > 4
    assert arena.stop() == 0
    assert not [pid for pid in processes if alive(pid)]
    before = arena.results()
    arena.start()
    arena.wait_results(3)
    assert arena.results() >= before + 3
    assert arena.stop() == 0
    assert arena.problems() == ()


def test_no_orphans_after_sigkill(tmp_path: Path) -> None:
    """A killed `arena up` takes all of its processes with it."""
    arena = Arena(tmp_path)
    arena.start()
    arena.wait_results(1)
    processes = descendants(arena.pid)
    os.kill(arena.pid, signal.SIGKILL)
    until(lambda: not [pid for pid in processes if alive(pid)], 15, "the arena's processes end")
    time.sleep(0.1)
