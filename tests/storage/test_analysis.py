"""Head-to-head, weakness and the story of a rating."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import update

from arena.errors import UserError
from arena.ladder.settlement import post
from arena.ratings.entries import Recentring
from arena.storage import analysis
from arena.storage.records import RecordStore
from arena.storage.tables import result
from tests.storage.support import SPEC, World


def by_position(places: tuple[int, int, int], index: int) -> tuple[int, ...]:
    """Places by seat of game ``index`` for bots that always finish alike."""
    return tuple(places[(seat + index) % 3] for seat in range(3))


def test_head_to_head(world: World) -> None:
    """Three sets: two won, one lost, nine games; each seat once a set, and the error is over sets."""
    seats = [world.house["greedy"], world.external("annbot"), world.house["random"]]
    for places in ((1, 2, 3), (1, 3, 2), (3, 1, 2)):
        world.play(world.queue(seats), lambda index, places=places: by_position(places, index))
    world.play(world.queue(seats, rated=False), lambda index: by_position((1, 2, 3), index))
    with world.database.read() as connection:
        found = analysis.head_to_head(connection, SPEC.slug, "greedy", "annbot")
        mirrored = analysis.head_to_head(connection, SPEC.slug, "annbot", "greedy")
    assert (found.games, found.overall.sets) == (9, 3)
    assert found.overall.score == pytest.approx(2 / 3)
    assert mirrored.overall.score == pytest.approx(1 / 3)
    assert {seat: part.sets for seat, part in found.by_seat.items()} == {"0": 3, "1": 3, "2": 3}
    assert list(found.by_version) == ["1 - 1"]
    assert len(found.by_day) == 1


def test_strangers_and_oneself(world: World) -> None:
    """Bots that never met have no games; a bot has none against itself, and unknown ones are named."""
    world.external("annbot")
    with world.database.read() as connection:
        assert analysis.head_to_head(connection, SPEC.slug, "greedy", "annbot").games == 0
        with pytest.raises(UserError, match="itself"):
            analysis.head_to_head(connection, SPEC.slug, "greedy", "GREEDY")
        with pytest.raises(UserError, match="nobody"):
            analysis.weakness(connection, SPEC.slug, "nobody", RecordStore(Path()))
        with pytest.raises(UserError, match="played nothing"):
            analysis.weakness(connection, SPEC.slug, "annbot", RecordStore(Path()))


def test_weakness(world: World) -> None:
    """A bot that loses on seat 1 and to one opponent: both come first, with the matches; faults are counted apart."""
    seats = [world.external("annbot"), world.house["greedy"], world.house["random"]]

    def places(index: int) -> tuple[int, ...]:
        return by_position((2, 1, 3) if (3 - index) % 3 != 1 else (3, 1, 2), index)

    world.play(world.queue(seats), places)
    plan = world.begun(world.queue(seats))
    for index in range(3):
        world.record(plan, index, places(index))
    lost = next(game.match_id for game in plan.games if game.order[1] == 0)
    with world.database.write() as connection:
        connection.execute(
            update(result).where(result.c.match_id == lost).values(reasons=["NORMAL", "TIMEOUT", "NORMAL"])
        )
    world.finish(plan.set_id)
    with world.database.read() as connection:
        found = analysis.weakness(connection, SPEC.slug, "annbot", RecordStore(Path()))
    assert found.games == 6
    assert (found.by_seat[0].what, found.by_seat[0].score, found.by_seat[0].lost) == ("seat 1", 0.0, 2)
    assert lost in found.by_seat[0].matches
    assert (found.by_opponent[0].what, found.by_opponent[0].score) == ("greedy 1", 0.0)
    assert [(part.what, part.games, part.matches) for part in found.by_reason] == [("TIMEOUT", 1, (lost,))]


def test_why_a_rating_changed(world: World) -> None:
    """Before, after and why of every entry: joining, a set with its places and opponents, a re-centring."""
    seat = world.external("annbot")
    settled = world.play(
        world.queue([seat, world.house["greedy"], world.house["random"]]), lambda index: by_position((1, 2, 3), index)
    )
    with world.database.write() as connection:
        post(connection, world.ladder_id, Recentring(-3.5))
    with world.database.read() as connection:
        joined, played, moved = analysis.changes(connection, SPEC.slug, seat.version_id)
    assert (joined.kind, joined.before, joined.after) == ("ENTRY", 1000, 1000)
    assert (played.kind, played.set_id, played.before) == ("RESULT", settled.set_id, 1000)
    assert (played.places, played.opponents) == ((1, 1, 1), ("greedy 1", "random 1"))
    assert (moved.kind, moved.before, moved.after) == ("RECENTRING", played.after, played.after - 3.5)
