"""A final that goes on until the order is certain enough.

The finalists play cycles: every table that can be made of them, once a cycle. After each the probability that A is truly
better than B comes from the official table's arithmetic over the sets of the final: Bradley-Terry with errors over sets. It
ends when that is at least ``certainty`` for each neighbouring pair of the places that matter, or with the sets.

Looking after every cycle makes a plain 95 % too sure of itself, as with any test that stops when it likes what it sees:
``CYCLES_FIRST`` cycles come before the first look, and docs/tournaments.md says how often the order was right in simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from arena.ratings.entries import SetResult
from arena.tournaments.formats.event import Event, Pairing

CYCLES_FIRST = 5


@dataclass(frozen=True, slots=True)
class Order:
    """The finalists, best first, and P(each is better than the next), one fewer than finalists."""

    names: tuple[str, ...]
    above: tuple[float, ...]
    sets: int

    def certain(self, places: int, certainty: float) -> bool:
        """Whether the first ``places`` places are sure."""
        return bool(self.above) and min(self.above[:places]) >= certainty


def order_of(finalists: Sequence[str], sets: Sequence[tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]]) -> Order:
    """What the sets, each (names by position, places[game][position]), say of the finalists, given by seed."""
    from arena.ratings.bradley_terry import official_table  # noqa: PLC0415 - scipy is slow to import

    numbers = {name: number for number, name in enumerate(finalists)}
    results = [
        SetResult(str(number), tuple(numbers[name] for name in names), places)
        for number, (names, places) in enumerate(sets)
        if names and all(name in numbers for name in names)
    ]
    if not results:
        return Order(tuple(finalists), tuple(0.5 for _ in finalists[1:]), 0)
    table = official_table(results, {})
    ranked = [finalists[row.version] for row in table.rows]
    los = table.los()
    above = [float(los[k, k + 1]) for k in range(len(ranked) - 1)]
    missing = [name for name in finalists if name not in ranked]
    return Order((*ranked, *missing), (*above, *(0.5 for _ in missing)), len(results))


@dataclass(frozen=True, slots=True)
class FinalCycles:
    """The next cycle's pairings; the runner asks for one after each look at the order. ``seats`` a table."""

    seats: int
    max_sets: int
    late_entries: bool = False

    def rounds(self, entrants: int) -> int:
        if entrants < self.seats:
            raise ValueError(f"{entrants} finalists do not fill a table of {self.seats}")
        return max(1, self.max_sets // comb(entrants, self.seats))

    def next_pairings(self, event: Event) -> tuple[Pairing, ...]:
        """Empty once another cycle would go beyond ``max_sets``; whether it is certain, the caller knows."""
        number = event.last_round + 1
        names = [entrant.name for entrant in event.active(number)]
        tables = list(combinations(names, self.seats))
        if event.open or not tables or len(event.pairings) + len(tables) > self.max_sets:
            return ()
        return tuple(Pairing(f"f{number}.{k}", number, table, "final") for k, table in enumerate(tables, 1))
