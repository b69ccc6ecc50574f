"""What all unary calls share."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from arena.gateway.calls import Stored, answer, named
from arena.storage import queries
from arena.storage.db import Database


class Ended(Exception):
    """As gRPC ends a call."""


class Context:
    """The part of a call's context that ends it."""

    async def abort(self, code: grpc.StatusCode, _message: str, _details: Any) -> None:
        raise Ended(code)


async def test_a_name_that_no_database_takes_is_the_callers_mistake(database: Database) -> None:
    """A NUL in a name: SQLite knows nobody of that name, PostgreSQL refuses to look; neither is the arena's failure."""

    class Bots(Stored):
        async def get(self, name: str) -> Any:
            return await self._read(lambda connection: named(queries.bot_page, connection, name, "bot"))

    with pytest.raises(Ended) as caught:
        await answer(Context(), lambda: Bots(database).get("a\0"))
    expected = grpc.StatusCode.NOT_FOUND if database.sqlite else grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.args == (expected,)
