"""A gateway inside this process, for the bots that it starts itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import count
from types import TracebackType
from typing import Self

from arena.errors import Unavailable
from arena.gateway.auth import LocalTokens
from arena.gateway.catalogue import installed_games
from arena.gateway.core import GatewayCore
from arena.gateway.server import Admission, PlayServer, start_play_server
from arena.gateway.session import Identity, Session, SessionLimits


class LocalGateway:
    """A core behind a unix socket, with tokens of its own.

    async with LocalGateway(path) as gateway:
        token = gateway.issue(identity)
        ...  # start a process with ARENA_ADDRESS=gateway.address and ARENA_TOKEN=token
        session_id = await gateway.wait_session(token, timeout_s=10)

    The host attaches to ``gateway.core``.
    """

    def __init__(
        self,
        socket_path: str,
        *,
        games: Mapping[str, Iterable[int]] | None = None,
        limits: SessionLimits = SessionLimits(),  # noqa: B008 (frozen)
    ) -> None:
        games = installed_games() if games is None else games
        self.address = f"unix:{socket_path}"
        self.core = GatewayCore("local", games=games, limits=limits)
        self.core.on_change = self._changed
        self._tokens = LocalTokens()
        self._instances = count()
        self._issued: dict[str, Identity] = {}
        self._waiting: dict[tuple[int, str], asyncio.Event] = {}
        self._server: PlayServer | None = None

    def issue(self, identity: Identity) -> str:
        """A token for one process. Processes of one bot are told apart by their tokens."""
        own = replace(identity, instance=f"local-{next(self._instances)}")
        token = self._tokens.issue(own)
        self._issued[token] = own
        return token

    def revoke(self, token: str) -> None:
        """The process of this token is not wanted any more: its stream is cut."""
        self._tokens.revoke(token)
        self._issued.pop(token, None)
        self.core.revoke([token])

    async def wait_session(self, token: str, timeout_s: float) -> str:
        """The id of the session that the process with this token has opened. Raises Unavailable if it does not."""
        identity = self._issued[token]
        key = (identity.bot_id, identity.instance)
        event = self._waiting.setdefault(key, asyncio.Event())
        try:
            async with asyncio.timeout(timeout_s):
                while (session := self.core.newest(*key)) is None or not session.connected:
                    event.clear()
                    await event.wait()
        except TimeoutError:
            raise Unavailable(f"{identity.bot} has not connected within {timeout_s:g} s") from None
        finally:
            self._waiting.pop(key, None)
        return session.id

    def _changed(self, session: Session) -> None:
        if event := self._waiting.get((session.identity.bot_id, session.instance)):
            event.set()

    async def __aenter__(self) -> Self:
        self.core.start()
        # All bots of a local match come from one process and at once.
        unlimited = Admission(starts_per_s=10_000, start_burst=10_000)
        self._server = await start_play_server(self.core, self._tokens, self.address, admission=unlimited)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        await self._server.stop()
        self.core.close()
