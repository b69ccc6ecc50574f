"""The bench of the pages: the arena that it makes is one, and what it says of it."""

from __future__ import annotations

import random
from pathlib import Path

from sqlalchemy import func, select

from arena.bench import web
from arena.bench.filled import fill, settle
from arena.ladder.settlement import check
from arena.settings import standard_ladders
from arena.storage import tables


def test_the_made_up_arena_is_one(tmp_path: Path) -> None:
    """It holds what was asked for, its ratings are what its ledgers fold to, and a set settles on it as on any other."""
    filled = fill(tmp_path, 40, 400, 1, lambda _: None)
    settle(filled, next(spec for spec in standard_ladders() if spec.slug == "pop-2p"), random.Random(1))
    with filled.database.read() as connection:
        assert connection.execute(select(func.count()).select_from(tables.result)).scalar_one() == 402
        assert check(connection) == ()
    filled.database.close()


def test_every_page_is_measured_and_viewers_hear_of_sets(tmp_path: Path) -> None:
    """Each kind of page answers, rates are beside the static file's, and each viewer hears of a set that settles."""
    document = web.measure(tmp_path, 100, 1_000, 0.1, 20, lambda _: None)
    assert (document["bots"], document["matches"]) == (100, 1_000)
    again = web.measure(tmp_path, 1, 1, 0.05, 0, lambda _: None)
    assert (again["bots"], again["viewers"]) == (100, None), "the arena is taken from where it was kept"
    assert len(document["pages"]) == 15
    assert all(page["requests"] > 0 and page["p99_ms"] >= page["p50_ms"] > 0 for page in document["pages"])
    assert document["pages"][0]["to_static"] == 1
    assert document["viewers"]["broken"] == 0
    assert document["viewers"]["updates"] >= 20
    assert set(document["goals"].values()) <= {True, False}
