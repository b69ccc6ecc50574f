"""The worker's way to bots at gateways."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena.errors import Unavailable
from arena.gateway import registry
from arena.gateway.registry import OnlineSession
from arena.host import port as port_module
from arena.host import remote
from arena.host.play import Finished, Voided
from arena.host.port import Answer, Port, SessionFailed
from arena.host.sets import GameDeal, GameJob, SetJob, play_set
from arena.match.spec import Player, SeatReason, TimeControl, VoidReason
from botarena.internal.v1 import relay_pb2 as relay
from botarena.v1 import play_pb2 as pb


class OneBot:
    """A registry in which one bot is connected, as version 2, at a gateway that nobody reaches."""

    async def find(self, bot_id: int, instance: str) -> OnlineSession | None:
        return OnlineSession(bot_id, instance, "s", "g", "unix:nowhere", 2, "alice", "2", "ann", 1, 0, {})


class Away:
    """A registry that does not answer."""

    async def find(self, bot_id: int, instance: str) -> OnlineSession | None:
        raise Unavailable("Redis does not answer")


class Empty:
    """A registry in which nobody is."""

    async def find(self, bot_id: int, instance: str) -> OnlineSession | None:
        return None


class NoJournal:
    """Results that nobody wants."""

    async def begin(self, deals: Sequence[GameDeal]) -> None:
        pass

    async def finished(self, game: GameJob, finished: Finished) -> Mapping[int, pb.RatingChange]:
        return {}


class Acquired:
    """The sessions of a set's bots."""

    def __init__(self, gateways: remote.Gateways) -> None:
        self._gateways = gateways

    async def open(self, position: int) -> Port:
        return await self._gateways.acquire(position, "0")

    async def close_game(self) -> None:
        pass


class Link:
    """A relay stream of which both ends are here."""

    silent_us = 0

    def __init__(self, reach: Reach, address: str, epoch: int, on_down: Callable[[str], None]) -> None:
        self.address, self.epoch, self.on_down = address, epoch, on_down
        self.sent: list[relay.WorkerEvent] = []
        self._reach = reach

    async def start(self) -> None:
        if self.address in self._reach.down:
            raise Unavailable("nobody listens")
        self._reach.links.append(self)

    async def close(self) -> None:
        pass

    def send(self, event: relay.WorkerEvent) -> None:
        copy = relay.WorkerEvent()
        copy.CopyFrom(event)
        self.sent.append(copy)

    def said(self, kind: str) -> int:
        """How often it carried that."""
        return sum(event.WhichOneof("event") == kind for event in self.sent)


class Reach:
    """Gateways at the other end of links that are cut by hand, and a registry that says what it is told to."""

    def __init__(self) -> None:
        self.down: set[str] = set()
        self.links: list[Link] = []
        self.says: OnlineSession | Exception | None = session("s", "unix:one")
        self.answers = asyncio.Event()
        self.answers.set()
        self.epoch = 1
        self.gateways = remote.Gateways(self, "w", lambda: self.epoch)

    def dial(self, address: str, *, epoch: int, on_down: Callable[[str], None], **_: Any) -> Link:
        return Link(self, address, epoch, on_down)

    async def find(self, bot_id: int, instance: str) -> OnlineSession | None:
        await self.answers.wait()
        if isinstance(self.says, Exception):
            raise self.says
        return self.says

    def hear(self, session_id: str = "s", **event: Any) -> None:
        """A gateway says something."""
        self.gateways._on_event(relay.GatewayEvent(session=session_id, **event))

    def lost(self, *open_: relay.OpenDecision) -> None:
        self.hear(session_lost=relay.SessionLost(open=open_))

    def cut(self) -> None:
        """The newest link breaks."""
        self.links[-1].on_down("cut")


@pytest.fixture
async def reach(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Reach]:
    reach = Reach()
    monkeypatch.setattr(remote, "RelayClient", reach.dial)
    async with reach.gateways:
        yield reach


def session(name: str, where: str) -> OnlineSession:
    return OnlineSession(1, "0", name, "g", where, 1, "alice", "1", "ann", 1, 0, {})


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0.005)


def ask(port: Port, limit_ms: int = 3000) -> asyncio.Task[Answer]:
    return asyncio.create_task(port.ask(("g", 7), lambda request: None, limit_ms))


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "LOOK_EVERY_S", 0.01)


