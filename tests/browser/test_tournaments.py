"""Tournament pages, the projector and the archive's folder, in Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from arena.storage import tournaments as store
from arena.tournaments.archive import write_archive
from arena.tournaments.showing import Shown, visible_to
from tests.browser.test_browser import AXE, SERIOUS, visit
from tests.web.events import SeededEvent, event_text
from tests.web.seed import SeededArena
from tests.web.support import LADDERS, WebArena, serving

BOTS = ("random", "greedy", "heuristic", "zephyr", "updraft", "nimbus-with-a-name-as-long-as-they-come1")
FINAL = '[final]\ntop = 2\nmax_sets = 5\n[publication]\nfinal = "hidden"\n'


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[WebArena]:
    """An arena with an event of each kind of picture, some of them over."""
    arena = SeededArena(tmp_path_factory.mktemp("events"), LADDERS, bots=BOTS[3:])
    for name, kind, top, sets in (
        ("Cup", "round-robin", "", 4),
        ("Open", "swiss", "rounds = 3", 4),
        ("Night", "single-elimination", "third_place = true", 99),
        ("Second", "double-elimination", "", 6),
    ):
        SeededEvent.create(arena, event_text(name, kind, BOTS, top=top)).start().play(sets)
    SeededEvent.create(arena, event_text("Soon", "swiss", BOTS, top="start = 2099-01-31T18:00:00Z"))
    with serving(arena, redis_url) as running:
        yield running


def event(web: WebArena, slug: str) -> SeededEvent:
    """One of them."""
    return SeededEvent(web.arena, slug)


def test_standings_and_rounds_move_when_a_set_ends(page: Page, web: WebArena) -> None:
    """Without a reload the table has the order and the points that the database has, and the pairing its score and games."""
    visit(page, "/tournaments/cup")
    page.evaluate("window.same = true")
    cup = event(web, "cup")
    cup.play(1)
    web.arena.connect(web.redis_url)
    rows = cup.state().table()
    expect(page.locator("#standings .bot span")).to_have_text([row.name for row in rows])
    expect(page.locator("#standings .elo b")).to_have_text([f"{row.points:g}" for row in rows])
    assert page.evaluate("window.same")
    page.locator("#pairings .games a").filter(has_text="game 1").first.click()
    expect(page).to_have_url(re.compile("/matches/m_"))


def test_a_bracket_leads_to_a_pairings_games(page: Page, web: WebArena) -> None:
    """A box of the bracket opens its round, there the pairing has its sets; reachable by keyboard as any link."""
    visit(page, "/tournaments/night")
    final = page.locator(".bracket a", has=page.locator("title", has_text=re.compile("^final:")))
    final.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"round=main-3#p-w3\.1$"))
    expect(page.locator("#p-w3\\.1 .games a").first).to_be_visible()
    page.get_by_role("link", name="Before").click()
    expect(page.locator("#rounds-title")).to_contain_text("Round 2")


def test_a_projector_reveals_a_final(page: Page, web: WebArena) -> None:
    """It is large, without the site around it, and shows a hidden final as soon as that is published, by itself."""
    made = SeededEvent.create(web.arena, event_text("Reveal", "round-robin", BOTS[:3], FINAL)).start()
    made.play()
    visit(page, "/tournaments/reveal?projector=1")
    expect(page.locator("header, footer, nav")).to_have_count(0)
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('#standings th')).fontSize)") > 18
    expect(page.locator("#event-final .podium")).to_have_count(0)
    made.publish("final", "public")
    web.arena.connect(web.redis_url)
    expect(page.locator("#event-final .podium li")).to_have_count(2, timeout=15_000)
    order = made.state().final_order()
    assert order is not None
    expect(page.locator("#event-final .won .bot span")).to_have_text(order.names[0])
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0


def complaints(tab: Page) -> list[Any]:
    """What axe-core finds serious, and whether the page scrolls sideways."""
    tab.wait_for_timeout(500)  # what has just come fades in, and half of a colour is no contrast
    wide = tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    tab.evaluate(AXE)
    found = tab.evaluate("axe.run(document, {resultTypes: ['violations'], preload: false})")
    assert len(found["passes"]) > 10, "axe-core did not look"
    bad = [
        (one["id"], node["target"], node["failureSummary"])
        for one in found["violations"]
        if one["impact"] in SERIOUS
        for node in one["nodes"][:2]
    ]
    return bad + [("overflow", wide)] * (wide > 0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows_a_phone_and_axe_finds_nothing_serious(browser: Browser, web: WebArena, scheme: Any) -> None:
    """At 360 px, in both schemes: the list, an event of each kind, a projector."""
    context = browser.new_context(viewport={"width": 360, "height": 740}, base_url=web.url, color_scheme=scheme)
    tab = context.new_page()
    events = ("cup", "cup?round=main-1", "open", "night", "second", "soon", "cup?projector=1", "night?projector=1")
    for path in ("/tournaments", *(f"/tournaments/{one}" for one in events)):
        visit(tab, path)
        assert complaints(tab) == [], path
    context.close()


@pytest.mark.parametrize("slug", ["night", "open"])
def test_an_archive_opens_from_a_disk(browser: Browser, web: WebArena, tmp_path: Path, slug: str) -> None:
    """Without a server: the index with its picture, each link to a round and a game, the moves, and the record beside it."""
    with web.arena.database.read() as connection:
        found = store.get(connection, slug)
        field = store.participants(connection, found.id)
        shown = Shown(found, field, store.load(connection, found), visible_to(found, "public"))
    write_archive(shown, tmp_path / "pages", web.arena.records)
    context = browser.new_context(viewport={"width": 360, "height": 740})
    tab = context.new_page()
    wrong: list[str] = []
    tab.on("console", lambda message: wrong.append(message.text))
    tab.on("requestfailed", lambda request: wrong.append(request.url))
    tab.on("request", lambda request: wrong.append(request.url) if not request.url.startswith("file:") else None)
    tab.goto((tmp_path / "pages" / "index.html").as_uri())
    expect(tab.locator(".bracket" if slug == "night" else ".grid")).to_be_visible()
    assert complaints(tab) == []
    tab.locator(".rounds a").first.click()
    assert complaints(tab) == []
    tab.get_by_role("link", name="game 1").first.click()
    expect(tab.locator(".moves li").first).to_be_visible()
    assert complaints(tab) == []
    record = tab.get_by_role("link", name=re.compile(r"\.jsonl\.gz$"))
    assert (tmp_path / "pages" / "games" / (record.get_attribute("href") or "")).resolve().is_file()
    assert wrong == []
    context.close()
