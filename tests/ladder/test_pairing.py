"""Who plays whom."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from arena.ladder.pairing import Candidate, Pair, next_set, pair
from arena.ratings import elo

ANCHOR = Candidate(1, owner=1, house=True, anchor=True, rating=1000, standard_error=0, games=500, last_seq=1, seats=9)
GREEDY = replace(ANCHOR, version=2, anchor=False, rating=1200, standard_error=20)
HEURISTIC = replace(GREEDY, version=3, rating=1400)
HOUSE = [ANCHOR, GREEDY, HEURISTIC]


def external(version: int, **changes: object) -> Candidate:
    """An established external bot of an owner of its own."""
    made = Candidate(version, version, False, False, 1200, 30, games=100, last_seq=version, seats=1)
    return replace(made, **changes)  # type: ignore[arg-type]


def tables(
    candidates: list[Candidate], players: int, number: int = 200, closed: frozenset[Pair] = frozenset()
) -> list[tuple[int, ...]]:
    """Many independent draws from the same situation."""
    drawn = [next_set(candidates, players, {}, closed, seed, house_only=True) for seed in range(number)]
    assert None not in drawn
    return drawn  # type: ignore[return-value]


def test_the_same_seed_gives_the_same_table() -> None:
    """Pairings can be reproduced, and different seeds differ."""
    candidates = [*HOUSE, *map(external, range(10, 20))]
    assert tables(candidates, 3, 50) == tables(candidates, 3, 50)
    assert len(set(tables(candidates, 3, 50))) > 10


def test_the_set_is_made_for_whoever_has_the_fewest_games_then_the_longest_idle() -> None:
    """The neediest external bot is at every table."""
    few = external(15, games=3)
    assert all(15 in table for table in tables([*HOUSE, external(10), external(11), few], 3))
    idle = external(12, last_seq=0)
    assert all(12 in table for table in tables([*HOUSE, external(10), external(11), idle], 3))


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_one_external_bot_and_the_house_are_always_a_table(players: int) -> None:
    """A lone newcomer plays at every size of table; where the house has too few bots, some sit twice."""
    for table in tables([*HOUSE, external(10, games=0, standard_error=350)], players):
        assert len(table) == players
        assert table.count(10) == 1
        assert len(set(table)) == min(players, 4)


def test_r31_never_two_bots_of_one_owner() -> None:
    """Sock puppets do not meet, whoever the set is made for; nobody sits twice."""
    candidates = [*HOUSE, *(external(version, owner=7, games=version) for version in range(10, 16)), external(20)]
    for table in tables(candidates, 4):
        outside = [version for version in table if version >= 10]
        assert sum(version < 16 for version in outside) <= 1
        assert len(set(table)) == 4


def test_r30_closed_pairs_do_not_meet() -> None:
    """A pair that has had its sets of the day sits at different tables, even if neither is who the set is for."""
    closed = frozenset({pair(11, 10), pair(10, 12), pair(11, 12)})
    candidates = [*HOUSE, *map(external, (10, 11, 12, 13))]
    for table in tables(candidates, 4, closed=closed):
        assert len({10, 11, 12} & set(table)) <= 1


def test_a_bot_without_a_free_seat_is_not_drawn() -> None:
    """Leases are respected before anything else."""
    assert all(11 not in table for table in tables([*HOUSE, external(10), external(11, seats=0)], 3))


def test_a_newcomer_meets_an_anchor() -> None:
    """While provisional it has one at every larger table, and in half of its games of two."""
    candidates = [*HOUSE, external(10, games=0, standard_error=350), external(11), external(12)]
    assert all(1 in table for table in tables(candidates, 3))
    with_anchor = sum(1 in table for table in tables(candidates, 2, 600))
    assert 300 < with_anchor < 450  # half, and the draw of the others adds some


def test_opponents_are_drawn_by_what_a_game_would_teach() -> None:
    """Near ratings are drawn far more often than distant ones; a tenth of the sets is drawn regardless."""
    near, far = external(11, rating=1210), external(12, rating=1900)
    drawn = Counter(
        version for table in tables([external(10, games=1), near, far], 2, 2000) for version in table if version != 10
    )
    assert 0.02 * 2000 < drawn[12] < 0.09 * 2000  # half of the uniform tenth, and hardly anything else


def test_meetings_make_room_for_others() -> None:
    """Of two equal opponents the one met nine times before is drawn about a tenth as often."""
    candidates = [external(10, games=1), external(11), external(12)]
    drawn = Counter(
        version
        for seed in range(2000)
        for version in next_set(candidates, 2, {pair(10, 11): 9}, frozenset(), seed, house_only=False) or ()
    )
    share = drawn[11] / 2000
    assert share == pytest.approx(0.1 * 0.5 + 0.9 * (0.1 / 1.1), abs=0.03)


def test_house_bots_play_each_other_until_they_are_settled() -> None:
    """Only where it is allowed, only while some rating is uncertain, and never with external bots waiting."""
    unsettled = [ANCHOR, GREEDY, replace(HEURISTIC, standard_error=21)]
    assert all(set(table) <= {1, 2, 3} for table in tables(unsettled, 3))
    assert next_set(unsettled, 3, {}, frozenset(), 1, house_only=False) is None
    settled = [ANCHOR, replace(GREEDY, standard_error=19), replace(HEURISTIC, standard_error=19)]
    assert next_set(settled, 3, {}, frozenset(), 1, house_only=True) is None
    assert next_set([replace(GREEDY, standard_error=30)], 2, {}, frozenset(), 1, house_only=True) is None


def test_no_table_where_there_is_nobody() -> None:
    """A lone external bot without a house waits, and so do two of one owner."""
    assert next_set([external(10)], 2, {}, frozenset(), 1, house_only=True) is None
    assert next_set([external(10, owner=1), external(11, owner=1)], 2, {}, frozenset(), 1, house_only=True) is None


def test_seats_are_random() -> None:
    """Whom the set is made for sits on each position about equally often."""
    positions = Counter(table.index(10) for table in tables([*HOUSE, external(10)], 3, 900))
    assert all(240 < positions[seat] < 360 for seat in range(3))


def test_informed_pairing_teaches_more_a_game() -> None:
    """Among bots whose ratings are known to 60 points, drawn games carry far more information than random ones."""
    rng = Random(4)
    truth = {version: rng.gauss(1200, 300) for version in range(1, 41)}
    bots = [
        external(version, rating=true + rng.gauss(0, 60), standard_error=60, games=rng.randrange(100))
        for version, true in truth.items()
    ]

    def taught(table: tuple[int, ...]) -> float:
        p = elo.expected(truth[table[0]], truth[table[1]])
        return p * (1 - p)

    drawn = statistics.fmean(taught(table) for table in tables(bots, 2, 400))
    uniform = statistics.fmean(taught(tuple(rng.sample(sorted(truth), 2))) for _ in range(4000))
    assert drawn > 1.4 * uniform
