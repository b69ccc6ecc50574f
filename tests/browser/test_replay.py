"""The viewer, on a match's page and as a file of its own: boards, fog, steps, sharing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import engines
from arena.match.record import parse_record
from arena.match.referee import JointPlayed
from arena.web.assets import load_assets
from arena.web.offline import offline_page
from tests.browser.test_browser import AXE, SERIOUS, newest, visit
from tests.web.films import match_of
from tests.web.support import CHALLENGE, POP, WebArena

Opened = Callable[..., Page]
GAMES = (("balloon-pop", 3), ("balloon-challenge", 5), ("balloon-race", 4), ("pop", 5))
FIRST_LOAD_BYTES = 100_000


@pytest.fixture
def offline(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    """Opens a file that ``arena replay --html`` makes; it may ask nothing of anybody and write nothing to the console."""
    wrong: list[str] = []
    contexts = []

    def opened(game: str, players: int, at: str = "", *, seats: Any = None, drawn: bool = True, **context: Any) -> Page:
        file = tmp_path / f"{game}.html"
        match = match_of(game, players, 5, notes=True)
        file.write_text(offline_page(match, seats or ["all", None, *range(players)]), encoding="utf-8")
        contexts.append(browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context}))
        tab = contexts[-1].new_page()
        tab.on("console", lambda message: wrong.append(message.text) if message.type in {"error", "warning"} else None)
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on(
            "request", lambda asked: wrong.append(asked.url) if not asked.url.startswith(("file:", "data:")) else None
        )
        tab.goto(f"{file.as_uri()}{at}")
        expect(tab.locator("[data-stage] desc" if drawn else "mark, [data-picture]").first).to_be_attached()
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def texts(page: Page) -> str:
    """All that is written on the board."""
    return " ".join(page.locator("[data-stage] text").all_text_contents())


@pytest.mark.parametrize(("game", "players"), GAMES)
def test_a_replay_from_disk_plays_to_the_end_and_agrees_with_the_record(
    offline: Opened, game: str, players: int
) -> None:
    """Played from the beginning, the last picture shows the scores and places of the record, on the board and beside it."""
    page = offline(game, players, "#0")
    match = match_of(game, players, 5, notes=True)
    expect(page.locator("[data-n]")).to_have_text("0")
    page.select_option("[data-speed]", "40")
    page.get_by_role("button", name="Play").click()
    expect(page.locator("[data-n]")).to_have_text(str(len(match.events)), timeout=60_000)
    expect(page.get_by_role("button", name="Play")).to_have_attribute("aria-pressed", "false")
    scores = [str(score).replace("-", "−") for score in match.record.footer["scores"]]
    expect(page.locator("[data-score-of] b")).to_have_text(scores)
    expect(page.locator("[data-place]")).to_have_text([f"{place}." for place in match.record.footer["places"]])
    for seat, score in enumerate(scores):
        assert score in page.locator(f'[data-key="head-{seat}"]').text_content().split(f"bot{seat}")[1]  # type: ignore[union-attr]
    assert "over" in texts(page) or "The end" in texts(page) or game == "balloon-pop"
    described = page.locator("[data-stage] desc").text_content()
    assert described == (page.locator("[data-picture]").text_content() or "").rstrip("\n")
    assert described.startswith(match.events[-1].before.render(None).split(" ")[0])


@pytest.mark.parametrize(("game", "players"), GAMES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_boards_fit_a_phone_and_axe_finds_nothing_serious(
    offline: Opened, game: str, players: int, scheme: Any
) -> None:
    """At 360 px nothing scrolls sideways or leaves the drawing, early, midway and at the end, and axe-core agrees with it."""
    page = offline(game, players, viewport={"width": 360, "height": 740}, color_scheme=scheme)
    last = int(page.locator("[data-replay]").get_attribute("data-last") or 0)
    for at in (0, last // 3, last * 2 // 3, last):
        page.goto(re.sub(r"#.*", "", page.url) + f"#{at}")
        expect(page.locator("[data-n]")).to_have_text(str(at))
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        outside = page.evaluate(
            """() => {
              const stage = document.querySelector("[data-stage]").getBoundingClientRect();
              return [...document.querySelectorAll("[data-stage] .moves")].filter((node) => {
                const box = node.getBoundingClientRect();
                return box.width && (box.left < stage.left - 1.5 || box.right > stage.right + 1.5 || box.bottom > stage.bottom + 1.5 || box.top < stage.top - 1.5);
              }).map((node) => node.parentNode.dataset.key);
            }"""
        )
        assert outside == [], at
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    bad = [
        (one["id"], node["target"]) for one in found["violations"] if one["impact"] in SERIOUS for node in one["nodes"]
    ]
    assert bad == []
    assert len(found["passes"]) > 10, "axe-core did not look"


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_chips_cover_no_words(offline: Opened, players: int) -> None:
    """At the end of a game, where hands are open and some have burst, what is written beside the chips can be read."""
    events = len(match_of("balloon-challenge", players, 5, notes=True).events)
    for context in ({}, {"viewport": {"width": 390, "height": 900}}):
        page = offline("balloon-challenge", players, f"#{events}", **context)
        expect(page.locator("[data-n]")).to_have_text(str(events))
        chips = page.locator('[data-stage] [data-key^="chip-"]')
        assert chips.count() > 0
        assert ": burst" in texts(page)
        covered = page.evaluate(
            """() => {
              const boxes = (selector) => [...document.querySelectorAll(selector)].map((node) => [node, node.getBoundingClientRect()]);
              const chips = boxes('[data-stage] [data-key^="chip-"]');
              return boxes('[data-stage] [data-key^="state-"] text').filter(([, word]) => chips.some(([, chip]) =>
                chip.left < word.right && word.left < chip.right && chip.top < word.bottom && word.top < chip.bottom)).map(([node]) => node.textContent);
            }"""
        )
        assert covered == []


@pytest.mark.parametrize(("game", "players"), [one for one in GAMES if one[0] != "balloon-pop"])
def test_fog_hides_what_a_seat_did_not_know(offline: Opened, game: str, players: int) -> None:
    """Midway everything shows all hands, a seat's eyes its own and the backs of the others', a spectator's backs alone."""
    at = len(match_of(game, players, 5, notes=True).events) // 2
    page = offline(game, players, f"#{at}")
    backs = page.locator("[data-stage] .back")
    expect(backs).to_have_count(0)
    page.get_by_role("link", name="Spectator").click()
    expect(backs.first).to_be_attached()
    for_all = backs.count()
    page.get_by_role("link", name="Seat 1").click()
    expect(page.get_by_role("link", name="Seat 1")).to_have_attribute("aria-current", "true")
    expect(backs).not_to_have_count(for_all)
    assert 0 < backs.count() < for_all
    expect(page).to_have_url(re.compile(f"#{at}s1$"))
    assert [text != "" for text in page.locator("[data-clock]").all_text_contents()] == [
        seat == 1 for seat in range(players)
    ]


