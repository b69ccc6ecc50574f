"""What a match of many games says: mean score, Elo difference with its error, and likelihood of superiority.

The unit is the set: its games share seats' luck, so errors are taken over sets (fishtest's pentanomial, for any n).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

Z95 = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Summary:
    """A bot's showing over ``sets`` sets. ``elo`` against the mean of its opponents; None where the score is 0 or 1.

    ``error`` is half of the 95 % interval of ``elo``. ``los``: probability that the true score is above one half.
    """

    sets: int
    score: float
    elo: float | None
    error: float | None
    los: float


def elo_of(score: float) -> float | None:
    """Elo difference that a mean score means; None for 0 and 1, where it is unbounded."""
    return -400 * math.log10(1 / score - 1) if 0 < score < 1 else None


def summarise(scores: Sequence[float], weights: Sequence[float] | None = None) -> Summary:
    """Summarises mean scores a set, each in [0, 1]; ``weights`` (default 1) count equal sets or games of short ones."""
    if not scores:
        return Summary(0, 0.5, None, None, 0.5)
    weights = weights or [1.0] * len(scores)
    total = sum(weights)
    mean = sum(weight * score for weight, score in zip(weights, scores, strict=True)) / total
    variance = sum(weight * (score - mean) ** 2 for weight, score in zip(weights, scores, strict=True)) / total
    standard_error = math.sqrt(variance / total)
    if standard_error:
        los = NormalDist().cdf((mean - 0.5) / standard_error)
    else:
        los = 0.5 if mean == 0.5 else float(mean > 0.5)
    low, high = elo_of(mean - Z95 * standard_error), elo_of(mean + Z95 * standard_error)
    error = (high - low) / 2 if low is not None and high is not None and total > 1 else None
    return Summary(len(scores), mean, elo_of(mean), error, los)


def pairwise_scores(places: Sequence[int]) -> list[float]:
    """Each seat's mean over opponents of 1, 1/2 or 0, from places."""
    n = len(places)
    return [(sum((other > mine) + (other == mine) / 2 for other in places) - 0.5) / (n - 1) for mine in places]
