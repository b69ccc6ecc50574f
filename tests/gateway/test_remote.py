"""The worker's way to bots at gateways."""

from __future__ import annotations

import pytest

from arena.gateway.registry import OnlineSession
from arena.host import remote
from arena.host.port import SessionFailed


class OneBot:
    """A registry in which one bot is connected, as version 2."""

    async def find(self, bot_id: int, instance: str) -> OnlineSession | None:
        return OnlineSession(bot_id, instance, "s", "g", "unix:nowhere", 2, "alice", "2", "ann", 1, 0, {})


async def test_a_bot_that_is_there_as_another_version_does_not_play_the_old_ones_sets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A set names versions: what connects under the same name and instance but as another one is somebody else."""
    monkeypatch.setattr(remote, "LOOK_EVERY_S", 0.01)
    async with remote.Gateways(OneBot(), "w", lambda: 1) as gateways:
        with pytest.raises(SessionFailed, match="not connected"):
            await gateways.acquire(1, "0", version_id=1)
