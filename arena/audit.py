"""Replays everything that an arena keeps and says what is not as it must be.

Records are re-refereed and compared with their rows, ratings are folded anew, and sets, attempts and deadlines are held
against each other. Works while the arena runs: each part of it sees one moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, func, select

import engines
from arena.errors import ArenaError
from arena.ladder import settlement
from arena.match.deal import commitment, rules_hash
from arena.match.record import DamagedRecord, parse_record
from arena.match.referee import JointPlayed, Source
from arena.match.replay import Verified, verify
from arena.match.spec import SeatReason
from arena.storage.db import Database
from arena.storage.plans import MatchResult, SetState, seating
from arena.storage.sweeper import QUEUE_LIMIT_MS
from arena.storage.tables import (
    account,
    attempt,
    bot,
    bot_version,
    database_time,
    game_set,
    ladder,
    leader,
    match,
    outbox,
    quarantine,
    result,
    set_seat,
    worker,
)

PAGE: Final = 200
GRACE_MS: Final = 30_000
"""How long after a deadline whoever has to act on it may take."""
RAN_OUT: Final = (SeatReason.TIMEOUT, SeatReason.DISCONNECT)
FINAL: Final = (SetState.FINISHED, SetState.VOID, SetState.ERRORED)

Progress = Callable[[int, int], None]
"""Told how many records are looked at, and of how many."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was looked at, what is wrong, and what could not be told for sure."""

    matches: int
    attempts: int
    sets: int
    problems: tuple[str, ...]
    notes: tuple[str, ...]


class Auditor:
    """``read(digest)`` gives a record's file, or raises ArenaError; ``key`` is the arena's public one (32 bytes)."""

    def __init__(self, database: Database, read: Callable[[str], bytes], key: bytes) -> None:
        self._database = database
        self._read = read
        self._key = key
        self._problems: list[str] = []
        self._notes: dict[str, int] = {}
        self._rules: dict[str, set[bytes]] = {}

    def run(self, progress: Progress = lambda done, total: None) -> Report:
        """Looks at everything."""
        matches = self._check_records(progress)
        with self._database.read() as connection:
            self._problems += settlement.check(connection)
            attempts = self._check_attempts(connection)
            self._problems += _check_states(connection)
            self._check_deadlines(connection)
            sets = connection.execute(select(func.count()).select_from(game_set)).scalar_one()
        notes = tuple(f"{note} ({times} times)" if times > 1 else note for note, times in self._notes.items())
        return Report(matches, attempts, sets, tuple(self._problems), notes)

    # -- records

    def _check_records(self, progress: Progress) -> int:
        with self._database.read() as connection:
            total = connection.execute(select(func.count()).select_from(result)).scalar_one()
        done, last = 0, ""
        while rows := self._page(last):
            for row, seats in rows:
                self._problems += [f"match {row.match_id}: {problem}" for problem in self._check_result(row, seats)]
                done += 1
                progress(done, max(done, total))
            last = rows[-1][0].match_id
        return done

    def _page(self, after: str) -> list[tuple[Row[Any], list[Row[Any]]]]:
        """The next results, each with the seats of its set by position."""
        with self._database.read() as connection:
            rows = connection.execute(_RESULTS.where(result.c.match_id > after)).all()
            of_sets = {row.set_id for row in rows}
            seats: dict[str, list[Any]] = {set_id: [] for set_id in of_sets}
            for seat in connection.execute(_SEATS.where(set_seat.c.set_id.in_(of_sets))):
                seats[seat.set_id].append(seat)
        return [(row, seats[row.set_id]) for row in rows]

    def _check_result(self, row: Row[Any], seats: list[Row[Any]]) -> Iterable[str]:
        try:
            record = parse_record(self._read(row.record_digest))
            verified = verify(record)
        except (DamagedRecord, ArenaError) as error:
            return [str(error)]
        self._rules.setdefault(row.game, set()).add(bytes.fromhex(record.header["rules_hash"]))
        for note in verified.notes:
            self._notes[note] = self._notes.get(note, 0) + 1
        return [*_compare(row, seats, verified, self._key), *_early_faults(verified)]

    # -- attempts

    def _check_attempts(self, connection: Connection) -> int:
        count = 0
        for row in connection.execute(_ATTEMPTS.execution_options(yield_per=1000)):
            count += 1
            self._problems += [
                f"attempt {row.attempt} at match {row.match_id}: {problem}" for problem in self._check_attempt(row)
            ]
        self._problems += [
            f"match {entry.match_id}: another result is in quarantine"
            for entry in connection.execute(select(quarantine.c.match_id))
        ]
        return count

    def _check_attempt(self, row: Row[Any]) -> Iterator[str]:
        if (row.outcome == "FINISHED") != (row.result_attempt == row.attempt):
            yield f"it is {row.outcome}, and the result is of attempt {row.result_attempt}"
        running = row.outcome is None
        if running and (row.state != SetState.CLAIMED or (row.worker_id, row.epoch) != (row.set_worker, row.set_epoch)):
            yield f"it runs, but its set is {row.state} and not its worker's"
        if row.attempt > row.set_attempt:
            yield f"its set is at attempt {row.set_attempt}"
        if running:
            return
        if row.secret is None:
            yield "its secret is not kept, so that its deal cannot be shown"
            return
        rules = {*self._rules.get(row.game, ()), *_installed_rules(row.game)}
        secret = bytes.fromhex(row.secret)
        if rules and row.commitment not in {commitment(row.match_id, row.attempt, one, secret).hex() for one in rules}:
            yield "the secret is not the one that the arena committed to"

    # -- deadlines

    def _check_deadlines(self, connection: Connection) -> None:
        now = database_time(connection)
        leading = connection.execute(select(func.max(leader.c.lease_until))).scalar()
        late = list(_late_sets(connection, now))
        oldest = connection.execute(select(func.min(outbox.c.created_at))).scalar()
        if oldest is not None and oldest + GRACE_MS < now:
            late.append(f"an event waits to be published for {(now - oldest) // 1000} s")
        if leading is not None and leading + GRACE_MS >= now:
            self._problems += late
        elif late:
            self._notes[f"no scheduler leads; {len(late)} things wait for one"] = 1


