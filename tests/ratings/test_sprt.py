"""The test whether a new version is better."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from arena.ratings.simulation import sprt_runs
from arena.ratings.sprt import LEAST_SETS, Hypotheses, Sprt, Verdict, llr, set_score, summary_of, support

PAIRS = (0.0, 0.25, 0.5, 0.75, 1.0)


def test_golden_llr_of_fishtest() -> None:
    """Pairs [39, 2226, 31451, 2412, 40] with elo [0.2, 0.9] have the LLR 2.1625."""
    assert llr(PAIRS, [39, 2226, 31451, 2412, 40], Hypotheses(0.2, 0.9)) == pytest.approx(2.1625, abs=5e-5)


def test_golden_llr_is_exact_and_not_linear() -> None:
    """[1, 2, 10, 6, 3] with elo [0, 20] is 0.6929; the usual linear approximation would give 0.8079."""
    assert llr(PAIRS, [1, 2, 10, 6, 3], Hypotheses(0, 20)) == pytest.approx(0.6929, abs=5e-5)


def test_golden_bounds() -> None:
    """At 5 % each they are -2.944 and +2.944; unequal errors move each bound."""
    assert Hypotheses(0, 20).bounds == pytest.approx((-2.944, 2.944), abs=5e-4)
    assert Hypotheses(0, 20, alpha=0.01, beta=0.1).bounds == pytest.approx((math.log(0.1 / 0.99), math.log(90)))


@pytest.mark.parametrize("elos", [(5, 5), (20, 0)])
def test_hypotheses_must_differ(elos: tuple[float, float]) -> None:
    """elo0 is the lesser."""
    with pytest.raises(ValueError, match="less than"):
        Hypotheses(*elos)


def test_exchanging_the_hypotheses_sides_changes_the_sign() -> None:
    """What speaks for a gain speaks as loudly against a loss when the counts are mirrored."""
    forward = llr(PAIRS, [3, 8, 20, 15, 9], Hypotheses(-5, 15))
    mirrored = llr(PAIRS, [9, 15, 20, 8, 3], Hypotheses(-15, 5))
    assert forward == pytest.approx(-mirrored, abs=1e-9)


def test_set_scores_are_on_the_support() -> None:
    """The score of a set is against each opponent, over its games: here 1 + 1/2, and 0 + 1, of four comparisons."""
    score = set_score([(1, 1, 3), (2, 1, 3)], 0)
    assert score == Fraction(5, 8)
    assert set_score([(1, 2, 3), (1, 2, 3), (1, 2, 3)], 0) == 1
    assert len(support(3)) == 13
    assert support(2) == PAIRS


def test_no_verdict_before_twenty_sets() -> None:
    """However clear: nineteen clean sweeps say nothing, the twentieth ends the test."""
    test = Sprt(Hypotheses(0, 200), 2)
    rng = np.random.default_rng(1)
    verdicts = [test.add(number, Fraction(int(rng.integers(3, 5)), 4)) for number in range(LEAST_SETS)]
    assert verdicts == [Verdict.CONTINUE] * (LEAST_SETS - 1) + [Verdict.H1]


def test_sets_count_in_the_order_issued() -> None:
    """Sets that finish early wait for those before them, and sets after the verdict are left out."""
    scores = [Fraction(int(k), 4) for k in np.random.default_rng(4).integers(2, 5, 60)]
    in_order, shuffled = Sprt(Hypotheses(0, 20), 2), Sprt(Hypotheses(0, 20), 2)
    for number, score in enumerate(scores):
        in_order.add(number, score)
    shuffled.add(1, scores[1])
    assert shuffled.consumed == 0
    for number in [0, *range(59, 1, -1)]:
        shuffled.add(number, scores[number])
    assert (shuffled.counts, shuffled.consumed, shuffled.verdict) == (in_order.counts, in_order.consumed, Verdict.H1)
    assert in_order.consumed < 60


def test_a_short_set_is_refused() -> None:
    """A score that no full set has would silently be another one."""
    with pytest.raises(ValueError, match="cannot have"):
        Sprt(Hypotheses(0, 20), 2).add(0, Fraction(1, 3))


def test_summary_of_counts() -> None:
    """Golden again, from counts: Elo 0.903 with LOS 0.9962 over 36,168 sets."""
    summary = summary_of(PAIRS, [39, 2226, 31451, 2412, 40])
    assert (summary.sets, summary.elo) == (36168, pytest.approx(0.903, abs=5e-4))


@pytest.mark.parametrize("players", [2, 4])
def test_error_rates(players: int) -> None:
    """Simulated with shared deals: at elo0 H1, at elo1 H0 is accepted in at most 5 % of the runs, noise allowed."""
    hypotheses = Hypotheses(0, 60)
    wrong0 = sprt_runs(400, hypotheses, 0, players=players, shared=True, seed=1).accepted_h1
    wrong1 = 1 - sprt_runs(400, hypotheses, 60, players=players, shared=True, seed=2).accepted_h1
    assert wrong0 < 0.05 + 0.03
    assert wrong1 < 0.05 + 0.03


def test_many_runs_at_once_decide_as_one_does() -> None:
    """The vectorised simulation computes the LLR of the test itself."""
    runs = sprt_runs(1, Hypotheses(0, 60), 60, players=3, shared=False, seed=8)
    test = Sprt(Hypotheses(0, 60), 3)
    for number, score in enumerate(runs.first_run):
        test.add(number, Fraction(int(score), 12))
    assert test.verdict is (Verdict.H1 if runs.accepted_h1 else Verdict.H0)
    assert test.consumed == len(runs.first_run) == runs.mean_sets
