"""How long things took: histograms, filled by one thread, added up and read by others."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

BOUNDS_US: Final = (
    250,
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
)
"""Upper bounds of the buckets; one more bucket has what took longer."""
_BOUNDS_S: Final = tuple(bound / 1e6 for bound in BOUNDS_US)


@dataclass(frozen=True, slots=True)
class Durations:
    """A histogram at some moment. ``counts``: one number a bucket of BOUNDS_US, and one for what took longer."""

    counts: tuple[int, ...] = (0,) * (len(BOUNDS_US) + 1)
    sum_s: float = 0.0

    @property
    def total(self) -> int:
        """How many durations are counted."""
        return sum(self.counts)

    def __add__(self, other: Durations) -> Durations:
        return Durations(tuple(map(sum, zip(self.counts, other.counts, strict=True))), self.sum_s + other.sum_s)

    def since(self, earlier: Durations) -> Durations:
        """What was added after ``earlier``; all of it where counting began anew in between."""
        counts = tuple(now - then for now, then in zip(self.counts, earlier.counts, strict=True))
        return self if min(counts) < 0 else Durations(counts, self.sum_s - earlier.sum_s)

    def quantile_s(self, q: float) -> float | None:
        """The ``q`` quantile (0..1) in seconds, interpolated within its bucket; None of nothing."""
        wanted, below = q * self.total, 0
        if not self.total:
            return None
        for number, low, high in zip(self.counts, (0.0, *_BOUNDS_S), _BOUNDS_S, strict=False):
            if number and below + number >= wanted:
                return low + (high - low) * (wanted - below) / number
            below += number
        return _BOUNDS_S[-1]

    def buckets(self) -> list[tuple[str, float]]:
        """Bounds in seconds and how many took at most so long, as Prometheus has them."""
        found: list[tuple[str, float]] = []
        total = 0
        for bound, number in zip((*map(str, _BOUNDS_S), "+Inf"), self.counts, strict=True):
            total += number
            found.append((bound, total))
        return found


NO_DURATIONS: Final = Durations()


class DurationCounter:
    """Counts durations. One thread adds, any may read.

    For what happens at each decision: prometheus_client's Histogram takes several times as long, for it has locks.
    """

    __slots__ = ("_counts", "_sum_us")

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS_US) + 1)
        self._sum_us = 0

    def add(self, elapsed_us: int) -> None:
        """One more."""
        self._counts[bisect_left(BOUNDS_US, elapsed_us)] += 1
        self._sum_us += elapsed_us

    def read(self) -> Durations:
        """All so far."""
        return Durations(tuple(self._counts), self._sum_us / 1e6)
