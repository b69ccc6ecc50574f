"""The official table's arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence

import choix
import numpy as np
import pytest

from arena.ratings import bradley_terry
from arena.ratings.bradley_terry import ELO, PRIOR_SD, fit, official_table
from arena.ratings.comparisons import comparisons, of_results
from arena.ratings.entries import SetResult
from arena.ratings.second_opinion import second_opinion
from arena.ratings.simulation import coverage, play, random_tables, simulated_ladder


def results(*sets: tuple[Sequence[int], Sequence[Sequence[int]]]) -> list[SetResult]:
    """Results from (versions, places game by game)."""
    return [
        SetResult(f"s{number}", tuple(versions), tuple(tuple(game) for game in places))
        for number, (versions, places) in enumerate(sets)
    ]


def test_two_bots_by_hand() -> None:
    """Three wins of four make a difference of log 3, drawn in a little by the prior; the anchor stands at its rating."""
    played = results(*[((1, 2), [(1, 2), (1, 2), (1, 2), (2, 1)])] * 200)
    table = official_table(played, {2: 1000.0})
    assert [row.version for row in table.rows] == [1, 2]
    assert table.rows[1].rating == 1000
    assert table.rows[0].rating - 1000 == pytest.approx(ELO * math.log(3), abs=0.5)


def test_a_circle_is_level() -> None:
    """Rock, paper, scissors: three equal ratings with equal errors, and every LOS is a half."""
    played = results(*[pair for pair in (((1, 2), [(1, 2)]), ((2, 3), [(1, 2)]), ((3, 1), [(1, 2)])) for _ in range(9)])
    table = official_table(played, {})
    assert [row.rating for row in table.rows] == pytest.approx([1000] * 3)
    errors = [row.standard_error for row in table.rows]
    assert errors == pytest.approx([errors[0]] * 3)
    assert table.los() == pytest.approx(np.full((3, 3), 0.5))


def test_a_tie_is_half_a_win_and_half_a_loss() -> None:
    """Ties alone level two bots; a tie and a win are worth as much as a win and a half on either side."""
    assert [row.rating for row in official_table(results(((1, 2), [(1, 1)])), {}).rows] == pytest.approx([1000] * 2)
    tied = fit(of_results(results(((1, 2), [(1, 1), (1, 1), (1, 2), (1, 2)])))[1])
    split = fit(of_results(results(((1, 2), [(1, 2), (2, 1), (1, 2), (1, 2)])))[1])
    assert tied.ratings == pytest.approx(split.ratings)


def test_an_unbeaten_bot_is_finite() -> None:
    """The prior keeps it on the table, above whom it beat, and with a large error."""
    table = official_table(results(*[((1, 2), [(1, 2), (1, 2)])] * 10, *[((2, 3), [(1, 2), (2, 1)])] * 10), {3: 1000})
    assert table.rows[0].version == 1
    assert 300 < table.rows[0].rating - table.rows[1].rating < 1500
    assert table.rows[0].standard_error > 60


def test_a_bot_with_one_set_is_not_certain() -> None:
    """The sandwich by itself would be: one set explains itself completely."""
    others = [((1, 2), [(1, 2), (2, 1)]), ((2, 1), [(1, 2), (1, 2)])] * 40
    table = official_table(results(*others, ((3, 1), [(1, 2), (2, 1)])), {1: 1000})
    errors = {row.version: row.standard_error for row in table.rows}
    assert errors[3] > 100
    assert errors[1] < 50


def test_connectivity_is_checked() -> None:
    """Two bots that met only each other are on the table, marked as not linked to the anchor."""
    table = official_table(results(((1, 2), [(1, 2)]), ((2, 3), [(1, 2)]), ((8, 9), [(1, 2)])), {1: 1000})
    assert {row.version: row.linked for row in table.rows} == {1: True, 2: True, 3: True, 8: False, 9: False}


def test_a_bot_twice_at_a_table_is_not_compared_with_itself() -> None:
    """House bots sit twice where they are few; those pairs say nothing."""
    versions, data = of_results(results(((1, 1, 2), [(1, 2, 3), (3, 2, 1)])))
    assert versions == (1, 2)
    assert list(zip(data.first.tolist(), data.second.tolist(), data.score.tolist(), strict=True)) == [
        (0, 1, 1.0),
        (0, 1, 1.0),
    ]
    assert data.played().tolist() == [1, 1]


def test_the_same_as_choix() -> None:
    """Without ties choix maximises the same likelihood with the same penalty: all ratings agree to 0.01 points."""
    rng = np.random.default_rng(5)
    _, data = simulated_ladder(rng, players=3, bots=12, shared=False)
    wins = [
        pair
        for i, j, score, games in zip(data.first, data.second, data.score, data.games, strict=True)
        for pair in [(int(i), int(j))] * int(score) + [(int(j), int(i))] * int(games - score)
    ]
    theirs = choix.opt_pairwise(12, wins, alpha=(ELO / PRIOR_SD) ** 2 / 2, method="Newton-CG", tol=1e-12)
    assert fit(data).ratings == pytest.approx((theirs - theirs.mean()) * ELO, abs=0.01)


def test_openskill_orders_well_separated_bots_alike() -> None:
    """The second opinion, another method altogether, agrees on who is better at tables of four."""
    rng = np.random.default_rng(2)
    truth = np.arange(8) * 150.0
    tables = random_tables(8, 4, 120, rng)
    places = play(truth[tables], 4, rng, shared=False)
    played = results(*zip((tables + 1).tolist(), places.tolist(), strict=True))
    official = [row.version for row in official_table(played, {}).rows]
    opinion = second_opinion(played)
    assert official == [8, 7, 6, 5, 4, 3, 2, 1]
    assert sorted(opinion, key=lambda version: -opinion[version]) == official


def test_clustered_errors_at_tables_of_five_are_the_true_ones() -> None:
    """Single games of five: the plain Hessian says 10.4 where ratings truly vary by 14; the sandwich says about that."""
    rng = np.random.default_rng(3)
    truth = np.zeros(10)
    ratings, clustered, plain = [], [], []
    for _ in range(120):
        tables = random_tables(10, 5, 454, rng)
        fitted = fit(comparisons(tables, play(truth[tables], 1, rng, shared=False, rotated=False), 10))
        ratings.append(fitted.ratings)
        clustered.append(fitted.standard_errors.mean())
        plain.append(fitted.plain_errors.mean())
    assert np.mean(plain) == pytest.approx(10.4, abs=0.2)
    assert np.std(ratings) == pytest.approx(14.0, abs=0.8)
    assert np.mean(clustered) == pytest.approx(14.4, abs=0.5)
    assert np.mean(clustered) == pytest.approx(np.std(ratings), rel=0.06)


@pytest.mark.parametrize(("players", "shared"), [(2, True), (4, False)])
def test_intervals_cover(players: int, shared: bool) -> None:
    """95 % intervals of bots with 30 sets and more, and of their differences, hold the truth in 93 to 97 % of cases."""
    found = coverage(60, players=players, bots=16, shared=shared, seed=11)
    assert found.bots > 600
    assert 0.93 <= found.ratings <= 0.97
    assert 0.93 <= found.differences <= 0.97
    assert abs(found.bias) < 0.1


def test_los_is_the_normal_probability_of_the_difference() -> None:
    """It agrees with the error of the difference, and what a is over b, b is not over a."""
    table = official_table(_as_results(data_seed=7), {})
    los = table.los()
    difference = table.rows[1].rating - table.rows[4].rating
    assert los[1, 4] == pytest.approx(0.5 + math.erf(difference / table.error_of_difference(1, 4) / 2**0.5) / 2)
    assert los + los.T == pytest.approx(np.ones_like(los))
    for rank in range(12):
        assert table.covariance[rank, rank] ** 0.5 == pytest.approx(table.rows[rank].standard_error, rel=1e-5)


def _as_results(data_seed: int) -> list[SetResult]:
    rng = np.random.default_rng(data_seed)
    tables = random_tables(12, 4, 150, rng)
    places = play(rng.normal(0, 200, 12)[tables], 4, rng, shared=False)
    return results(*zip(tables.tolist(), places.tolist(), strict=True))


def test_many_bots_by_iteration_agree_with_the_factored_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """The path for thousands of bots gives the same ratings, and errors to a few per cent."""
    played = _as_results(data_seed=9)
    exact = official_table(played, {0: 1000.0})
    monkeypatch.setattr(bradley_terry, "DENSE_BOTS", 5)
    iterated = official_table(played, {0: 1000.0})
    assert [row.version for row in iterated.rows] == [row.version for row in exact.rows]
    assert [row.rating for row in iterated.rows] == pytest.approx([row.rating for row in exact.rows], abs=1e-3)
    errors = [row.standard_error for row in iterated.rows]
    assert errors == pytest.approx([row.standard_error for row in exact.rows], rel=0.1)


def test_nothing_played_is_said() -> None:
    """An empty ledger has no table."""
    with pytest.raises(ValueError, match="no set"):
        official_table([], {})
