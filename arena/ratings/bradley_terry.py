"""The official table: Bradley-Terry by maximum likelihood, with errors taken over sets.

Each pair of a game is a comparison, a tie counts as half of either; a weak Gaussian prior keeps the unbeaten finite. The
games of a set, and the pairs of a game, hang together, so that the plain Hessian is too sure of itself: the covariance is
the cluster sandwich

    V = H^-1 (sum over sets of g g^T) H^-1

with g the gradient of one set. Two corrections for few sets, without which a bot with one set would seem certain:
each set's gradient is divided by 1 minus its leverage, as in the jackknife (CR3), and a bot's variance is averaged with
:data:`PSEUDO_SETS` more of the ladder's mean dispersion.

Likelihood and covariance know differences alone. Ratings are shifted to the anchors for people to read; errors are those
against the mean of all bots, and ``variance of (i - j)`` is what decides who is better.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import coo_array, csr_array, diags_array, hstack
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, log_expit, ndtr

from arena.ratings.comparisons import Comparisons, Floats, Ints, of_results
from arena.ratings.entries import SetResult

ELO: Final = 400 / math.log(10)
"""Rating points of one unit of log odds."""
PRIOR_SD: Final = 250.0
"""Of the prior of each rating around the mean of all, in rating points: weak, an unbeaten bot is not at infinity."""
START: Final = 1000.0
"""Mean of a table without anchors."""
PSEUDO_SETS: Final = 10
LEAST_FREEDOM: Final = 0.5
"""Least of 1 minus a set's leverage: a bot's only set explains itself completely."""
DENSE_BOTS: Final = 2_000
"""Up to so many bots the Hessian is factored; beyond, equations are solved iteratively and errors sampled."""
PROBES: Final = 128
PROBES_AT_ONCE: Final = 32
COVERED: Final = 200
"""The best so many bots of a table have their covariance published."""
_PRECISION: Final = (ELO / PRIOR_SD) ** 2


@dataclass(frozen=True, slots=True)
class OfficialRow:
    """A version on the official table. ``standard_error`` against the mean of all bots.

    ``linked``: a chain of sets leads to an anchor; without one only the prior says where the bot stands.
    """

    version: int
    rating: float
    standard_error: float
    sets: int
    linked: bool


@dataclass(frozen=True, slots=True)
class OfficialTable:
    """Rows, best first. ``covariance`` is of the first rows, in points squared, as far as it is published.

    ``dispersion``: how much more results of a set vary than independent games would, 1 if not at all.
    """

    rows: tuple[OfficialRow, ...]
    covariance: Floats
    dispersion: float

    def error_of_difference(self, a: int, b: int) -> float:
        """Standard error of rating ``a`` minus rating ``b``, both ranks from 0 within the covariance."""
        v = self.covariance
        return math.sqrt(max(v[a, a] + v[b, b] - 2 * v[a, b], 0.0))

    def los(self) -> Floats:
        """:func:`superiority` of the rows whose covariance is published."""
        return superiority(np.array([row.rating for row in self.rows[: len(self.covariance)]]), self.covariance)


def superiority(ratings: Floats, covariance: Floats) -> Floats:
    """Likelihood of superiority [a, b]: the probability that a is truly better than b; 1/2 on the diagonal."""
    variances = np.diag(covariance)
    error = np.sqrt(np.maximum(variances[:, None] + variances[None, :] - 2 * covariance, 1e-12))
    los: Floats = ndtr((ratings[:, None] - ratings[None, :]) / error)
    np.fill_diagonal(los, 0.5)
    return los


def official_table(results: Iterable[SetResult], anchors: Mapping[int, float]) -> OfficialTable:
    """The table of all versions that played, shifted so that ``anchors`` have their ratings in the mean.

    Raises ValueError if nothing was played.
    """
    versions, data = of_results(results)
    fitted = fit(data)
    held = [k for k, version in enumerate(versions) if version in anchors]
    ratings = fitted.ratings + shift_to({k: anchors[versions[k]] for k in held}, fitted.ratings)
    order = np.argsort(-ratings, kind="stable")
    component = components(data)
    linked = np.isin(component, component[held]) if held else np.ones(len(versions), bool)
    played, errors = data.played(), fitted.standard_errors
    rows = tuple(
        OfficialRow(
            versions[k], round(float(ratings[k]), 6), round(float(errors[k]), 6), int(played[k]), bool(linked[k])
        )
        for k in order
    )
    return OfficialTable(rows, fitted.covariance(order[:COVERED]), fitted.dispersion)


def shift_to(anchors: Mapping[int, float], ratings: Floats) -> float:
    """What to add to centred ``ratings`` (by bot) so that the anchors (bot to rating) stand where they should."""
    if not anchors:
        return START
    return float(np.mean([rating - ratings[bot] for bot, rating in anchors.items()]))


def components(data: Comparisons) -> Ints:
    """The connected component of each bot: ratings compare within one only."""
    ones = np.ones(len(data.first))
    graph = coo_array((ones, (data.first, data.second)), shape=(data.bots, data.bots))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)


def fit(data: Comparisons) -> Fit:
    """Maximises the likelihood by Newton's method."""
    theta = np.zeros(data.bots)
    height = _log_posterior(data, theta)
    for _ in range(100):
        gradient, hessian = _derivatives(data, theta)
        step = _Solver(hessian).solve(gradient[:, None])[:, 0]
        rate = 1.0
        while (reached := _log_posterior(data, theta + rate * step)) < height and rate > 1e-6:
            rate /= 2
        theta, height = theta + rate * step, max(height, reached)
        if np.abs(step).max() < 1e-9:
            break
    return Fit(data, theta - theta.mean())


