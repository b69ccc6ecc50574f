"""How a seat spent its time in a recorded match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from arena.match.record import ParsedRecord
from arena.match.referee import JointPlayed, Request
from arena.match.replay import steps

NEAR: Final = 0.8
"""A decision that took this part of its limit was near it."""


@dataclass(slots=True)
class ClockUse:
    """One seat's decisions. ``used_ms`` of the ``given_ms`` that its clock had in all; where the rules' own timer stands in
    for the clock neither counts. ``near``: how many decisions were near their limit, or beyond it."""

    decisions: int
    used_ms: int
    given_ms: int
    near: int

    @property
    def share(self) -> float:
        """Of its time that it used, 0..1."""
        return min(1.0, self.used_ms / self.given_ms) if self.given_ms else 0.0


def clock_use(record: ParsedRecord) -> tuple[ClockUse, ...]:
    """By seat. Raises DamagedRecord."""
    found: list[ClockUse] = []
    asked: dict[int, Request] = {}
    for referee, step, _ in steps(record):
        control = referee.spec.time_control
        found = found or [ClockUse(0, 0, control.bank_ms, 0) for _ in referee.spec.seats]
        for event in step.events:
            for part in event.parts if isinstance(event, JointPlayed) else ():
                if (request := asked.get(part.seat)) is None:
                    continue
                seat = found[part.seat]
                seat.decisions += 1
                seat.near += part.charged_ms >= NEAR * request.limit_ms
                if request.timer_ms is None:
                    seat.used_ms += part.charged_ms
                    seat.given_ms += control.increment_ms
        asked = {request.seat: request for request in step.requests}
    return tuple(found)
