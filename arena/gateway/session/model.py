"""Values that go into a session and come out of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Final, NamedTuple, TypeAlias

from arena.durations import DurationCounter
from botarena.internal.v1 import relay_pb2 as rpb

SECOND_US: Final = 1_000_000
PROTOCOL: Final = 1000
"""The version that this arena speaks, major * 1000 + minor."""
PROTOCOL_MIN: Final = 1000
"""The oldest version that it understands."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a session is: the ids that storage gave, and the names that people see.

    ``instance``, where set, is used instead of what Hello says: local processes of one bot are told apart by it.
    """

    bot_id: int
    version_id: int
    bot: str
    version: str
    owner: str
    instance: str = ""


class Reason(StrEnum):
    """Why a stream was refused or ended, as ErrorInfo.reason; bots may branch on it."""

    BAD_TOKEN = "BAD_TOKEN"  # noqa: S105 (the name of an error)
    TOKEN_REVOKED = "TOKEN_REVOKED"  # noqa: S105
    NOT_YOUR_BOT = "NOT_YOUR_BOT"
    UNKNOWN_BOT = "UNKNOWN_BOT"
    UNKNOWN_GAME = "UNKNOWN_GAME"
    BAD_HELLO = "BAD_HELLO"
    HELLO_TIMEOUT = "HELLO_TIMEOUT"
    VERSION_SKEW = "VERSION_SKEW"
    MALFORMED_FRAME = "MALFORMED_FRAME"
    FRAME_TOO_LARGE = "FRAME_TOO_LARGE"
    FLOOD = "FLOOD"
    TOO_MANY_STREAMS = "TOO_MANY_STREAMS"
    TOO_MANY_STARTS = "TOO_MANY_STARTS"
    SLOW_READER = "SLOW_READER"
    DEAD_PEER = "DEAD_PEER"
    SERVER_DRAINING = "SERVER_DRAINING"
    UNAVAILABLE = "UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Failure:
    """An error with which a stream ends. ``field`` names what of the Hello is wrong, if that is it."""

    reason: Reason
    message: str
    retry_after_ms: int | None = None
    field: str = ""


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """What one session may do and how long it may be silent."""

    frame_bytes: int = 64 * 1024
    max_credit: int = 64
    queue_events: int = 64
    queue_bytes: int = 256 * 1024
    messages_per_s: int = 50
    message_burst: int = 100
    strikes: int = 3
    out_us: int = 60 * SECOND_US
    ping_interval_us: int = 10 * SECOND_US
    dead_after_us: int = 20 * SECOND_US
    frozen_us: int = 60 * SECOND_US
    left_us: int = 20 * SECOND_US
    """So long a bot that left is still known, though it plays nothing."""


class TimerKind(Enum):
    """What a timer is about."""

    DECISION = "decision"
    OFFER = "offer"
    FROZEN = "frozen"
    PING = "ping"
    AWAY = "away"


class Timer(NamedTuple):
    """Names what is to be looked at again; a timer whose matter is settled does nothing when it fires."""

    kind: TimerKind
    ref: str
    number: int


class ToWorker(NamedTuple):
    """Send ``event`` to this worker."""

    worker: str
    event: rpb.GatewayEvent


@dataclass(frozen=True, slots=True)
class CloseStream:
    """End this stream: first write ``last``, an encoded PlayResponse, then ``failure`` as the status, OK if None."""

    stream: int
    last: bytes = b""
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Wake:
    """Call ``on_timer(timer)`` at ``at_us`` or later."""

    at_us: int
    timer: Timer


@dataclass(frozen=True, slots=True)
class Changed:
    """What the registry shows of the session is not what it was."""


Effect: TypeAlias = ToWorker | CloseStream | Wake | Changed


@dataclass(slots=True)
class Tally:
    """Counts for the metrics, shared by the sessions of a process. ``answers``: from request to answer."""

    counts: Counter[str] = field(default_factory=Counter)
    answers: DurationCounter = field(default_factory=DurationCounter)
