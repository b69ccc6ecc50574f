"""A decision that a bot was asked for, and its clock."""

from __future__ import annotations

from enum import Enum
from typing import Final

from botarena.internal.v1 import relay_pb2 as rpb
from botarena.v1 import play_pb2 as pb

MAX_WRITE_DELAY_US: Final = 100_000
"""A clock starts when its request is written, but a bot that does not read cannot put that off for longer."""


class DecisionState(Enum):
    """Where a decision stands."""

    OPEN = "open"
    ANSWERED = "answered"
    OVER = "over"


class Decision:
    """The newest decision of a game and its clock, which may stand still. Times are in us."""

    __slots__ = (
        "_request",
        "_since_us",
        "_unwritten",
        "_used_us",
        "answer",
        "away",
        "disconnected",
        "id",
        "limit_us",
        "state",
    )

    def __init__(self, ask: rpb.Ask, now_us: int, *, here: bool) -> None:
        """``here``: whether the bot is, so that it is about to be asked."""
        self.id: Final = ask.request.decision_id
        self.limit_us = ask.limit_ms * 1000
        self.state = DecisionState.OPEN
        self.answer: rpb.GatewayEvent | None = None
        """What the worker is told, as often as it asks."""
        self.away = not here
        """For some of its time the bot was not here. It may have been elsewhere: if that time runs out and the worker asks again
        all the same, that counts."""
        self.disconnected = False
        """Its time ran out while the bot was not here."""
        self._request: Final = ask.request
        self._used_us = ask.elapsed_ms * 1000
        self._since_us: int | None = now_us
        self._unwritten = here

    @property
    def is_open(self) -> bool:
        """True while an answer counts."""
        return self.state is DecisionState.OPEN

    @property
    def is_over(self) -> bool:
        """True once no answer came in time, or it was withdrawn."""
        return self.state is DecisionState.OVER

    @property
    def deadline_us(self) -> int | None:
        """When time runs out; None while the clock stands still."""
        return None if self._since_us is None else self._since_us + self.limit_us - self._used_us

    def elapsed_us(self, now_us: int) -> int:
        """What is used up by now."""
        running = 0 if self._since_us is None else max(0, now_us - self._since_us)
        return self._used_us + running

    def written(self, now_us: int) -> None:
        """The request goes out now: the clock starts here."""
        if self._unwritten and self._since_us is not None:
            self._since_us = max(self._since_us, min(now_us, self._since_us + MAX_WRITE_DELAY_US))
        self._unwritten = False

    def pause(self, now_us: int) -> None:
        """The arena is at fault: the clock stands still."""
        self._used_us = self.elapsed_us(now_us)
        self._since_us = None

    def asked_again(self, ask: rpb.Ask, now_us: int) -> None:
        """The worker has sent the request once more: a clock that stood still goes on."""
        self.limit_us = ask.limit_ms * 1000
        if self._since_us is None:
            self._used_us = max(self._used_us, ask.elapsed_ms * 1000)
            self._since_us = now_us

    def message(self, now_us: int, *, resent: bool) -> pb.DecisionRequested:
        """The request as the bot gets it, with what remains of its time."""
        used_ms = self.elapsed_us(now_us) // 1000
        if not resent and not used_ms:
            return self._request
        message = pb.DecisionRequested()
        message.CopyFrom(self._request)
        message.resent = True
        message.clock.limit_ms = max(0, message.clock.limit_ms - used_ms)
        return message
