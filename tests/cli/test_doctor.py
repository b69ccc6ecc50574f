"""`arena doctor`: a healthy bot is told so, and each illness by its own name."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from arena import doctor
from arena.doctor import Verdict
from arena.gateway.core import GatewayCore
from arena.gateway.server import PlayServer, start_play_server
from arena.gateway.tls import play_credentials
from arena.gateway.tokens import StoredTokens
from arena.settings import GatewaySettings
from arena.storage import accounts
from arena.storage.db import Database
from arena.storage.tables import bot_version
from tests.gateway.certificates import Authority


@pytest.fixture
def database(tmp_path: Path) -> Database:
    """A migrated database."""
    made = Database(f"sqlite:///{tmp_path / 'arena.db'}")
    made.upgrade()
    return made


@pytest.fixture
async def serve(database: Database) -> AsyncIterator[Any]:
    """Starts gateways with real tokens."""
    running: list[tuple[PlayServer, GatewayCore]] = []

    async def start(settings: GatewaySettings | None = None) -> PlayServer:
        core = GatewayCore("g", games={})
        core.start()
        server = await start_play_server(
            core,
            StoredTokens(database, 100),
            "127.0.0.1:0",
            credentials=play_credentials(settings or GatewaySettings()),
        )
        running.append((server, core))
        return server

    yield start
    for server, core in running:
        await server.stop()
        core.close()
    database.close()


async def examined(*arguments: str) -> dict[str, doctor.Line]:
    """The lines by name."""
    lines = await asyncio.to_thread(lambda: list(doctor.examine(*arguments)))
    assert len({line.name for line in lines}) == len(lines)
    assert all(line.advice for line in lines if line.verdict is not Verdict.OK)
    return {line.name: line for line in lines}


async def test_all_is_well_and_nothing_is_left_behind(serve: Any, database: Database) -> None:
    """A good token passes every check, and no version comes into being by being looked at."""
    server = await serve()
    with database.write() as connection:
        token = accounts.register(connection, "ann", "alice")[1]
    lines = await examined(server.address, token)
    assert {name: line.verdict for name, line in lines.items() if name != "games"} == dict.fromkeys(
        ("python", "versions", "extras", "address", "gateway", "latency", "token", "clock"), Verdict.OK
    )
    with database.read() as connection:
        assert connection.execute(select(func.count()).select_from(bot_version)).scalar_one() == 0


async def test_tokens_that_are_missing_wrong_revoked_or_of_no_one_bot(serve: Any, database: Database) -> None:
    """None, a wrong one and a revoked one fail; one of a whole account is good once the bot is named."""
    server = await serve()
    assert (await examined(server.address, ""))["token"].verdict is Verdict.FAIL
    assert (await examined(server.address, "arena_nobodys"))["token"].verdict is Verdict.FAIL
    with database.write() as connection:
        bot, first = accounts.register(connection, "ann", "alice")
        of_account = accounts.create_token(connection, bot.account_id, label="of all her bots")
        accounts.revoke_token(connection, bot.account_id, first.split("_")[1])
    assert (await examined(server.address, first))["token"].verdict is Verdict.FAIL
    line = (await examined(server.address, of_account))["token"]
    assert line.verdict is Verdict.WARN
    assert "which bot" in line.found


async def test_tls_is_recognised_from_either_side(serve: Any, tmp_path: Path) -> None:
    """With the CA all is well; without it, or with another, the gateway's line says what to set."""
    authority = Authority(tmp_path / "ca")
    certificate, key = authority.issue("gateway")
    server = await serve(GatewaySettings(tls_certificate=str(certificate), tls_key=str(key)))
    assert (await examined(server.address, "", str(authority.ca)))["gateway"].verdict is Verdict.OK
    other = Authority(tmp_path / "other", "another")
    for ca in ("", str(other.ca)):
        line = (await examined(server.address, "", ca))["gateway"]
        assert line.verdict is Verdict.FAIL
        assert "CA" in line.advice


@pytest.mark.parametrize("address", ["nonsense", "unix:/nowhere.sock", "no-such-host.invalid:7700"])
async def test_addresses_that_lead_nowhere(address: str) -> None:
    """The address's line fails, and nothing that depends on it is tried."""
    lines = await examined(address, "t")
    assert lines["address"].verdict is Verdict.FAIL
    assert "gateway" not in lines


async def test_a_clock_that_is_off_is_told(serve: Any) -> None:
    """The pages' Date is compared; a machine an hour behind is warned."""

    async def page(_: asyncio.StreamReader, writer: asyncio.StreamWriter, date: str) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    far = partial(page, date="Fri, 01 Jan 2100 00:00:00 GMT")
    async with await asyncio.start_server(far, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        line = await asyncio.to_thread(doctor.clock, f"http://127.0.0.1:{port}")
    assert line.verdict is Verdict.WARN
    assert "behind" in line.found


async def test_the_command_ends_with_one_if_anything_fails() -> None:
    """--json is one document, with ok and every check; nothing listening is a failure."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "arena", "doctor", "--json", "--address", address),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "ARENA_TOKEN": "t"},
    )
    output, _ = await process.communicate()
    assert process.returncode == 1
    told = json.loads(output)
    assert told["ok"] is False
    assert {"name", "verdict", "found", "advice"} == set(told["checks"][0])
    assert told["checks"][-1]["verdict"] == "fail"
