"""How long bots wait for a choice of opponents, which of them sit out because they did not answer, and whose turn it is.

The memory of one scheduler: nothing is lost with it but a little patience.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

from arena.ladder.book import InFlight

MOST_PATIENCE_MS: Final = 60_000
TURN_MS: Final = 10_000
SHARE: Final = 0.5
"""Of how long its last set on that ladder took: what a bot may wait. A fast bot hardly waits for slow ones."""
FIRST_REST_MS: Final = 10_000
LONGEST_REST_MS: Final = 600_000


@dataclass(slots=True)
class Patience:
    """``look`` once a round, then ask. Versions by id; times in ms on one clock."""

    _began: dict[str, tuple[int, InFlight]] = field(default_factory=dict)
    _took: dict[tuple[int, int], int] = field(default_factory=dict)
    _free_since: dict[int, int] = field(default_factory=dict)
    _rests: dict[int, tuple[int, int]] = field(default_factory=dict)

    def look(self, flying: Iterable[InFlight], now: int) -> None:
        """Notes which sets have begun and ended since the last look."""
        current = {one.set_id: one for one in flying}
        for set_id in self._began.keys() - current.keys():
            began, ended = self._began.pop(set_id)
            for version, _ in ended.seats:
                self._took[ended.ladder_id, version] = now - began
                self._free_since[version] = now
        for set_id in current.keys() - self._began.keys():
            self._began[set_id] = (now, current[set_id])
            for version, _ in current[set_id].seats:
                self._free_since[version] = now

    def patient(self, ladder_id: int, version: int, now: int) -> bool:
        """Whether a bot with a free seat should still wait for a better choice on a ladder."""
        took = self._took.get((ladder_id, version))
        return took is not None and now - self._free_since[version] < min(MOST_PATIENCE_MS, took * SHARE)

    def not_ready(self, versions: Collection[int], now: int) -> None:
        """These did not answer an offer: each sits out, twice as long each time in a row."""
        for version in versions:
            _, before = self._rests.get(version, (0, 0))
            rest = min(LONGEST_REST_MS, 2 * before or FIRST_REST_MS)
            self._rests[version] = (now + rest, rest)

    def answered(self, versions: Collection[int]) -> None:
        """These have played a set: whatever ailed them is over."""
        for version in versions:
            self._rests.pop(version, None)

    def rests(self, version: int, now: int) -> bool:
        """Whether it sits out."""
        until, _ = self._rests.get(version, (0, 0))
        return now < until


@dataclass(slots=True)
class Turns:
    """Trials and ladders take turns with the seats of a trial's bots: sets for one, then one for the other."""

    _given: dict[str, tuple[int, frozenset[int]]] = field(default_factory=dict)

    def took(self, trial_id: str, versions: Collection[int], now: int) -> None:
        """A trial has a set of these versions: it is the ladders' turn."""
        self._given[trial_id] = now, frozenset(versions)

    def played(self, versions: Collection[int]) -> None:
        """The ladders have sets with these versions: it is the turn of the trials that they are in."""
        for trial_id in [one for one, (_, waiting) in self._given.items() if not waiting.isdisjoint(versions)]:
            del self._given[trial_id]

    def has(self, trial_id: str, now: int) -> bool:
        """Whether it is the trial's turn; ladders that do not take theirs for a while have had it."""
        if trial_id not in self._given:
            return True
        since, _ = self._given[trial_id]
        return now - since >= TURN_MS
