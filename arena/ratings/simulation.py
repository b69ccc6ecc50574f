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
from arena.ratings.elo import expected
from arena.ratings.sprt import LEAST_SETS, UNSEEN, Hypotheses

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


@dataclass(frozen=True, slots=True)
class SprtRuns:
    """Many tests at one true difference. ``first_run``: the scores of the first, in steps of the support."""

    runs: int
    accepted_h1: float
    mean_sets: float
    most_sets: int
    first_run: tuple[int, ...]


def sprt_runs(
    runs: int,
    hypotheses: Hypotheses,
    elo: float,
    *,
    players: int,
    shared: bool,
    seed: int,
    on_end: Callable[[int], None] = lambda ended: None,
) -> SprtRuns:
    """Runs tests of a new version that is truly ``elo`` better than the copies of the old one beside it, all in step."""
    rng = np.random.default_rng(seed)
    steps = 2 * players * (players - 1)
    ratings = np.zeros((runs, players))
    ratings[:, 0] = elo
    counts = np.zeros((runs, steps + 1))
    lower, upper = hypotheses.bounds
    sets, accepted = np.zeros(runs, np.int64), np.zeros(runs, bool)
    running = np.arange(runs)
    first_run: list[int] = []
    while len(running):
        places = play(ratings[running], players, rng, shared=shared)
        mine, others = places[:, :, :1], places[:, :, 1:]
        scores = (2 * (mine < others) + (mine == others)).sum(axis=(1, 2))
        if running[0] == 0:
            first_run.append(int(scores[0]))
        counts[running, scores] += 1
        sets[running] += 1
        if sets[running[0]] < LEAST_SETS:
            continue
        ratio = _llrs(counts[running], hypotheses)
        accepted[running[ratio >= upper]] = True
        over = (ratio <= lower) | (ratio >= upper)
        running = running[~over]
        on_end(int(over.sum()))
    return SprtRuns(runs, float(accepted.mean()), float(sets.mean()), int(sets.max()), tuple(first_run))


def _llrs(counts: Floats, hypotheses: Hypotheses) -> Floats:
    """:func:`arena.ratings.sprt.llr` of (runs, scores) counts."""
    filled = np.where(counts == 0, UNSEEN, counts)
    total = filled.sum(axis=1)
    p = filled / total[:, None]
    scores = np.linspace(0, 1, counts.shape[1])
    q0, q1 = (_tilts(scores - expected(elo, 0.0), p) for elo in (hypotheses.elo0, hypotheses.elo1))
    return np.asarray(total * (p * np.log(q0 / q1)).sum(axis=1))


def _tilts(away: Floats, p: Floats) -> Floats:
    """(runs, scores) of 1 + x (score - mean), ``away`` being score - mean, by halving the interval of x."""
    low, high = np.full(len(p), -1 / away.max()), np.full(len(p), -1 / away.min())
    for _ in range(45):
        x = (low + high) / 2
        rising = (p * away / (1 + x[:, None] * away)).sum(axis=1) > 0
        low, high = np.where(rising, x, low), np.where(rising, high, x)
    return np.asarray(1 + ((low + high) / 2)[:, None] * away)
