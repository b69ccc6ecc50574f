"""What a gateway counts, apart for each bot: bots are labels of metrics, and labels must stay few."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from arena.gateway.session.model import Tally

NAMED: Final = 100
"""Bots with a tally of their own, the first that came; those after them share one."""
OTHERS: Final = "(others)"
"""The name of what they share; no bot can be called so."""


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

    def total(self) -> Tally:
        """Everything together, at this moment."""
        total = Tally()
        for tally in (self.own, *list(self._bots.values())):
            total.counts.update(dict(tally.counts))
            total.latency_counts = [*map(sum, zip(total.latency_counts, tally.latency_counts, strict=True))]
            total.latency_sum_us += tally.latency_sum_us
        return total
