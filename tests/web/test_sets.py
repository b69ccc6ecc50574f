"""Sets: their pages, and what the API tells of them."""

from __future__ import annotations

import pytest

from arena.match.spec import VoidReason
from arena.ratings.elo import expected
from arena.storage import sets
from tests.web.support import CHALLENGE, POP, WebArena


def test_a_set_tells_who_sat_where_and_why_each_rating_moved(web: WebArena) -> None:
    """Seats rotate, changes are those of the ratings, scores are those of the games, and expectations those of Elo."""
    plan = web.arena.play(CHALLENGE, ["zephyr", "updraft", "random"])
    told = web.get(f"/api/v1/sets/{plan.set_id}").json()
    names = ["zephyr", "updraft", "random"]
    assert [seat["bot"] for seat in told["seats"]] == names
    assert [[seat["bot"] for seat in game["seats"]] for game in told["games"]] == [
        [names[(seat + index) % 3] for seat in range(3)] for index in range(3)
    ]
    assert {one["bot"] for one in told["changes"]} == set(names)
    before = {one["bot"]: one["before"] for one in told["changes"]}
    for one in told["changes"]:
        others = [name for name in names if name != one["bot"]]
        hoped = [expected(before[one["bot"]], before[other]) for other in others]
        assert one["expected"] == pytest.approx(sum(hoped) / 2)
        places = [{seat["bot"]: seat["place"] for seat in game["seats"]} for game in told["games"]]
        scored = [
            (game[one["bot"]] < game[other]) + (game[one["bot"]] == game[other]) / 2
            for game in places
            for other in others
        ]
        assert one["score"] == pytest.approx(sum(scored) / 6)
        if one["bot"] == "random":
            assert one["after"] == one["before"], "the anchor does not move"
        points = web.get(f"/api/v1/ladders/{CHALLENGE}/versions/{web.arena.seats[one['bot']].version_id}/ratings")
        assert {"seq": told["seq"], "rating": one["after"]}.items() <= points.json()["points"][-1].items()
    page = web.get(f"/sets/{plan.set_id}").text
    for game in told["games"]:
        assert f"/matches/{game['match_id']}/record" in page
        assert game["attempts"][0]["secret"] in page
        assert f"/sets/{plan.set_id}" in web.get(f"/matches/{game['match_id']}").text


def test_of_a_set_that_is_played_only_what_is_over_is_told(web: WebArena) -> None:
    """With own deals the finished game shows and the running one is only counted; with a shared deal there is no page."""
    arena = web.arena
    plan, keep = arena.begin(arena.queue(POP, ["zephyr", "updraft"]))
    done, running = plan.games
    assert web.get(f"/sets/{plan.set_id}").status == 404
    arena.finish_game(plan, done, keep[done.match_id])
    hidden, shared = arena.begin(arena.queue(POP, ["zephyr", "updraft"], "shared"))
    arena.finish_game(hidden, hidden.games[0], shared[hidden.games[0].match_id])
    for prefix in ("", "/api/v1"):
        answer = web.get(f"{prefix}/sets/{plan.set_id}")
        assert answer.status == 200
        assert done.match_id in answer.text
        assert running.match_id not in answer.text
        assert keep[running.match_id].hex() not in answer.text
        assert web.get(f"{prefix}/sets/{hidden.set_id}").status == 404
    for unfinished, secrets in ((plan, keep), (hidden, shared)):
        arena.finish_game(unfinished, unfinished.games[1], secrets[unfinished.games[1].match_id])
        arena.settle(unfinished.set_id)


def test_a_void_set_says_that_nothing_moved_and_shows_its_deal(web: WebArena) -> None:
    """A set that was given up has no changes, and the secret of the deal that nobody finished is out."""
    arena = web.arena
    plan, keep = arena.begin(arena.queue(POP, ["zephyr", "updraft"]))
    with arena.database.write() as connection:
        sets.release_set(connection, arena.lease, plan.set_id, VoidReason.INFRA_VOID)
    page = web.get(f"/sets/{plan.set_id}").text
    assert "ended without a result" in page
    assert all(secret.hex() in page for secret in keep.values())
    assert web.get(f"/api/v1/sets/{plan.set_id}").json()["changes"] == []
