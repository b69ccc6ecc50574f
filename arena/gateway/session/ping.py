"""Application pings: is the bot there, and how far away is it?"""

from __future__ import annotations

from collections import deque
from typing import Final

from arena.gateway.session.model import SessionLimits

SAMPLES: Final = 8


class Pinger:
    """The pings of one stream. The round trip is the least of the last few: a busy bot answers late, never early."""

    __slots__ = ("_heard_us", "_limits", "_nonce", "_samples_us", "_sent_us", "rtt_us")

    def __init__(self, limits: SessionLimits) -> None:
        self._limits = limits
        self._nonce = 0
        self._sent_us: int | None = None
        self._heard_us = 0
        self._samples_us: deque[int] = deque(maxlen=SAMPLES)
        self.rtt_us = 0

    def heard(self, now_us: int) -> None:
        """Something came from the bot."""
        self._heard_us = now_us

    def is_dead(self, now_us: int) -> bool:
        """Whether a ping waits for its answer and the bot has been silent for too long."""
        return self._sent_us is not None and now_us - self._heard_us >= self._limits.dead_after_us

    def next(self, now_us: int) -> int | None:
        """The nonce of a new ping; None while one is unanswered."""
        if self._sent_us is not None:
            return None
        self._nonce += 1
        self._sent_us = now_us
        return self._nonce

    def written(self, now_us: int) -> None:
        """The ping goes out now."""
        self._sent_us = now_us

    def pong(self, nonce: int, now_us: int) -> bool:
        """An answer. False if nothing of the sort was asked."""
        if self._sent_us is None or nonce != self._nonce:
            return False
        self._samples_us.append(max(0, now_us - self._sent_us))
        self._sent_us = None
        self.rtt_us = min(self._samples_us)
        return True
