"""The gateway as a process: what it serves, and how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from arena import settings
from arena.gateway.process import REVOKED_POLL_S, admission
from arena.gateway.relay import RelayClient
from arena.storage import accounts
from arena.storage.db import Database
from botarena.internal.v1 import relay_pb2 as rpb
from botarena.v1 import play_pb2 as pb
from tests.gateway.bots import BareBot

PROGRAM = "from arena import settings; from arena.gateway import process; process.run(settings.load())"


class Gateway:
    """A gateway in a process of its own, over a database with one bot."""

    def __init__(self, folder: Path) -> None:
        self.play = f"unix:{folder / 'play.sock'}"
        self.relay = f"unix:{folder / 'relay.sock'}"
        self.database_url = f"sqlite:///{folder / 'arena.db'}"
        database = Database(self.database_url)
        database.upgrade()
        with database.write() as connection:
            _, self.token = accounts.register(connection, "ann", "alice")
        database.close()
        self._environment = {
            **os.environ,
            "ARENA_DATA_DIR": str(folder),
            "ARENA_GATEWAY_LISTEN": self.play,
            "ARENA_GATEWAY_RELAY_LISTEN": self.relay,
            "ARENA_GATEWAY_METRICS_LISTEN": "127.0.0.1:0",
        }
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it; returns when bots are served."""
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", PROGRAM, env=self._environment, stderr=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(60):
            async with grpc.aio.insecure_channel(self.play) as channel:
                await channel.channel_ready()

    async def end(self, number: int) -> tuple[int, str]:
        """Send a signal; its exit status and what it wrote to standard error."""
        assert self.process is not None
        self.process.send_signal(number)
        async with asyncio.timeout(20):
            _, stderr = await self.process.communicate()
        return self.process.returncode or 0, stderr.decode()


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    """A running gateway."""
    gateway = Gateway(tmp_path)
    await gateway.start()
    yield gateway
    assert gateway.process is not None
    if gateway.process.returncode is None:
        await gateway.end(signal.SIGKILL)


async def start_game(worker: RelayClient, session: str) -> None:
    """One game with one question."""
    clock = pb.Clock(bank_ms=60_000, limit_ms=60_000)
    request = pb.DecisionRequested(game_id="g", decision_id=1, clock=clock)
    started = pb.ArenaEvent(match_started=pb.MatchStarted(game_id="g"))
    worker.send(rpb.WorkerEvent(session=session, deliver=started))
    worker.send(rpb.WorkerEvent(session=session, ask=rpb.Ask(request=request, limit_ms=60_000)))


async def test_r84_sigterm_sends_everybody_away_and_ends_without_a_trace(gateway: Gateway) -> None:
    """Bots get Draining and OK, workers hear that the session was released, and nothing is on standard error."""
    told: asyncio.Queue[rpb.GatewayEvent] = asyncio.Queue()
    down: asyncio.Queue[str] = asyncio.Queue()
    worker = RelayClient(gateway.relay, worker="w", epoch=1, on_event=told.put_nowait, on_down=down.put_nowait)
    await worker.start()
    async with BareBot(gateway.play, gateway.token) as bot, BareBot(gateway.play, gateway.token, instance="2"):
        assert bot.welcome is not None
        assert len(bot.welcome.arena_key) == 32
        await start_game(worker, bot.welcome.session)
        await bot.expect("decision_requested")
        status, stderr = await gateway.end(signal.SIGTERM)
        assert (await bot.expect("draining")).reason == pb.Draining.REASON_SERVER
        assert await bot.ended() is grpc.StatusCode.OK
    assert (await asyncio.wait_for(told.get(), 3)).HasField("session_released")
    await asyncio.wait_for(down.get(), 3)
    await worker.close()
    assert (status, stderr) == (0, "")


async def test_r69_a_killed_gateway_comes_back_and_the_game_goes_on(gateway: Gateway) -> None:
    """After SIGKILL the bot has a new session, in which the worker resumes the game with the time that was used."""
    down: asyncio.Queue[str] = asyncio.Queue()
    worker = RelayClient(gateway.relay, worker="w", epoch=1, on_event=print, on_down=down.put_nowait)
    await worker.start()
    async with BareBot(gateway.play, gateway.token) as bot:
        assert bot.welcome is not None
        old = bot.welcome.session
        await start_game(worker, old)
        await bot.expect("decision_requested")
        await gateway.end(signal.SIGKILL)
        assert await bot.ended() is grpc.StatusCode.UNAVAILABLE
    await asyncio.wait_for(down.get(), 3)
    await worker.close()
    await gateway.start()
    told: asyncio.Queue[rpb.GatewayEvent] = asyncio.Queue()
    worker = RelayClient(gateway.relay, worker="w", epoch=1, on_event=told.put_nowait, on_down=down.put_nowait)
    await worker.start()
    async with BareBot(gateway.play, gateway.token, resume_session=old) as bot:
        assert bot.welcome is not None
        assert bot.welcome.session != old
        assert list(bot.welcome.running_games) == []
        worker.send(rpb.WorkerEvent(session=old, cancel=rpb.Cancel(game_id="g", decision_id=1)))
        assert (await asyncio.wait_for(told.get(), 3)).HasField("session_unknown")
        await start_game(worker, bot.welcome.session)
        await bot.expect("decision_requested")
        await bot.act("g", 1, 4)
        assert (await asyncio.wait_for(told.get(), 3)).act.act.action_id == 4
    await worker.close()
    assert await gateway.end(signal.SIGTERM) == (0, "")


def test_r44_guessing_is_bounded_as_it_is_set() -> None:
    """An operator's limit of bad tokens is that of the server."""
    assert admission(settings.load({"limits.bad_tokens": 7}, environ={})).bad_tokens == 7


async def test_r45_a_revoked_token_cuts_its_streams_by_itself(gateway: Gateway) -> None:
    """Nobody tells the gateway: it asks, every other second, and leaves the account's other tokens alone."""
    database = Database(gateway.database_url)
    with database.write() as connection:
        first = accounts.authenticate(connection, gateway.token)
        assert first is not None
        laptop = accounts.create_token(connection, first.account_id, label="laptop")
    async with (
        BareBot(gateway.play, gateway.token, bot="alice") as stolen,
        BareBot(gateway.play, laptop, bot="alice", instance="2") as other,
    ):
        with database.write() as connection:
            accounts.revoke_token(connection, first.account_id, first.prefix)
        assert (await stolen.expect("draining")).reason == pb.Draining.REASON_REVOKED
        assert await stolen.ended() is grpc.StatusCode.UNAUTHENTICATED
        assert not other.call.done()
    database.close()
    assert REVOKED_POLL_S < 5


def test_r16_the_herd_is_let_in_as_it_is_set() -> None:
    """An operator's limits of addresses, of starts and of Hello are those of the server."""
    words = {"connections_per_address": 7, "starts_per_s": 11, "start_burst": 13, "hello_ms": 1_500}
    chosen = settings.load({f"limits.{name}": value for name, value in words.items()}, environ={})
    found = admission(chosen)
    assert (found.streams_per_address, found.starts_per_s, found.start_burst, found.hello_s) == (7, 11, 13, 1.5)
