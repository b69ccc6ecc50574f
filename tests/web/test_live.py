"""Live pages: what changed, to whom it is news."""

from __future__ import annotations

import asyncio
import re

import pytest
from markupsafe import Markup

from arena.errors import ArenaError
from arena.web import hub as hub_module
from arena.web.cache import Cache
from arena.web.hub import Hub
from arena.web.parts import Parts
from tests.web.support import CHALLENGE, WebArena, next_message


def parts(rows: dict[str, str], block: str = "1", skeleton: str = "page") -> Parts:
    """Parts with one block and one list."""
    return Parts(skeleton, {"b": Markup(block)}, {"l": {key: Markup(value) for key, value in rows.items()}})


def test_a_change_carries_nothing_that_stayed() -> None:
    """Only the rows that differ are sent, with the whole order; nothing at all if nothing differs."""
    old = parts({"x": "1", "y": "2", "z": "3"})
    assert old.since(parts({"x": "1", "y": "2", "z": "3"})) is None
    message = parts({"z": "3", "x": "1", "y": "5"}).since(old)
    assert message is not None
    assert message["blocks"] == {}
    assert message["lists"] == {"l": {"order": ["z", "x", "y"], "rows": {"y": "5"}}}
    moved = parts({"y": "2", "x": "1", "z": "3"}).since(old)
    assert moved is not None
    assert moved["lists"]["l"] == {"order": ["y", "x", "z"], "rows": {}}
    other = parts({}, skeleton="another").since(old)
    assert other is not None
    assert other["lists"] == {}
    assert other["skeleton"] == "another"


def test_a_page_that_is_up_to_date_hears_only_of_news(web: WebArena) -> None:
    """A viewer with the page's version gets, when a set settles, the rows that moved, and their order."""
    page = web.get(f"/ladders/{CHALLENGE}").text
    found = re.search(r'data-topic="([^"]+)" data-version="([^"]+)"', page)
    assert found is not None
    with web.stream(found[1], found[2]) as stream:
        web.arena.play(CHALLENGE, ["zephyr", "random", "heuristic"])
        web.arena.connect(web.redis_url)
        message = next_message(stream)
    table = message["lists"]["table"]
    moved = {re.search(r"/bots/([\w-]+)", html)[1] for html in table["rows"].values()}  # type: ignore[index]
    assert {"zephyr", "heuristic"} <= moved
    assert len(table["order"]) == 5
    assert message["base"] == found[2]
    while message["version"] not in web.get(f"/ladders/{CHALLENGE}").text:
        pass  # what the cache had a moment ago


def test_a_page_that_is_behind_gets_everything(web: WebArena) -> None:
    """A viewer with another version is brought up to date at once."""
    with web.stream("home", "stale") as stream:
        message = next_message(stream)
    assert set(message["blocks"]) >= {"t-rate", "t-queue", "t-latency", "t-sessions", "t-workers"}
    assert f"board-{CHALLENGE}" in message["lists"]


async def test_pages_move_without_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    """When nobody tells of events a watched page is made anew all the same."""
    monkeypatch.setattr(hub_module, "PACE_S", 0.01)
    monkeypatch.setattr(hub_module, "FALLBACK_S", 0.05)
    made = 0

    async def make(topic: str, *, fresh: bool = False) -> Parts:
        nonlocal made
        made += 1
        return parts({"x": str(made)})

    hub = Hub(make)
    stream = await hub.stream("t", parts({"x": "1"}).version)
    assert await anext(stream) == "retry: 2000\n\n"
    async with asyncio.timeout(10):
        assert '"x":"2"' in await anext(stream)
    hub.close()


async def test_a_viewer_who_does_not_keep_up_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full queue ends that stream, and the memory of a slow viewer is bounded; the task ends with the last viewer."""
    monkeypatch.setattr(hub_module, "PACE_S", 0.0)
    monkeypatch.setattr(hub_module, "FALLBACK_S", 0.001)
    made, plenty = 0, asyncio.Event()

    async def make(topic: str, *, fresh: bool = False) -> Parts:
        nonlocal made
        made += 1
        if made > 3 * hub_module.QUEUE:
            plenty.set()
        return parts({"x": str(made)})

    hub = Hub(make)
    stream = await hub.stream("t", "")
    assert await anext(stream) == "retry: 2000\n\n"
    async with asyncio.timeout(10):
        await plenty.wait()
        received = [event async for event in stream]
    assert len(received) <= hub_module.QUEUE + 1
    assert hub.viewers == 0
    await asyncio.sleep(0.01)
    seen = made
    await asyncio.sleep(0.05)
    assert made == seen


async def test_an_old_page_is_shown_while_a_new_one_is_made_but_not_a_very_old_one() -> None:
    """Within twice its time an old value is given at once and renewed behind; later who asks waits for a new one."""
    cache, made = Cache(), 0

    async def make() -> int:
        nonlocal made
        made += 1
        return made

    assert await cache.get("k", 0.2, make) == 1
    assert await cache.get("k", 0.2, make, fresh=True) == 2
    assert await cache.get("k", 1000, make) == 2
    await asyncio.sleep(0.21)
    assert await cache.get("k", 1000, make) == 2
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert await cache.get("k", 1000, make) == 3
    assert await cache.get("other", 0.0, make) == 4
    assert await cache.get("other", 0.0, make) == 5


async def test_many_who_ask_at_once_cause_one_query() -> None:
    """A hot page is made once for all who wait for it, failures are not kept, and one who leaves disturbs nobody."""
    cache, made = Cache(), 0
    gate = asyncio.Event()

    async def make() -> int:
        nonlocal made
        made += 1
        await gate.wait()
        if made == 2:
            raise ArenaError("no")
        return made

    asked = [asyncio.create_task(cache.get("k", 60, make)) for _ in range(50)]
    await asyncio.sleep(0)
    asked[0].cancel()
    gate.set()
    assert await asyncio.gather(*asked[1:]) == [1] * 49
    with pytest.raises(ArenaError):
        await cache.get("other", 60, make)
    assert await cache.get("other", 60, make) == 3
