"""Tasks without an end: an error that nobody thought of is told, and ends none of them."""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from unittest import mock

import pytest

from arena import live
from arena.endless import again_and_again
from arena.gateway import process, registry
from arena.gateway.registry import RegistryPublisher
from arena.host import broadcast
from arena.host.broadcast import Broadcast
from arena.web import hub as hub_module
from arena.web import watch as watch_module
from arena.web.hub import Hub
from arena.web.parts import Parts
from arena.web.watch import Watch

log = logging.getLogger(__name__)


class Flaky:
    """Fails the first time, as nobody expects, and tells when it has worked."""

    def __init__(self, value: object = None) -> None:
        self.calls = 0
        self.worked = asyncio.Event()
        self._value = value

    async def __call__(self, *_: object, **__: object) -> Any:
        self.calls += 1
        if self.calls == 1:
            raise KeyError("nobody thought of this")
        self.worked.set()
        return self._value


async def outlives(task: asyncio.Task[Any], flaky: Flaky, caplog: pytest.LogCaptureFixture) -> None:
    """The task does its work again after the error, has told of it, and ends when it is cancelled."""
    async with asyncio.timeout(30):
        await flaky.worked.wait()
    assert any(record.exc_info and "nobody thought of this" in str(record.exc_info[1]) for record in caplog.records)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_it_goes_on_after_an_error_and_ends_when_cancelled(caplog: pytest.LogCaptureFixture) -> None:
    """The error is in the log with its traceback, and the next round comes."""
    flaky = Flaky()
    task = asyncio.create_task(again_and_again(flaky, pause_s=0, what="the test", log=log))
    await outlives(task, flaky, caplog)


async def test_it_ends_when_it_is_over() -> None:
    """What has an end is not begun again behind it."""
    rounds: list[int] = []

    async def work() -> None:
        rounds.append(1)

    await again_and_again(work, pause_s=0, what="the test", log=log, over=lambda: len(rounds) == 3)
    assert len(rounds) == 3


async def test_matches_are_shown_after_an_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A worker goes on to show its matches."""
    monkeypatch.setattr(broadcast, "EVERY_S", 0.01)
    flaky, shown = Flaky(), Broadcast()
    monkeypatch.setattr(shown, "show", flaky)
    await outlives(asyncio.create_task(shown.run(mock.Mock())), flaky, caplog)


async def test_a_match_that_cannot_be_drawn_takes_no_other_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game whose rules fail while they are drawn is given up, and the others are sent."""
    sent: list[str] = []

    async def send(_redis: object, game: Any) -> None:
        if game.game.match_id == "m_1":
            raise KeyError("its rules")
        sent.append(game.game.match_id)

    monkeypatch.setattr(broadcast, "_send", send)
    shown = Broadcast()
    games = {name: mock.Mock(over=False, game=mock.Mock(match_id=name)) for name in ("m_1", "m_2")}
    shown._games = dict(games)
    redis = mock.Mock(mget=mock.AsyncMock(return_value=[b"1", b"1"]))
    await shown.show(redis)
    await shown.show(mock.Mock(mget=mock.AsyncMock(return_value=[b"1"])))
    assert sent == ["m_2", "m_2"]


async def test_a_page_is_made_after_an_error(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Who watches a page hears of news after one time that it could not be made."""
    monkeypatch.setattr(hub_module, "PACE_S", 0.01)
    monkeypatch.setattr(hub_module, "FALLBACK_S", 0.01)
    flaky = Flaky(Parts("page", {}, {}))
    hub = Hub(flaky)
    with pytest.raises(KeyError):
        await hub.stream("t", "")  # whose own request it is, is told
    flaky.calls = -1
    stream = await hub.stream("t", "")
    assert await anext(stream) == "retry: 2000\n\n"
    task = hub._topics["t"].task
    assert task is not None
    flaky.worked.clear()
    await outlives(task, flaky, caplog)


@pytest.mark.parametrize("part", ["look", "_on_event"])
async def test_the_web_watches_after_an_error(
    part: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the looks at Redis nor the hints end with one that failed."""
    monkeypatch.setattr(watch_module, "EVERY_S", 0.01)
    monkeypatch.setattr(watch_module, "RETRY_S", 0.01)
    flaky, quiet = Flaky(), Flaky()
    quiet.calls = 1
    watch = Watch(mock.Mock(), lambda: None)
    monkeypatch.setattr(watch, "look", flaky if part == "look" else quiet)

    async def events(_redis: object) -> Any:
        await (flaky if part == "_on_event" else quiet)()
        yield None

    monkeypatch.setattr(live, "events", events)
    await outlives(asyncio.create_task(watch.run()), flaky, caplog)


async def test_revoked_tokens_are_cut_after_an_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A gateway goes on to look for revoked tokens."""
    monkeypatch.setattr(process, "REVOKED_POLL_S", 0.01)
    flaky = Flaky()
    tokens = mock.Mock(revoked=flaky)
    await outlives(asyncio.create_task(process._cut_revoked(mock.Mock(), tokens)), flaky, caplog)


async def test_the_registry_is_renewed_after_an_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A gateway's sessions stay in the registry."""
    monkeypatch.setattr(registry, "RENEW_S", 0.01)
    flaky = Flaky()
    publisher = RegistryPublisher(mock.Mock(sessions=[]), mock.Mock(remove=mock.AsyncMock()), "relay")
    monkeypatch.setattr(publisher, "_publish", flaky)
    publisher.start()
    assert publisher._task is not None
    await outlives(publisher._task, flaky, caplog)
