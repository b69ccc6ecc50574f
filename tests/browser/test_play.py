"""Playing by hand in Chromium: all four games to the end, two people at a table, a reload, a stranger's page, keys alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, ElementHandle, Page, expect

from arena.match.record import parse_record
from arena.match.replay import verify
from tests.browser.test_browser import AXE, SERIOUS
from tests.web.support import WebArena

Seat = Callable[..., Page]
PATIENCE_MS = 60_000
CHOICE = "[data-choices]:not([hidden]) .choice"
GAMES = (
    ("balloon-challenge", "light", 1280),
    ("balloon-pop", "dark", 360),
    ("balloon-race", "light", 360),
    ("pop", "dark", 1280),
)


@pytest.fixture
def seat(browser: Browser, web: WebArena) -> Iterator[Seat]:
    """Opens a browser of its own for each person; none of them may complain or ask anybody else for anything."""
    contexts, wrong = [], list[str]()

    def opened(**context: Any) -> Page:
        contexts.append(browser.new_context(**{"base_url": web.url, "reduced_motion": "reduce", **context}))
        tab = contexts[-1].new_page()
        tab.on("console", lambda message: wrong.append(message.text) if message.type in {"error", "warning"} else None)
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("request", lambda asked: wrong.append(asked.url) if not asked.url.startswith(web.url) else None)
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def sit_down(page: Page, game: str, *others: str, **options: str) -> str:
    """Fills in the form like a person; gives the table's address."""
    page.goto("/play")
    page.locator(f'a[href="/play/new/{game}"]').click()
    for number, other in enumerate(others, 1):
        page.select_option(f"#with-{number}", other)
    for name, value in options.items():
        page.fill(f'[name="{name}"]', value)
    page.get_by_role("button", name="Sit down").click()
    expect(page).to_have_url(re.compile(r"/play/t_[0-9a-f]{16}$"), timeout=PATIENCE_MS)
    return page.url


def next_choice(page: Page) -> ElementHandle | None:
    """The first button when it is one's turn; None when the game is over."""
    page.wait_for_selector(f"{CHOICE}, .ranking", timeout=PATIENCE_MS)
    return page.query_selector(CHOICE)


def click(page: Page, button: ElementHandle) -> None:
    """A choice, and the arena has it."""
    button.click()
    page.wait_for_function("button => !button.isConnected", arg=button)


def play_on(*pages: Page) -> None:
    """All people take their first choices till the end."""
    while True:
        for page in pages:
            page.wait_for_selector(f"{CHOICE}, .ranking, .turn:not(.yours)", timeout=PATIENCE_MS)
            if button := page.query_selector(CHOICE):
                click(page, button)
        if all(page.query_selector(".ranking") for page in pages):
            return


def record_of(page: Page, web: WebArena) -> Any:
    """The record that the page offers, verified."""
    href = page.get_by_role("link", name="Download the record").get_attribute("href")
    assert href is not None
    return verify(parse_record(web.get(href).body)).record


def sound(page: Page) -> None:
    """Nothing scrolls sideways, and axe-core finds nothing serious."""
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert [
        (one["id"], node["target"]) for one in found["violations"] if one["impact"] in SERIOUS for node in one["nodes"]
    ] == []
    assert len(found["passes"]) > 10, "axe-core did not look"


@pytest.mark.parametrize(("game", "scheme", "width"), GAMES)
def test_each_game_is_played_to_the_end_by_hand(seat: Seat, web: WebArena, game: str, scheme: Any, width: int) -> None:
    """Against two bots, by clicking; the page shows the record's result, and the replay opens. It fits, early and at the end."""
    page = seat(viewport={"width": width, "height": 800}, color_scheme=scheme)
    sit_down(page, game, "random", "random", name="Ada")
    moves = 0
    while button := next_choice(page):
        if moves == 1:
            expect(page.locator("[data-turn]")).to_contain_text("Your turn")
            expect(page.locator("[data-stage] .can").first).to_be_attached()
            sound(page)
        click(page, button)
        moves += 1
    assert moves > 3
    sound(page)
    footer = record_of(page, web).footer
    shown = page.locator("[data-seats] li")
    for number, (place, score) in enumerate(zip(footer["places"], footer["scores"], strict=True)):
        expect(shown.nth(number).locator(".rank")).to_have_text(f"{place}.")
        expect(shown.nth(number).locator("b")).to_have_text(str(score).replace("-", "−"))
    page.get_by_role("link", name="Watch the replay").click()
    expect(page.locator("[data-replay] [data-stage] desc")).to_be_attached()
    expect(page.locator(".podium")).to_contain_text("Ada")
    sound(page)


