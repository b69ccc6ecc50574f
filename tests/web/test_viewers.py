"""No address takes the places of all live viewers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from arena.web import app as pages
from arena.web import running
from arena.web.api.serving import Rates
from arena.web.hub import Full
from arena.web.play import pages as play
from arena.web.play.pages import BURST, PER_S
from arena.web.viewers import Viewers

PATHS = ("/live", "/matches/m_1/live", "/play/t_1/live")


class Places:
    """What all kinds of streams are asked for: an endless one, or Full."""

    def __init__(self) -> None:
        self.full = False

    def take(self, *_: object) -> AsyncIterator[str]:
        if self.full:
            raise Full("too many viewers")

        async def events() -> AsyncIterator[str]:
            yield "retry: 2000\n\n"
            await asyncio.Event().wait()

        return events()

    async def stream(self, *_: object) -> AsyncIterator[str]:
        return self.take()

    async def events(self, *_: object) -> AsyncIterator[str]:
        """As a table of people has them."""
        return self.take()


class Browser:
    """One stream that is asked for; ``status`` and ``text`` are what comes first."""

    def __init__(self, app: Starlette, address: str, path: str) -> None:
        self.status, self.text = 0, ""
        self._first, self._gone = asyncio.Event(), asyncio.Event()
        scope: dict[str, Any] = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}
        self._task = asyncio.create_task(app({**scope, "client": (address, 1)}, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        self.status = message.get("status", self.status)
        self.text += message.get("body", b"").decode()
        if message["type"] == "http.response.body":
            self._first.set()

    async def answered(self) -> int:
        async with asyncio.timeout(30):
            await self._first.wait()
        return self.status

    async def leave(self) -> None:
        self._gone.set()
        async with asyncio.timeout(30):
            await self._task


@pytest.fixture
def places() -> Places:
    return Places()


@pytest.fixture
def app(places: Places, monkeypatch: pytest.MonkeyPatch) -> Starlette:
    """All kinds of live streams, two for each address."""

    async def find(*_: object) -> object:
        return SimpleNamespace(match_id="m_1", attempt=1)

    monkeypatch.setattr(running, "find", find)
    made = Starlette(
        routes=[
            Route("/live", pages.live),
            Route("/matches/{match_id}/live", running.live),
            Route("/play/{table}/live", play.live),
        ]
    )
    made.state.site = SimpleNamespace(hub=places)
    made.state.watched = SimpleNamespace(stream=places.take)
    made.state.doors = SimpleNamespace(lounge={"t_1": places}, rates=Rates(PER_S, BURST))
    made.state.viewers = Viewers(2)
    return made


async def test_an_address_has_so_many_streams_and_others_theirs(app: Starlette) -> None:
    """Pages and matches count together; the next one is told what to do, others get in, and a place that is left is free."""
    first, second = Browser(app, "192.0.2.1", "/live"), Browser(app, "192.0.2.1", "/matches/m_1/live")
    assert [await first.answered(), await second.answered()] == [200, 200]
    for path in PATHS:
        third = Browser(app, "192.0.2.1", path)
        assert await third.answered() == 429
        assert third.text == "2 live pages are open at this address; close some of them.\n"
    other = Browser(app, "192.0.2.2", "/live")
    assert await other.answered() == 200
    await first.leave()
    again = Browser(app, "192.0.2.1", "/live")
    assert await again.answered() == 200
    for browser in (second, other, again):
        await browser.leave()
    assert not app.state.viewers._open, "nothing is remembered of those who have gone"


async def test_who_gets_no_stream_holds_no_place(app: Starlette, places: Places) -> None:
    """A full arena answers 503 however often an address asks, and then lets it in."""
    places.full = True
    for path in PATHS * 3:
        assert await Browser(app, "192.0.2.1", path).answered() == 503
    places.full = False
    browser = Browser(app, "192.0.2.1", "/live")
    assert await browser.answered() == 200
    await browser.leave()


async def test_who_goes_before_the_first_event_leaves_his_place(app: Starlette) -> None:
    """A browser that has gone before it is answered holds nothing."""
    for _ in range(5):
        await Browser(app, "192.0.2.1", "/live").leave()
    assert not app.state.viewers._open


async def test_r44_secrets_of_seats_are_not_guessed_at_a_tables_stream(app: Starlette) -> None:
    """Who asks for a table's stream faster than anybody plays is told to wait, wrong table or wrong secret."""
    asked = [await Browser(app, "192.0.2.1", "/play/t_2/live").answered() for _ in range(BURST + 10)]
    assert set(asked[:BURST]) == {404}
    assert asked[-1] == 429
