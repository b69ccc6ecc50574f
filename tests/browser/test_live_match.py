"""A running match in the browser: it goes on by itself, and ends as a replay."""

from __future__ import annotations

import asyncio
import threading

from playwright.sync_api import Page, expect

from arena.gateway.registry import connect_redis
from arena.host.broadcast import Broadcast
from tests.browser.test_browser import AXE, SERIOUS, visit
from tests.web.slowly import SlowMatch, job_of
from tests.web.support import POP, WebArena


def test_a_running_match_is_watched_to_its_end(page: Page, web: WebArena) -> None:
    """The list leads to it; the board follows without a reload; when it is over the page shows everything."""
    plan, keep = web.arena.begin(web.arena.queue(POP, ["zephyr", "updraft"]))
    game = plan.games[0]
    match, more, stop = SlowMatch(plan, game, keep[game.match_id]), threading.Event(), threading.Event()

    async def broadcast() -> None:
        async with connect_redis(web.redis_url) as redis:
            made = Broadcast()
            with made.of(job_of(plan, plan.games)) as watch:
                assert watch is not None
                match.go(watch, 1)
                while not stop.is_set():
                    if more.is_set():
                        more.clear()
                        match.go(watch, 2)
                    await made.show(redis)
                    await asyncio.sleep(0.2)

    worker = threading.Thread(target=lambda: asyncio.run(broadcast()))
    worker.start()
    try:
        visit(page, "/matches")
        page.get_by_role("link", name="Watch zephyr, updraft").click()
        at = page.locator("[data-n]")
        expect(page.locator("[data-of]")).to_have_text(str(len(match.referee.events)))
        expect(at).to_have_text(str(len(match.referee.events)))
        assert page.locator("[data-stage] .back").count() > 10
        assert page.locator(".eyes a").all_inner_texts() == ["Spectator"]
        page.evaluate("window.same = true")
        before = len(match.referee.events)
        more.set()
        expect(at).not_to_have_text(str(before))
        expect(page.locator("[data-of]")).to_have_text(str(len(match.referee.events)))
        expect(at).to_have_text(str(len(match.referee.events)), timeout=30_000)
        assert page.evaluate("window.same")
        page.set_viewport_size({"width": 360, "height": 740})
        expect(page.locator("[data-stage]")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        page.evaluate(AXE)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert [one["id"] for one in found["violations"] if one["impact"] in SERIOUS] == []
    finally:
        stop.set()
        worker.join()
    for each in plan.games:
        web.arena.finish_game(plan, each, keep[each.match_id])
    web.arena.settle(plan.set_id)
    expect(page.get_by_role("link", name="Everything")).to_be_visible(timeout=30_000)
    expect(page.locator(".podium li")).to_have_count(2)
