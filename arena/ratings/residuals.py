"""What one number for each bot hides: pairs that do not go as the ratings say, and circles of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from scipy.special import expit

from arena.ratings.bradley_terry import ELO, fit
from arena.ratings.comparisons import Floats, Ints, of_results
from arena.ratings.entries import SetResult

LEAST_SETS: Final = 5
"""Pairs that met in fewer sets say nothing."""
MOST_IN_CIRCLES: Final = 120
"""Circles are looked for among the versions that played most."""


@dataclass(frozen=True, slots=True)
class PairResidual:
    """How two versions do against each other, and how their ratings say they should; scores are ``first``'s, 0..1.

    ``z``: the surprise in standard errors, taken over sets; more than 3 either way is odd, if few pairs are looked at.
    """

    first: int
    second: int
    sets: int
    score: float
    expected: float
    z: float


@dataclass(frozen=True, slots=True)
class Circle:
    """Each of three versions does better against the next than ratings allow; ``strength``: the least of the three z."""

    versions: tuple[int, int, int]
    pairs: tuple[PairResidual, PairResidual, PairResidual]
    strength: float


@dataclass(frozen=True, slots=True)
class Residuals:
    """All pairs that met often enough, by matrices over ``versions``; entries are [first, second], 0 where they did not."""

    versions: tuple[int, ...]
    sets: Ints
    score: Floats
    expected: Floats
    z: Floats

    def pair(self, a: int, b: int) -> PairResidual:
        """Of two indices into ``versions``."""
        return PairResidual(
            self.versions[a],
            self.versions[b],
            int(self.sets[a, b]),
            round(float(self.score[a, b]), 4),
            round(float(self.expected[a, b]), 4),
            round(float(self.z[a, b]), 2),
        )

    def odd_pairs(self, least_z: float = 3.0) -> tuple[PairResidual, ...]:
        """Pairs whose results their ratings do not explain, the oddest first; the first of a pair is who does too well."""
        odd = [self.pair(int(a), int(b)) for a, b in np.argwhere(self.z >= least_z)]
        return tuple(sorted(odd, key=lambda one: -one.z))

    def circles(self, most: int = 10) -> tuple[Circle, ...]:
        """The strongest circles of three, in which everybody also really wins more than half against the next."""
        wins = np.where(self.score > 0.5, self.z, 0.0)
        found = []
        for a, b, c in combinations(range(len(self.versions)), 3):
            for x, y, w in ((a, b, c), (a, c, b)):
                strength = min(wins[x, y], wins[y, w], wins[w, x])
                if strength > 0:
                    found.append((float(strength), (x, y, w)))
        found.sort(key=lambda one: -one[0])
        return tuple(self._circle(*of) for _, of in found[:most])

    def _circle(self, a: int, b: int, c: int) -> Circle:
        pairs = (self.pair(a, b), self.pair(b, c), self.pair(c, a))
        names = (self.versions[a], self.versions[b], self.versions[c])
        return Circle(names, pairs, min(one.z for one in pairs))


def residuals(results: Iterable[SetResult]) -> Residuals:
    """Of the versions that played most, by the official fit over all. Raises ValueError if nothing was played."""
    versions, data = of_results(results)
    theta = fit(data).ratings / ELO
    chosen = np.sort(np.argsort(-data.played(), kind="stable")[:MOST_IN_CIRCLES])
    place = np.full(data.bots, -1)
    place[chosen] = np.arange(len(chosen))
    kept = (place[data.first] >= 0) & (place[data.second] >= 0)
    first, second = place[data.first[kept]], place[data.second[kept]]
    games, score = data.games[kept], data.score[kept]
    expected = games * expit(theta[data.first[kept]] - theta[data.second[kept]])

    def both(forward: Floats, backward: Floats) -> Floats:
        summed = np.zeros((len(chosen), len(chosen)))
        np.add.at(summed, (first, second), forward)
        np.add.at(summed, (second, first), backward)
        return summed

    ones = np.ones(len(first))
    sets = both(ones, ones)
    played = np.maximum(both(games, games), 1.0)
    surprise, spread = score - expected, both((score - expected) ** 2, (score - expected) ** 2)
    # Few sets that all went alike would look certain: they get at least what independent games would vary.
    chance = both(expected * (1 - expected / games), expected * (1 - expected / games))
    enough = sets >= LEAST_SETS
    z = both(surprise, -surprise) / np.sqrt(np.maximum(np.maximum(spread, chance), 1e-9))
    return Residuals(
        versions=tuple(versions[k] for k in chosen),
        sets=sets.astype(np.int64),
        score=np.where(enough, both(score, games - score) / played, 0.0),
        expected=np.where(enough, both(expected, games - expected) / played, 0.0),
        z=np.where(enough, z, 0.0),
    )
