"""Bot pages: how sure a rating is, and how long a bot thinks."""

from __future__ import annotations

import re
from statistics import median

import pytest

from arena.ladder.official import make
from arena.match.record import parse_record
from arena.ratings.elo import standard_error
from arena.storage import matches as stored_matches
from arena.storage import official, queries
from arena.web.charts import Series, line_chart
from arena.web.latencies import MATCHES, Latencies
from tests.web.support import CHALLENGE, POP, Answer, WebArena, showing


def test_thinking_is_told_apart_from_the_network(web: WebArena) -> None:
    """Of the records' times the pings' round trip is one part and the rest the other, over the bot's own decisions."""
    with web.arena.database.read() as connection:
        matches, _ = stored_matches.recent_matches(connection, bot_name="zephyr", limit=MATCHES)
    thinking = [
        part["us"] - part["rtt_us"]
        for match in matches
        for event in parse_record(web.arena.records.read(match.record_digest)).events
        for part in event.get("joint", ())
        if part["source"] == "bot" and match.seats[part["seat"]].bot == "zephyr"
    ]
    found = Latencies(web.arena.records).of("zephyr", matches)
    assert found is not None
    assert found.decisions == len(thinking)
    assert found.thinking.p50 == pytest.approx(median(thinking) / 1000, rel=0.2)
    assert found.thinking.slowest == max(thinking) / 1000
    assert 0 < found.network.p50 < found.thinking.p50
    told = web.get("/api/v1/bots/zephyr").json()["latency"]
    assert told["matches"] == min(MATCHES, len(matches))
    assert "Thinking" in web.get("/bots/zephyr").text


def test_the_official_rating_stands_beside_the_live_one(web: WebArena) -> None:
    """Once there is an official table the bot's page and the API have its rating and error for that ladder."""
    web.arena.play(POP, ["zephyr", "random"])  # a chain to the anchor
    make(web.arena.database, web.arena.ladders[POP], recentre=False)
    version = web.arena.seats["zephyr"].version_id
    with web.arena.database.read() as connection:
        rating, error = official.of_versions(connection, [version])[POP, version]

    def tells(answer: Answer) -> bool:
        standings = answer.json()["standings"]
        (one,) = [one for one in standings if (one["ladder"], one["row"]["version"]) == (POP, "1.0")]
        return bool((one["official_rating"], one["official_standard_error"]) == (rating, error))

    web.get_when("/api/v1/bots/zephyr", tells)
    web.get_when("/bots/zephyr", showing("official table", f">{rating:.0f}</span>", f"±{1.96 * error:.0f}</span>"))


def test_a_chart_has_the_interval_that_the_table_has(web: WebArena) -> None:
    """The band ends with the last rating's 95 % interval, and the legend says how wide it is."""
    with web.arena.database.read() as connection:
        (row,) = [row for row in queries.leaderboard(connection, CHALLENGE) if row.bot == "zephyr"]
    margin = 1.96 * standard_error(row.games, 3)
    page = web.get(f"/bots/zephyr?ladder={CHALLENGE}").text
    assert f"<b>{row.rating:.0f}</b> ±{margin:.0f}" in page
    assert 'class="band' in page
    chart = line_chart([Series("1", 0, (1000.0, 1100.0), (400.0, 50.0))], "A rating")
    assert chart is not None
    assert chart.high >= 1150
    found = re.search(r'class="band[^>]* d="([^"]+)"', str(chart.svg))
    assert found is not None
    assert len(re.findall(r"[ML]", found[1])) == 4
