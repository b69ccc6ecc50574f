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


TOKEN = "arena_ABCDEFGH_" + 38 * "x"


@pytest.mark.parametrize(
    "address", [f"/bots/{TOKEN}", f"/docs/{TOKEN}", f"/matches?bot={TOKEN.replace('_', '%5F')}", "/?%74oken=x"]
)
def test_r43_a_token_in_an_address_reaches_no_page_however_it_is_written(address: str) -> None:
    """Addresses end up in logs and histories, and a page must not repeat it."""
    answer = TestClient(Guard(unreachable)).get(address)
    assert answer.status_code == 400
    assert TOKEN not in answer.text
