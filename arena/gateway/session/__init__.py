"""One connected bot process as a pure state machine: no I/O, no clock, no randomness.

:class:`Session` is the machine, the other names are what goes in and comes out of it.
"""

from arena.gateway.session.conduct import Conduct, TokenBucket
from arena.gateway.session.machine import Session
from arena.gateway.session.model import (
    Changed,
    CloseStream,
    Effect,
    Failure,
    Identity,
    Reason,
    SessionLimits,
    Tally,
    Timer,
    TimerKind,
    ToWorker,
    Wake,
)
from arena.gateway.session.outbox import Outbox, encode_element, encode_event

__all__ = [
    "Changed",
    "CloseStream",
    "Conduct",
    "Effect",
    "Failure",
    "Identity",
    "Outbox",
    "Reason",
    "Session",
    "SessionLimits",
    "Tally",
    "Timer",
    "TimerKind",
    "ToWorker",
    "TokenBucket",
    "Wake",
    "encode_element",
    "encode_event",
]
