"""Ladders whose truth is known, to check the arithmetic against.

A game ranks its bots by strength plus Gumbel luck (Plackett-Luce): each pair of it then follows Bradley-Terry exactly,
while the pairs of a game, and with a shared deal the games of a set, hang together as they do in play.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr

from arena.ratings.bradley_terry import ELO, fit
from arena.ratings.comparisons import Comparisons, Floats, Ints, comparisons

TRUE_SD: Final = 200.0
"""Spread of the simulated bots' true ratings."""
ESTABLISHED_SETS: Final = 30
SEAT_LUCK: Final = 0.9
"""Correlation of a seat's luck over the games of a shared deal."""


def play(ratings: Floats, games: int, rng: Generator, *, shared: bool, rotated: bool = True) -> Ints:
    """Places (sets, games, n) of sets of ``games`` games; ``ratings`` (sets, n) by position, in points.

    With a shared deal luck sticks to the seat: it is the same for whoever sits there in turn.
    """
    sets, n = ratings.shape
    position_at = np.array([[(seat + game * rotated) % n for seat in range(n)] for game in range(games)])
    if shared:
        common = rng.standard_normal((sets, 1, n))
        normal = SEAT_LUCK**0.5 * common + (1 - SEAT_LUCK) ** 0.5 * rng.standard_normal((sets, games, n))
        luck = -np.log(-np.log(np.clip(ndtr(normal), 1e-15, 1 - 1e-15)))
    else:
        luck = rng.gumbel(size=(sets, games, n))
    points = ratings[:, position_at] / ELO + luck  # (sets, games, seats)
    by_seat = (-points).argsort(axis=2).argsort(axis=2) + 1
    places = np.zeros((sets, games, n), np.int64)
    np.put_along_axis(places, np.broadcast_to(position_at, by_seat.shape), by_seat, axis=2)
    return places


def random_tables(bots: int, players: int, sets: int, rng: Generator, activity: Floats | None = None) -> Ints:
    """(sets, players) different bots each; ``activity`` (bots,): how much more often some play than others."""
    keys = rng.gumbel(size=(sets, bots))
    if activity is not None:
        keys += np.log(activity)
    return np.argpartition(-keys, players - 1, axis=1)[:, :players]


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often 95 % intervals held the truth, for ``bots`` bots with at least 30 sets each, over ``ladders`` ladders.

    ``ratings``: against the mean of all; ``differences``: of pairs of such bots; ``plain``: ratings with the plain Hessian's
    errors instead. ``bias``: of the ratings' error in its own standard errors.
    """

    ladders: int
    bots: int
    ratings: float
    differences: float
    plain: float
    bias: float


def coverage(
    ladders: int, *, players: int, bots: int, shared: bool, seed: int, on_ladder: Callable[[], None] = lambda: None
) -> Coverage:
    """Simulates ladders on which some bots play five times as much as others, and rates each officially."""
    rng = np.random.default_rng(seed)
    errors, hits, plain_hits, pair_hits = [], [], [], []
    for _ in range(ladders):
        truth, data = simulated_ladder(rng, players=players, bots=bots, shared=shared)
        fitted = fit(data)
        chosen = np.flatnonzero(data.played() >= ESTABLISHED_SETS)
        miss = (fitted.ratings - (truth - truth.mean()))[chosen]
        error = fitted.standard_errors[chosen]
        v = fitted.covariance(chosen)
        a, b = np.triu_indices(len(chosen), 1)
        apart = np.sqrt(v[a, a] + v[b, b] - 2 * v[a, b])
        errors.append(miss / error)
        hits.append(np.abs(miss) <= 1.96 * error)
        plain_hits.append(np.abs(miss) <= 1.96 * fitted.plain_errors[chosen])
        pair_hits.append(np.abs(miss[a] - miss[b]) <= 1.96 * apart)
        on_ladder()
    return Coverage(
        ladders=ladders,
        bots=sum(len(hit) for hit in hits),
        ratings=float(np.concatenate(hits).mean()),
        differences=float(np.concatenate(pair_hits).mean()),
        plain=float(np.concatenate(plain_hits).mean()),
        bias=float(np.concatenate(errors).mean()),
    )


def simulated_ladder(rng: Generator, *, players: int, bots: int, shared: bool) -> tuple[Floats, Comparisons]:
    """True ratings (bots,), and comparisons of sets with 50 for the mean bot."""
    truth = rng.normal(0, TRUE_SD, bots)
    activity = np.exp(rng.uniform(0, np.log(5), bots))
    tables = random_tables(bots, players, 50 * bots // players, rng, activity)
    places = play(truth[tables], players, rng, shared=shared)
    return truth, comparisons(tables, places, bots)
