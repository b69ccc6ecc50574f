"""Summaries of matches."""

from __future__ import annotations

import pytest

from arena.ratings.summary import pairwise_scores, summarise


def test_golden_values_of_fishtest() -> None:
    """Pairs [39, 2226, 31451, 2412, 40] are Elo 0.903 +- 0.662 with LOS 0.9962."""
    summary = summarise([0, 0.25, 0.5, 0.75, 1], [39, 2226, 31451, 2412, 40])
    assert summary.elo == pytest.approx(0.903, abs=5e-4)
    assert summary.error == pytest.approx(0.662, abs=1e-3)
    assert summary.los == pytest.approx(0.9962, abs=5e-5)


def test_pairwise_scores() -> None:
    """Places become mean scores against the opponents; ties count half."""
    assert pairwise_scores([1, 1, 3]) == [0.75, 0.75, 0.0]
    assert pairwise_scores([2, 1]) == [0.0, 1.0]


def test_all_won_has_no_elo() -> None:
    """A clean sweep has an unbounded Elo difference, which is said by None, and full likelihood of superiority."""
    summary = summarise([1.0, 1.0])
    assert (summary.elo, summary.error, summary.los) == (None, None, 1.0)
