"""Tokens, bots and versions as the database has them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import ParamSpec, TypeVar

from arena.errors import Unavailable, UserError
from arena.gateway.auth import Principal, Refused
from arena.gateway.session import Failure, Identity, Reason
from arena.storage import accounts, queries
from arena.storage.db import Database
from botarena.v1 import play_pb2 as pb

P = ParamSpec("P")
T = TypeVar("T")


class StoredTokens:
    """An Authenticator over the database. Each call is one short transaction in a thread."""

    def __init__(self, database: Database, versions_per_account: int) -> None:
        self._database = database
        self._most = versions_per_account

    async def authenticate(self, token: str) -> Principal | None:
        """As Authenticator."""
        return await _in_thread(self._authenticate, token)

    async def identify(self, principal: Principal, hello: pb.Hello) -> Identity:
        """As Authenticator. An unknown version is created, marked as the author's claim."""
        return await _in_thread(self._identify, principal, hello)

    async def revoked(self, token_ids: Collection[str]) -> Collection[str]:
        """Those of ``token_ids`` that have been revoked. Raises Unavailable."""
        return await asyncio.to_thread(self._revoked, frozenset(token_ids))

    def _authenticate(self, token: str) -> Principal | None:
        with self._database.read() as connection:
            found = accounts.authenticate(connection, token)
        return None if found is None else Principal(str(found.token_id), found.bot_id, found)

    def _identify(self, principal: Principal, hello: pb.Hello) -> Identity:
        assert principal.account is not None
        with self._database.write() as connection:
            if unknown := sorted(set(hello.ladders) - queries.slugs(connection, hello.ladders)):
                message = f"There is no ladder {unknown[0]!r} here."
                raise Refused(Failure(Reason.BAD_HELLO, message, field="hello.ladders"))
            try:
                bot = accounts.bot_of(connection, principal.account, hello.bot)
            except UserError as error:
                raise Refused(Failure(Reason.NOT_YOUR_BOT, str(error), field="hello.bot")) from None
            try:
                version = accounts.ensure_version(connection, bot.id, hello.version, most=self._most)
            except UserError as error:
                raise Refused(Failure(Reason.BAD_HELLO, str(error), field="hello.version")) from None
        return Identity(bot.id, version.id, bot.name, version.label, bot.owner)

    def _revoked(self, token_ids: Collection[str]) -> Collection[str]:
        with self._database.read() as connection:
            found = accounts.revoked_tokens(connection, [int(token_id) for token_id in token_ids])
        return [str(token_id) for token_id in found]


async def _in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return await asyncio.to_thread(function, *args, **kwargs)
    except Unavailable:
        raise Refused(Failure(Reason.UNAVAILABLE, "The arena cannot look that up now.", 2_000)) from None
