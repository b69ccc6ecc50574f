"""Re-referees a record: the same referee, fed with the recorded answers, must write the same bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from reprlib import Repr
from typing import Any, Final

import engines
from arena.match.deal import ChanceStream, commitment, rules_hash
from arena.match.record import (
    DamagedRecord,
    ParsedRecord,
    check_commitment_receipt,
    check_final_receipt,
    record_documents,
)
from arena.match.referee import Event, Referee, Reply, Request, Source, Step
from arena.match.spec import SeatReason, Spec
from engines.game import Chance

_SHORT: Final = Repr()
"""What a record says may be of any length and depth."""
_SHORT.maxstring = _SHORT.maxother = 200


@dataclass(frozen=True, slots=True)
class Verified:
    """A record that holds. ``notes`` say what could not be proven, and why."""

    spec: Spec
    record: ParsedRecord
    events: tuple[Event, ...]
    notes: tuple[str, ...]


def spec_of(record: ParsedRecord) -> Spec:
    """What the header says was to be played, with the secret of the footer. Raises DamagedRecord for line 1."""
    try:
        secret = bytes.fromhex(record.footer["secret"])
        spec = Spec.from_json(record.header, secret)
        game = engines.get(spec.game)
        spec.new_state()
    except (ImportError, TypeError, ValueError) as error:  # a game may need what is not installed here
        raise DamagedRecord(1, f"the header cannot be played: {error}") from None
    if record.header.get("rules_version") != game.rules_version:
        raise DamagedRecord(
            1, f"rules version {record.header.get('rules_version')} of {spec.game}; this arena has {game.rules_version}"
        )
    return spec


def steps(record: ParsedRecord) -> Iterator[tuple[Referee, Step, Mapping[int, Reply]]]:
    """Plays a record again: before each recorded answer the referee, its step and the replies about to be given.

    The last item has the outcome and no replies. Raises DamagedRecord where the record does what the rules do not.
    """
    feed = _Feed(record)
    referee = Referee(spec_of(record), feed.chance)
    step = feed.guard(referee.start)
    while step.requests:
        replies, at_ms = feed.replies(step.requests, len(referee.events))
        yield referee, step, replies
        step = feed.guard(lambda replies=replies, at_ms=at_ms: referee.advance(replies, at_ms))
    yield referee, step, {}


def verify(record: ParsedRecord) -> Verified:
    """Checks the deal, the moves, the result and the signatures. Raises DamagedRecord with the first wrong line."""
    spec = spec_of(record)
    notes = list(_check_deal(record, spec))
    referee, last = None, None
    for referee, last, _ in steps(record):  # noqa: B007 - the last one is what is wanted
        pass
    assert referee is not None
    assert last is not None
    assert last.outcome is not None
    header = record.header
    documents = record_documents(
        spec, referee.events, last.outcome, bytes.fromhex(header["arena_key"]), bytes.fromhex(header["receipt"])
    )
    for number, (ours, theirs) in enumerate(zip(documents, record.documents, strict=False), 1):
        if ours != theirs and not (number == 1 and _same_but_rules_hash(ours, theirs)):
            raise DamagedRecord(number, f"the referee writes {_difference(ours, theirs)}")
    if len(documents) != len(record.documents):
        raise DamagedRecord(min(len(documents), len(record.documents)), "the game is over before the record is")
    _check_receipts(record, spec)
    return Verified(spec, record, tuple(referee.events), tuple(notes))


def _check_deal(record: ParsedRecord, spec: Spec) -> Iterator[str]:
    secret = spec.deal.secret
    assert secret is not None
    footer_line = len(record.documents)
    recorded_rules = bytes.fromhex(record.header["rules_hash"])
    if commitment(spec.match_id, spec.attempt, recorded_rules, secret) != spec.deal.commitment:
        raise DamagedRecord(footer_line, "the secret is not the one that the arena committed to")
    if recorded_rules != rules_hash(engines.get(spec.game)):
        yield "the rules were refereed by other source code of the same rules version; they agree move by move"
    if not spec.deal.proven:
        yield "unproven deal: somebody chose the seed"
    stream = ChanceStream(spec.deal.seed(spec.match_id, spec.attempt, spec.set_id))
    _CheckedDeal(stream, record).run(spec)


class _CheckedDeal:
    """Compares each recorded chance outcome with what the seed gives."""

    def __init__(self, stream: ChanceStream, record: ParsedRecord) -> None:
        self._stream = stream
        self._record = record

    def run(self, spec: Spec) -> None:
        state = spec.new_state()
        for number, event in enumerate(self._record.events, 2):
            if "chance" in event:
                outcomes = state.chance()
                if not outcomes:
                    raise DamagedRecord(number, "no chance event is due here")
                drawn = self._stream.pick(outcomes)
                if drawn != event["chance"]:
                    raise DamagedRecord(number, f"the seed gives {state.game.text(drawn)}, not {event.get('text')}")
                state = state.apply_chance(drawn)
            elif not event.get("ended"):
                try:
                    state = state.apply({part["seat"]: part["id"] for part in event["joint"]})
                except (engines.GameError, KeyError, TypeError) as error:
                    raise DamagedRecord(number, str(error)) from None


class _Feed:
    """Gives the referee what the record says happened."""

    def __init__(self, record: ParsedRecord) -> None:
        self._events = record.events
        self._next_chance = 0

    def chance(self, outcomes: Chance) -> int:
        while self._next_chance < len(self._events):
            event = self._events[self._next_chance]
            self._next_chance += 1
            if "chance" in event:
                if event["chance"] not in {outcome for outcome, _ in outcomes}:
                    raise DamagedRecord(self._next_chance + 1, f"{event.get('text')} cannot be drawn here")
                return int(event["chance"])
        raise DamagedRecord(len(self._events) + 2, "a chance event is missing")

    def replies(self, requests: tuple[Request, ...], seq: int) -> tuple[dict[int, Reply], int]:
        """The recorded answers to the requests of the event with number ``seq``."""
        line = seq + 2
        if seq >= len(self._events) or "joint" not in self._events[seq]:
            raise DamagedRecord(line, "a decision is missing")
        event = self._events[seq]
        try:
            parts = {part["seat"]: part for part in event["joint"]}
            return {request.seat: _reply(parts[request.seat]) for request in requests}, event["ms"]
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedRecord(line, f"not a decision: {error}") from None

    def guard(self, step: Any) -> Step:
        """Runs one step of the referee; what the engine refuses is the record's fault."""
        try:
            result: Step = step()
        except engines.GameError as error:
            raise DamagedRecord(self._next_chance + 2, str(error)) from None
        return result


