"""Waiting for a choice of opponents, and sitting out."""

from __future__ import annotations

from dataclasses import replace

from arena.ladder.book import InFlight
from arena.ladder.pairing import Candidate, next_set
from arena.ladder.patience import Patience
from arena.ladder.simulation import day_of_play, newcomer_error

HOUSE = Candidate(1, owner=1, house=True, anchor=True, rating=1000, standard_error=0, games=500, last_seq=1, seats=9)
BOT = Candidate(10, 10, False, False, 1200, 30, games=100, last_seq=1, seats=1)


def flying(set_id: str, *versions: int) -> InFlight:
    return InFlight(set_id, 1, 4, False, False, tuple((version, "0") for version in versions))


def test_a_bot_waits_for_half_of_its_last_set_and_at_most_a_minute() -> None:
    """Before its first set not at all; a fast bot hardly, so that slow ones never hold it up."""
    patience = Patience()
    assert not patience.patient(1, 10, 0)
    patience.look([flying("a", 10), flying("b", 11)], 0)
    patience.look([flying("b", 11)], 2_000)
    patience.look([], 1_000_000)
    assert patience.patient(1, 10, 2_999)
    assert not patience.patient(1, 10, 3_000)
    assert patience.patient(1, 11, 1_059_999)
    assert not patience.patient(1, 11, 1_060_000)
    assert not patience.patient(2, 11, 1_000_001)  # how long its sets last on another ladder does not matter here


def test_who_does_not_answer_sits_out_longer_each_time_until_it_plays() -> None:
    """10 s, 20 s, ... up to ten minutes; a set played ends it."""
    patience = Patience()
    for wait in (10_000, 20_000, 40_000):
        patience.not_ready([10], 0)
        assert patience.rests(10, wait - 1)
        assert not patience.rests(10, wait)
    for _ in range(20):
        patience.not_ready([10], 0)
    assert patience.rests(10, 599_999)
    assert not patience.rests(10, 600_000)
    patience.answered([10])
    assert not patience.rests(10, 0)


def test_a_patient_bot_is_seated_once_there_is_a_choice() -> None:
    """With one free opponent of nine it waits, with all who are online it plays; an impatient one plays at once."""
    others = [replace(BOT, version=version, owner=version, seats=0, games=500) for version in range(11, 20)]
    waiting = replace(BOT, patient=True)
    one_free = [HOUSE, waiting, replace(others[0], seats=1, patient=True), *others[1:]]
    assert next_set(one_free, 2, {}, (), 1, house_only=False) is None
    assert next_set([HOUSE, replace(waiting, patient=False), *one_free[2:]], 2, {}, (), 1, house_only=False)
    assert next_set(one_free[:3], 2, {}, (), 1, house_only=False)
    assert next_set([HOUSE, waiting], 2, {}, (), 1, house_only=False)


def test_a_quarter_of_a_day() -> None:
    """Bots meet each other more than the house, nobody waits much longer than the rest, and a dead bot costs little."""
    day = day_of_play(players=4, seed=3, bots=16, slow=1, dead=1, hours=6)
    assert day.external_share > 0.45
    assert day.longest_wait_s <= 3 * day.median_wait_s
    assert day.void_sets < 50
    assert day.fewest_sets > 0.3 * day.median_sets


def test_a_newcomer_is_soon_about_right() -> None:
    """After 20 games of four with own deals, among 30: RMSE near 65 points."""
    assert newcomer_error(60, players=4, games=20, shared=False, seed=5, field_size=30).rmse < 80