def test_a_seats_own_file_holds_its_own_knowledge(offline: Opened) -> None:
    """With one seat's eyes alone the file has one film, and nothing in it names another's card."""
    page = offline("balloon-challenge", 3, seats=[1])
    assert page.locator(".eyes a").all_inner_texts() == ["Seat 1"]
    assert page.locator("script[data-film]").count() == 1
    film = page.locator("script[data-film]").text_content() or ""
    assert '"private":{"1"' in film
    assert '"private":{"0"' not in film
    assert "something hidden" in film


def test_evaluations_make_a_strip_that_seeks(offline: Opened) -> None:
    """What bots noted is drawn as a curve a seat; a click on it goes there; the comment is shown as text, not as markup."""
    page = offline("pop", 3, "#0")
    strip = page.locator("[data-strip]")
    expect(strip.locator(".curve")).to_have_count(3)
    box = strip.bounding_box()
    assert box is not None
    strip.click(position={"x": box["width"] * 0.5, "y": box["height"] / 2})
    last = int(page.locator("[data-replay]").get_attribute("data-last") or 0)
    expect(page.locator("[data-n]")).to_have_text(str(round(last / 2)))
    event = next(n for n, one in enumerate(match_of("pop", 3, 5, notes=True).events, 1) if hasattr(one, "parts"))
    page.goto(re.sub(r"#.*", "", page.url) + f"#{event}")
    expect(page.locator("[data-note]")).to_contain_text("</script> & thought 1")


