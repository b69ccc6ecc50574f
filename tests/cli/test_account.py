"""What authors ask of a running arena about their account: the commands, over real gRPC."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from arena.gateway.services import add_services
from arena.storage import accounts
from arena.storage.db import Database
from arena.storage.records import RecordStore


@dataclass(frozen=True, slots=True)
class Served:
    """An arena's services and a token of its account ``ann``, who has the bot ``annbot``."""

    address: str
    token: str

    async def arena(self, *words: str, token: str | None = None) -> tuple[int, str, str]:
        """Status, output and errors of a command."""
        environment = {
            **os.environ,
            "ARENA_ADDRESS": self.address,
            "ARENA_TOKEN": self.token if token is None else token,
        }
        pipe = asyncio.subprocess.PIPE
        command = (sys.executable, "-m", "arena", *words)
        running = await asyncio.create_subprocess_exec(*command, env=environment, stdout=pipe, stderr=pipe)
        output, errors = await running.communicate()
        assert running.returncode is not None
        return running.returncode, output.decode(), errors.decode()


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    """The services alone, behind a port."""
    database = Database(f"sqlite:///{tmp_path / 'arena.db'}")
    database.upgrade()
    with database.write() as connection:
        _, token = accounts.register(connection, "ann", "annbot")
    server = grpc.aio.server()
    add_services(server, database, RecordStore(tmp_path))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield Served(f"127.0.0.1:{port}", token)
    await server.stop(0)
    database.close()


async def test_an_account_gets_a_second_bot(served: Served) -> None:
    """`arena bot create`, which says how it is connected; a name that somebody has is told, and where to turn with an
    account that one has already."""
    status, output, _ = await served.arena("bot", "create", "second")
    assert status == 0
    assert "second of ann is registered" in output
    assert "--name second" in output
    assert (await served.arena("bot", "versions", "second"))[1].startswith("second has no versions yet")
    assert (await served.arena("bot", "create", "second"))[2] == "arena: there is a bot 'second' already\n"
    assert "`arena bot create`" in (await served.arena("register", "ann", "third"))[2]


@pytest.mark.parametrize(
    "words",
    [
        ("bot", "create", "x2"),
        ("bot", "retire", "annbot"),
        ("token", "create"),
        ("token", "revoke", "abcdefgh"),
        ("challenge",),
        ("trial",),
        ("tournament", "show", "cup"),
    ],
    ids=" ".join,
)
async def test_a_wrong_token_is_one_line_of_what_to_do(served: Served, words: tuple[str, ...]) -> None:
    """Of what a person has set, and not of how it is sent."""
    status, output, errors = await served.arena(*words, token="arena_" + "x" * 47)
    assert (status, output) == (2, "")
    assert errors.startswith("arena: the token in ARENA_TOKEN is none of this arena, or was revoked: set all of")
    assert errors.count("\n") == 1
