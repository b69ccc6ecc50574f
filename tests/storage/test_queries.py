"""What pages show."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import update

from arena.errors import UserError
from arena.match.spec import VoidReason
from arena.storage import matches as stored_matches
from arena.storage import overview, queries, sets
from arena.storage.tables import game_set
from tests.storage.support import SPEC, World


def test_the_table_is_ranked_and_paged(world: World) -> None:
    """Best first with ranks that go on over pages; counts and score are those of the games played."""
    ann = world.external("annbot")
    for _ in range(3):
        world.play(
            world.queue([ann, world.house["greedy"], world.house["random"]]),
            lambda index: tuple((1, 2, 3)[(seat + index) % 3] for seat in range(3)),
        )
    with world.database.read() as connection:
        rows = queries.leaderboard(connection, SPEC.slug)
        paged = [queries.leaderboard(connection, SPEC.slug, limit=1, offset=offset)[0] for offset in range(4)]
    assert tuple(paged) == rows
    assert [row.rank for row in rows] == [1, 2, 3, 4]
    assert rows[0].bot == "annbot"
    assert (rows[0].sets, rows[0].games, rows[0].wins, rows[0].score, rows[0].provisional) == (3, 9, 9, 1.0, True)
    anchor = next(row for row in rows if row.anchor)
    assert (anchor.bot, anchor.rating, anchor.standard_error, anchor.provisional) == ("random", 1000.0, 0.0, False)


def test_matches_are_listed_once_newest_first(world: World) -> None:
    """Pages of any size join to the same list, of all, of the ladder, and of a bot, without a double or a gap."""
    ann = world.external("annbot")
    played = []
    for number in range(5):
        played.append(world.queue([ann, world.house["greedy"], world.house["random"]] if number % 2 else ()))
        world.play(played[-1])
        time.sleep(0.002)  # the clock counts milliseconds
    for filters, expected in (
        ({}, 15),
        ({"ladder_slug": SPEC.slug}, 15),
        ({"bot_name": "AnnBot"}, 6),
        ({"bot_name": "random", "ladder_slug": SPEC.slug}, 15),
    ):
        with world.database.read() as connection:
            whole, end = stored_matches.recent_matches(connection, limit=200, **filters)  # type: ignore[arg-type]
            assert (len(whole), end) == (expected, "")
            paged, cursor = stored_matches.recent_matches(connection, limit=4, **filters)  # type: ignore[arg-type]
            while cursor:
                more, cursor = stored_matches.recent_matches(connection, limit=4, cursor=cursor, **filters)  # type: ignore[arg-type]
                paged += more
        assert paged == whole
        assert len({match.match_id for match in whole}) == expected
        if "bot_name" not in filters:
            ends = [match.finished_at for match in whole]
            assert ends == sorted(ends, reverse=True)
        sets_ = list(dict.fromkeys(match.set_id for match in whole))
        assert sets_ == [set_id for set_id in reversed(played) if set_id in sets_]


def test_a_bot_on_two_seats_has_its_match_listed_once(world: World) -> None:
    """House bots sometimes sit twice."""
    world.play(world.queue([world.house["random"], world.house["random"], world.house["greedy"]]))
    with world.database.read() as connection:
        assert len(stored_matches.recent_matches(connection, bot_name="random")[0]) == 3


def test_a_match_shows_its_seats_in_order_and_all_attempts(world: World) -> None:
    """Seats are those of that game's seating; void attempts are listed with their secrets once there is a result."""
    set_id = world.queue()
    first = world.begun(set_id)
    with world.database.write() as connection:
        sets.void_attempts(connection, world.lease, set_id, VoidReason.INFRA_VOID)
        with pytest.raises(UserError):
            stored_matches.match_page(connection, first.games[1].match_id)
    plan = world.begun(set_id)
    world.record(plan, 1, (2, 3, 1))
    with world.database.read() as connection:
        page = stored_matches.match_page(connection, plan.games[1].match_id)
    assert [(seat.bot, seat.place) for seat in page.match.seats] == [("greedy", 2), ("heuristic", 3), ("random", 1)]
    assert [(one.attempt, one.outcome, one.reason) for one in page.attempts] == [
        (1, "VOID", "INFRA_VOID"),
        (2, "FINISHED", None),
    ]
    assert all(one.secret == (b"s" * 32).hex() for one in page.attempts)


