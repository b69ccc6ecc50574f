"""Settling sets, rebuilding ratings, checking them."""

from __future__ import annotations

import threading
from random import Random

import pytest
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from arena.errors import ArenaError, UserError
from arena.ladder import settlement
from arena.ladder.entry import enter, open_ladders
from arena.ladder.settlement import check, post, rebuild
from arena.ladder.standings import BrokenLedger
from arena.ratings.entries import Entry, Recentring, SetResult
from arena.settings import LadderSpec
from arena.storage import accounts, ledger, outbox, queries
from arena.storage.tables import game_set, ladder, rating, rating_point, result
from arena.storage.tables import ledger as ledger_table
from tests.storage.support import SPEC, World


def test_golden_first_set(world: World) -> None:
    """Three house bots meet: the anchor stays, and the others move by K 96/2 * (1 * surprise + 1/4 * surprise)."""
    plan_order = list(world.house.values())
    settled = world.play(world.queue(plan_order), lambda index: _by_position((3, 2, 1), index))
    assert settled.seq == 5  # three entries and the anchor before it
    by_version = {change.version_id: (change.before, change.after) for change in settled.changes}
    assert by_version[world.house["random"].version_id] == (1000.0, 1000.0)
    assert by_version[world.house["greedy"].version_id] == (1000.0, 1000 + 48 * (0.5 - 0.125))
    assert by_version[world.house["heuristic"].version_id] == (1000.0, 1000 + 48 * (0.5 + 0.125))


def _by_position(places: tuple[int, int, int], index: int) -> tuple[int, ...]:
    """Places by seat of game ``index`` for bots that always finish alike."""
    return tuple(places[(seat + index) % 3] for seat in range(3))


def test_r74_a_set_is_rated_once(world: World) -> None:
    """Settling again answers the same and writes nothing, and the database itself takes no second entry of a set."""
    set_id = world.queue()
    settled = world.play(set_id, lambda index: (2, 3, 1))
    assert world.finish(set_id) == settled
    with world.database.read() as connection:
        assert (
            len([one for one in ledger.entries(connection, world.ladder_id) if isinstance(one.entry, SetResult)]) == 1
        )
        assert [event.topic for event in outbox.pending(connection)].count("set.finished") == 1
        entry = next(
            one.entry for one in ledger.entries(connection, world.ladder_id) if isinstance(one.entry, SetResult)
        )
    with pytest.raises(IntegrityError), world.database.write() as connection:
        post(connection, world.ladder_id, entry)
    with world.database.read() as connection:
        assert check(connection) == ()


def test_an_unrated_set_moves_nothing(world: World) -> None:
    """It ends FINISHED, without a ledger entry."""
    settled = world.play(world.queue(rated=False))
    assert (settled.seq, settled.changes) == (None, ())
    with world.database.read() as connection:
        assert check(connection) == ()
        assert all(row.games == 0 for row in queries.leaderboard(connection, SPEC.slug))


def _some_history(world: World) -> None:
    rng = Random(7)
    seats = [*world.house.values(), world.external("annbot"), world.external("bobbot")]
    for number in range(12):
        world.play(world.queue(rng.sample(seats, 3)), lambda index: tuple(rng.sample((1, 2, 3), 3)))
        if number == 6:
            with world.database.write() as connection:
                post(connection, world.ladder_id, Recentring(-3.25))


def _derived(world: World) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    with world.database.read() as connection:
        ratings = connection.execute(select(rating).order_by(rating.c.version_id)).all()
        points = connection.execute(select(rating_point).order_by(rating_point.c.seq, rating_point.c.version_id)).all()
    return [tuple(row) for row in ratings], [tuple(row) for row in points]


