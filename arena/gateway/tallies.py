"""What a gateway counts, apart for each bot: bots are labels of metrics, and labels must stay few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from arena.durations import NO_DURATIONS, Durations
from arena.gateway.session.model import Tally

NAMED: Final = 100
"""Bots with a tally of their own, the first that came; those after them share one."""
OTHERS: Final = "(others)"
"""The name of what they share; no bot can be called so."""


class Total(NamedTuple):
    """A sum of tallies."""

    counts: Counter[str]
    answers: Durations


class Tallies:
    """The counts of a gateway: its own, and those of its bots."""

    def __init__(self) -> None:
        self.own: Final = Tally()
        """What belongs to no bot."""
        self._bots: dict[str, Tally] = {}

    @property
    def bots(self) -> Mapping[str, Tally]:
        """By bot's name."""
        return MappingProxyType(self._bots)

    def of(self, bot: str) -> Tally:
        """Where a bot's sessions count."""
        name = bot if bot in self._bots or len(self._bots) < NAMED else OTHERS
        return self._bots.setdefault(name, Tally())

    def total(self) -> Total:
        """Everything together, at this moment."""
        counts: Counter[str] = Counter()
        answers = NO_DURATIONS
        for tally in (self.own, *list(self._bots.values())):
            counts.update(dict(tally.counts))
            answers += tally.answers.read()
        return Total(counts, answers)
