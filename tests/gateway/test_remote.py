"""The worker's way to bots at gateways."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena.errors import Unavailable
from arena.gateway.registry import OnlineSession
from arena.host import remote
from arena.host.play import Finished, Voided
from arena.host.port import Port, SessionFailed
from arena.host.sets import GameDeal, GameJob, SetJob, play_set
from arena.match.spec import Player, TimeControl, VoidReason
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