def test_r85_ratings_are_rebuilt_identically_from_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the derived tables are thrown away a rebuild, in pieces, gives every row again, to the last bit."""
    monkeypatch.setattr(settlement, "POINTS_AT_ONCE", 5)
    _some_history(world)
    before = _derived(world)
    assert len(before[0]) == 5
    with world.database.write() as connection:
        connection.execute(delete(rating))
        connection.execute(delete(rating_point))
        connection.execute(update(ladder).values(cursor=0))
        assert check(connection) != ()
        assert rebuild(connection, world.ladder_id) == 3 + 1 + 2 + 12 + 1
        assert check(connection) == ()
    assert _derived(world) == before


@pytest.mark.parametrize("column", ["rating", "k2", "games", "half_points"])
def test_check_notices_a_changed_rating(world: World, column: str) -> None:
    """A single number changed by hand is found, and named with its version."""
    _some_history(world)
    version = world.house["greedy"].version_id
    with world.database.write() as connection:
        connection.execute(update(rating).where(rating.c.version_id == version).values({column: rating.c[column] + 1}))
        assert [f"version {version} stands" in problem for problem in check(connection)] == [True]


def test_check_notices_a_changed_result_and_a_lost_entry(world: World) -> None:
    """A result that no longer says what the ledger says, and a ledger with a hole, are found."""
    _some_history(world)
    with world.database.write() as connection:
        connection.execute(update(result).values(places=[3, 2, 1]))
        assert any("does not say what the results" in problem for problem in check(connection))
        connection.execute(delete(ledger_table).where(ledger_table.c.seq == 8))
        assert any("entry 8 is missing" in problem for problem in check(connection))
        with pytest.raises(BrokenLedger):
            rebuild(connection, world.ladder_id)


def test_a_ladder_whose_ratings_lag_takes_no_entries(world: World) -> None:
    """The fold never skips an entry: with a gap between ledger and ratings nothing is settled until a rebuild."""
    with world.database.write() as connection:
        connection.execute(update(ladder).values(cursor=ladder.c.cursor - 1))
    set_id = world.queue()
    with pytest.raises(ArenaError, match="arena ladder rebuild"):
        world.play(set_id)
    with world.database.write() as connection:
        rebuild(connection, world.ladder_id)
    world.finish(set_id)


def test_a_new_version_starts_where_its_predecessor_stands(world: World) -> None:
    """32: a new label does not shed a rating, but is provisional again; a new bot starts at 1000."""
    seat = world.external("annbot")
    for _ in range(12):
        world.play(
            world.queue([seat, world.house["random"], world.house["greedy"]]),
            lambda index: _by_position((1, 2, 3), index),
        )
    with world.database.write() as connection:
        version = accounts.ensure_version(connection, seat.bot_id, "2")
        enter(connection, world.ladder_id, version.id)
        enter(connection, world.ladder_id, version.id)
        rows = {(row.bot, row.version): row for row in queries.leaderboard(connection, SPEC.slug)}
        last = list(ledger.entries(connection, world.ladder_id))[-1].entry
    assert rows["annbot", "1"].rating > 1000
    assert not rows["annbot", "1"].provisional
    assert rows["annbot", "2"].rating == rows["annbot", "1"].rating
    assert rows["annbot", "2"].provisional
    assert last == Entry(version.id, rows["annbot", "1"].rating, predecessor=seat.version_id)


def test_opening_ladders_again_changes_nothing(world: World) -> None:
    """A second start finds its ladders; one that is no longer named gets no more sets but keeps its table."""
    other = LadderSpec("other", "balloon-challenge", 2, {})
    with world.database.write() as connection:
        before = list(ledger.entries(connection, world.ladder_id))
        open_ladders(connection, [SPEC, other])
        open_ladders(connection, [other])
        assert list(ledger.entries(connection, world.ladder_id)) == before
        assert {row.spec.slug: row.active for row in queries.ladders(connection)} == {SPEC.slug: False, "other": True}
        assert check(connection) == ()


def test_a_ladder_never_changes_what_is_played_on_it(world: World) -> None:
    """Another time control under the same name is refused: its numbers would not compare."""
    changed = LadderSpec(SPEC.slug, SPEC.game, 4, {}, SPEC.time_control)
    with world.database.write() as connection, pytest.raises(UserError, match="choose another slug"):
        open_ladders(connection, [changed])


def test_settling_locks_the_order(world: World) -> None:
    """Sets of one ladder settled by many threads at once get dense numbers, and the ratings of that order."""
    sets_ = [world.begun(world.queue()) for _ in range(12)]
    rng = Random(3)
    for plan in sets_:
        for index in range(3):
            world.record(plan, index, tuple(rng.sample((1, 2, 3), 3)))
    threads = [threading.Thread(target=world.finish, args=(plan.set_id,)) for plan in sets_]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with world.database.read() as connection:
        assert [one.seq for one in ledger.entries(connection, world.ladder_id)] == list(range(1, 17))
        assert check(connection) == ()


def test_check_notices_a_finished_set_without_its_entry(world: World) -> None:
    """A set that says FINISHED but was never settled is found."""
    plan = world.begun(world.queue())
    with world.database.write() as connection:
        connection.execute(update(game_set).values(state="FINISHED"))
        problems = check(connection)
    assert len(problems) == 2
    assert all(plan.set_id in problem for problem in problems)


def test_an_entry_of_another_arena_version_stops_the_fold(world: World) -> None:
    """An unknown kind of entry is an error that names it, not one to be skipped."""
    with world.database.write() as connection:
        connection.execute(
            insert(ledger_table).values(ladder_id=world.ladder_id, seq=5, kind="BONUS", payload={}, created_at=0)
        )
        with pytest.raises(ArenaError, match="'BONUS'"):
            rebuild(connection, world.ladder_id)
