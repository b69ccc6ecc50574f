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
    """A record that holds. ``notes`` say what could not be proven, and why.

    ``asked``: what seats were asked, by the number of the event that has their answers.
    """

    spec: Spec
    record: ParsedRecord
    events: tuple[Event, ...]
    asked: Mapping[int, tuple[Request, ...]]
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
    spec = spec_of(record)
    feed = _Feed(record, spec)
    referee = Referee(spec, feed.chance)
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
    asked: dict[int, tuple[Request, ...]] = {}
    for referee, step, _ in steps(record):
        asked[len(referee.events)] = step.requests
    assert step.outcome is not None
    header = record.header
    documents = record_documents(
        spec, referee.events, step.outcome, bytes.fromhex(header["arena_key"]), bytes.fromhex(header["receipt"])
    )
    for number, (ours, theirs) in enumerate(zip(documents, record.documents, strict=False), 1):
        if ours != theirs and not (number == 1 and _same_but_rules_hash(ours, theirs)):
            raise DamagedRecord(number, f"the referee writes {_difference(ours, theirs)}")
    if len(documents) != len(record.documents):
        raise DamagedRecord(min(len(documents), len(record.documents)), "the game is over before the record is")
    _check_receipts(record, spec)
    return Verified(spec, record, tuple(referee.events), asked, tuple(notes))


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


class _Feed:
    """Gives the referee what the record says happened, and what the seed gives, which must be the same."""

    def __init__(self, record: ParsedRecord, spec: Spec) -> None:
        self._events = record.events
        self._next_chance = 0
        self._game = engines.get(spec.game)
        self._stream = ChanceStream(spec.deal.seed(spec.match_id, spec.attempt, spec.set_id))

    def chance(self, outcomes: Chance) -> int:
        drawn = self._stream.pick(outcomes)
        while self._next_chance < len(self._events):
            event = self._events[self._next_chance]
            self._next_chance += 1
            if "chance" in event:
                if event["chance"] != drawn:
                    line = self._next_chance + 1
                    raise DamagedRecord(line, f"the seed gives {self._game.text(drawn)}, not {event.get('text')}")
                return drawn
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