def _reply(part: Mapping[str, Any]) -> Reply:
    fault = part.get("fault")
    timer = part.get("source") == Source.TIMER
    return Reply(
        action=None if fault or timer else part["id"],
        fault=SeatReason(fault) if fault else SeatReason.TIMEOUT if timer else None,
        elapsed_us=part.get("us", 0),
        rtt_us=part.get("rtt_us", 0),
        detail=part.get("detail", ""),
        annotation=part.get("annotation"),
    )


def _check_receipts(record: ParsedRecord, spec: Spec) -> None:
    key, receipt = bytes.fromhex(record.header["arena_key"]), bytes.fromhex(record.header["receipt"])
    if not check_commitment_receipt(key, spec.match_id, spec.deal.commitment, receipt):
        raise DamagedRecord(1, "the arena's signature over match and commitment does not hold")
    assert spec.deal.secret is not None
    if not check_final_receipt(key, spec.match_id, record.head, spec.deal.secret, record.receipt):
        raise DamagedRecord(
            len(record.documents) + 1, "the arena's signature over match, head and secret does not hold"
        )


def _same_but_rules_hash(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    return ours | {"rules_hash": "", "engine": ""} == theirs | {"rules_hash": "", "engine": ""}


def _difference(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    for key in ours.keys() | theirs.keys():
        if ours.get(key) != theirs.get(key):
            return f"{key} = {_SHORT.repr(ours.get(key))}, not {_SHORT.repr(theirs.get(key))}"
    return "the same"
