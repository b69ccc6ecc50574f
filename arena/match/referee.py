"""The referee: sans-I/O, so that the same code plays, replays and simulates.

    referee = Referee(spec, chance)
    step = referee.start()
    while step.requests:                              # ask these seats, all at once
        step = referee.advance(replies, at_ms)        # {seat: Reply}, every asked seat
    step.outcome                                      # how it ended

Policy. A bot's fault is a loss: it is placed behind all that did not fail; a later offender ranks above an earlier one, and
faults at the same decision tie. A game of two ends there; with more players the seat goes on with default actions.
Illegal is judged before late. A forced move is played without asking, costs no time and earns no increment. All replies to
one joint decision are in before any of them is judged.

What is made for each decision is a named tuple here and around it: a frozen dataclass takes twice as long to make.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from arena.match.clock import SeatClock
from arena.match.spec import SeatReason, Spec
from engines import State
from engines.game import Chance, shared_placements

ChancePicker = Callable[[Chance], int]


class Source(StrEnum):
    """Why an action was played."""

    BOT = "bot"
    FORCED = "forced"
    DEFAULT = "default"
    TIMER = "timer"


class Reply(NamedTuple):
    """What came of asking a seat: an action id, or the fault that stood in its place. Durations in microseconds."""

    action: int | None = None
    fault: SeatReason | None = None
    elapsed_us: int = 0
    rtt_us: int = 0
    detail: str = ""
    annotation: Mapping[str, Any] | None = None


class Played(NamedTuple):
    """One seat's part of a joint step; ``action`` is None where a fault ended the game before anything was played."""

    seat: int
    action: int | None
    source: Source
    legal_count: int
    elapsed_us: int = 0
    rtt_us: int = 0
    charged_ms: int = 0
    fault: SeatReason | None = None
    detail: str = ""
    annotation: Mapping[str, Any] | None = None


class ChanceDrawn(NamedTuple):
    """A chance event: ``before`` is the state in which ``outcome`` was drawn; ``at_ms`` counts from the match's start."""

    seq: int
    at_ms: int
    before: State
    outcome: int


class JointPlayed(NamedTuple):
    """A joint decision of all acting seats, taken in ``before``. ``ended``: a fault ended the game, nothing was played."""

    seq: int
    at_ms: int
    before: State
    parts: tuple[Played, ...]
    ended: bool = False


Event = ChanceDrawn | JointPlayed


class PlayedForSeat(NamedTuple):
    """An action that was taken for a seat without asking, which it is told with its next request."""

    action: int
    source: Source


