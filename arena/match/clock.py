"""Clocks of the seats, in integer milliseconds, fed with durations that others measured."""

from __future__ import annotations

from typing import NamedTuple

from arena.match.spec import TimeControl

NETWORK_QUOTA_MS = 500
"""What the network may cost a seat before its own clock pays; also the most that the quota refills to."""
NETWORK_REFILL_MS = 100
"""How much of the quota comes back with each decision: a round trip up to this is never charged."""


class Charge(NamedTuple):
    """What one decision cost: ``charged_ms`` from the clock, ``network_ms`` from the allowance."""

    charged_ms: int
    network_ms: int


class SeatClock:
    """One seat's bank and network allowance.

    The allowance covers the round trip as the arena's own pings measured it, never what a client claims, out of a quota
    that refills with each decision; so a bot that answers pings late, to seem far away, gains the quota once and the refill
    with each decision, as one that is that far away does (after scalachess' LagTracker).
    """

    __slots__ = ("_control", "bank_ms", "last", "quota_ms")

    def __init__(self, control: TimeControl) -> None:
        self._control = control
        self.bank_ms = control.bank_ms
        self.quota_ms = NETWORK_QUOTA_MS
        self.last = Charge(0, 0)

    def limit_ms(self, timer_ms: int | None) -> int:
        """How long the next decision may take; the rules' own timer, where there is one, stands in for the clock."""
        if timer_ms is not None:
            return timer_ms
        cap = self._control.move_cap_ms
        return min(self.bank_ms, cap) if cap else self.bank_ms

    def charge(self, elapsed_us: int, rtt_us: int, timer_ms: int | None) -> Charge:
        """Takes one decision off the clock and says what it cost. The caller compares it with the limit first given."""
        elapsed_ms = max(0, elapsed_us) // 1000
        network_ms = min(max(0, rtt_us) // 1000, self.quota_ms, elapsed_ms)
        self.quota_ms = min(NETWORK_QUOTA_MS, self.quota_ms - network_ms + NETWORK_REFILL_MS)
        self.last = Charge(elapsed_ms - network_ms, network_ms)
        if timer_ms is None:
            self.bank_ms = max(0, self.bank_ms - self.last.charged_ms) + self._control.increment_ms
        return self.last
