"""What has happened in an event so far: its field, the pairings issued and their results.

A *pairing* is the unit that formats deal in: some entrants who play one or more full sets against each other, so that
each has sat on every seat. Its score for an entrant is the mean over those sets, 0..1 against an opponent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Entrant:
    """Somebody in the field. ``seed`` 1 is the strongest; ``enters``: the first round it plays, more than 1 if late."""

    name: str
    seed: int
    enters: int = 1
    withdrawn: bool = False


@dataclass(frozen=True, slots=True)
class Pairing:
    """Entrants who play each other; a single one has a bye. ``label`` says where in a bracket.

    ``decisive``: level pairings are played on, since somebody must advance.
    """

    id: str
    round: int
    players: tuple[str, ...]
    label: str = ""
    decisive: bool = False

    @property
    def bye(self) -> bool:
        return len(self.players) == 1


@dataclass(frozen=True, slots=True)
class Result:
    """How a pairing ended: ``scores`` in 0..1 by player, over ``sets`` sets; those ``absent`` did not play."""

    scores: tuple[float, ...]
    sets: int = 0
    absent: frozenset[str] = frozenset()

    @property
    def played(self) -> bool:
        return self.sets > 0 and not self.absent


WALKOVER_OF_TWO = 1.0
WALKOVER_OF_MORE = 0.5
"""At a table of more than two those who came are worth as much as at an average table: they have beaten one, not all."""


def walkover(pairing: Pairing, absent: frozenset[str]) -> Result:
    """The result of a pairing to which some did not come, whatever was played of it: 0 for them, a point for the others."""
    present = WALKOVER_OF_TWO if len(pairing.players) <= 2 else WALKOVER_OF_MORE
    return Result(tuple(0.0 if name in absent else present for name in pairing.players), 0, absent)


@dataclass(frozen=True)
class Event:
    """A moment of an event. ``entrants`` by seed, ``pairings`` in the order in which they were issued."""

    entrants: tuple[Entrant, ...]
    pairings: tuple[Pairing, ...] = ()
    results: Mapping[str, Result] = field(default_factory=dict)
    seats: int = 2

    @cached_property
    def by_name(self) -> dict[str, Entrant]:
        return {entrant.name: entrant for entrant in self.entrants}

    @cached_property
    def issued(self) -> dict[str, Pairing]:
        return {pairing.id: pairing for pairing in self.pairings}

    @property
    def open(self) -> tuple[Pairing, ...]:
        """Pairings without a result."""
        return tuple(pairing for pairing in self.pairings if pairing.id not in self.results)

    @property
    def last_round(self) -> int:
        """The last round of which a pairing was issued; 0 before the first."""
        return max((pairing.round for pairing in self.pairings), default=0)

    def finished(self) -> Iterator[tuple[Pairing, Result]]:
        """Pairings with their results, in the order in which they were issued."""
        for pairing in self.pairings:
            if (result := self.results.get(pairing.id)) is not None:
                yield pairing, result

    def active(self, round_number: int) -> tuple[Entrant, ...]:
        """Who may be paired in a round, by seed."""
        return tuple(one for one in self.entrants if not one.withdrawn and one.enters <= round_number)


class Format(Protocol):
    """A way of playing an event."""

    @property
    def late_entries(self) -> bool:
        """Whether somebody may enter once pairings are issued."""

    def rounds(self, entrants: int) -> int:
        """How many rounds so many entrants play, if nothing unforeseen happens. Raises ValueError if they cannot."""

    def next_pairings(self, event: Event) -> tuple[Pairing, ...]:
        """Pairings that can be issued now. With none, and none open, the event is over."""


def automatic_results(event: Event) -> dict[str, Result]:
    """Results that need no game: byes, and open pairings with somebody who has withdrawn."""
    found = {}
    for pairing in event.open:
        absent = frozenset(name for name in pairing.players if event.by_name[name].withdrawn)
        if absent:
            found[pairing.id] = walkover(pairing, absent)
        elif pairing.bye:
            found[pairing.id] = Result((WALKOVER_OF_TWO,))
    return found


def over(form: Format, event: Event) -> bool:
    """Whether everything is played."""
    return not event.open and not form.next_pairings(event)


def to_withdraw(event: Event, missed: int) -> frozenset[str]:
    """Entrants who did not come to their last ``missed`` pairings, byes not counted: they are taken out of the event."""
    streak: dict[str, int] = {}
    for pairing, result in event.finished():
        for name in () if pairing.bye else pairing.players:
            streak[name] = streak.get(name, 0) + 1 if name in result.absent else 0
    return frozenset(name for name, count in streak.items() if count >= missed and not event.by_name[name].withdrawn)
