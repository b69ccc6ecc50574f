"""What no page ever sees."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from arena.web.security import HEADERS, Guard


async def unreachable(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise AssertionError("a page was asked")


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/bots/%00", 404),
        ("/ladders/a%00b", 404),
        ("/api/v1/bots/%00", 404),
        ("/matches?bot=%00", 400),
        ("/live?topic=bot:%00", 400),
        ("/api/v1/matches?bot=%00", 400),
    ],
)
def test_an_address_with_a_nul_reaches_no_page(address: str, status: int) -> None:
    """PostgreSQL takes no NUL in a text: such an address is refused before anything is looked up, with all headers."""
    answer = TestClient(Guard(unreachable)).get(address)
    assert answer.status_code == status
    assert HEADERS.items() <= dict(answer.headers).items()
    assert ("problem" in answer.headers["content-type"]) == address.startswith("/api/")
