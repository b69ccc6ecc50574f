"""The stream between workers and a gateway, over real gRPC on a unix socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from arena.errors import Unavailable
from arena.gateway.relay import RelayClient, RelayServer, start_relay_server
from arena.gateway.session import SessionLimits
from botarena.internal.v1 import relay_pb2 as rpb
from botarena.v1 import play_pb2 as pb
from tests.gateway.bots import BareBot
from tests.gateway.harness import Arena, Seat, until


class Worker:
    """A worker at the other end of a relay stream."""

    def __init__(self, arena: Arena, address: str, *, name: str = "w", epoch: int = 1) -> None:
        self.arena = arena
        self.down: asyncio.Queue[str] = asyncio.Queue()
        self.client = RelayClient(
            address, worker=name, epoch=epoch, on_event=arena.take, on_down=self.down.put_nowait, clock=arena.core.clock
        )

    def seat(self, seat: Seat) -> Seat:
        """The same seat, but spoken for by this worker."""

        def send(event: rpb.WorkerEvent) -> None:
            event.session = seat.session.id
            self.client.send(event)

        seat.send = send  # type: ignore[method-assign]
        return seat


@pytest.fixture
async def arena() -> AsyncIterator[Arena]:
    """An arena whose games are void when their worker is away for 300 ms."""
    async with Arena(limits=SessionLimits(frozen_us=300_000)) as arena:
        yield arena


@pytest.fixture
async def relay(arena: Arena, tmp_path: Path) -> AsyncIterator[RelayServer]:
    """The arena's relay server."""
    server = await start_relay_server(arena.core, f"unix:{tmp_path / 'relay.sock'}")
    yield server
    await server.stop()


async def test_a_decision_through_the_relay(arena: Arena, relay: RelayServer) -> None:
    """What a worker asks over the stream reaches the bot, and the answer comes back with its time."""
    async with BareBot(arena.address, arena.issue("alice")) as bot:
        worker = Worker(arena, relay.address)
        await worker.client.start()
        assert worker.client.gateway == "test"
        seat = worker.seat(await arena.seat("alice"))
        game = seat.start()
        for _ in range(20):
            decision = seat.ask(game)
            assert (await bot.expect("decision_requested")).decision_id == decision
            await bot.act(game, decision)
            assert (await seat.expect("act")).act.decision_id == decision
        await worker.client.close()
        assert worker.down.empty()


async def test_r67_an_answer_given_while_the_worker_is_away_is_repeated(arena: Arena, relay: RelayServer) -> None:
    """A worker that dials again and asks again gets the answer that came meanwhile, and no time was charged for it."""
    async with BareBot(arena.address, arena.issue("alice")) as bot:
        first = Worker(arena, relay.address)
        await first.client.start()
        seat = first.seat(await arena.seat("alice"))
        game = seat.start()
        decision = seat.ask(game)
        await bot.expect("decision_requested")
        await first.client.close()
        await asyncio.sleep(0.1)
        await bot.act(game, decision)
        second = Worker(arena, relay.address)
        await second.client.start()
        seat = second.seat(seat)
        seat.ask(game, decision_id=decision)
        answer = await seat.expect("act")
        assert answer.act.decision_id == decision
        assert answer.elapsed_us < 90_000
        await second.client.close()


async def test_r87_games_of_a_worker_that_stays_away_are_void(arena: Arena, relay: RelayServer) -> None:
    """A worker that vanishes leaves no dead game in a bot: it is told VOID."""
    async with BareBot(arena.address, arena.issue("alice")) as bot:
        worker = Worker(arena, relay.address)
        await worker.client.start()
        game = worker.seat(await arena.seat("alice")).start()
        await bot.expect("match_started")
        await worker.client.close()
        ended = await bot.expect("match_ended")
        assert (ended.game_id, ended.end) == (game, pb.MatchEnded.END_VOID)


async def test_r72_a_newer_epoch_ends_the_older(arena: Arena, relay: RelayServer) -> None:
    """The games of a worker's older epoch are void at once, its stream ends, and it is not let in again."""
    async with BareBot(arena.address, arena.issue("alice")) as bot:
        old = Worker(arena, relay.address, epoch=1)
        await old.client.start()
        game = old.seat(await arena.seat("alice")).start()
        await bot.expect("match_started")
        new = Worker(arena, relay.address, epoch=2)
        await new.client.start()
        assert (await bot.expect("match_ended")).game_id == game
        await asyncio.wait_for(old.down.get(), 3)
        with pytest.raises(Unavailable, match="Epoch 2"):
            await Worker(arena, relay.address, epoch=1).client.start()
        await new.client.close()


async def test_events_for_a_session_that_is_not_here(arena: Arena, relay: RelayServer) -> None:
    """A worker that speaks to an unknown session is told so."""
    told: asyncio.Queue[rpb.GatewayEvent] = asyncio.Queue()
    client = RelayClient(relay.address, worker="w", epoch=1, on_event=told.put_nowait, on_down=print)
    await client.start()
    client.send(rpb.WorkerEvent(session="nobody", release_offer="x"))
    event = await asyncio.wait_for(told.get(), 3)
    assert event.session == "nobody"
    assert event.HasField("session_unknown")
    await client.close()


async def test_no_gateway_at_the_address(tmp_path: Path) -> None:
    """Dialling where nobody listens is an infrastructure failure that may be tried again."""
    client = RelayClient(f"unix:{tmp_path / 'none.sock'}", worker="w", epoch=1, on_event=print, on_down=print)
    with pytest.raises(Unavailable):
        await client.start(timeout_s=1)


async def test_a_gateway_that_stops_is_noticed(arena: Arena, tmp_path: Path) -> None:
    """The worker's on_down is called once when the gateway goes."""
    server = await start_relay_server(arena.core, f"unix:{tmp_path / 'r2.sock'}")
    worker = Worker(arena, server.address)
    await worker.client.start()
    await server.stop()
    await asyncio.wait_for(worker.down.get(), 3)
    await worker.client.close()
    assert worker.down.empty()


async def test_a_link_that_ends_by_an_error_that_nobody_thought_of_is_down(arena: Arena, relay: RelayServer) -> None:
    """Else its worker would think for ever that it is up."""
    down: asyncio.Queue[str] = asyncio.Queue()

    def wrong(_event: rpb.GatewayEvent) -> None:
        raise KeyError("a bug")

    client = RelayClient(relay.address, worker="w", epoch=1, on_event=wrong, on_down=down.put_nowait)
    await client.start()
    client.send(rpb.WorkerEvent(session="nobody", release_offer="x"))
    assert "a bug" in await asyncio.wait_for(down.get(), 3)
    await client.close()


async def test_a_broken_link_leaves_nothing_behind(arena: Arena, relay: RelayServer) -> None:
    """Nobody closes a client whose link broke: its clock would tick for as long as the worker lives."""
    down: asyncio.Queue[str] = asyncio.Queue()
    client = RelayClient(relay.address, worker="w", epoch=1, on_event=lambda event: None, on_down=down.put_nowait)
    await client.start()
    clock = client._clock
    assert clock._handle is not None
    await relay.stop()
    await asyncio.wait_for(down.get(), 10)
    await until(lambda: clock._handle is None)
