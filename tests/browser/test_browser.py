"""What people see and do, in Chromium."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from arena.storage.matches import recent_matches
from arena.storage.queries import leaderboard
from tests.web.support import CHALLENGE, POP, WebArena

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
SERIOUS = {"serious", "critical"}


def newest(web: WebArena, slug: str) -> Any:
    """The newest match of a ladder."""
    with web.arena.database.read() as connection:
        return recent_matches(connection, ladder_slug=slug)[0][0]


def addresses(web: WebArena) -> list[str]:
    """One of each kind of page."""
    match = newest(web, CHALLENGE)
    fixed = [
        "/",
        "/ladders",
        "/matches",
        "/games",
        "/games/balloon-race",
        "/docs",
        "/docs/records",
        "/docs/boards",
        "/status",
    ]
    play = ["/play", "/play/new/balloon-race"]
    return [
        *fixed,
        *play,
        "/bots/zephyr",
        f"/ladders/{CHALLENGE}",
        f"/matches/{match.match_id}",
        f"/sets/{match.set_id}",
        "/nowhere",
    ]


def visit(page: Page, path: str) -> None:
    """Opens a page and waits until what is live has begun. A 404 is written to the console: that one is expected."""
    page.goto(path)
    if page.locator("main[data-topic]").count():
        expect(page.locator("#pulse .word")).to_have_text("live")


def table(page: Page) -> list[tuple[str, str]]:
    """Bots and ratings of the ladder page, from top to bottom."""
    return [
        (row.locator(".bot span").inner_text(), row.locator(".elo b").inner_text())
        for row in page.locator("#table tr").all()
    ]


def test_the_leaderboard_moves_when_a_set_settles(page: Page, web: WebArena) -> None:
    """Without a reload the table shows the ratings and the order that the database has after a set."""
    visit(page, f"/ladders/{CHALLENGE}")
    page.evaluate("window.same = true")
    before = table(page)
    web.arena.play(CHALLENGE, ["zephyr", "updraft", "random"])
    web.arena.connect(web.redis_url)
    with web.arena.database.read() as connection:
        wanted = [(row.bot, f"{row.rating:.0f}") for row in leaderboard(connection, CHALLENGE)]
    assert wanted != before
    expect(page.locator("#table .elo b")).to_have_text([rating for _, rating in wanted])
    assert table(page) == wanted
    assert page.evaluate("window.same")


def test_the_home_page_shows_a_match_as_it_ends(page: Page, web: WebArena) -> None:
    """The newest match comes in at the top of the list, and the tiles count it."""
    visit(page, "/")
    web.arena.play(POP, ["updraft", "zephyr"])
    web.arena.connect(web.redis_url)
    match_id = newest(web, POP).match_id
    expect(page.locator("#recent > li").first).to_have_id(f"m-{match_id}")
    page.locator("#recent > li a").first.click()
    expect(page).to_have_url(re.compile(f"/matches/{match_id}"))


def test_the_search_box_filters_the_table(page: Page) -> None:
    """A slash focuses it, rows that do not match vanish, and a live update keeps the filter."""
    visit(page, f"/ladders/{CHALLENGE}")
    page.keyboard.press("/")
    page.keyboard.type("zeph")
    expect(page.locator("#table tr:visible")).to_have_count(1)
    page.keyboard.type("xyz")
    expect(page.locator("#table-none")).to_be_visible()


def test_the_table_filters_by_kind_and_enter_searches_the_whole_ladder(page: Page) -> None:
    """The list of kinds leaves the rows of one kind; what is typed and entered is looked for on the server."""
    visit(page, f"/ladders/{CHALLENGE}")
    page.select_option("[data-only]", "theirs")
    expect(page.locator("#table tr:visible")).to_have_count(2)
    page.fill("#find", "upd")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"\?q=upd"))
    expect(page.locator("#table tr")).to_have_count(1)
    expect(page.locator("#table .bot span")).to_have_text("updraft")
    page.get_by_role("link", name="The whole table").click()
    expect(page.locator("#table tr")).to_have_count(5)


def test_a_phone_shows_of_a_row_what_a_screen_shows(browser: Browser, web: WebArena) -> None:
    """At 360 px rank, bot, version, owner, Elo, interval, trend, results and when it was last seen are to be seen."""
    context = browser.new_context(viewport={"width": 360, "height": 740}, base_url=web.url)
    tab = context.new_page()
    visit(tab, f"/ladders/{CHALLENGE}")
    row = tab.locator("#table tr", has_text="zephyr")
    for part in (".rank", ".bot", ".elo b", ".pm", ".brief .num", ".brief .spark", ".also"):
        expect(row.locator(part)).to_be_visible()
    expect(row).to_contain_text("1.0 · ")
    context.close()


def test_a_table_sorts_by_its_heads(page: Page) -> None:
    """By games, most first; again, fewest first; the rank's head brings the order back."""
    visit(page, f"/ladders/{CHALLENGE}")
    ranks = page.locator("#table .rank").all_inner_texts()
    page.get_by_role("button", name="Games").click()
    games = [int(text) for text in page.locator("#table .games").all_inner_texts()]
    assert games == sorted(games, reverse=True)
    page.get_by_role("button", name="Games").click()
    games = [int(text) for text in page.locator("#table .games").all_inner_texts()]
    assert games == sorted(games)
    page.get_by_role("button", name="Rank").click()
    assert page.locator("#table .rank").all_inner_texts() == ranks


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows_a_phone_and_axe_finds_nothing_serious(browser: Browser, web: WebArena, scheme: Any) -> None:
    """At 360 px no page scrolls sideways; in both schemes axe-core has no serious complaint about any page."""
    context = browser.new_context(viewport={"width": 360, "height": 740}, base_url=web.url, color_scheme=scheme)
    tab = context.new_page()
    for path in addresses(web):
        visit(tab, path)
        tab.wait_for_timeout(500)  # what has just come fades in, and half of a colour is no contrast
        wide = tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, path
        tab.evaluate(AXE)
        found = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
        bad = [
            (one["id"], node["target"], node["failureSummary"])
            for one in found["violations"]
            if one["impact"] in SERIOUS
            for node in one["nodes"][:2]
        ]
        assert not bad, (path, bad)
        assert len(found["passes"]) > 10, "axe-core did not look"
    context.close()