class Request(NamedTuple):
    """A decision to be asked of a seat. ``decision_id`` counts the requests to this seat, from 1."""

    seat: int
    decision_id: int
    state: State
    legal: tuple[int, ...]
    limit_ms: int
    bank_ms: int
    allowance_ms: int
    last_charged_ms: int
    last_network_ms: int
    timer_ms: int | None
    default_action: int
    played_for_you: tuple[PlayedForSeat, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a match ended, by seat. Places 1..n, ties shared."""

    places: tuple[int, ...]
    scores: tuple[int, ...]
    reasons: tuple[SeatReason, ...]


class Step(NamedTuple):
    """What is to be done next: ``requests`` to seats, or none and the ``outcome``; ``events`` are new since the last step."""

    requests: tuple[Request, ...]
    events: tuple[Event, ...]
    outcome: Outcome | None


@dataclass(slots=True)
class _Seat:
    clock: SeatClock
    decisions: int = 0
    fault: SeatReason | None = None
    failed_at: int = 0
    played_for: list[PlayedForSeat] = field(default_factory=list)


class Referee:
    """One match. Not thread-safe; a caller that loses it can rebuild it from the events."""

    __slots__ = ("_asked", "_at_ms", "_chance", "_new", "_seats", "_seq", "events", "spec", "state")

    def __init__(self, spec: Spec, chance: ChancePicker) -> None:
        self.spec = spec
        self.state = spec.new_state()
        self.events: list[Event] = []
        self._chance = chance
        self._seats = [_Seat(SeatClock(spec.time_control)) for _ in spec.seats]
        self._asked: dict[int, Request] = {}
        self._new: list[Event] = []
        self._seq = 0
        self._at_ms = 0

    def start(self) -> Step:
        """Deals and plays what needs nobody's answer; returns the first requests."""
        return self._run()

    def advance(self, replies: Mapping[int, Reply], at_ms: int) -> Step:
        """Judges the answers to the open requests, ``at_ms`` after the start, and goes on to the next requests.

        Raises ValueError unless exactly the asked seats are answered.
        """
        if replies.keys() != self._asked.keys():
            raise ValueError(f"asked seats {sorted(self._asked)}, got replies of {sorted(replies)}")
        self._at_ms = at_ms
        judged = {seat: self._judge(self._asked[seat], reply) for seat, reply in replies.items()}
        self._asked = {}
        return self._play(judged) or self._run()

    def _run(self) -> Step:
        while True:
            state = self.state
            if outcomes := state.chance():
                outcome = self._chance(outcomes)
                self._record(ChanceDrawn(self._seq, self._at_ms, state, outcome))
                self.state = state.apply_chance(outcome)
            elif state.is_terminal:
                return self._finish()
            elif requests := self._ask():
                return self._step(requests, None)
            elif finished := self._play({}):
                return finished

    def _ask(self) -> tuple[Request, ...]:
        """Requests to the acting seats that have a choice and have not failed."""
        state = self.state
        for seat in state.actors():
            actor = self._seats[seat]
            legal = state.legal(seat)
            if actor.fault is not None or len(legal) == 1:
                continue
            actor.decisions += 1
            timer_ms = state.timer_ms(seat)
            self._asked[seat] = Request(
                seat=seat,
                decision_id=actor.decisions,
                state=state,
                legal=legal,
                limit_ms=actor.clock.limit_ms(timer_ms),
                bank_ms=actor.clock.bank_ms,
                allowance_ms=actor.clock.quota_ms,
                last_charged_ms=actor.clock.last.charged_ms,
                last_network_ms=actor.clock.last.network_ms,
                timer_ms=timer_ms,
                default_action=state.default_action(seat),
                played_for_you=tuple(actor.played_for),
            )
            actor.played_for.clear()
        return tuple(self._asked.values())

    def _judge(self, request: Request, reply: Reply) -> Played:
        """The action that counts for an asked seat, or its fault."""
        charge = self._seats[request.seat].clock.charge(reply.elapsed_us, reply.rtt_us, request.timer_ms)
        action, fault, detail, source = reply.action, reply.fault, reply.detail, Source.BOT
        if fault is None and action not in request.legal:
            fault, detail = SeatReason.ILLEGAL, reply.detail or f"{action} is not legal here"
        if fault is None and charge.charged_ms > request.limit_ms:
            fault, detail = SeatReason.TIMEOUT, f"{charge.charged_ms} ms of {request.limit_ms} ms"
        if fault in (SeatReason.TIMEOUT, SeatReason.DISCONNECT) and request.timer_ms is not None:
            action, fault, source = request.state.timeout_action(request.seat), None, Source.TIMER
        if fault is not None:
            action, source = request.default_action, Source.DEFAULT
        return Played(
            seat=request.seat,
            action=action,
            source=source,
            legal_count=len(request.legal),
            elapsed_us=reply.elapsed_us,
            rtt_us=reply.rtt_us,
            charged_ms=charge.charged_ms,
            fault=fault,
            detail=detail,
            annotation=reply.annotation,
        )

    def _play(self, judged: Mapping[int, Played]) -> Step | None:
        """Takes the joint step of all acting seats; a Step if a fault ended the match instead."""
        state = self.state
        parts = tuple([judged.get(seat) or self._without_asking(state, seat) for seat in state.actors()])
        joint: dict[int, int] = {}
        failed = False
        for part in parts:
            if part.fault is not None:
                self._seats[part.seat].fault = part.fault
                self._seats[part.seat].failed_at = self._seq
                failed = True
            if part.action is not None:
                joint[part.seat] = part.action
                if part.source is not Source.BOT:
                    self._seats[part.seat].played_for.append(PlayedForSeat(part.action, part.source))
        if failed and len(self._seats) == 2:
            self._record(JointPlayed(self._seq, self._at_ms, state, tuple(map(_unplayed, parts)), ended=True))
            return self._finish()
        self._record(JointPlayed(self._seq, self._at_ms, state, parts))
        self.state = state.apply(joint)
        return None

    def _without_asking(self, state: State, seat: int) -> Played:
        legal = state.legal(seat)
        if len(legal) == 1:
            return Played(seat, legal[0], Source.FORCED, 1)
        return Played(seat, state.default_action(seat), Source.DEFAULT, len(legal))

    def _finish(self) -> Step:
        """Places: first those that did not fail, as the game ranks them, then the offenders, the latest first."""
        game_places = self.state.placements()
        keys = tuple(
            (1, -place, 0) if seat.fault is None else (0, 0, seat.failed_at)
            for seat, place in zip(self._seats, game_places, strict=True)
        )
        outcome = Outcome(
            places=shared_placements(keys),
            scores=self.state.scores(),
            reasons=tuple(seat.fault or SeatReason.NORMAL for seat in self._seats),
        )
        return self._step((), outcome)

    def _step(self, requests: tuple[Request, ...], outcome: Outcome | None) -> Step:
        step = Step(requests, tuple(self._new), outcome)
        self._new.clear()
        return step

    def _record(self, event: Event) -> None:
        self.events.append(event)
        self._new.append(event)
        self._seq += 1


def _unplayed(part: Played) -> Played:
    """A part of a joint step that never reached the board: the answer is on record, the default action is not."""
    if part.fault is None:
        return part
    return part._replace(action=None)
