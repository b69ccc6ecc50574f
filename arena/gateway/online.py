"""Who is connected, for services that show it."""

from __future__ import annotations

import time
from typing import Final

from arena.errors import Unavailable
from arena.gateway.registry import SessionRegistry

ONLINE_S: Final = 2.0


class Online:
    """Who is connected, as known a moment ago; nobody while Redis is away."""

    def __init__(self, registry: SessionRegistry | None) -> None:
        self._registry = registry
        self._until = 0.0
        self._versions: frozenset[int] = frozenset()
        self._bots: frozenset[int] = frozenset()

    async def versions(self) -> frozenset[int]:
        """Version ids."""
        await self._look()
        return self._versions

    async def bots(self) -> frozenset[int]:
        """Bot ids."""
        await self._look()
        return self._bots

    async def _look(self) -> None:
        if self._registry is None or time.monotonic() < self._until:
            return
        self._until = time.monotonic() + ONLINE_S
        try:
            sessions = await self._registry.list_online()
        except Unavailable:
            sessions = []
        self._versions = frozenset(session.version_id for session in sessions)
        self._bots = frozenset(session.bot_id for session in sessions)
