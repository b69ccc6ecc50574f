"""Sets as arrays: who was compared with whom, and how it went."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from arena.ratings.entries import SetResult

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Comparisons:
    """One row for each pair of positions of each set; a bot is never compared with itself.

    Bots are 0..``bots``-1, sets 0..``sets``-1. ``score`` is the first bot's sum over ``games`` of 1, 1/2 or 0.
    """

    bots: int
    sets: int
    of_set: Ints
    first: Ints
    second: Ints
    score: Floats
    games: Floats

    def played(self) -> Ints:
        """In how many sets each bot was compared."""
        keys = np.unique(np.concatenate([self.first * self.sets + self.of_set, self.second * self.sets + self.of_set]))
        return np.bincount(keys // max(self.sets, 1), minlength=self.bots)


def comparisons(tables: Ints, places: Ints, bots: int) -> Comparisons:
    """Sets of one shape: ``tables`` (sets, n) are bots by position, ``places`` (sets, games, n)."""
    sets, players = tables.shape
    games = places.shape[1]
    pairs = np.array(list(combinations(range(players), 2)))
    mine, theirs = places[:, :, pairs[:, 0]], places[:, :, pairs[:, 1]]
    score = ((mine < theirs) + (mine == theirs) / 2).sum(axis=1)  # (sets, pairs)
    first, second = tables[:, pairs[:, 0]].ravel(), tables[:, pairs[:, 1]].ravel()
    of_set = np.repeat(np.arange(sets), len(pairs))
    other = first != second
    return Comparisons(
        bots=bots,
        sets=sets,
        of_set=of_set[other],
        first=first[other],
        second=second[other],
        score=score.ravel()[other],
        games=np.full(int(other.sum()), float(games)),
    )


def joined(parts: Sequence[Comparisons]) -> Comparisons:
    """Comparisons of the same bots over the sets of all parts, one after the other."""
    offsets = np.cumsum([0, *(part.sets for part in parts)])
    return Comparisons(
        bots=parts[0].bots,
        sets=int(offsets[-1]),
        of_set=np.concatenate([part.of_set + offset for part, offset in zip(parts, offsets, strict=False)]),
        first=np.concatenate([part.first for part in parts]),
        second=np.concatenate([part.second for part in parts]),
        score=np.concatenate([part.score for part in parts]),
        games=np.concatenate([part.games for part in parts]),
    )


def of_results(results: Iterable[SetResult]) -> tuple[tuple[int, ...], Comparisons]:
    """The versions that played, ascending, and their comparisons; bot k is the k-th version. Raises ValueError if none."""
    by_shape: dict[tuple[int, int], list[SetResult]] = {}
    for result in results:
        by_shape.setdefault((len(result.versions), len(result.places)), []).append(result)
    if not by_shape:
        raise ValueError("no set was played")
    tables = [np.array([one.versions for one in alike], np.int64) for alike in by_shape.values()]
    versions = np.unique(np.concatenate([table.ravel() for table in tables]))
    parts = [
        comparisons(np.searchsorted(versions, table), np.array([one.places for one in alike], np.int64), len(versions))
        for table, alike in zip(tables, by_shape.values(), strict=True)
    ]
    return tuple(versions.tolist()), joined(parts)