class Fit:
    """The most likely ratings of :class:`Comparisons`, and how sure they are. Bots by index, rating points."""

    def __init__(self, data: Comparisons, theta: Floats) -> None:
        self._data = data
        self._theta = theta
        self._solver = _Solver(_derivatives(data, theta)[1])
        self._gradients = _set_gradients(data, theta, self._solver.diagonal)

    @property
    def ratings(self) -> Floats:
        """(bots,), their mean is 0."""
        return self._theta * ELO

    @cached_property
    def dispersion(self) -> float:
        """Mean square of the sets' gradients over what independent games would give, and 1 over a few sets more."""
        expected = float(self._solver.diagonal.sum()) / self._data.sets
        found = float(self._gradients.multiply(self._gradients).sum()) / expected
        return (found + PSEUDO_SETS) / (self._data.sets + PSEUDO_SETS)

    @cached_property
    def standard_errors(self) -> Floats:
        """(bots,), of each rating against the mean of all."""
        return np.sqrt(self._variances) * self._scale

    @cached_property
    def plain_errors(self) -> Floats:
        """(bots,), what the Hessian alone would say, as if every comparison were independent: too small."""
        return np.sqrt(self._inverse_diagonal) * ELO

    def covariance(self, bots: Ints) -> Floats:
        """(k, k) between some bots: variances as in :attr:`standard_errors`."""
        unit = np.zeros((self._data.bots, len(bots)))
        unit[bots, np.arange(len(bots))] = 1
        columns = _centred(self._solver.solve(unit))
        raw = np.asarray(columns.T @ (self._meat @ columns))
        sampled = self._variances[bots] / np.maximum(np.diag(raw), 1e-300)
        scale = np.sqrt(sampled) * self._scale[bots]
        return np.asarray(raw * scale[:, None] * scale[None, :])

    @cached_property
    def _meat(self) -> csr_array[Any]:
        return csr_array(self._gradients @ self._gradients.T)

    @cached_property
    def _scale(self) -> Floats:
        """From the sandwich's errors, in log odds, to published ones: few sets are helped by all the others."""
        played = self._data.played()
        typical = self.dispersion * self._inverse_diagonal
        variances = np.maximum(self._variances, 1e-300)
        mixed = (played * variances + PSEUDO_SETS * typical) / (played + PSEUDO_SETS)
        return np.sqrt(mixed / variances) * ELO

    @cached_property
    def _inverse_diagonal(self) -> Floats:
        """(bots,), of the inverse Hessian, in the frame where the mean of all ratings is 0."""
        if self._solver.dense:
            return np.diag(_centred(self._solver.inverse)).copy()
        near = np.asarray(1 / self._solver.diagonal)  # many bots: what their neighbours' errors add is small
        return np.asarray(near)

    @cached_property
    def _variances(self) -> Floats:
        """(bots,), the sandwich's diagonal."""
        if self._solver.dense:
            inverse = _centred(self._solver.inverse)
            return np.asarray(((self._meat @ inverse) * inverse).sum(axis=0))
        return self._sampled_variances()

    def _sampled_variances(self) -> Floats:
        """Random signs z of the sets: the mean of (H^-1 G z)^2 is the diagonal of H^-1 G G^T H^-1.

        The same signs through the diagonal of H alone, of which the answer is known, take most of the noise off.
        """
        rng = np.random.default_rng(0)
        diagonal = self._solver.diagonal
        known = np.asarray(self._gradients.multiply(self._gradients).sum(axis=1)).ravel() / diagonal**2
        added = np.zeros(self._data.bots)
        for _ in range(PROBES // PROBES_AT_ONCE):
            pushed = self._gradients @ rng.choice([-1.0, 1.0], (self._gradients.shape[1], PROBES_AT_ONCE))
            exact, rough = _centred(self._solver.solve(pushed)), pushed / diagonal[:, None]
            added += (exact**2 - rough**2).sum(axis=1)
        return np.asarray(np.maximum(known + added / PROBES, known / 4))


def _centred(columns: Floats) -> Floats:
    """Each column with its mean taken off: the frame in which the mean of all ratings is 0."""
    return np.asarray(columns - columns.mean(axis=0))


def _log_posterior(data: Comparisons, theta: Floats) -> float:
    difference = theta[data.first] - theta[data.second]
    likelihood = data.score * log_expit(difference) + (data.games - data.score) * log_expit(-difference)
    return float(likelihood.sum() - _PRECISION / 2 * (theta**2).sum())


def _derivatives(data: Comparisons, theta: Floats) -> tuple[Floats, csr_array[Any]]:
    """Gradient and negative Hessian of the log posterior."""
    p = expit(theta[data.first] - theta[data.second])
    residual, information = data.score - data.games * p, data.games * p * (1 - p)
    gradient = _sum_by(data.first, residual, data.bots) - _sum_by(data.second, residual, data.bots)
    diagonal = _sum_by(data.first, information, data.bots) + _sum_by(data.second, information, data.bots)
    pairs = coo_array((information, (data.first, data.second)), shape=(data.bots, data.bots)).tocsr()
    hessian = diags_array(diagonal + _PRECISION) - pairs - pairs.T
    return gradient - _PRECISION * theta, csr_array(hessian)


def _set_gradients(data: Comparisons, theta: Floats, diagonal: Floats) -> csr_array[Any]:
    """(bots, sets + bots): each set's gradient over 1 minus its leverage, how much of the fit is its own doing.

    The prior is one more observation of each bot; without it the unbeaten would seem certain.
    """
    p = expit(theta[data.first] - theta[data.second])
    residual, information = data.score - data.games * p, data.games * p * (1 - p)
    own = _sum_by(data.of_set, information / diagonal[data.first] + information / diagonal[data.second], data.sets)
    pairs = np.bincount(data.of_set, minlength=data.sets)
    players = (1 + np.sqrt(1 + 8 * pairs)) / 2
    freedom = np.maximum(1 - own / np.maximum(players - 1, 1), LEAST_FREEDOM)
    scaled = residual / freedom[data.of_set]
    values = np.concatenate([scaled, -scaled])
    rows, columns = np.concatenate([data.first, data.second]), np.concatenate([data.of_set, data.of_set])
    of_sets = coo_array((values, (rows, columns)), shape=(data.bots, data.sets))
    return csr_array(hstack([of_sets, diags_array(np.full(data.bots, math.sqrt(_PRECISION)))]))


def _sum_by(keys: Ints, values: Floats, length: int) -> Floats:
    return np.asarray(np.bincount(keys, values, minlength=length), np.float64)


class _Solver:
    """Solves H x = b for a sparse, symmetric, positive definite H."""

    def __init__(self, hessian: csr_array[Any]) -> None:
        self._hessian = hessian
        self.diagonal: Floats = hessian.diagonal()
        self.dense = hessian.shape[0] <= DENSE_BOTS
        self._factor = cho_factor(hessian.toarray()) if self.dense else None

    @cached_property
    def inverse(self) -> Floats:
        return self.solve(np.eye(self._hessian.shape[0]))

    def solve(self, columns: Floats) -> Floats:
        """(bots, k) for right-hand sides (bots, k)."""
        if self._factor is not None:
            return np.asarray(cho_solve(self._factor, columns))
        return self._conjugate_gradients(columns)

    def _conjugate_gradients(self, columns: Floats) -> Floats:
        """For all columns at once, preconditioned with the diagonal: ladders are well connected, so few rounds do."""
        x = np.zeros_like(columns)
        rest = columns.copy()
        direction = rest / self.diagonal[:, None]
        strength = (rest * direction).sum(axis=0)
        goal = 1e-20 * np.maximum(strength, 1e-300)
        for _ in range(10 * len(x)):
            if (strength <= goal).all():
                break
            image = self._hessian @ direction
            along = strength / np.maximum((direction * image).sum(axis=0), 1e-300)
            x += along * direction
            rest -= along * image
            pushed = rest / self.diagonal[:, None]
            before, strength = strength, (rest * pushed).sum(axis=0)
            direction = pushed + strength / np.maximum(before, 1e-300) * direction
        return x