async def test_a_bot_that_is_there_as_another_version_does_not_play_the_old_ones_sets() -> None:
    """A set names versions: what connects under the same name and instance but as another one is somebody else."""
    async with remote.Gateways(OneBot(), "w", lambda: 1) as gateways:
        with pytest.raises(SessionFailed, match="not connected"):
            await gateways.acquire(1, "0", version_id=1)


@pytest.mark.parametrize("directory", [OneBot, Away])
async def test_r87_a_bot_that_is_out_of_the_arenas_reach_is_not_absent(
    directory: Callable[[], remote.Directory],
) -> None:
    """Without Redis, or the link to the bot's gateway, nobody can say that a bot is not ready: the set is the arena's loss."""
    async with remote.Gateways(directory(), "w", lambda: 1) as gateways:
        with pytest.raises(Unavailable):
            await gateways.acquire(1, "0")
        with pytest.raises(Voided) as void:
            await play_set(job(), Acquired(gateways), NoJournal(), Ed25519PrivateKey.generate())
        assert void.value.reason is VoidReason.INFRA_VOID


async def test_r33_a_loser_does_not_escape_as_another_version() -> None:
    """Its clock runs: what is there by its name and instance plays none of its games, so that it is absent as any other."""
    async with remote.Gateways(OneBot(), "w", lambda: 1) as gateways:
        bot = remote._Bot((1, "0"), 1, Port("its own", lambda _: None), "unix:there")
        assert bot.port is not None
        for version, frozen in ((1, False), (2, True)):
            bot.version = version
            assert await gateways._elsewhere(bot, "its own") is frozen
            assert bot.port.frozen is frozen


async def test_r76_a_set_that_comes_to_nothing_takes_no_credit() -> None:
    """The bots of a void set are free at once for the next, which may be that set again."""
    sent: list[relay.WorkerEvent] = []

    class Answering:
        """Sessions whose bots are ready, and which are lost when something is asked."""

        async def open(self, position: int) -> Port:
            def send(event: relay.WorkerEvent) -> None:
                sent.append(event)
                if event.HasField("offer"):
                    ready = relay.ReadyReceived(offer_id=event.offer.offer.offer_id, nonce=bytes(16))
                    port.handle(relay.GatewayEvent(ready=ready))
                elif event.HasField("ask"):
                    asyncio.get_running_loop().call_soon(port.fail, "lost")

            port = Port(f"s{position}", send)
            return port

        async def close_game(self) -> None:
            pass

    with pytest.raises(Voided):
        await play_set(job(), Answering(), NoJournal(), Ed25519PrivateKey.generate())
    offered = {event.session: event.offer.offer.offer_id for event in sent if event.HasField("offer")}
    assert {event.offer.set_id for event in sent if event.HasField("offer")} == {"s_1"}
    assert {event.session: event.release_offer for event in sent if event.release_offer} == offered
    assert len(offered) == 2


async def test_a_bot_that_is_nowhere_is_not_there() -> None:
    """A registry that answers is believed."""
    async with remote.Gateways(Empty(), "w", lambda: 1) as gateways:
        with pytest.raises(SessionFailed, match="not connected"):
            await gateways.acquire(1, "0")


async def test_r10_who_lost_by_absence_and_is_back_plays_the_next_set(reach: Reach) -> None:
    """Its gateway tells only those with whom it plays that it is back: nothing of a set that is over counts for the next."""
    await reach.gateways.acquire(1, "0")
    reach.lost()
    reach.gateways.release(1, "0")
    assert (await reach.gateways.acquire(1, "0")).session == "s"


