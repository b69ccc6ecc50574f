"""Is the new version better? A generalised sequential probability ratio test over sets (as fishtest and fastchess).

A set's score is that of the new version against the old ones beside it, averaged over the set: one of finitely many values,
so that the test needs only how often each occurred. For each hypothesis the most likely distribution with its mean is
found; the log likelihood ratio of the two decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Final

from arena.ratings.elo import expected
from arena.ratings.summary import Summary, summarise

LEAST_SETS: Final = 20
"""No verdict before so many sets: with fewer the counts say little of the distribution."""
UNSEEN: Final = 1e-3
"""What a count of 0 becomes."""


class Verdict(StrEnum):
    """What the test says so far. H0: the difference is ``elo0``, H1: it is ``elo1``."""

    CONTINUE = "CONTINUE"
    H0 = "H0"
    H1 = "H1"


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """``elo0`` against ``elo1``, and how often either may be accepted wrongly: ``alpha`` H1, ``beta`` H0."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        """Raises ValueError unless elo0 < elo1 and both errors are in (0, 1/2)."""
        if not self.elo0 < self.elo1:
            raise ValueError(f"elo0 must be less than elo1, and {self.elo0:g} is not less than {self.elo1:g}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError("alpha and beta are more than 0 and less than 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        """LLR at or below the first accepts H0, at or above the second H1."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)


def support(players: int) -> tuple[float, ...]:
    """All scores that a set of full rotation can have, ascending: multiples of 1/(2n(n-1))."""
    steps = 2 * players * (players - 1)
    return tuple(k / steps for k in range(steps + 1))


def set_score(places: Sequence[Sequence[int]], new: int) -> Fraction:
    """The mean score of position ``new`` against each other position; ``places[game][position]``."""
    others = [position for position in range(len(places[0])) if position != new]
    halves = sum(2 * (game[new] < game[j]) + (game[new] == game[j]) for game in places for j in others)
    return Fraction(halves, 2 * len(places) * len(others))


def llr(scores: Sequence[float], counts: Sequence[float], hypotheses: Hypotheses) -> float:
    """Log likelihood ratio of H1 to H0 after ``counts[k]`` sets with ``scores[k]``."""
    filled = [count or UNSEEN for count in counts]
    total = sum(filled)
    p = [count / total for count in filled]
    q0, q1 = (_tilted(scores, p, expected(elo, 0.0)) for elo in (hypotheses.elo0, hypotheses.elo1))
    return total * sum(share * math.log(b / a) for share, a, b in zip(p, q0, q1, strict=True))


def _tilted(scores: Sequence[float], p: Sequence[float], mean: float) -> list[float]:
    """The distribution with that mean that is most likely to have given ``p``: p / (1 + x (score - mean))."""
    low, high = -1 / (max(scores) - mean), -1 / (min(scores) - mean)
    for _ in range(200):  # the sum falls with x; halving till no number lies between is exact enough and never diverges
        x = (low + high) / 2
        if not low < x < high:
            break
        if sum(share * (score - mean) / (1 + x * (score - mean)) for share, score in zip(p, scores, strict=True)) > 0:
            low = x
        else:
            high = x
    return [share / (1 + x * (score - mean)) for share, score in zip(p, scores, strict=True)]


@dataclass(slots=True)
class Sprt:
    """A test in progress. Sets are given as they finish, and counted in the order in which they were issued.

    Whichever set happens to take long would otherwise be left out more often when the test stops, and long games are not
    like short ones.
    """

    hypotheses: Hypotheses
    players: int
    counts: list[int] = field(init=False)
    consumed: int = 0
    _waiting: dict[int, Fraction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.counts = [0] * len(support(self.players))

    def add(self, number: int, score: Fraction) -> Verdict:
        """Set ``number`` (from 0, as issued) is over. Sets after the verdict are not counted."""
        self._waiting[number] = score
        while self.verdict is Verdict.CONTINUE and self.consumed in self._waiting:
            steps = self._waiting.pop(self.consumed) * (len(self.counts) - 1)
            if steps.denominator != 1:
                raise ValueError(f"a full set of {self.players} players cannot have the score {score}")
            self.counts[int(steps)] += 1
            self.consumed += 1
        return self.verdict

    @property
    def llr(self) -> float:
        """As of the sets consumed; 0 before the first."""
        return llr(support(self.players), self.counts, self.hypotheses) if self.consumed else 0.0

    @property
    def verdict(self) -> Verdict:
        """As of the sets consumed."""
        if self.consumed < LEAST_SETS:
            return Verdict.CONTINUE
        lower, upper = self.hypotheses.bounds
        now = self.llr
        return Verdict.H0 if now <= lower else Verdict.H1 if now >= upper else Verdict.CONTINUE

    def summary(self) -> Summary:
        """Score, Elo with its error, LOS. After a verdict the plain interval is biased: the test stopped because of it."""
        return summary_of(support(self.players), self.counts)


def summary_of(scores: Sequence[float], counts: Sequence[int]) -> Summary:
    """The summary of counted sets."""
    seen = [(score, count) for score, count in zip(scores, counts, strict=True) if count]
    found = summarise([score for score, _ in seen], [float(count) for _, count in seen])
    return replace(found, sets=sum(counts))
