"""Live Elo for n players a game, updated after every set.

For the bot on position i of a table of n:

    R_i += K_i / (n-1) * sum over j of w_j * (S_ij - E_ij)

S_ij is the mean over the set's games of 1, 1/2 or 0; E_ij = 1 / (1 + 10^((R_j - R_i) / 400)); everything from before
the set. K falls with play, and an opponent counts the less, the less its own rating is known: w_j rises from 1/4 for a
newcomer to 1 for an established bot (the scheme of CGOS). K is kept as its two-player equivalent; at a larger table it
is scaled so that the ratings of equal bots fluctuate alike whatever n is.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from itertools import combinations, pairwise
from typing import Final, NamedTuple

K_NEW: Final = 64.0
K_ESTABLISHED: Final = 10.0
FAST_DECAY: Final = 0.04
SLOW_DECAY: Final = 0.02
SLOW_FROM_K: Final = 32.0
LEAST_WEIGHT: Final = 0.25
ELO_SLOPE: Final = math.log(10) / 1600
"""Change of the expected score per point of rating, between equals."""
PRIOR_SE: Final = 350.0
"""Standard error of a rating that nothing is known about."""


class Rated(NamedTuple):
    """A rating before or after a set. ``k2``: K as at a table of two. An anchor never moves."""

    rating: float
    k2: float = K_NEW
    anchor: bool = False


def expected(rating: float, opponent: float) -> float:
    """Expected score, 0..1, against one opponent."""
    return 1 / (1 + 10 ** ((opponent - rating) / 400))


def k_at_table(k2: float, players: int) -> float:
    """K of a table of ``players`` at which equal bots' ratings fluctuate as with ``k2`` at a table of two."""
    return k2 * 3 * (players - 1) / (players + 1)


def weight(opponent: Rated) -> float:
    """How much a result against ``opponent`` counts, 1/4..1."""
    if opponent.anchor:
        return 1.0
    return max(LEAST_WEIGHT, 1 - (opponent.k2 - K_ESTABLISHED) / (K_NEW - K_ESTABLISHED))


def decayed(k2: float, mean_weight: float) -> float:
    """K after a set against opponents of that mean weight."""
    rate = SLOW_DECAY if k2 <= SLOW_FROM_K else FAST_DECAY
    return max(K_ESTABLISHED, k2 * (1 - rate * mean_weight))


def rounded(rating: float) -> float:
    """What is kept of a rating: 1e-6, so that other machines' last bits do not add up."""
    return round(rating, 6)


@lru_cache(maxsize=10_000)
def leads(game: tuple[int, ...]) -> tuple[int, ...]:
    """From one game's places by position, for each pair of positions i < j in order: 1, 0 or -1, i ahead of j or behind.

    There are few ways to end a game, and ledgers are long.
    """
    return tuple((mine < other) - (mine > other) for mine, other in combinations(game, 2))


def update(table: Sequence[Rated], places: Sequence[Sequence[int]]) -> tuple[Rated, ...]:
    """The ratings of a table, by position, after a set; ``places[game][position]``.

    Raises ValueError if a game has places for another number of positions.
    """
    n = len(table)
    if n < 2 or not places or any(len(game) != n for game in places):
        raise ValueError(f"a table of {n} needs at least one game, each with {n} places")
    lead = [sum(lead) for lead in zip(*(leads(tuple(game)) for game in places), strict=True)]
    return tuple(updated(table, lead, len(places)))


def updated(table: Sequence[Rated], lead: Sequence[int], games: int) -> list[Rated]:
    """As :func:`update`; ``lead`` is the sum of :func:`leads` over so many games."""
    n = len(table)
    weights = [weight(bot) for bot in table]
    all_weights = sum(weights)
    surprises = [0.0] * n
    for (i, j), ahead in zip(_pairs(n), lead, strict=True):
        surprise = (games + ahead) / (2 * games) - expected(table[i].rating, table[j].rating)
        surprises[i] += weights[j] * surprise
        surprises[j] -= weights[i] * surprise
    scale = k_at_table(1.0, n) / (n - 1)
    return [
        bot
        if bot.anchor
        else Rated(
            round(bot.rating + scale * bot.k2 * surprise, 6),
            round(decayed(bot.k2, (all_weights - own) / (n - 1)), 6),
        )
        for bot, surprise, own in zip(table, surprises, weights, strict=True)
    ]


@cache
def _pairs(n: int) -> tuple[tuple[int, int], ...]:
    return tuple(combinations(range(n), 2))


def standard_error(games: int, players: int, *, before: float = PRIOR_SE) -> float:
    """Approximate standard error of a rating after so many games at tables of that size, on top of what was known.

    From the variance of one game's mean score among equals, (n+1)/(12(n-1)), and the error ``before``: 350, or what the
    last official table has measured.
    """
    variance = (players + 1) / (12 * (players - 1)) / ELO_SLOPE**2
    return math.sqrt(1 / (1 / before**2 + games / variance))


def posterior(
    score: float, opponents: Collection[tuple[float, float]], players: int, *, mean: float, sd: float
) -> tuple[float, float]:
    """The most likely rating, with its standard error, of a bot of which little is known.

    ``score``: its sum over all comparisons with ``opponents``, (rating, games) each, whose ratings count as known. The
    prior is normal, with ``mean`` and ``sd``. Live ratings take dozens of games from the start to where a bot
    belongs, and are no guide to whom it should meet on the way. The pairs of a game hang together, and count for less.
    """
    independent = 3 / (players + 1)
    slope = math.log(10) / 400
    rating, precision = mean, 1 / sd**2
    for _ in range(30):
        chances = [(expected(rating, opponent), games) for opponent, games in opponents]
        surprise = score - sum(games * p for p, games in chances)
        precision = 1 / sd**2 + independent * slope**2 * sum(games * p * (1 - p) for p, games in chances)
        move = (independent * slope * surprise - (rating - mean) / sd**2) / precision
        rating += max(-400.0, min(400.0, move))
        if abs(move) < 0.1:
            break
    return rating, precision**-0.5


def information(difference: float, sd: float) -> float:
    """Mean of p(1-p) over a normal difference of ratings: how much one game between the two would teach, 0..1/4."""
    total = 0.0
    for low, high in pairwise(_QUANTILES):
        p = expected(difference + sd * (low + high) / 2, 0.0)
        total += p * (1 - p)
    return total / (len(_QUANTILES) - 1)


_QUANTILES: Final = (-2.4, -1.2816, -0.8416, -0.5244, -0.2533, 0.0, 0.2533, 0.5244, 0.8416, 1.2816, 2.4)
"""Deciles of the normal distribution, its tails cut at the means of the outer tenths."""