CUT = "[...document.querySelectorAll('thead th')].filter(th => th.clientWidth > 1 && th.scrollWidth > th.clientWidth).length"


@pytest.mark.parametrize("width", [360, 800, 1280])
def test_no_head_of_a_table_is_cut(browser: Browser, web: WebArena, width: int) -> None:
    """What a column holds is told in whole words on every page."""
    context = browser.new_context(viewport={"width": width, "height": 740}, base_url=web.url)
    tab = context.new_page()
    assert {path: cut for path in addresses(web) if (visit(tab, path), cut := tab.evaluate(CUT))[1]} == {}
    context.close()


def test_pages_work_without_scripts(browser: Browser, web: WebArena) -> None:
    """With scripts off the table, the match and the steps of its replay are there all the same."""
    context = browser.new_context(java_script_enabled=False, base_url=web.url)
    tab = context.new_page()
    tab.goto(f"/ladders/{CHALLENGE}")
    expect(tab.locator("#table tr").first).to_be_visible()
    expect(tab.locator(".find input")).to_be_visible()
    match = newest(web, CHALLENGE)
    tab.goto(f"/matches/{match.match_id}?n=5")
    tab.get_by_role("link", name="Forward").click()
    expect(tab.locator("[data-n]")).to_have_text("6")
    tab.get_by_role("link", name="Seat 2").click()
    expect(tab.locator("[data-picture]")).to_contain_text("your hand")
    context.close()


def test_a_stream_that_breaks_comes_back(page: Page, web: WebArena) -> None:
    """Away and back again the page is live and up to date."""
    visit(page, f"/ladders/{CHALLENGE}")
    page.context.set_offline(True)
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide'))")
    web.arena.play(CHALLENGE, ["zephyr", "greedy", "random"])
    web.arena.connect(web.redis_url)
    page.context.set_offline(False)
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    with web.arena.database.read() as connection:
        wanted = [f"{row.rating:.0f}" for row in leaderboard(connection, CHALLENGE)]
    expect(page.locator("#table .elo b")).to_have_text(wanted)
