"""The worker's way to bots at gateways."""

from __future__ import annotations

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
