"""Plays one match: the loop between the referee and its seats."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena import metrics
from arena.errors import ArenaError
from arena.host.blackbox import beside
from arena.host.port import SessionFailed
from arena.host.seats import Seat
from arena.match.deal import ChanceStream
from arena.match.record import Record, commitment_receipt, write_record
from arena.match.referee import Event, JointPlayed, Outcome, Referee, Reply, Request, Step
from arena.match.spec import Spec, VoidReason

log = logging.getLogger(__name__)

Watcher: TypeAlias = Callable[[Sequence[Event]], None]
"""Hears of all events, with nothing hidden, before the seats do: for what shows a match while it is played."""


class Voided(ArenaError):
    """The attempt has no result, through no bot's fault; the match is to be played again."""

    retryable = True

    def __init__(self, reason: VoidReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Finished:
    """A match with a result. ``duration_ms`` from the first event to the last, ``decisions`` asked of bots.

    ``details``: by seat, what the record says of its first fault; empty without one.
    """

    spec: Spec
    outcome: Outcome
    record: Record
    events: int
    decisions: int
    duration_ms: int
    details: tuple[str, ...]


async def play_match(
    spec: Spec, seats: Sequence[Seat], key: Ed25519PrivateKey, watch: Watcher | None = None
) -> Finished:
    """Plays ``spec`` with ``seats`` in seat order. Raises Voided, having told every seat.

    Of a result the seats are told by the caller, once it is safe.
    """
    try:
        return await _play(spec, seats, key, watch or _nobody)
    except BaseException as error:
        for seat in seats:
            seat.void()
        if isinstance(error, SessionFailed):
            raise Voided(VoidReason.INFRA_VOID, str(error)) from error
        if isinstance(error, Exception | SystemExit) and not isinstance(
            error, Voided
        ):  # rules must not end a worker either
            log.exception("match %s: the engine or the referee failed", spec.match_id)
            raise Voided(VoidReason.ENGINE_ERROR, repr(error)) from error
        raise


def _nobody(_events: Sequence[Event]) -> None:
    pass


async def _play(spec: Spec, seats: Sequence[Seat], key: Ed25519PrivateKey, watch: Watcher) -> Finished:
    deal = spec.deal
    referee = Referee(spec, ChanceStream(deal.seed(spec.match_id, spec.attempt, spec.set_id)).pick)
    receipt = commitment_receipt(key, spec.match_id, deal.commitment)
    for number, seat in enumerate(seats):
        seat.start(spec, number, receipt)
    began, decisions = time.monotonic(), 0
    step = referee.start()
    while step.outcome is None:
        watch(step.events)
        for seat in seats:
            seat.observe(step.events)
        decisions += len(step.requests)
        replies = await _ask(seats, step)
        step = referee.advance(replies, at_ms=int((time.monotonic() - began) * 1000))
    watch(step.events)
    for seat in seats:
        seat.observe(step.events)
    record = write_record(spec, referee.events, step.outcome, key)
    duration_ms = int((time.monotonic() - began) * 1000)
    metrics.DECISIONS.labels(spec.game).inc(decisions)
    return Finished(spec, step.outcome, record, len(referee.events), decisions, duration_ms, _details(referee))


def _details(referee: Referee) -> tuple[str, ...]:
    found: dict[int, str] = {}
    for event in referee.events:
        for part in event.parts if isinstance(event, JointPlayed) else ():
            if part.fault is not None:
                found.setdefault(part.seat, part.detail)
    return tuple(found.get(seat, "") for seat in range(len(referee.spec.seats)))


async def _ask(seats: Sequence[Seat], step: Step) -> dict[int, Reply]:
    """All replies to one joint decision; none is looked at before all are in."""
    requests = step.requests
    if len(requests) == 1:
        seat = requests[0].seat
        replies = {seat: await seats[seat].decide(requests[0])}
    else:
        together = await _together(seats, requests)
        replies = {request.seat: reply for request, reply in zip(requests, together, strict=True)}
    for reply in replies.values():
        metrics.DECISION_TIMES.add(reply.elapsed_us)
    return replies


async def _decide(seat: Seat, request: Request) -> Reply:
    """As the seat decides. A task that ends with SystemExit would end the event loop, and every other set with it."""
    try:
        return await seat.decide(request)
    except SystemExit as error:
        raise RuntimeError(f"the rules exit with {error.code!r}") from error


async def _together(seats: Sequence[Seat], requests: Sequence[Request]) -> list[Reply]:
    name = current.get_name() if (current := asyncio.current_task()) else None
    tasks = [asyncio.create_task(beside(_decide, seats[request.seat], request), name=name) for request in requests]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