def test_two_people_and_a_bot_share_a_table(seat: Seat, web: WebArena) -> None:
    """One invites the other by a link; a spectator sees no hand; a reload in the middle, and a tab opened anew, go on; then again."""
    ada, grace, watcher = seat(), seat(), seat()
    address = sit_down(ada, "pop", "person", "random", name="Ada")
    expect(ada.locator("[data-turn]")).to_contain_text("Waiting for everybody")
    grace.goto(ada.get_by_label("Invitation to seat").input_value())
    grace.get_by_label("You are invited").fill("Grace")
    sound(grace)
    grace.get_by_role("button", name="Sit down").click()
    watcher.goto(address)
    for page in (ada, grace):
        expect(page.locator("[data-seats]")).to_contain_text(re.compile(r"Ada.*Grace|Grace.*Ada"))
        expect(page).to_have_url(address)  # what is shared is not the seat
    expect(watcher.locator("[data-stage] .back").first).to_be_attached(timeout=PATIENCE_MS)
    for page, other in ((ada, grace), (grace, ada)):
        page.wait_for_selector(f"{CHOICE}, .turn:not(.yours)")
        expect(page.locator("[data-stage] .back").first).to_be_attached(timeout=PATIENCE_MS)
        other.reload()
    for page in (ada, grace):
        if button := page.query_selector(CHOICE):
            click(page, button)
    log = ada.locator("[data-log] p")
    expect(log).not_to_have_count(0)
    ada.reload()
    expect(ada.locator("[data-seats] li", has_text="you")).to_contain_text("Ada")
    anew = ada.context.new_page()
    ada.close()
    anew.goto(address)
    expect(anew.locator("[data-seats] li", has_text="you")).to_contain_text("Ada")
    play_on(anew, grace)
    expect(watcher.locator(".ranking li")).to_have_count(3, timeout=PATIENCE_MS)
    expect(watcher.locator("[data-choices]")).to_be_hidden()
    expect(watcher.get_by_role("button", name="Play again")).to_have_count(0)
    record = record_of(anew, web)
    assert sorted(seat["owner"] for seat in record.header["seats"]) == ["house", "person", "person"]
    grace.get_by_role("button", name="Play again").click()
    expect(grace).not_to_have_url(address)
    anew.get_by_role("button", name="Sit down at the next game").click()
    expect(anew).to_have_url(grace.url)
    anew.wait_for_selector(f"{CHOICE}, .turn:not(.yours)")


def test_a_strangers_page_cannot_play(seat: Seat, web: WebArena) -> None:
    """Another site's page, in the very browser of the person, neither moves, nor reads the seat's stream, nor opens a table."""
    page = seat()
    address = sit_down(page, "balloon-challenge", "random")
    assert next_choice(page)
    asked = page.locator(CHOICE).all_inner_texts()
    stranger = page.context.new_page()
    stranger.goto(web.url.replace("127.0.0.1", "localhost") + "/play")
    tried = stranger.evaluate(
        """async ([table, action]) => {
          const body = JSON.stringify({decision: 1, action}), told = [];
          for (const options of [{mode: "no-cors"}, {headers: {authorization: "Bearer x"}}, {credentials: "include"}]) {
            try { told.push((await fetch(table + "/move", {method: "POST", body, ...options})).type); } catch { told.push("refused"); }
          }
          try { await (await fetch(table + "/live")).text(); told.push("read"); } catch { told.push("unread"); }
          return [...told, localStorage.length, document.cookie];
        }""",
        [address, asked[0]],
    )
    assert tried == ["refused", "refused", "refused", "unread", 0, ""]
    stranger.set_content(
        f'<form method="post" action="{web.url}/play/new/pop"><input name="with" value="random"></form>'
    )
    stranger.evaluate("document.forms[0].submit()")
    page.reload()
    assert next_choice(page)
    assert page.locator(CHOICE).all_inner_texts() == asked


def test_keys_alone_are_enough(seat: Seat) -> None:
    """From the form to the third move without a mouse: the focus is on the first choice whenever it is one's turn."""
    page = seat()
    page.goto("/play/new/pop")
    page.focus("button[type=submit]")
    page.keyboard.press("Enter")
    for _ in range(3):
        page.wait_for_selector(CHOICE, timeout=PATIENCE_MS)
        if page.evaluate("document.activeElement === document.body"):
            page.keyboard.press("Tab")
            page.focus(CHOICE)
        focused = page.locator(f"{CHOICE}:focus")
        expect(focused).to_have_count(1)
        text = focused.inner_text()
        page.keyboard.press("Enter")
        expect(page.locator("[data-log]")).to_contain_text(text)


def test_a_click_on_the_board_narrows_and_plays(seat: Seat) -> None:
    """POP! for two: one card narrows the pairs down to those with it, a second click on it takes that back, another card plays."""
    page = seat(reduced_motion="no-preference")
    sit_down(page, "pop", "random")
    assert next_choice(page)
    whole = page.locator(CHOICE).count()
    cards = page.locator('[data-stage] .can[data-key^="card-"]')
    one, other = cards.nth(0), cards.nth(1)
    keys = [key.get_attribute("data-key") for key in (one, other)]
    one.click()
    expect(page.locator("[data-asks]")).to_contain_text("Which of these?")
    assert page.locator(CHOICE).count() == cards.count() - 1 < whole
    one.click()
    expect(page.locator(CHOICE)).to_have_count(whole)
    page.locator(f'[data-key="{keys[0]}"]').click()
    page.locator(f'[data-key="{keys[1]}"]').click()
    numbers = sorted(int(str(key).removeprefix("card-")) for key in keys)
    expect(page.locator("[data-log]")).to_contain_text(f"You play {numbers[0]}+{numbers[1]}", timeout=PATIENCE_MS)


def test_a_broken_connection_is_told_and_mended(browser: Browser, web: WebArena) -> None:
    """While the arena is out of reach the page says so; once it is back it goes on with the same question."""
    context = browser.new_context(base_url=web.url, reduced_motion="reduce")
    page = context.new_page()
    sit_down(page, "balloon-challenge", "random")
    assert next_choice(page)
    asked = page.locator(CHOICE).all_inner_texts()
    page.route("**/live?*", lambda route: route.abort())
    page.reload()
    expect(page.locator("[data-turn]")).to_contain_text("connection is lost", timeout=PATIENCE_MS)
    page.unroute("**/live?*")
    expect(page.locator("[data-turn]")).to_contain_text("Your turn", timeout=PATIENCE_MS)
    assert page.locator(CHOICE).all_inner_texts() == asked
    context.close()
