"""Official tables kept, and what they do to pairing and live ratings."""

from __future__ import annotations

from random import Random

import pytest
from sqlalchemy import update

from arena.errors import Fenced
from arena.ladder.book import Book
from arena.ladder.official import DAY_MS, make, make_due
from arena.ladder.settlement import check
from arena.ratings.entries import Recentring
from arena.storage import ledger, official
from arena.storage.tables import ladder
from arena.storage.tables import official as official_table
from arena.storage.workers import heartbeat
from tests.storage.support import SPEC, World


def _history(world: World, sets: int = 40) -> None:
    """The heuristic beats the greedy bot more often than not, and both `random`."""
    rng = Random(5)
    seats = [world.house["random"], world.house["greedy"], world.house["heuristic"]]
    for _ in range(sets):

        def places(index: int) -> tuple[int, ...]:
            strength = [rng.random() + bot * 0.35 for bot in range(3)]
            at_seat = [(seat + index) % 3 for seat in range(3)]
            order = sorted(at_seat, key=lambda bot: -strength[bot])
            return tuple(order.index(bot) + 1 for bot in at_seat)

        with world.database.write() as connection:
            heartbeat(connection, world.lease)  # many sets on a slow machine take longer than a lease
        world.play(world.queue(seats), places)


def test_a_table_is_made_kept_and_shown(world: World) -> None:
    """The page has the rows in order with their names, LOS by rank, and the anchor at 1000; before the first: None."""
    with world.database.read() as connection:
        assert official.latest(connection, world.ladder_id) is None
    assert make(world.database, world.ladder_id, recentre=False) is None
    _history(world)
    made = make(world.database, world.ladder_id, recentre=False)
    assert made is not None
    with world.database.read() as connection:
        page = official.latest(connection, world.ladder_id)
        assert page is not None
        assert [row.bot for row in page.rows] == ["heuristic", "greedy", "random"]
        assert page.rows[2].rating == 1000
        assert (page.rows[0].sets, page.rows[0].games) == (40, 120)
        assert page.los[0, 2] > 0.99
        assert page.seq == made.seq
        assert check(connection) == ()


def test_recentring_takes_the_drift_off(world: World) -> None:
    """The established bots' live ratings move by the mean of (official - live), as an entry, once a day."""
    _history(world)
    made = make_due(world.database, lambda connection: None)
    assert [ladder_id for ladder_id, _ in made] == [world.ladder_id]
    delta = made[0][1].delta
    assert delta != 0
    with world.database.read() as connection:
        assert list(ledger.entries(connection, world.ladder_id))[-1].entry == Recentring(delta)
        assert check(connection) == ()
        assert official.due(connection, DAY_MS) == ()
    again = make(world.database, world.ladder_id, recentre=True)
    assert again is not None
    assert again.delta == 0


def test_a_ladder_is_due_a_day_later_if_something_was_played(world: World) -> None:
    """Not before a day is over, and not for re-centring alone."""
    _history(world, 3)
    make_due(world.database, lambda connection: None)
    with world.database.write() as connection:
        connection.execute(update(official_table).values(created_at=official_table.c.created_at - DAY_MS))
        assert official.due(connection, DAY_MS) == ()
    _history(world, 1)
    with world.database.write() as connection:
        assert official.due(connection, DAY_MS) == (world.ladder_id,)
        connection.execute(update(ladder).values(active=False))
        assert official.due(connection, DAY_MS) == ()


def test_who_does_not_lead_writes_nothing(world: World) -> None:
    """A scheduler that lost the lead while it computed leaves no trace."""
    _history(world, 3)

    def lost(connection: object) -> None:
        raise Fenced("another scheduler leads")

    with pytest.raises(Fenced):
        make_due(world.database, lost)
    with world.database.read() as connection:
        assert official.latest(connection, world.ladder_id) is None


def test_only_the_last_tables_are_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old ones are forgotten with their rows."""
    monkeypatch.setattr(official, "KEPT", 2)
    _history(world, 2)
    ids = [made.official_id for _ in range(4) if (made := make(world.database, world.ladder_id, recentre=False))]
    with world.database.read() as connection:
        assert [row.id for row in connection.execute(official_table.select())] == ids[-2:]


def test_pairing_knows_the_official_errors(world: World) -> None:
    """A candidate's error is the official one, less what was played since."""
    _history(world)
    make(world.database, world.ladder_id, recentre=False)
    with world.database.read() as connection:
        page = official.latest(connection, world.ladder_id)
        book = Book(world.ladder_id, SPEC, 200)
        book.refresh(connection, 1)
    assert page is not None
    error = {row.version_id: row.standard_error for row in page.rows}
    greedy = world.house["greedy"].version_id
    assert book.candidate(greedy, 1, 0).standard_error == pytest.approx(error[greedy])
    assert book.candidate(world.house["random"].version_id, 1, 0).standard_error == 0
    _history(world, 5)
    with world.database.read() as connection:
        book.refresh(connection, 2)
    assert book.candidate(greedy, 1, 0).standard_error < error[greedy]
