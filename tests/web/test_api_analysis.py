"""The API's analysis says what the command line says."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import select

from arena.ladder.official import make
from arena.storage import analysis
from arena.storage.tables import result
from arena.web.api.serving import PREFIX
from tests.web.support import CHALLENGE, POP, WebArena


def get(web: WebArena, path: str) -> Any:
    answer = web.get(PREFIX + path)
    assert answer.status == 200, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def played(web: WebArena) -> WebArena:
    """With enough of zephyr against updraft to say something."""
    for _ in range(6):
        web.arena.play(POP, ["zephyr", "updraft"])
    return web


def test_head_to_head(played: WebArena) -> None:
    """The two views of it are mirror images, and parts add up to the whole."""
    one = get(played, f"/ladders/{POP}/bots/zephyr/against/updraft")
    other = get(played, f"/ladders/{POP}/bots/updraft/against/zephyr")
    assert one["games"] == other["games"] >= 12
    assert one["overall"]["score"] == pytest.approx(1 - other["overall"]["score"])
    assert set(one["by_seat"]) == {"0", "1"}
    assert one["by_version"].keys() == {"1.0 - 1.0"}
    assert sum(part["sets"] for part in one["by_day"].values()) == one["overall"]["sets"]


def test_weakness_with_the_use_of_the_clock(played: WebArena) -> None:
    """Games that lost by timeout used their time and came near the limit; each part names matches that there are."""
    found = get(played, f"/ladders/{POP}/bots/zephyr/weakness")
    assert found["clock"]["games"] == found["games"] > 0
    assert 0 < found["clock"]["share"] < 1
    assert sum(part["games"] for part in found["by_clock"] if "of its time" in part["what"]) == found["games"]
    with played.arena.database.read() as connection:
        known = set(connection.execute(select(result.c.match_id)).scalars())
        same = analysis.weakness(connection, POP, "zephyr", played.arena.records)
    named = {match_id for part in found["by_seat"] + found["by_clock"] for match_id in part["matches"]}
    assert named
    assert named <= known
    assert found["clock"]["decisions"] == same.clock.decisions


def test_official_table_odd_pairs_circles_and_history(played: WebArena) -> None:
    """The official table once it is made; pairs and circles, of which a short ladder has none; why a rating changed."""
    assert played.get(f"{PREFIX}/ladders/{POP}/official").status == 404
    made = make(played.arena.database, played.arena.ladders[CHALLENGE], recentre=False)
    assert made is not None
    table: Mapping[str, Any] = get(played, f"/ladders/{CHALLENGE}/official?limit=3")
    assert [row["rank"] for row in table["rows"]] == [1, 2, 3]
    assert table["los"][0][1] == pytest.approx(1 - table["los"][1][0], abs=1e-3)
    assert len(table["covariance"]) == 3
    assert get(played, f"/ladders/{POP}/odd-pairs")["pairs"] == []
    assert get(played, f"/ladders/{POP}/circles")["circles"] == []
    path = f"/ladders/{POP}/bots/zephyr/versions/1.0/history?limit=4"
    first = get(played, path)
    second = get(played, f"{path}&cursor={first['next']}")
    changes = first["changes"] + second["changes"]
    assert changes[0]["kind"] == "ENTRY"
    assert all(a["after"] == b["before"] for a, b in pairwise(changes))
    assert changes[-1]["opponents"]


@pytest.mark.parametrize(
    "path",
    [
        f"/ladders/{POP}/bots/nobody/weakness",
        f"/ladders/{POP}/bots/zephyr/against/nobody",
        f"/ladders/{POP}/bots/zephyr/against/zephyr",
        f"/ladders/{POP}/bots/zephyr/versions/9/history",
        "/ladders/none/circles",
    ],
)
def test_what_is_not_there(web: WebArena, path: str) -> None:
    """404, with the reason."""
    answer = web.get(PREFIX + path)
    assert (answer.status, bool(answer.json()["detail"])) == (404, True)
