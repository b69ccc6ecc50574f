"""How a bot behaves: the messages it sends unasked, its strikes, and when it is out."""

from __future__ import annotations

from collections import deque

from arena.gateway.session.model import SECOND_US, SessionLimits


class TokenBucket:
    """``rate`` tokens a second, at most ``burst`` of them."""

    __slots__ = ("_at_us", "_burst_us", "_cost_us")

    def __init__(self, rate: int, burst: int) -> None:
        # Kept as the time at which the bucket is full again: one integer, no drift.
        self._cost_us = SECOND_US // rate
        self._burst_us = self._cost_us * burst
        self._at_us = 0

    def take(self, now_us: int, tokens: int = 1) -> bool:
        """Take tokens; False, and nothing taken, if there are not so many."""
        full_at_us = max(self._at_us, now_us) + tokens * self._cost_us
        if full_at_us - now_us > self._burst_us:
            return False
        self._at_us = full_at_us
        return True

    def charge(self, now_us: int) -> None:
        """Take a token even if there is none: what is owed is paid with time."""
        self._at_us = max(self._at_us, now_us) + self._cost_us

    def empty(self, now_us: int) -> bool:
        """Whether no token is left."""
        return max(self._at_us, now_us) + self._cost_us - now_us > self._burst_us

    def refill(self) -> None:
        """Make it full."""
        self._at_us = 0


class Conduct:
    """What is remembered of a bot across its sessions and streams."""

    __slots__ = ("_bucket", "_limits", "_strikes_us", "out_until_us")

    def __init__(self, limits: SessionLimits) -> None:
        self._limits = limits
        self._bucket = TokenBucket(limits.messages_per_s, limits.message_burst)
        self._strikes_us: deque[int] = deque(maxlen=limits.strikes)
        self.out_until_us = 0

    def unasked(self, now_us: int, messages: int = 1) -> bool:
        """Count messages that nobody asked for. False: too many, which is worth a strike."""
        return self._bucket.take(now_us, messages)

    def strike(self, now_us: int) -> bool:
        """Give a strike. True: it was one too many within the time that strikes are remembered; the bot is out."""
        self._bucket.refill()
        self._strikes_us.append(now_us)
        full = len(self._strikes_us) == self._limits.strikes
        if full and now_us - self._strikes_us[0] <= self._limits.out_us:
            self._strikes_us.clear()
            self.out_until_us = now_us + self._limits.out_us
            return True
        return False

    def forgettable(self, now_us: int) -> bool:
        """True if nothing would change by forgetting it."""
        recent = self._strikes_us and now_us - self._strikes_us[-1] <= self._limits.out_us
        return not recent and now_us >= self.out_until_us
