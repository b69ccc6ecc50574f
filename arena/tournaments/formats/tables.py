"""Tables: for games of more than two. Each round the field, sorted by points, is cut into tables from the top.

Then entrants of neighbouring tables change places as long as fewer of those who sit together have met before. Those who
do not fill a table have a bye: the last ones of those who have had the fewest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from arena.tournaments.formats.event import Entrant, Event, Pairing

PASSES = 20
BYE_SCORE = 0.5
"""What a bye is worth where a win of two is worth 1: as much as an average table."""


@dataclass(frozen=True, slots=True)
class Tables:
    """``length`` rounds of tables of ``seats``. Late entries join the next round with no points."""

    length: int
    seats: int
    late_entries: bool = True

    def rounds(self, entrants: int) -> int:
        if entrants < self.seats:
            raise ValueError(f"{entrants} entrants do not fill a table of {self.seats}")
        return self.length

    def next_pairings(self, event: Event) -> tuple[Pairing, ...]:
        number = event.last_round + 1
        active = event.active(number)
        if event.open or number > self.length or len(active) < self.seats:
            return ()
        points, byes, met = _past(event)
        order = sorted(active, key=lambda one: (-points[one.name], one.seed))
        resting = _resting(order, len(order) % self.seats, byes)
        seated = [one.name for one in order if one.name not in resting]
        tables = [seated[k : k + self.seats] for k in range(0, len(seated), self.seats)]
        separate(tables, met, points)
        made = [Pairing(f"r{number}.{k}", number, tuple(table)) for k, table in enumerate(tables, 1)]
        made += [Pairing(f"r{number}.{k}", number, (name,)) for k, name in enumerate(resting, len(made) + 1)]
        return tuple(made)


def separate(tables: list[list[str]], met: Counter[frozenset[str]], points: Mapping[str, float]) -> None:
    """Swaps entrants of neighbouring tables while that lessens repeats, or keeps them and the points apart less."""
    for _ in range(PASSES):
        changed = False
        for k in range(len(tables) - 1):
            while (swap := _best_swap(tables[k], tables[k + 1], met, points)) is not None:
                i, j = swap
                tables[k][i], tables[k + 1][j] = tables[k + 1][j], tables[k][i]
                changed = True
        if not changed:
            return


def _best_swap(
    upper: Sequence[str], lower: Sequence[str], met: Counter[frozenset[str]], points: Mapping[str, float]
) -> tuple[int, int] | None:
    """The exchange that lessens repeats most, of those the one between the closest in points; None if none does."""
    found: tuple[float, float, int, int] | None = None
    for i, one in enumerate(upper):
        for j, other in enumerate(lower):
            gain = (
                _repeats(one, upper, met)
                + _repeats(other, lower, met)
                - _repeats(other, [name for name in upper if name != one], met)
                - _repeats(one, [name for name in lower if name != other], met)
            )
            candidate = (-gain, abs(points[one] - points[other]), i, j)
            if gain > 0 and (found is None or candidate < found):
                found = candidate
    return None if found is None else found[2:]


def _repeats(name: str, table: Sequence[str], met: Counter[frozenset[str]]) -> int:
    """What it costs to sit there: a second meeting with the same one costs more than the first with two."""
    return sum((met[frozenset((name, other))] + 1) ** 2 - 1 for other in table if other != name)


def _resting(order: Sequence[Entrant], count: int, byes: Counter[str]) -> list[str]:
    fewest_last = sorted(range(len(order)), key=lambda k: (byes[order[k].name], -k))
    return [order[k].name for k in sorted(fewest_last[:count])]


def _past(event: Event) -> tuple[Mapping[str, float], Counter[str], Counter[frozenset[str]]]:
    """Points and byes of each entrant, and how often pairs have sat together."""
    points: defaultdict[str, float] = defaultdict(float)
    byes: Counter[str] = Counter()
    met: Counter[frozenset[str]] = Counter()
    for pairing, result in event.finished():
        if pairing.bye:
            byes[pairing.players[0]] += 1
            points[pairing.players[0]] += BYE_SCORE if not result.absent else 0
            continue
        for name, score in zip(pairing.players, result.scores, strict=True):
            points[name] += score
        met.update(frozenset(pair) for pair in combinations(pairing.players, 2))
    return points, byes, met