_RESULTS: Final = (
    select(
        result,
        match.c.set_id,
        match.c.game_index,
        game_set.c.rated,
        game_set.c.deal_mode,
        ladder.c.game,
        ladder.c.players,
        ladder.c.config,
        attempt.c.commitment,
        attempt.c.secret,
    )
    .join(match, match.c.id == result.c.match_id)
    .join(game_set, game_set.c.id == match.c.set_id)
    .join(ladder, ladder.c.id == result.c.ladder_id)
    .join(attempt, (attempt.c.match_id == result.c.match_id) & (attempt.c.attempt == result.c.attempt))
    .order_by(result.c.match_id)
    .limit(PAGE)
)
_SEATS: Final = (
    select(set_seat.c.set_id, bot.c.name, bot_version.c.label, account.c.name.label("owner"))
    .join(bot_version, bot_version.c.id == set_seat.c.version_id)
    .join(bot, bot.c.id == set_seat.c.bot_id)
    .join(account, account.c.id == bot.c.account_id)
    .order_by(set_seat.c.set_id, set_seat.c.position)
)
_ATTEMPTS: Final = (
    select(
        attempt,
        result.c.attempt.label("result_attempt"),
        game_set.c.state,
        game_set.c.worker_id.label("set_worker"),
        game_set.c.epoch.label("set_epoch"),
        game_set.c.attempt.label("set_attempt"),
        ladder.c.game,
    )
    .join(match, match.c.id == attempt.c.match_id)
    .join(game_set, game_set.c.id == match.c.set_id)
    .join(ladder, ladder.c.id == game_set.c.ladder_id)
    .outerjoin(result, result.c.match_id == attempt.c.match_id)
)


