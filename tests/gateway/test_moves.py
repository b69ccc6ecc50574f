"""A bot that leaves its gateway in the middle of a question: real gateways and relays, a registry that says what it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from arena.errors import Unavailable
from arena.gateway.core import Connection, GatewayCore
from arena.gateway.registry import OnlineSession
from arena.gateway.relay import RelayServer, start_relay_server
from arena.gateway.session import Identity
from arena.host import remote
from arena.host.port import Answer, Port
from arena.match.spec import SeatReason
from botarena.v1 import play_pb2 as pb
from tests.gateway.harness import GAMES, until

ALICE = Identity(1, 1, "alice", "1", "ann")
LIMIT_MS = 1_000


class Registry:
    """What Redis would say of the bot."""

    def __init__(self) -> None:
        self.says: OnlineSession | None = None
        self.down = False
        self.asked = 0

    async def find(self, bot_id: int, instance: str) -> OnlineSession | None:
        self.asked += 1
        if self.down:
            raise Unavailable("Redis does not answer")
        return self.says if bot_id == ALICE.bot_id else None

    async def is_asked_again(self) -> None:
        """Until whoever asks has had an answer, and time to do something about it."""
        before = self.asked
        await until(lambda: self.asked >= before + 3)


class Gateway:
    """A gateway without its server for bots: they are streams of its core."""

    def __init__(self, name: str, relay: str) -> None:
        self.core = GatewayCore(name, games=GAMES)
        self.address = relay
        self._server: RelayServer | None = None

    async def start(self) -> None:
        self.core.start()
        self._server = await start_relay_server(self.core, self.address)

    async def stop(self) -> None:
        assert self._server is not None
        await self._server.stop()
        self.core.close()

    def connect(self) -> tuple[Connection, OnlineSession]:
        """The bot's stream here, and what the registry is to say of it."""
        stream = self.core.connect(ALICE, pb.Hello())
        session = stream.session.id
        return stream, OnlineSession(1, "0", session, self.core.name, self.address, 1, "alice", "1", "ann", 1, 1, {})


class Question:
    """A bot that plays at gateway ``one``, and leaves it with a question open."""

    def __init__(self, registry: Registry, one: Gateway, two: Gateway, worker: remote.Gateways) -> None:
        self.registry = registry
        self.one = one
        self.two = two
        self.worker = worker

    async def begin(self) -> None:
        self.stream, self.registry.says = self.one.connect()
        self.port: Port = await self.worker.acquire(1, "0")
        self.port.start(pb.MatchStarted(game_id="g", game="pop", players=2))

    async def leave(self) -> None:
        """The bot has been asked, and goes."""
        self.answer = asyncio.create_task(self._ask())
        await until(lambda: self.one.core.tallies.total().counts["decisions"])
        self.one.core.disconnect(self.stream)

    async def _ask(self) -> Answer:
        def fill(request: pb.DecisionRequested) -> None:
            request.game_id, request.decision_id = "g", 1
            request.legal.add(id=0)
            request.legal.add(id=1)

        return await self.port.ask(("g", 1), fill, LIMIT_MS)

    async def time_is_up(self) -> None:
        """At the gateway that it left, unless the clock stands still."""
        await until(lambda: self.one.core.tallies.total().counts["expired"] or self.port.frozen)
        await self.registry.is_asked_again()

    async def answers_at(self, gateway: Gateway, stream: Connection) -> Answer:
        """It is told its game and asked again there, with time left, and answers."""
        seen: list[pb.ArenaEvent] = []

        def asked() -> bool:
            seen.extend(pb.PlayResponse.FromString(stream.take()).events)
            return any(event.HasField("decision_requested") for event in seen)

        await until(asked)
        assert list(seen[0].welcome.running_games) == []
        act = pb.BotEvent(act=pb.Act(game_id="g", decision_id=1, action_id=1))
        gateway.core.receive(stream, pb.PlayRequest(events=[act]).SerializeToString())
        return await asyncio.wait_for(self.answer, 10)


@pytest.fixture
async def question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Question]:
    """A bot with a game at the first of two gateways."""
    monkeypatch.setattr(remote, "LOOK_EVERY_S", 0.01)
    monkeypatch.setattr(remote, "REGISTERED_S", 3600.0)
    one, two = (Gateway(name, f"unix:{tmp_path / name}.sock") for name in ("one", "two"))
    await one.start()
    await two.start()
    async with remote.Gateways(registry := Registry(), "w", lambda: 1) as worker:
        question = Question(registry, one, two, worker)
        await question.begin()
        yield question
    await one.stop()
    await two.stop()


async def test_r10_a_bot_that_is_nowhere_is_absent(question: Question) -> None:
    """With a registry that answers, and knows it nowhere, the time of a bot that left runs out as anybody's."""
    question.registry.says = None
    await question.leave()
    answer = await asyncio.wait_for(question.answer, 10)
    assert answer.fault is SeatReason.DISCONNECT


async def test_r67_a_bot_that_moves_while_redis_is_away_is_not_charged(question: Question) -> None:
    """Nobody can say where it is: its clock stands still until the registry answers, and it is asked there again."""
    question.registry.down = True
    await question.leave()
    await question.time_is_up()
    stream, there = question.two.connect()
    await question.registry.is_asked_again()
    assert not question.answer.done()
    question.registry.says, question.registry.down = there, False
    assert (await question.answers_at(question.two, stream)).fault is None


async def test_r67_a_registry_that_was_away_is_not_believed_at_once(question: Question) -> None:
    """It came back empty, and does not know yet who is where: whoever it does not know may be there."""
    registry = question.registry
    registry.down = True
    with pytest.raises(Unavailable):
        await question.worker.acquire(2, "0")
    registry.says, registry.down = None, False
    await question.leave()
    await question.time_is_up()
    assert not question.answer.done()
    stream, registry.says = question.two.connect()
    assert (await question.answers_at(question.two, stream)).fault is None


async def test_r67_a_registry_that_names_the_place_that_it_left_is_behind(question: Question) -> None:
    """The bot may be elsewhere by now: its game stands still, and it finds none at the place that it left."""
    await question.leave()
    await question.time_is_up()
    assert not question.answer.done()
    stream, _ = question.one.connect()
    assert (await question.answers_at(question.one, stream)).fault is None