def test_a_game_without_a_board_is_shown_as_text(offline: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's game steps through its text, which is open from the start, with what is new in it marked."""
    assets = {name: content for name, content in load_assets().items() if name != "boards/pop.js"}
    monkeypatch.setattr("arena.web.offline.load_assets", lambda: assets)
    page = offline("pop", 3, "#0", drawn=False)
    expect(page.locator("[data-stage]")).to_be_hidden()
    for at in range(1, 7):
        page.keyboard.press("ArrowRight")
        expect(page.locator("[data-n]")).to_have_text(str(at))
    expect(page.locator("[data-picture]")).to_be_visible()
    expect(page.locator("[data-picture]")).to_contain_text("POP!")
    assert page.locator("mark").count() > 0


def test_things_move_unless_motion_is_not_wanted(offline: Opened) -> None:
    """A step forward animates what changed; with reduced motion nothing does."""
    running = "document.querySelector('[data-stage]').getAnimations({subtree: true}).length"
    for motion, moves in (("no-preference", True), ("reduce", False)):
        page = offline("balloon-pop", 3, "#20", reduced_motion=motion)
        page.keyboard.press("ArrowRight")
        expect(page.locator("[data-n]")).to_have_text("21")
        assert (page.evaluate(running) > 0) == moves


def test_a_match_page_plays_to_the_end_and_its_first_load_is_small(page: Page, web: WebArena) -> None:
    """On the arena's own page too; all that it loads, film and scripts included, is under 100 kB on the wire."""
    match = newest(web, POP)
    sizes: list[int] = []
    page.on("requestfinished", lambda asked: sizes.append(asked.sizes()["responseBodySize"]))
    visit(page, f"/matches/{match.match_id}#0")
    expect(page.locator("[data-n]")).to_have_text("0")
    expect(page.locator(".said")).to_have_text("The match begins.")
    expect(page.locator("[data-stage] desc")).to_be_attached()
    assert 10_000 < sum(sizes) < FIRST_LOAD_BYTES
    page.select_option("[data-speed]", "40")
    page.keyboard.press("Space")
    expect(page.locator("[data-n]")).to_have_text(str(match.events), timeout=60_000)
    expect(page.get_by_role("button", name="Play")).to_have_attribute("aria-pressed", "false")
    expect(page.locator("[data-score-of] b")).to_have_text([str(seat.score).replace("-", "−") for seat in match.seats])
    expect(page.locator("[data-place]")).to_have_text([f"{seat.place}." for seat in match.seats])


def test_a_replay_steps_by_keys_and_its_position_can_be_shared(page: Page, web: WebArena) -> None:
    """Arrows, Home and End step; the address names position and eyes; opened elsewhere it shows the same."""
    match = newest(web, CHALLENGE)
    visit(page, f"/matches/{match.match_id}")
    at = page.locator("[data-n]")
    expect(at).to_have_text(str(match.events))
    page.keyboard.press("Home")
    expect(at).to_have_text("0")
    for key, wanted in (
        ("ArrowRight", "1"),
        ("Shift+ArrowRight", "11"),
        ("ArrowLeft", "10"),
        ("End", str(match.events)),
    ):
        page.keyboard.press(key)
        expect(at).to_have_text(wanted)
    page.locator(".seek").fill("20")
    expect(at).to_have_text("20")
    page.get_by_role("link", name="Seat 1").click()
    page.get_by_text("The position as text").click()
    expect(page.locator("[data-picture]")).to_contain_text("your hand")
    expect(page).to_have_url(re.compile("#20s1$"))
    shared = page.url
    picture, drawn = page.locator("[data-picture]").inner_text(), texts(page)
    page.goto("/games")
    page.goto(shared)
    expect(page.locator("[data-picture]")).to_have_text(picture, use_inner_text=False)
    expect(page.get_by_role("link", name="Seat 1")).to_have_attribute("aria-current", "true")
    assert texts(page) == drawn


def test_a_replay_marks_in_the_text_what_an_event_changed(page: Page, web: WebArena) -> None:
    """The card that has just been played is marked in the text, and little else is; nothing where half of it is new."""
    match_id = newest(web, CHALLENGE).match_id
    record = parse_record(web.get(f"/matches/{match_id}/record").body)
    game = engines.get("balloon-challenge")
    plays = [
        (event["seq"] + 1, event["joint"][0]["text"])
        for event in record.events
        if "joint" in event and event["joint"][0]["text"].startswith("play ")
    ]
    assert game.parse(plays[0][1]) >= 0
    page.goto(f"/matches/{match_id}")
    page.get_by_text("The position as text").click()
    found = []
    for n, text in plays[:8]:
        page.goto(f"/matches/{match_id}#{n}p")
        expect(page.locator(".said")).to_contain_text(text)
        marked = page.locator("mark").all_inner_texts()
        assert len(marked) < 25
        found += [text.removeprefix("play ") in marked] if marked else []
    assert found
    assert all(found)


REACH = """
async ([game, eyes, n, legal, wanted]) => {
  const { draw } = await import(`arena/boards/${game}.js`);
  const { unfold } = await import("arena/viewer.js");
  const film = unfold(JSON.parse(document.querySelector(`[data-film="${eyes}"]`).textContent));
  const svg = document.querySelector("[data-stage]");
  const seats = film.seats.map(({ bot, hue }) => ({ name: bot, hue }));
  const left = {};
  for (const text of wanted) {
    let open = legal;
    for (let step = 0; step < 9 && open.length > 1; step += 1) {
      let best = open;
      const options = { width: 900, animate: 0, title: "", text: "", seats, config: film.config, eyes, legal: open };
      draw(svg, film.frames[n], { ...options, choose: (agreeing) => { if (agreeing.includes(text) && agreeing.length < best.length) best = agreeing; } });
      for (const button of svg.querySelectorAll(".can")) button.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
      if (best === open) break;
      open = best;
    }
    left[text] = open;
  }
  draw(svg, film.frames[n], { width: 900, animate: 0, title: "", text: "", seats, config: film.config, eyes, legal, choose: () => {} });
  return { left, names: [...svg.querySelectorAll(".can")].map((node) => node.getAttribute("aria-label")), role: svg.getAttribute("role") };
}
"""


@pytest.mark.parametrize(
    ("game", "players"), [("balloon-pop", 2), ("balloon-challenge", 2), ("balloon-race", 2), ("pop", 2)]
)
def test_every_legal_action_can_be_reached_by_clicks(offline: Opened, game: str, players: int) -> None:
    """For a person's seat: buttons on the board narrow the legal actions down to the wanted one, or to a few of one place."""
    page = offline(game, players)
    match = match_of(game, players, 5, notes=True)
    decisions = [
        (n, part.seat)
        for n, event in enumerate(match.events)
        if isinstance(event, JointPlayed)
        for part in event.parts
        if part.legal_count > 1
    ]
    kinds: dict[str, int] = {}
    for n, seat in decisions:
        state = match.events[n].before
        legal = [state.game.text(action) for action in state.legal(seat)]
        kind = legal[0].split(" ")[0][:4]
        kinds[kind] = kinds.get(kind, 0) + 1
        if kinds[kind] > 3:
            continue
        found = page.evaluate(REACH, [game, str(seat), n, legal, legal[:: max(1, len(legal) // 12)]])
        assert found["role"] == "group"
        assert all(found["names"])
        for wanted, left in found["left"].items():
            assert wanted in left
            assert len(left) == 1 or (game == "balloon-pop" and len(left) <= 12), (wanted, left)
    assert len(kinds) >= {"balloon-pop": 3, "balloon-challenge": 1, "balloon-race": 3, "pop": 1}[game]