def _compare(row: Row[Any], seats: list[Row[Any]], verified: Verified, key: bytes) -> Iterator[str]:
    """What a record says otherwise than the rows beside it."""
    spec, footer = verified.spec, verified.record.footer
    order = seating(row.players, row.game_index)
    pairs: Mapping[str, tuple[object, object]] = {
        "match": (row.match_id, spec.match_id),
        "set": (row.set_id, spec.set_id),
        "attempt": (row.attempt, spec.attempt),
        "game": (row.game, spec.game),
        "configuration": (row.config, dict(spec.config)),
        "game of the set": (row.game_index, spec.game_index),
        "rated": (row.rated, spec.rated),
        "deal": (row.deal_mode, spec.deal.mode),
        "commitment": (row.commitment, spec.deal.commitment.hex()),
        "secret": (row.secret, footer["secret"]),
        "seats": (
            [(seats[at].name, seats[at].label, seats[at].owner) for at in order],
            [(player.bot, player.version, player.owner) for player in spec.seats],
        ),
        "places": (row.places, footer["places"]),
        "scores": (row.scores, footer["scores"]),
        "reasons": (row.reasons, footer["reasons"]),
        "events": (row.events, footer["events"]),
        "head": (row.record_head, verified.record.head.hex()),
        "arena's key": (key.hex(), verified.record.header["arena_key"]),
        "content hash": (row.content_hash, _content_hash(row)),
    }
    for name, (stored, recorded) in pairs.items():
        if stored != recorded:
            yield f"{name}: the row says {stored}, the record {recorded}"


def _content_hash(row: Row[Any]) -> str:
    return MatchResult(**{name: getattr(row, name) for name in MatchResult.__dataclass_fields__}).content_hash


def _early_faults(verified: Verified) -> Iterator[str]:
    """Time faults of seats whose time was not over, and clocks that ran down without one: the arena's fault, or worse."""
    for number, event in enumerate(verified.events):
        requests = verified.asked.get(number, ())
        if any(request.bank_ms < 0 or request.limit_ms < 0 for request in requests):
            yield f"a clock is negative after event {number}"
        limits = {request.seat: request.limit_ms for request in requests}
        for part in event.parts if isinstance(event, JointPlayed) else ():
            if (limit_ms := limits.get(part.seat)) is None:
                continue
            if part.fault in RAN_OUT and part.elapsed_us // 1000 < limit_ms:
                yield f"seat {part.seat}: {part.fault} after {part.elapsed_us // 1000} of {limit_ms} ms"
            if part.charged_ms > limit_ms and part.fault is None and part.source is not Source.TIMER:
                yield f"seat {part.seat}: {part.charged_ms} of {limit_ms} ms and no fault"


def _installed_rules(game: str) -> Iterator[bytes]:
    try:
        yield rules_hash(engines.get(game))
    except engines.GameError:
        return


def _check_states(connection: Connection) -> Iterator[str]:
    """Sets and matches against each other, beyond what the ledger's own check says."""
    orphans = (
        select(result.c.match_id, game_set.c.state)
        .join(match, match.c.id == result.c.match_id)
        .join(game_set, game_set.c.id == match.c.set_id)
        .where(game_set.c.deal_mode == "shared", game_set.c.state.in_([SetState.VOID, SetState.ERRORED]))
    )
    for row in connection.execute(orphans):
        yield f"match {row.match_id} has a result, but its set with a shared deal is {row.state}"
    unowned = select(game_set.c.id, game_set.c.state).where(
        ((game_set.c.state == SetState.CLAIMED) & game_set.c.worker_id.is_(None))
        | ((game_set.c.state == SetState.QUEUED) & game_set.c.worker_id.is_not(None))
        | (game_set.c.state.in_(FINAL) & game_set.c.finished_at.is_(None))
    )
    for row in connection.execute(unowned):
        yield f"set {row.id} is {row.state}, and the rest of its row says otherwise"


def _late_sets(connection: Connection, now: int) -> Iterator[str]:
    """Sets past a deadline."""
    claimed = (
        select(game_set.c.id, game_set.c.claimed_at, game_set.c.budget_ms, worker.c.lease_until)
        .join(worker, worker.c.id == game_set.c.worker_id)
        .where(game_set.c.state == SetState.CLAIMED)
    )
    for row in connection.execute(claimed):
        deadline = min(row.claimed_at + row.budget_ms, row.lease_until)
        if deadline + GRACE_MS < now:
            yield f"set {row.id} is CLAIMED, {(now - deadline) // 1000} s past its deadline"
    queued = select(game_set.c.id, game_set.c.queued_at).where(
        game_set.c.state == SetState.QUEUED, game_set.c.queued_at + QUEUE_LIMIT_MS + GRACE_MS < now
    )
    for waiting in connection.execute(queued):
        yield f"set {waiting.id} is QUEUED for {(now - waiting.queued_at) // 1000} s"
