"""Seats: what the match loop asks. A fault is data in the reply, never an exception."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, Protocol

from arena.host.port import Port
from arena.host.wire import SeatWire
from arena.match.record import Record
from arena.match.referee import Event, Outcome, Reply, Request
from arena.match.spec import SeatReason, Spec
from botarena.v1 import play_pb2 as pb

_GONE: Final[Mapping[SeatReason | None, str]] = {
    SeatReason.BOT_CRASH: "its program ended",
    SeatReason.DISCONNECT: "it was not connected",
}
"""What is said of a bot that was not there to answer."""


class Seat(Protocol):
    """One seat of one match."""

    def start(self, spec: Spec, seat: int, receipt: bytes) -> None:
        """The match begins."""

    def observe(self, events: Sequence[Event]) -> None:
        """Something happened; the seat shows its bot only what it may see."""

    async def decide(self, request: Request) -> Reply:
        """The bot's answer or its fault. Raises SessionFailed if the arena itself failed."""

    def end(self, outcome: Outcome, record: Record, *, reveal: bool) -> None:
        """The match has a result."""

    def void(self) -> None:
        """The attempt has none."""


class SessionSeat:
    """A seat whose bot is connected by a session."""

    def __init__(self, port: Port, offer_id: str) -> None:
        self._port = port
        self._offer_id = offer_id
        self._wire: SeatWire | None = None

    def start(self, spec: Spec, seat: int, receipt: bytes) -> None:
        self._wire = SeatWire(spec, seat, game_id=f"g_{secrets.token_hex(8)}", wants=self._port.wants)
        self._port.start(self._wire.started(receipt, self._offer_id))

    def observe(self, events: Sequence[Event]) -> None:
        wire = self._started()
        seen = wire.observed(events)
        if seen is not None:
            self._port.deliver(pb.ArenaEvent(events_observed=seen))
        for failure in wire.failures(events):
            self._port.deliver(pb.ArenaEvent(notice=failure))

    async def decide(self, request: Request) -> Reply:
        wire = self._started()
        limit_ms = request.limit_ms + request.allowance_ms
        key = (wire.game_id, request.decision_id)
        answer = await self._port.ask(key, partial(wire.decision, request), limit_ms)
        if answer.act is None:
            detail = f"no answer within {limit_ms} ms" if answer.fault is SeatReason.TIMEOUT else _GONE[answer.fault]
            reply = Reply(None, answer.fault, answer.elapsed_us, answer.rtt_us, detail)
        else:
            reply = wire.reply(request, answer.act, answer.elapsed_us, answer.rtt_us)
        if reply.fault is not None and (result := wire.result(request, reply)) is not None:
            self._port.deliver(pb.ArenaEvent(act_result=result))
        return reply

    def end(self, outcome: Outcome, record: Record, *, reveal: bool) -> None:
        self._port.end(self._started().ended(outcome, record, reveal=reveal))

    def void(self) -> None:
        if self._wire is not None:
            self._port.end(self._wire.void())

    def _started(self) -> SeatWire:
        assert self._wire is not None, "start() comes first"
        return self._wire


class ScriptedSeat:
    """A seat without a bot: a function decides. For tests and simulations."""

    def __init__(self, decide: Callable[[Request], Reply]) -> None:
        self._decide = decide
        self.observed: list[Event] = []
        self.outcome: Outcome | None = None
        self.voided = False

    def start(self, spec: Spec, seat: int, receipt: bytes) -> None:
        pass

    def observe(self, events: Sequence[Event]) -> None:
        self.observed += events

    async def decide(self, request: Request) -> Reply:
        return self._decide(request)

    def end(self, outcome: Outcome, record: Record, *, reveal: bool) -> None:
        self.outcome = outcome

    def void(self) -> None:
        self.voided = True
