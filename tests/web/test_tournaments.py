"""Tournament pages and their API: what everybody may see of an event, and nothing of what is hidden."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from arena.storage import tournaments as store
from tests.web.events import SeededEvent, event_text
from tests.web.seed import SeededArena
from tests.web.support import LADDERS, WebArena, next_message, serving, showing

FIVE = ("random", "greedy", "heuristic", "zephyr", "updraft")
FINAL = '[final]\ntop = 2\nmax_sets = 5\n[publication]\nfinal = "hidden"\n'


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[WebArena]:
    """An arena of its own, so that other tests' lists stay theirs."""
    arena = SeededArena(tmp_path_factory.mktemp("events"), LADDERS, bots=("zephyr", "updraft"))
    with serving(arena, redis_url) as running:
        yield running


def event(
    web: WebArena, name: str, kind: str, bots: tuple[str, ...] = FIVE, more: str = "", top: str = ""
) -> SeededEvent:
    """A started event."""
    return SeededEvent.create(web.arena, event_text(name, kind, bots, more, top)).start()


def api(web: WebArena, path: str) -> Any:
    """What the API says."""
    answer = web.get(f"/api/v1/tournaments{path}")
    assert answer.status == 200, answer.text
    return answer.json()


def hidden_matches(running: SeededEvent, stage: str) -> set[str]:
    """Ids of the games of a stage."""
    state = running.state()
    pairings = (state.main if stage == "main" else state.final).pairings
    return {
        game.match_id for one in pairings for played in state.sets.get(one.id, {}).values() for game in played.games
    }


def test_an_event_page_shows_standings_grid_and_rounds_that_lead_to_sets_and_matches(web: WebArena) -> None:
    """A round robin half played: who stands where, who has beaten whom, each round by its address, all links alive."""
    running = event(web, "Autumn Cup", "round-robin")
    running.play(5)
    state = running.state()
    page = web.get("/tournaments/autumn-cup").text
    for row in state.table():
        assert f'href="/bots/{row.name}"' in page
    assert re.findall(r'id="e-(\d)" data-rank', page) == [
        str(state.main.by_name[row.name].seed) for row in state.table()
    ]
    assert 'class="grid"' in page
    first = web.get("/tournaments/autumn-cup?round=main-1").text
    links = set(re.findall(r'href="(/(?:sets|matches|bots)/[^"]+)"', first))
    assert sum(link.startswith("/sets/") for link in links) == 2
    assert sum(link.startswith("/matches/") for link in links) == 4
    assert {web.get(link).status for link in links} == {200}
    assert "Round 1" in first
    assert web.get("/tournaments/autumn-cup?round=main-99").text == web.get("/tournaments/autumn-cup").text
    assert web.get("/ladders/event-autumn-cup-1-balloon-challenge").text.count("Autumn Cup")
    assert "event-autumn-cup" not in web.get("/ladders").text


def test_an_event_that_is_over_has_the_rounds_that_it_came_to(web: WebArena) -> None:
    """One that its budget ends in its second round of ten is no event of which eight rounds are still to come."""
    running = event(web, "Short Cup", "double-round-robin", more="[budget]\nsets = 3\n")
    running.play(1)
    assert '<span class="soft">of 10</span>' in web.get("/tournaments/short-cup").text
    running.play()
    web.get_when("/tournaments/short-cup", showing('Round 2 <span class="soft">of 2</span>'))


def test_a_bracket_names_who_goes_on(web: WebArena) -> None:
    """An elimination's picture holds every pairing that was issued, and who has won each."""
    running = event(web, "Night", "single-elimination")
    assert running.play() == "everything was played"
    page = web.get("/tournaments/night").text
    state = running.state()
    drawn = re.findall(r'class="node" href="/tournaments/night\?round=main-\d#p-([\w.]+)"', page)
    assert sorted(drawn) == sorted(one.id for one in state.main.pairings)
    assert page.count('<g class="winner">') == len(state.main.results)
    assert f"won by <b>{state.final_table()[0]}</b>" in page
    assert api(web, "/night")["info"]["winner"] == state.final_table()[0]


