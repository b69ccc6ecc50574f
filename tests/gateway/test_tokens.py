"""Bots of the database at the gateway: real SQLite, real streams."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import grpc
import pytest

from arena.gateway.core import GatewayCore
from arena.gateway.server import PlayServer, start_play_server
from arena.gateway.tokens import StoredTokens
from arena.storage import accounts
from arena.storage.db import Database
from tests.gateway.bots import BareBot
from tests.gateway.harness import GAMES
from tests.gateway.test_server import refusal

MOST = 3
"""Versions of an account."""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """An empty database."""
    database = Database(f"sqlite:///{tmp_path / 'arena.db'}")
    database.upgrade()
    yield database
    database.close()


@pytest.fixture
async def core() -> AsyncIterator[GatewayCore]:
    """A core that keeps time."""
    core = GatewayCore("test", games=GAMES)
    core.start()
    yield core
    core.close()


@pytest.fixture
async def server(core: GatewayCore, database: Database) -> AsyncIterator[PlayServer]:
    """A server that asks the database."""
    server = await start_play_server(core, StoredTokens(database, MOST), "127.0.0.1:0")
    yield server
    await server.stop()


async def test_a_token_is_good_for_its_accounts_bots_alone(
    core: GatewayCore, server: PlayServer, database: Database
) -> None:
    """The version that a bot claims is created once; another account's bot and another's token are refused."""
    with database.write() as connection:
        alice, token = accounts.register(connection, "ann", "alice")
        accounts.register(connection, "ben", "bob")
    for version, instance in (("", "a"), ("2.0", "b"), ("2.0", "c")):
        async with BareBot(server.address, token, version=version, instance=instance) as bot:
            assert bot.welcome is not None
            session = core.session(bot.welcome.session)
            assert session is not None
            assert (session.identity.bot_id, session.identity.owner) == (alice.id, "ann")
            assert bot.welcome.version == (version or "1")
    code, message, details = await refusal(BareBot(server.address, token, bot="bob"))
    assert code is grpc.StatusCode.PERMISSION_DENIED
    assert details["BadRequest"].field_violations[0].field == "hello.bot"
    code, message, _ = await refusal(BareBot(server.address, token, version="no spaces"))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "no spaces" in message
    wrong = token[:-1] + ("a" if token[-1] != "a" else "b")
    code, message, details = await refusal(BareBot(server.address, wrong))
    assert code is grpc.StatusCode.UNAUTHENTICATED, message
    assert details["ErrorInfo"].reason == "BAD_TOKEN", message
    assert wrong not in message


async def test_r45_a_revoked_token_is_found(core: GatewayCore, server: PlayServer, database: Database) -> None:
    """What the process polls for names exactly the streams to cut, and the token lets nobody in any more."""
    with database.write() as connection:
        alice, token = accounts.register(connection, "ann", "alice")
        second = accounts.create_token(connection, alice.account_id, label="laptop", bot_id=alice.id)
    tokens = StoredTokens(database, MOST)
    async with (
        BareBot(server.address, token, instance="a") as cut,
        BareBot(server.address, second, instance="b") as stays,
    ):
        assert list(await tokens.revoked(core.principals)) == []
        with database.write() as connection:
            principal = accounts.authenticate(connection, token)
            assert principal is not None
            accounts.revoke_token(connection, alice.account_id, principal.prefix)
        core.revoke(await tokens.revoked(core.principals))
        assert await cut.ended() is grpc.StatusCode.UNAUTHENTICATED
        assert not stays.call.done()
        code, _, _ = await refusal(BareBot(server.address, token))
        assert code is grpc.StatusCode.UNAUTHENTICATED


async def test_an_account_has_so_many_versions_and_no_more(server: PlayServer, database: Database) -> None:
    """Of all its bots together; a further one is refused with what may be done, one that is there plays, and so does
    whoever else."""
    with database.write() as connection:
        alice, token = accounts.register(connection, "ann", "alice")
        accounts.create_bot(connection, alice.account_id, "anna")
        _, bens = accounts.register(connection, "ben", "bob")
    for bot, version in (("alice", "1"), ("anna", "1"), ("alice", "2")):
        async with BareBot(server.address, token, bot=bot, version=version, instance=bot + version):
            pass
    code, message, details = await refusal(BareBot(server.address, token, bot="anna", version="2"))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "have 3 versions, as many as may be here (limits.versions_per_account): connect as one of them" in message
    assert details["BadRequest"].field_violations[0].field == "hello.version"
    async with BareBot(server.address, token, bot="anna", version="1") as known, BareBot(server.address, bens) as other:
        assert known.welcome is not None
        assert other.welcome is not None
