"""The clock by which bots are charged: it does not pass while this process itself is late."""

from __future__ import annotations

import asyncio
import time
from typing import Final

TICK_US: Final = 20_000
SLACK_US: Final = 3_000
"""Lateness of a tick that is ordinary and within any allowance for the network."""


class LoopClock:
    """Monotonic microseconds less the time by which the running event loop was late.

    A tick every 20 ms measures how late the loop runs. A process that was stopped, swamped or collecting garbage so
    takes nothing from any bot whose clock ran through it: for its clocks that time has not been.
    """

    def __init__(self) -> None:
        self._late_us = 0
        self._expected_us: int | None = None
        self._handle: asyncio.TimerHandle | None = None

    @property
    def late_us(self) -> int:
        """All lateness so far."""
        return self._late_us

    def start(self) -> None:
        """Measure the running loop from now on."""
        self._arm()

    def stop(self) -> None:
        """Measure no more."""
        if self._handle is not None:
            self._handle.cancel()
        self._handle = self._expected_us = None

    def now_us(self) -> int:
        """The time; it never goes back."""
        monotonic_us = time.monotonic_ns() // 1000
        if self._expected_us is not None and (overdue_us := monotonic_us - self._expected_us - SLACK_US) > 0:
            return monotonic_us - self._late_us - overdue_us
        return monotonic_us - self._late_us

    def _arm(self) -> None:
        self._expected_us = time.monotonic_ns() // 1000 + TICK_US
        self._handle = asyncio.get_running_loop().call_later(TICK_US / 1e6, self._tick)

    def _tick(self) -> None:
        assert self._expected_us is not None
        self._late_us += max(0, time.monotonic_ns() // 1000 - self._expected_us - SLACK_US)
        self._arm()