def test_a_bots_page_and_history(world: World) -> None:
    """Versions newest first, the rank of each, and one point of history for each entry that moved it."""
    ann = world.external("annbot")
    for _ in range(2):
        world.play(
            world.queue([ann, world.house["greedy"], world.house["random"]]),
            lambda index: tuple((1, 2, 3)[(seat + index) % 3] for seat in range(3)),
        )
    with world.database.read() as connection:
        page = queries.bot_page(connection, "annbot")
        points = queries.rating_history(connection, SPEC.slug, ann.version_id)
        later = queries.rating_history(connection, SPEC.slug, ann.version_id, after=points[0].seq)
    assert (page.bot.owner, [version.label for version in page.versions]) == ("annbot-owner", ["1"])
    assert [(row.ladder, row.row.rank) for row in page.standings] == [(SPEC.slug, 1)]
    assert page.standings[0].row.rating == points[-1].rating > points[0].rating == 1000
    assert later == points[1:]


def test_counters(world: World) -> None:
    """Queue, claims, age of the oldest, matches and workers of this moment."""
    world.play(world.queue())
    world.begun(world.queue())
    world.queue()
    with world.database.read() as connection:
        now = queries.counters(connection)
    assert (now.matches, now.matches_last_minute, now.sets_queued, now.sets_claimed) == (3, 3, 1, 1)
    assert (now.workers, now.bots) == (1, 3)
    assert 0 <= now.oldest_queued_ms < 60_000


@pytest.mark.parametrize("cursor", ["x", "W10=", "e30=", "WzEsMl0=", "żółw", "W1sxXSwgIngiXQ=="])
def test_r46_a_cursor_from_elsewhere_is_refused(world: World, cursor: str) -> None:
    """Whatever arrives as a cursor, the answer is a list or a UserError."""
    with world.database.read() as connection, pytest.raises(UserError, match="cursor"):
        stored_matches.recent_matches(connection, cursor=cursor)


def test_what_does_not_exist_is_said(world: World) -> None:
    """Unknown ladders, bots and matches are a person's mistake."""
    with world.database.read() as connection:
        for ask in (
            lambda: queries.leaderboard(connection, "nothing"),
            lambda: queries.bot_page(connection, "nobody"),
            lambda: stored_matches.match_page(connection, "m_nothing"),
            lambda: stored_matches.recent_matches(connection, bot_name="nobody"),
        ):
            with pytest.raises(UserError, match="there is no"):
                ask()


def test_what_is_not_listed_is_in_no_number_that_names_its_ladder(world: World) -> None:
    """Of a hidden event's sets neither a finished match nor a void set is told of; once it is published both are."""

    def told() -> tuple[int, int, int]:
        with world.database.read() as connection:
            return (
                overview.activity(connection, 60).by_ladder.get(SPEC.slug, 0),
                overview.matches_by_reason(connection, 0, 2**62).total(),
                len(overview.recent_voids(connection)),
            )

    played, spoilt = world.queue(), world.queue()
    with world.database.write() as connection:
        connection.execute(update(game_set).values(listed=False))
    world.play(played)
    world.begun(spoilt)
    with world.database.write() as connection:
        sets.release_set(connection, world.lease, spoilt, "not ready: annbot")
    assert told() == (0, 0, 0)
    with world.database.write() as connection:
        connection.execute(update(game_set).values(listed=True))
    assert told() == (3, 3, 1)
