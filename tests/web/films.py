"""Matches played at random, as films, for the tests of the viewer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any

from arena.match.deal import ChanceStream
from arena.match.record import write_record
from arena.match.referee import Referee, Reply, Request
from arena.match.spec import SeatReason
from arena.web.replay import Replayed, replayed
from tests.match.support import KEY, spec

TABLES = tuple(
    (game, players)
    for game, most in (("balloon-pop", 4), ("balloon-challenge", 5), ("balloon-race", 4), ("pop", 5))
    for players in range(2, most + 1)
)


@cache
def record_of(game: str, players: int, seed: int = 1, *, notes: bool = False, fault_rate: float = 0.0) -> bytes:
    """The file of a match between seats that play at random; with ``notes`` they annotate what they do."""
    rng = Random(seed)
    match = spec(game, players)
    referee = Referee(match, ChanceStream(match.deal.seed(match.match_id, match.attempt, match.set_id)).pick)
    step, at_ms = referee.start(), 0
    while step.outcome is None:
        at_ms += 7
        replies = {request.seat: _reply(request, rng, notes, fault_rate) for request in step.requests}
        step = referee.advance(replies, at_ms)
    return write_record(match, referee.events, step.outcome, KEY).to_bytes()


def _reply(request: Request, rng: Random, notes: bool, fault_rate: float) -> Reply:
    if rng.random() < fault_rate:
        return Reply(None, SeatReason.DISCONNECT, 5000, 100)
    note: Mapping[str, Any] | None = None
    if notes:
        note = {"comment": f"</script> & thought {request.decision_id}", "eval": rng.randint(-900, 900), "nodes": 12}
    return Reply(rng.choice(request.legal), None, rng.randint(1000, 9000), 200, annotation=note)


def match_of(game: str, players: int, seed: int = 1, **more: Any) -> Replayed:
    """Such a match, refereed again."""
    match = replayed(record_of(game, players, seed, **more))
    assert match.problem is None
    return match
