"""The JSON API: what it answers, what it refuses, and that its document tells the truth."""

from __future__ import annotations

import dataclasses
from typing import Any

import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from sqlalchemy import select

from arena.storage.tables import result
from arena.web.api.commands import COMMANDS
from arena.web.api.openapi import document
from arena.web.api.operations import OPERATIONS
from arena.web.api.serving import PREFIX, Rates
from tests.web.support import CHALLENGE, PATIENCE_S, POP, WebArena

DOCUMENT = document(OPERATIONS, COMMANDS)
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)


def get(web: WebArena, path: str) -> Any:
    """The document at a path of the API, which fits its schema."""
    answer = web.get(PREFIX + path)
    assert answer.status == 200, answer.text
    return answer.json()


def every(web: WebArena, path: str, name: str, limit: int) -> list[Any]:
    """All of a list, part by part."""
    found: list[Any] = []
    cursor: str | None = ""
    while cursor is not None:
        part = get(web, f"{path}{'&' if '?' in path else '?'}limit={limit}" + (f"&cursor={cursor}" if cursor else ""))
        assert 0 < len(part[name]) <= limit
        found += part[name]
        cursor = part["next"]
    return found


def test_ladders_tables_and_histories_say_what_the_pages_say(web: WebArena) -> None:
    """Every ladder, its table in parts, and a version's ratings up to the one in the table."""
    assert {one["slug"] for one in get(web, "/ladders")["ladders"]} == {CHALLENGE, POP}
    assert get(web, f"/ladders/{POP}")["players"] == 2
    rows = every(web, f"/ladders/{CHALLENGE}/table", "rows", 2)
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["rating"] for row in rows] == sorted((row["rating"] for row in rows), reverse=True)
    best = next(row for row in rows if not row["anchor"] and row["games"])
    points = every(web, f"/ladders/{CHALLENGE}/versions/{best['version_id']}/ratings", "points", 2)
    assert points[-1]["rating"] == pytest.approx(best["rating"])
    page = web.get(f"/ladders/{CHALLENGE}").text
    assert all(row["bot"] in page for row in rows)


def test_matches_come_in_parts_and_lead_to_records_and_replays(web: WebArena) -> None:
    """All matches once, each with its seats; one with attempts, secret, record and positions of a seat."""
    matches = every(web, "/matches", "matches", 5)
    ids = [one["match_id"] for one in matches]
    with web.arena.database.read() as connection:
        assert set(ids) <= set(connection.execute(select(result.c.match_id)).scalars())
    assert len(set(ids)) == len(ids) > 5
    assert {one["ladder"] for one in every(web, f"/matches?ladder={POP}", "matches", 50)} == {POP}
    assert all(
        "zephyr" in {seat["bot"] for seat in one["seats"]} for one in every(web, "/matches?bot=zephyr", "matches", 50)
    )
    match = get(web, f"/matches/{ids[0]}")
    assert ids[0] in {one["match_id"] for one in match["set"]}
    assert match["attempts"][-1]["secret"]
    assert web.get(match["record"]).body[:2] == b"\x1f\x8b"
    replay = get(web, f"/matches/{ids[0]}/replay?seat=1")
    assert replay["seat"] == 1
    assert [frame["n"] for frame in replay["frames"]] == list(range(len(replay["frames"])))


def test_a_match_that_is_not_over_is_nowhere(web: WebArena) -> None:
    """A set of a shared deal with one game of several done: no list, address or replay tells of that game."""
    plan, secrets = web.arena.begin(web.arena.queue(POP, ["zephyr", "updraft"], deal_mode="shared"))
    first = plan.games[0]
    web.arena.finish_game(plan, first, secrets[first.match_id])
    with web.arena.database.read() as connection:
        assert connection.execute(select(result.c.match_id).where(result.c.match_id == first.match_id)).first()
    for path in (
        f"/matches/{first.match_id}",
        f"/matches/{first.match_id}/replay",
        f"/matches/{plan.games[1].match_id}",
    ):
        assert web.get(PREFIX + path).status == 404
    listed = every(web, "/matches", "matches", 50) + every(web, "/matches?bot=zephyr", "matches", 50)
    assert first.match_id not in {one["match_id"] for one in listed}


def test_the_rest_is_there(web: WebArena) -> None:
    """A bot, the games, the status; the document itself is served as it is made here."""
    bot = get(web, "/bots/zephyr")
    assert {one["ladder"] for one in bot["standings"]} <= {CHALLENGE, POP}
    assert sum(bot["endings"].values()) == bot["counted"]
    names = {one["name"] for one in get(web, "/games")["games"]}
    assert {"balloon-challenge", "pop"} <= names
    assert get(web, "/games/pop")["options"]["rounds"]["default"]
    assert get(web, "/status")["counters"]["matches"] > 5
    assert get(web, "/openapi.json") == DOCUMENT
    jsonschema.Draft202012Validator.check_schema(DOCUMENT["components"]["schemas"]["Bot"])


def test_an_answer_that_is_known_is_not_sent_again(web: WebArena) -> None:
    """ETag and If-None-Match; any page may read the answer."""
    first = web.get(f"{PREFIX}/games")
    again = web.get(f"{PREFIX}/games", if_none_match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    assert first.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/ladders/none", 404),
        ("/ladders/UP%00", 404),
        ("/bots/nobody", 404),
        ("/matches/m_none", 404),
        ("/matches/m_none/replay", 404),
        (f"/ladders/{POP}/versions/0/ratings", 404),
        ("/nothing", 404),
        ("/matches?cursor=WzEsMl0=", 404),
        ("/matches?cursor=%00", 400),
        # a number that no database holds
        ("/matches?cursor=Wzk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OSwgIm1feCJd", 404),
        ("/matches?limit=0", 400),
        ("/matches?limit=1&limit=2", 400),
        ("/matches?ladder=none", 404),
        ("/matches?bot=nobody", 404),
        ("/status?verbose=1", 400),
        ("/matches?cursor=" + "a" * 2_001, 400),
    ],
)
def test_errors_are_problems(web: WebArena, path: str, status: int) -> None:
    """What is not there and what is not allowed is told in the one form, with the status in it too."""
    answer = web.get(PREFIX + path)
    assert answer.status == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status
    assert answer.json()["detail"]


def test_each_address_has_a_rate_of_its_own() -> None:
    """Who asks too fast is refused, and nobody else."""

    @dataclasses.dataclass
    class Client:
        host: str

    @dataclasses.dataclass
    class Request:
        client: Client

    rates = Rates(per_s=1, burst=3)
    fast: Any = Request(Client("192.0.2.1"))
    other: Any = Request(Client("192.0.2.2"))
    assert [rates.admit(fast) for _ in range(4)] == [True, True, True, False]
    assert rates.admit(other)


@SCHEMA.parametrize()
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_operation_does_what_its_document_says(case: Any, web: WebArena) -> None:
    """Whatever is asked, valid or not: no 5xx, a documented status and media type, and a body that fits its schema."""
    case.call_and_validate(base_url=web.url, timeout=PATIENCE_S)  # its own 10 s are too short for a busy machine
