"""The SDK and the raw bot against the real gateway: both ends understand each other."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import botarena
from botarena import session, wire
from botarena.address import Target
from botarena.connection import Connection, Settings
from botarena.program import load
from botarena.v1 import play_pb2 as pb
from tests.gateway.harness import Arena

RAW = Path(botarena.__file__).parents[1] / "raw_random.py"
PATIENCE_S = 10.0


def last(view: Any, legal: Any, clock: Any) -> Any:
    return legal[-1]


def connect(arena: Arena, token: str, bot: Any = last, **settings: Any) -> tuple[Connection, asyncio.Task[None]]:
    connection = Connection(load(bot), Settings(Target.parse(arena.address), token, **settings))
    return connection, asyncio.create_task(connection.run())


async def finished(task: asyncio.Task[None]) -> None:
    await asyncio.wait_for(task, PATIENCE_S)


async def test_a_set_from_offer_to_drain() -> None:
    """Offer, ready with a nonce, a decision, the end; a drained bot is told that it is done and ends."""
    results: list[botarena.Result] = []

    class Ending(botarena.Bot):
        def act(self, view: Any, legal: Any, clock: Any) -> Any:
            return legal[-1], "the last one"

        def on_end(self, result: botarena.Result) -> None:
            results.append(result)

    async with Arena() as arena:
        connection, task = connect(arena, arena.issue("alice"), Ending, credit=2)
        seat = await arena.seat("alice")
        offer = seat.offer()
        assert len((await seat.expect("ready")).nonce) == 16
        game = seat.start(offer_id=offer)
        decision = seat.ask(game, legal=[3, 4, 9])
        act = (await seat.expect("act")).act
        assert (act.decision_id, act.action_id, act.annotation.comment) == (decision, 9, "the last one")
        seat.end(game, places=[1, 2], scores=[5, 3], match_id="m")
        connection.interrupt()
        await finished(task)
    assert [(result.outcome, result.place, result.match_id) for result in results] == [("finished", 1, "m")]
    assert results[0].receipts is not None
    assert results[0].receipts.arena_key == b"k" * 32


async def test_r10_a_cut_stream_is_resumed_and_the_answer_arrives() -> None:
    """The bot's connection breaks while it is to decide: it comes back to the same session and answers."""
    release = threading.Event()

    def act(view: Any, legal: Any, clock: Any) -> Any:
        assert release.wait(PATIENCE_S)
        return legal[0]

    async with Arena() as arena:
        connection, task = connect(arena, arena.issue("alice"), act)
        seat = await arena.seat("alice")
        game = seat.start()
        decision = seat.ask(game)
        connection.cut()
        await seat.expect("session_lost")
        await seat.expect("session_live")
        release.set()
        assert (await seat.expect("act")).act.decision_id == decision
        seat.end(game)
        connection.interrupt()
        await finished(task)


async def test_r69_a_game_survives_a_gateway_that_forgot_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway is replaced by one that knows no games: what the worker brings back goes on in the same instance, and
    what nobody brings back is over after a while."""
    monkeypatch.setattr(session, "DOUBT_S", 0.5)
    made: list[Keeping] = []
    loop, over = asyncio.get_running_loop(), asyncio.Event()

    class Keeping(botarena.Bot):
        def __init__(self) -> None:
            made.append(self)
            self.acts = 0
            self.outcome = ""

        def act(self, view: Any, legal: Any, clock: Any) -> Any:
            self.acts += 1
            return legal[0]

        def on_end(self, result: botarena.Result) -> None:
            self.outcome = result.outcome
            loop.call_soon_threadsafe(over.set)

    async with Arena() as arena:
        connection, task = connect(arena, arena.issue("alice"), Keeping, credit=2)
        seat = await arena.seat("alice")
        kept, lost = seat.start(), seat.start()
        for game in (kept, lost):
            seat.ask(game)
            await seat.expect("act")
        await arena.restart()
        seat = await arena.seat("alice")
        started = pb.MatchStarted(game_id=kept, game="pop", players=2, resumed=True)
        seat.deliver(match_started=started)
        async with asyncio.timeout(PATIENCE_S):
            await over.wait()
        seat.ask(kept, decision_id=9)
        await seat.expect("act")
        seat.end(kept)
        connection.interrupt()
        await finished(task)
    assert [(bot.acts, bot.outcome) for bot in made] == [(2, "finished"), (1, "unknown")]


async def test_r11_the_newest_process_wins_and_the_older_one_stops() -> None:
    """Two processes of one instance do not evict each other for ever."""
    async with Arena() as arena:
        token = arena.issue("alice")
        _, older = connect(arena, token)
        await arena.seat("alice")
        connection, newer = connect(arena, token)
        with pytest.raises(botarena.Replaced, match="--instance"):
            await finished(older)
        connection.interrupt()
        await finished(newer)


async def test_r19_version_skew_names_the_range(monkeypatch: pytest.MonkeyPatch) -> None:
    """An SDK of another major version is told what the arena speaks."""
    monkeypatch.setattr(wire, "PROTOCOL", 9000)
    async with Arena() as arena:
        _, task = connect(arena, arena.issue("alice"))
        with pytest.raises(botarena.VersionSkew, match=r"9\.0.*1\.0"):
            await finished(task)


async def test_refusals_are_the_arenas_words() -> None:
    """A bad token, somebody else's bot and an unknown game each stop the process with what is wrong."""
    async with Arena() as arena:
        _, task = connect(arena, "nonsense")
        with pytest.raises(botarena.Refused, match="token"):
            await finished(task)
        token = arena.issue("alice")
        _, task = connect(arena, token, botarena.bot("chess")(lambda view, legal, clock: legal[0]))
        with pytest.raises(botarena.Misconfigured, match="chess"):
            await finished(task)


async def test_the_raw_bot_plays_on_the_real_gateway() -> None:
    """Twenty lines are enough for it, too."""
    async with Arena() as arena:
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(RAW), env={"ARENA_ADDRESS": arena.address, "ARENA_TOKEN": arena.issue("raw")}
        )
        try:
            seat = await arena.seat("raw")
            offer = seat.offer()
            await seat.expect("ready")
            game = seat.start(offer_id=offer)
            for _ in range(20):
                decision = seat.ask(game, legal=[3, 4])
                act = (await seat.expect("act")).act
                assert act.decision_id == decision
                assert act.action_id in (3, 4)
            seat.end(game, end=pb.MatchEnded.END_VOID)
        finally:
            process.kill()
            await process.wait()
