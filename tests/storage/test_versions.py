"""What becomes of versions: seen, away for long, retired, restored, rolled back to."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from arena.errors import UserError
from arena.ladder.entry import enter
from arena.ladder.settlement import check
from arena.storage import accounts, queries, versions
from arena.storage.accounts import Bot
from arena.storage.tables import bot_version, ledger
from tests.ladder.test_scheduler import Desk, connect, scheduler_of, seats_of
from tests.storage.support import SPEC, World


def bot_of(world: World, name: str) -> Bot:
    with world.database.read() as connection:
        bot = accounts.find_bot(connection, name)
    assert bot is not None
    return bot


def new_version(world: World, name: str, label: str) -> int:
    """A version on the ladder."""
    with world.database.write() as connection:
        version = accounts.ensure_version(connection, bot_of(world, name).id, label)
        enter(connection, world.ladder_id, version.id)
    return version.id


def table(world: World) -> dict[str, int | None]:
    """Ranks of those that are on the table and not the house's."""
    with world.database.read() as connection:
        rows = queries.leaderboard(connection, SPEC.slug)
        assert queries.get_ladder(connection, SPEC.slug).bots == len(rows)
        assert [row.rank for row in rows] == list(range(1, len(rows) + 1))
        return {f"{row.bot} {row.version}": row.rank for row in rows if not row.house}


def ranks(world: World, name: str) -> dict[str, int | None]:
    """Ranks as the bot's own page tells them."""
    with world.database.read() as connection:
        return {row.version: row.row.rank for row in queries.bot_page(connection, name).standings}


def rating_of(world: World, name: str, label: str) -> float:
    with world.database.read() as connection:
        return next(row.row.rating for row in queries.bot_page(connection, name).standings if row.version == label)


def win(world: World, name: str, version: int, times: int = 3) -> None:
    """Sets in which a version is first in every game."""
    seat = next(seat for seat in [world.house["greedy"]])
    mine = type(seat)(version, bot_of(world, name).id, "0")
    for _ in range(times):
        set_id = world.queue([mine, seat, world.house["random"]])
        world.play(set_id, lambda index: tuple((1, 2, 3)[(at + index) % 3] for at in range(3)))


def test_who_is_not_seen_for_14_days_leaves_the_table_and_comes_back(world: World) -> None:
    """The ledger and the bot's own page keep it, without a rank, and ranks close up; connecting brings it back."""
    first = world.external("annbot")
    world.external("bobbot")
    win(world, "annbot", first.version_id)
    assert table(world)["annbot 1"] == 1
    before = rating_of(world, "annbot", "1")
    with world.database.write() as connection:
        away = bot_version.c.id == first.version_id
        connection.execute(
            update(bot_version).where(away).values(seen_at=bot_version.c.seen_at - versions.UNSEEN_MS - 1)
        )
    assert list(table(world)) == ["bobbot 1"]
    assert ranks(world, "annbot") == {"1": None}
    assert rating_of(world, "annbot", "1") == before
    with world.database.read() as connection:
        assert check(connection) == ()
    desk = Desk()
    connect(world, desk, "annbot")
    assert table(world)["annbot 1"] == ranks(world, "annbot")["1"] == 1


def test_the_scheduler_sees_who_is_connected(world: World) -> None:
    """A session that lasts for weeks keeps its bot on the table, and the house is always there."""
    desk = Desk()
    connect(world, desk, "annbot")
    with world.database.write() as connection:
        connection.execute(update(bot_version).values(seen_at=0))
    assert table(world) == {}
    scheduler_of(world, desk, house_sets=0).round()
    with world.database.read() as connection:
        assert len(queries.leaderboard(connection, SPEC.slug)) == 4


def test_a_retired_version_is_off_the_table_and_out_of_rated_play(world: World) -> None:
    """It is seated no more though it is connected; another version of the bot is; restored it goes on as it was."""
    desk = Desk()
    first = connect(world, desk, "annbot")
    scheduler = scheduler_of(world, desk, house_sets=0)
    scheduler.round()
    world.play(desk.rung.popleft())
    before = rating_of(world, "annbot", "1")
    bot = bot_of(world, "annbot")
    with world.database.write() as connection:
        versions.retire(connection, bot, "1")
        versions.retire(connection, bot, "1")
    assert table(world) == {}
    assert scheduler.round().made == 0
    second = connect(world, desk, "annbot", label="2")
    assert scheduler.round().made == 1
    [set_id] = desk.rung
    seated = {version for version, _ in seats_of(world, set_id)}
    assert second.version_id in seated
    assert first.version_id not in seated
    with world.database.write() as connection:
        versions.restore(connection, bot)
    assert set(table(world)) == {"annbot 1", "annbot 2"}
    assert rating_of(world, "annbot", "1") == before
    with pytest.raises(UserError, match="no version '9'"), world.database.write() as connection:
        versions.retire(connection, bot, "9")


def test_rolling_back_makes_the_older_rating_current_again(world: World) -> None:
    """Version 2 starts from 1's rating, provisional, and loses; after the roll back it is retired, 1 stands where it
    stood, and version 3 starts from there. Not an entry of the ledger was touched."""
    first = world.external("annbot")
    win(world, "annbot", first.version_id)
    good = rating_of(world, "annbot", "1")
    second = new_version(world, "annbot", "2")
    assert rating_of(world, "annbot", "2") == good > 1000
    with world.database.read() as connection:
        row = next(row for row in queries.leaderboard(connection, SPEC.slug) if row.version_id == second)
        assert (row.provisional, row.games) == (True, 0)
    seats = [type(first)(second, first.bot_id, "0"), world.house["greedy"], world.house["random"]]
    world.play(world.queue(seats), lambda index: tuple((3, 2, 1)[(at + index) % 3] for at in range(3)))
    assert rating_of(world, "annbot", "2") < good
    with world.database.read() as connection:
        entries = connection.execute(select(ledger)).all()
    bot = bot_of(world, "annbot")
    with world.database.write() as connection:
        versions.roll_back(connection, bot, "1")
    assert list(table(world)) == ["annbot 1"]
    assert rating_of(world, "annbot", "1") == good
    with world.database.read() as connection:
        assert connection.execute(select(ledger)).all() == entries
        assert [(one.label, one.retired) for one in versions.versions_of(connection, bot)] == [
            ("2", True),
            ("1", False),
        ]
    new_version(world, "annbot", "3")
    assert rating_of(world, "annbot", "3") == good
    with world.database.write() as connection:
        versions.roll_back(connection, bot, "2")  # forward again: 2 is back, 3 is gone
    assert set(table(world)) == {"annbot 1", "annbot 2"}


def test_retiring_all_sheds_no_rating(world: World) -> None:
    """A new version of a bot whose versions are all retired starts from the last of them."""
    first = world.external("annbot")
    win(world, "annbot", first.version_id)
    with world.database.write() as connection:
        versions.retire(connection, bot_of(world, "annbot"))
    new_version(world, "annbot", "2")
    assert rating_of(world, "annbot", "2") == rating_of(world, "annbot", "1") > 1000
