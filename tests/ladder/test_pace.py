"""A slow ladder never holds up a fast one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from sqlalchemy import select

from arena.ladder.entry import open_ladders
from arena.ladder.pace import has_room
from arena.match.spec import TimeControl
from arena.settings import LadderSpec
from arena.storage.tables import game_set, ladder, rating
from tests.ladder.test_scheduler import Desk, connect, scheduler_of
from tests.storage.support import SPEC, World

SLOW = replace(SPEC, slug="thinkers", time_control=TimeControl(3_600_000, 60_000, 600_000))


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        (TimeControl(), 4),
        (TimeControl(60_000, 1_000, 0), 5),
        (TimeControl(1_800_000, 0, 0), 6),
        (TimeControl(1, 0, 0), 0),
    ],
)
def test_pace_is_an_order_of_magnitude(control: TimeControl, expected: int) -> None:
    """14 s, 100 s and half an hour for a game are three paces."""
    assert control.pace == expected
    assert control.slow == (expected > 4)


def test_each_pace_leaves_half_to_the_faster_ones() -> None:
    """Of 64 slots the fastest may take all, the next pace and all slower ones together 32, the one after 16."""
    paces = (4, 5, 6)
    assert has_room(4, {4: 1_000, 5: 1_000}, paces, 64)
    assert has_room(5, {4: 60, 5: 20, 6: 11}, paces, 64)
    assert not has_room(5, {4: 0, 5: 20, 6: 12}, paces, 64)
    assert has_room(6, {5: 31, 6: 15}, paces, 64)
    assert not has_room(6, {6: 16}, paces, 64)
    assert has_room(6, {6: 63}, (6,), 64)  # nobody faster is there
    assert has_room(6, {}, paces, 1)
    assert not has_room(6, {6: 1}, paces, 1)


def counts(world: World) -> Counter[str]:
    """Sets of each ladder that are not over."""
    with world.database.read() as connection:
        rows = connection.execute(
            select(ladder.c.slug)
            .join(game_set, game_set.c.ladder_id == ladder.c.id)
            .where(game_set.c.state.in_(["QUEUED", "CLAIMED"]))
        )
        return Counter(rows.scalars())


def test_slow_bots_with_any_number_of_seats_leave_room(world: World) -> None:
    """Fifty slow bots take half of the only worker's slots and not one more, however often the scheduler looks, and a
    fast bot that comes then is seated at once."""
    with world.database.write() as connection:
        open_ladders(connection, [SPEC, SLOW])
    desk = Desk()
    for number in range(50):
        bot = connect(world, desk, f"slow{number}", credit=10)
        desk.bots[-1] = replace(bot, ladders=(SLOW.slug,))
    scheduler = scheduler_of(world, desk, house_sets=0, backlog=100)
    for _ in range(3):
        scheduler.round()
    assert counts(world) == {SLOW.slug: 32}
    while desk.rung:
        world.begun(desk.rung.popleft())  # none of them ends
    connect(world, desk, "fast", credit=3)
    scheduler.round()
    assert counts(world) == {SLOW.slug: 32, SPEC.slug: 3}
    for _ in range(20):
        while desk.rung:
            world.play(desk.rung.popleft())
        scheduler.round()
        assert counts(world) == {SLOW.slug: 32, SPEC.slug: 3}


def test_a_bot_is_on_a_slow_ladder_only_if_it_names_it(world: World) -> None:
    """Who names nothing plays where the clock is the usual one, and a ladder without a faster sibling counts as that;
    who names the slow one plays there alone, so that its only seat is not spent on a clock that it cannot keep."""
    lonely = LadderSpec("lonely", "balloon-challenge", 2, {}, SLOW.time_control)
    with world.database.write() as connection:
        open_ladders(connection, [SPEC, SLOW, lonely])
    desk = Desk()
    anybody = connect(world, desk, "anybody")
    thinker = connect(world, desk, "thinker")
    desk.bots[-1] = replace(thinker, ladders=(SLOW.slug,))
    scheduler_of(world, desk, house_sets=0).round()
    with world.database.read() as connection:
        rows = connection.execute(
            select(ladder.c.slug, rating.c.version_id)
            .join(rating, rating.c.ladder_id == ladder.c.id)
            .where(rating.c.version_id.in_([anybody.version_id, thinker.version_id]))
        ).all()
    assert sorted((row.slug, row.version_id == thinker.version_id) for row in rows) == [
        (SPEC.slug, False),
        ("lonely", False),
        (SLOW.slug, True),
    ]