def test_a_hidden_stage_is_nowhere_until_it_is_published(web: WebArena) -> None:
    """No page, live part or answer tells of a hidden final or of its games; once it is public all of them do."""
    running = event(web, "Reveal", "round-robin", FIVE[:3], FINAL)
    running.play()
    secret = hidden_matches(running, "final")
    assert len(secret) == 10

    def texts() -> list[str]:
        paths = ("", "?projector=1", "?round=final-1")
        pages = [web.get(f"/tournaments/reveal{path}").text for path in paths]
        answers = [json.dumps(api(web, f"/reveal{path}")) for path in ("", "/pairings")]
        with web.stream("tournament:reveal/", "stale") as stream:
            return [*pages, *answers, json.dumps(next_message(stream)), web.get("/tournaments").text]

    before = texts()
    assert not any(match_id in text for match_id in secret for text in before)
    assert not any("better than the next" in text or "won by" in text for text in before)
    assert api(web, "/reveal")["final"] is None
    assert api(web, "/reveal")["over"] == ""
    assert {one["stage"] for one in api(web, "/reveal/pairings")["pairings"]} == {"main"}
    assert all(web.get(f"/matches/{match_id}").status == 404 for match_id in secret)
    with web.arena.database.read() as connection:
        sets = store.set_ids(connection, store.get(connection, "reveal").id)
    finals = [set_id for (pairing_id, _), set_id in sets.items() if pairing_id.startswith("f")]
    assert [web.get(f"/sets/{set_id}").status for set_id in finals] == [404] * 5
    with web.stream("tournament:reveal/", "stale") as stream:
        seen = next_message(stream)
        running.publish("final", "public")
        assert next_message(stream)["skeleton"] != seen["skeleton"]  # pages fetch themselves anew
    told = web.get_when("/api/v1/tournaments/reveal", lambda answer: answer.json()["final"] is not None).json()
    assert len(told["final"]["order"]) == 2
    web.get_when("/tournaments/reveal", lambda answer: bool(secret & set(re.findall(r"m_[\w-]+", answer.text))))


@pytest.mark.parametrize("audience", ["hidden", "participants"])
def test_results_for_others_are_not_for_everybody(web: WebArena, audience: str) -> None:
    """Of an event that is for organisers or participants the page has the field, and says that results come later."""
    running = event(web, f"Quiet {audience}", "swiss", FIVE, f'[publication]\nresults = "{audience}"\n', "rounds = 2")
    running.play(3)
    page = web.get(f"/tournaments/{running.slug}").text
    assert "not shown yet" in page
    assert "zephyr" in page
    assert "/matches/m_" not in page
    told = api(web, f"/{running.slug}")
    assert (told["standings"], told["info"]["results"]) == ([], audience)
    assert api(web, f"/{running.slug}/pairings")["pairings"] == []


def test_the_page_moves_when_a_set_ends(web: WebArena) -> None:
    """Whoever looks gets the rows and pairings that changed, without a hint from anybody too."""
    running = event(web, "Live", "swiss", FIVE, top="rounds = 3")
    running.play(1)
    found = re.search(r'data-topic="([^"]+)" data-version="([^"]+)"', web.get("/tournaments/live").text)
    assert found is not None
    with web.stream(found[1], found[2]) as stream:
        running.play(1)
        message = next_message(stream)
    assert message["base"] == found[2]
    assert set(message["lists"]) == {"standings", "pairings"}
    assert "event-picture" in message["blocks"]


def test_lists_come_in_parts(web: WebArena) -> None:
    """Events and pairings with cursors: everything once, in order; forged cursors are refused."""
    for number in range(3):
        SeededEvent.create(web.arena, event_text(f"Later {number}", "swiss", FIVE))
    seen: list[str] = []
    cursor = ""
    while cursor is not None:
        part = api(web, f"?limit=2{f'&cursor={cursor}' if cursor else ''}")
        seen += [one["slug"] for one in part["tournaments"]]
        cursor = part["next"]
    assert seen[:3] == ["later-2", "later-1", "later-0"]
    assert len(seen) == len(set(seen)) > 3
    running = event(web, "Many", "round-robin")
    running.play(1)
    whole = api(web, "/many/pairings")["pairings"]
    assert len(whole) == 10
    assert whole[0]["scores"] is not None
    first = api(web, "/many/pairings?limit=4")
    second = api(web, f"/many/pairings?limit=9&cursor={first['next']}")
    assert [*first["pairings"], *second["pairings"]] == whole
    assert second["next"] is None
    for path in ("/none", "/none/pairings", "/UP", "/many/pairings?cursor=x", "?limit=0"):
        assert web.get(f"/api/v1/tournaments{path}").status in {400, 404}
    for path in ("/tournaments/none", "/live?topic=tournament:none/", "/live?topic=projector:none"):
        assert web.get(path).status == 404


def test_names_are_text(web: WebArena) -> None:
    """An event's name is escaped wherever it stands."""
    SeededEvent.create(
        web.arena, event_text("x", "swiss", FIVE).replace('name = "x"', 'name = "<img src=x>"\nslug = "x"')
    )
    for path in ("/tournaments", "/tournaments/x", "/tournaments/x?projector=1"):
        page = web.get_when(path, showing("&lt;img src=x&gt;")).text
        assert "<img" not in page
