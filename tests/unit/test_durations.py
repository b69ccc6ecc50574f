"""Histograms of how long things took."""

from __future__ import annotations

from arena.durations import BOUNDS_US, DurationCounter, Durations


def test_durations_add_subtract_and_have_quantiles() -> None:
    """Sums, differences over a restart, and quantiles that lie in the right bucket."""
    empty = Durations()
    assert empty.quantile_s(0.5) is None
    counts = [0] * (len(BOUNDS_US) + 1)
    counts[3], counts[5] = 90, 10
    some = Durations(tuple(counts), 1.0)
    assert (some + some).total == 200
    assert (some + some).since(some) == some
    assert some.since(some + some) == some  # it was restarted: all of it is new
    p50, p95 = some.quantile_s(0.5), some.quantile_s(0.95)
    assert p50 is not None
    assert p95 is not None
    assert BOUNDS_US[2] < p50 * 1e6 <= BOUNDS_US[3]
    assert BOUNDS_US[4] < p95 * 1e6 <= BOUNDS_US[5]
    assert Durations((*([0] * len(BOUNDS_US)), 1)).quantile_s(0.5) == BOUNDS_US[-1] / 1e6


def test_a_duration_of_exactly_a_bound_is_at_most_that() -> None:
    """Buckets are as Prometheus has them: cumulative, each with its upper bound."""
    counter = DurationCounter()
    for elapsed_us in (0, 250, 251, 1_000_000, 10_000_001):
        counter.add(elapsed_us)
    buckets = dict(counter.read().buckets())
    assert buckets["0.00025"] == 2
    assert buckets["0.0005"] == buckets["0.5"] == 3
    assert buckets["1.0"] == buckets["10.0"] == 4
    assert buckets["+Inf"] == counter.read().total == 5
    assert counter.read().sum_s == 11.000502
