"""Live Elo: golden values and the properties that its formula promises."""

from __future__ import annotations

import math
import statistics
from itertools import permutations
from random import Random

import pytest

from arena.ratings import elo
from arena.ratings.elo import Rated


def test_golden_newcomers() -> None:
    """Two newcomers, one wins: each opponent weighs a quarter, so 64 * 1/4 * 1/2 = 8 points, and K falls by 1 %."""
    winner, loser = elo.update([Rated(1500), Rated(1500)], [(1, 2)])
    assert (winner.rating, loser.rating) == (1508.0, 1492.0)
    assert winner.k2 == loser.k2 == 63.36


def test_golden_established_against_newcomer() -> None:
    """A newcomer who beats a veteran 400 points above gains 64 * 10/11; the veteran loses 10/4 * 10/11."""
    newcomer, veteran = elo.update([Rated(1000), Rated(1400, k2=elo.K_ESTABLISHED)], [(1, 2), (1, 2)])
    assert newcomer.rating == pytest.approx(1000 + 64 * 10 / 11, abs=1e-6)
    assert veteran.rating == pytest.approx(1400 - 10 / 4 * 10 / 11, abs=1e-6)
    assert newcomer.k2 == pytest.approx(64 * 0.96)
    assert veteran.k2 == elo.K_ESTABLISHED


def test_golden_three_players() -> None:
    """At a table of three established equals, places 1, 2, 3: K is 15, so the first gains 7.5 and the second nothing."""
    table = [Rated(1200, elo.K_ESTABLISHED)] * 3
    assert [bot.rating for bot in elo.update(table, [(1, 2, 3)])] == [1207.5, 1200.0, 1192.5]
    assert [bot.rating for bot in elo.update(table, [(1, 1, 3)])] == [1203.75, 1203.75, 1192.5]


def test_k_falls_fast_and_then_slowly() -> None:
    """4 % a set against known opponents down to 32, then 2 %, and never below 10."""
    assert elo.decayed(64, 1.0) == pytest.approx(64 * 0.96)
    assert elo.decayed(32, 1.0) == pytest.approx(32 * 0.98)
    assert elo.decayed(32.01, 0.5) == pytest.approx(32.01 * 0.98)
    assert elo.decayed(10.05, 1.0) == elo.K_ESTABLISHED


def test_anchors_never_move_and_weigh_fully() -> None:
    """An anchor stays where it is whatever happens, and a result against it counts like one against a veteran."""
    anchor, other = elo.update([Rated(1000, anchor=True), Rated(1000)], [(2, 1)])
    assert anchor == Rated(1000, anchor=True)
    assert other.rating == 1032.0


def test_the_order_of_the_table_does_not_matter() -> None:
    """Permuting positions permutes the outcome."""
    table = [Rated(900, 64), Rated(1300, 20), Rated(1100, 10), Rated(1000, anchor=True)]
    games = [(1, 2, 3, 4), (2, 2, 1, 4), (4, 3, 1, 1)]
    straight = elo.update(table, games)
    for order in permutations(range(4)):
        mixed = elo.update([table[i] for i in order], [tuple(game[i] for i in order) for game in games])
        assert mixed == tuple(straight[i] for i in order)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_equals_of_equal_k_conserve_points(players: int) -> None:
    """What one gains the others lose."""
    rng = Random(players)
    places = [rng.sample(range(1, players + 1), players) for _ in range(players)]
    table = [Rated(1000 + 100 * seat, 20) for seat in range(players)]
    after = elo.update(table, places)
    assert sum(bot.rating for bot in after) == pytest.approx(sum(bot.rating for bot in table), abs=1e-5)


@pytest.mark.parametrize("players", [2, 3, 5])
def test_stationary_fluctuation_is_the_same_at_every_table(players: int) -> None:
    """An established bot among anchors of its own strength fluctuates by sqrt(K/4 / (2 ln10/1600)) = 29.5 points,
    however many sit at the table: this is what equalising K is for."""
    rng = Random(1)
    bot = Rated(1000, elo.K_ESTABLISHED)
    seen = []
    for number in range(20_000):
        places = rng.sample(range(1, players + 1), players)
        bot = elo.update([bot, *[Rated(1000, anchor=True)] * (players - 1)], [places])[0]
        if number > 500:
            seen.append(bot.rating)
    predicted = math.sqrt(elo.K_ESTABLISHED / 4 / (2 * elo.ELO_SLOPE))
    assert predicted == pytest.approx(29.5, abs=0.05)
    assert statistics.pstdev(seen) == pytest.approx(predicted, rel=0.1)
    assert statistics.fmean(seen) == pytest.approx(1000, abs=6)


def test_ratings_find_the_true_difference() -> None:
    """A bot that scores 10 in 11 against an anchor ends up 400 points above it."""
    rng = Random(2)
    bot, seen = Rated(1000), []
    for number in range(4_000):
        bot = elo.update([bot, Rated(1000, anchor=True)], [(1, 2) if rng.random() < 10 / 11 else (2, 1)])[0]
        if number > 1000:
            seen.append(bot.rating)
    assert statistics.fmean(seen) == pytest.approx(1400, abs=8)


def test_standard_error_starts_at_the_prior_and_falls() -> None:
    """350 without a game; under 50 after 48 games of two or 24 of five; a quarter of the games, twice the error."""
    assert elo.standard_error(0, 2) == 350
    assert elo.standard_error(47, 2) > 50 > elo.standard_error(48, 2)
    assert elo.standard_error(23, 5) > 50 > elo.standard_error(24, 5)
    assert elo.standard_error(1000, 3) / elo.standard_error(4000, 3) == pytest.approx(2, rel=0.01)


def test_information_is_the_mean_over_the_posterior() -> None:
    """1/4 between known equals; near the Monte Carlo mean of p(1-p) elsewhere; less the farther apart two are."""
    assert elo.information(0, 0) == 0.25
    rng = Random(3)
    for difference, sd in ((0, 495), (200, 100), (400, 200)):
        chances = (elo.expected(rng.gauss(difference, sd), 0) for _ in range(40_000))
        assert elo.information(difference, sd) == pytest.approx(
            statistics.fmean(p * (1 - p) for p in chances), rel=0.03
        )
    assert elo.information(0, 50) > elo.information(100, 50) > elo.information(400, 50)


@pytest.mark.parametrize("places", [[], [(1,)], [(1, 2, 3)]])
def test_a_result_that_does_not_fit_the_table_is_refused(places: list[tuple[int, ...]]) -> None:
    """No games, or places for another number of bots, is a programmer's error."""
    with pytest.raises(ValueError, match="each with 2 places"):
        elo.update([Rated(1000), Rated(1000)], places)


def test_posterior_of_a_newcomer() -> None:
    """Nothing scored is the prior; half against equals stays; three quarters of many games is about 190 points up."""
    assert elo.posterior(0, [], 2, mean=1200, sd=350) == pytest.approx((1200, 350))
    rating, error = elo.posterior(10, [(1200, 20)], 2, mean=1200, sd=350)
    assert rating == pytest.approx(1200)
    assert 60 < error < 80
    rating, _ = elo.posterior(3000, [(1200, 4000)], 2, mean=1200, sd=350)
    assert rating == pytest.approx(1390.8, abs=0.5)
    assert elo.posterior(12, [(1200, 12)], 4, mean=1200, sd=350)[0] > 1400
