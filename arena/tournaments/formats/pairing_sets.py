"""From the sets of a pairing to its result, and how many sets it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from arena.ratings.sprt import set_score
from arena.tournaments.formats.event import Pairing, Result

Places = Sequence[Sequence[int]]
"""Of a set: ``places[game][position]``, 1 for the first."""


def sets_wanted(pairing: Pairing, played: Mapping[int, Places], sets: int, extra_sets: int) -> int:
    """How many sets the pairing takes as far as is known: the first ``sets``, then one more at a time while it is level
    and must not be, at most ``extra_sets``."""
    if not pairing.decisive:
        return sets
    wanted = sets
    while wanted < sets + extra_sets and all(number in played for number in range(wanted)):
        scores = _means([played[number] for number in range(wanted)])
        if scores.count(max(scores)) == 1:
            break
        wanted += 1
    return wanted


def result_of(sets: Sequence[Places]) -> Result:
    """The result of a pairing from all of its sets."""
    return Result(tuple(float(score) for score in _means(sets)), len(sets))


def _means(sets: Sequence[Places]) -> list[Fraction]:
    """By position the mean set score against an opponent, exact, so that level is level."""
    positions = len(sets[0][0])
    return [sum((set_score(one, k) for one in sets), Fraction(0)) / len(sets) for k in range(positions)]