async def test_r69_what_is_asked_after_the_bot_was_given_up_is_void(
    reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gateway was away for too long while somebody else was to move. For other sets the bot is out of reach, not another version."""
    monkeypatch.setattr(remote, "LOST_AFTER_S", 0.05)
    port = await reach.gateways.acquire(1, "0", 1)
    reach.says = None
    reach.cut()
    await until(lambda: port.failed)
    with pytest.raises(SessionFailed, match="did not come back"):
        await port.ask(("g", 7), lambda request: None, 3000)
    with pytest.raises(SessionFailed, match="did not come back"):
        await port.offer(pb.SetOffered(offer_id="o"), 10)
    with pytest.raises(Unavailable):
        await reach.gateways.acquire(1, "0", 1)
    reach.gateways.release(1, "0")
    reach.says = session("s", "unix:one")
    assert not (await reach.gateways.acquire(1, "0", 1)).failed


async def test_r10_who_is_away_by_itself_for_long_is_found_where_it_comes_back(
    reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a ladder with minutes a move its time is not over after one."""
    monkeypatch.setattr(remote, "LOST_AFTER_S", 0.05)
    monkeypatch.setattr(remote, "LOOK_RARELY_S", 0.01)
    port = await reach.gateways.acquire(1, "0")
    asking = ask(port, 600_000)
    reach.says = None
    reach.lost()
    await asyncio.sleep(0.2)
    assert not port.frozen
    reach.says = session("t", "unix:two")
    await until(lambda: port.session == "t")
    assert not port.failed
    asking.cancel()


@pytest.mark.parametrize("flaps", [False, True])
async def test_r10_who_shows_up_just_after_its_time_was_over_has_no_more_of_it(
    reach: Reach, monkeypatch: pytest.MonkeyPatch, flaps: bool
) -> None:
    """While the worker asks the registry whether it is elsewhere, another coming and going changes nothing."""
    now = 100.0
    clock = SimpleNamespace(monotonic=lambda: now)
    monkeypatch.setattr(port_module, "time", clock)
    monkeypatch.setattr(remote, "time", clock)
    port = await reach.gateways.acquire(1, "0")
    asking = ask(port)
    await asyncio.sleep(0)
    now += 0.2
    reach.answers.clear()
    reach.lost(relay.OpenDecision(game_id="g", decision_id=7, elapsed_ms=200))
    now += 2.8
    reach.hear(expired=relay.Expired(game_id="g", decision_id=7, elapsed_ms=3000, disconnected=True))
    await asyncio.sleep(0)
    if flaps:
        reach.hear(session_live=relay.SessionLive())
        reach.lost()
    reach.says = None
    reach.answers.set()
    assert await asyncio.wait_for(asking, 5) == Answer(None, SeatReason.DISCONNECT, 3_000_000, 0)
    assert reach.links[-1].said("ask") == 1


async def test_r78_a_worker_is_the_same_to_its_gateways_for_all_of_its_life(reach: Reach) -> None:
    """It registers anew when its lease was lost: a gateway would take that for a new life, and end for bots what it plays by now."""
    await reach.gateways.acquire(1, "0")
    reach.epoch = 2
    reach.cut()
    await until(lambda: len(reach.links) == 2)
    assert [link.epoch for link in reach.links] == [1, 1]


async def test_r67_a_registry_that_makes_no_sense_is_asked_again(reach: Reach) -> None:
    """Nobody else looks for the bot."""
    port = await reach.gateways.acquire(1, "0")
    reach.says = TypeError("unexpected keyword argument")
    reach.cut()
    await asyncio.sleep(0.05)
    assert port.frozen
    reach.says = session("s", "unix:one")
    await until(lambda: not port.frozen)


def test_r84_of_a_newer_gateways_entry_what_is_known_is_read() -> None:
    """In a rolling upgrade the old workers find the new gateways' bots."""
    entry = session("s", "unix:one")
    assert registry._parse(orjson.dumps(asdict(entry) | {"mood": "good"})) == entry


async def test_r87_ends_are_said_again_until_a_link_has_carried_them(
    reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the next link breaks as soon as it stands. To a gateway that does not come back nothing is kept."""
    monkeypatch.setattr(remote, "LOOK_RARELY_S", 0.01)
    port = await reach.gateways.acquire(1, "0")
    port.end(pb.MatchEnded(game_id="g"))
    for links in (2, 3):
        reach.cut()
        await until(lambda links=links: len(reach.links) == links and reach.links[-1].said("end"))
    monkeypatch.setattr(remote, "LOST_AFTER_S", 0.05)
    monkeypatch.setattr(remote, "LAST_WORDS_S", 0.05)
    port.end(pb.MatchEnded(game_id="h"))
    reach.down.add("unix:one")
    reach.cut()
    await until(lambda: not reach.gateways._last_words)
    assert not reach.gateways._down_at


async def test_nothing_is_kept_of_bots_with_which_nobody_plays(reach: Reach) -> None:
    """An arena's worker lives for months, and bots choose their instances' names."""
    for number in range(3):
        reach.says = session(f"s{number}", "unix:one")
        await reach.gateways.acquire(1, str(number))
        reach.gateways.release(1, str(number))
    assert (reach.gateways._bots, reach.gateways._sessions) == ({}, {})


def job() -> SetJob:
    """A set of one game between two bots."""
    return SetJob(
        set_id="s_1",
        attempt=1,
        game="pop",
        config={},
        players=(Player("a", "1", "ann"), Player("b", "1", "bob")),
        games=(GameJob("m_1", 0, 1, (0, 1)),),
        time_control=TimeControl(),
        deal_mode="own",
        rated=False,
    )
