"""Sets from the queue to their end: claims, attempts, results. Every write of a worker needs its claim to stand.

A set is n games over the cyclic seatings of its n bots: in game k the bot of position (s + k) mod n sits on seat s.
With own deals a broken game is played again and the finished ones stand; a set with a shared deal stands or falls as a
whole. The attempt of a set counts its claims, and is the attempt of each match played under that claim.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, bindparam, delete, insert, select, update

from arena.errors import ArenaError, Fenced, UserError
from arena.match.deal import DealMode
from arena.match.spec import TimeControl, VoidReason
from arena.ratings.entries import SetVoid
from arena.settings import LadderSpec
from arena.storage import ledger, outbox
from arena.storage.plans import (
    Beginning,
    GamePlan,
    MatchResult,
    NewSeat,
    Recorded,
    SeatPlan,
    SetPlan,
    SetState,
    seating,
)
from arena.storage.tables import (
    account,
    attempt,
    bot,
    bot_version,
    game_set,
    ladder,
    match,
    now_ms,
    quarantine,
    result,
    set_seat,
    worker,
)
from arena.storage.workers import ALIVE, WorkerLease, worker_is_alive

MAX_ENGINE_ERRORS: Final = 3
MAX_ATTEMPTS: Final = 10
"""A set that was spoilt so often is given up as VOID: it may be what kills the workers."""


_INSERT_SET: Final = insert(game_set).values(
    state=SetState.QUEUED, attempt=1, engine_errors=0, created_at=now_ms(), queued_at=now_ms(), rung_at=now_ms()
)
_INSERT_SEAT: Final = insert(set_seat).values(created_at=now_ms())
_INSERT_MATCH: Final = insert(match)
_CLAIM: Final = (
    update(game_set)
    .where(
        game_set.c.id == bindparam("set"),
        game_set.c.state == SetState.QUEUED,
        select(worker.c.id).where(ALIVE).exists(),
    )
    .values(
        state=SetState.CLAIMED, worker_id=bindparam("lease_id"), epoch=bindparam("lease_epoch"), claimed_at=now_ms()
    )
    .returning(game_set.c.attempt, game_set.c.rated, game_set.c.deal_mode, game_set.c.seed, game_set.c.ladder_id)
)
_LADDER: Final = select(ladder).where(ladder.c.id == bindparam("ladder"))
_SEATS: Final = (
    select(
        set_seat.c.position,
        set_seat.c.version_id,
        set_seat.c.bot_id,
        set_seat.c.instance,
        bot.c.name.label("bot"),
        bot_version.c.label.label("version"),
        account.c.name.label("owner"),
        account.c.house,
    )
    .join(bot_version, bot_version.c.id == set_seat.c.version_id)
    .join(bot, bot.c.id == set_seat.c.bot_id)
    .join(account, account.c.id == bot.c.account_id)
    .where(set_seat.c.set_id == bindparam("set"))
    .order_by(set_seat.c.position)
)
_UNPLAYED: Final = (
    select(match.c.id, match.c.game_index)
    .outerjoin(result, result.c.match_id == match.c.id)
    .where(match.c.set_id == bindparam("set"), result.c.match_id.is_(None))
    .order_by(match.c.game_index)
)
_BEGUN: Final = select(attempt.c.commitment).where(
    attempt.c.match_id == bindparam("match"), attempt.c.attempt == bindparam("number")
)
_INSERT_ATTEMPT: Final = insert(attempt).values(started_at=now_ms())
_LOCK_SET: Final = select(game_set).where(game_set.c.id == bindparam("set")).with_for_update()
_LOCK_SET_OF_MATCH: Final = (
    select(game_set, ladder.c.slug, ladder.c.players)
    .select_from(match)
    .join(game_set, game_set.c.id == match.c.set_id)
    .join(ladder, ladder.c.id == game_set.c.ladder_id)
    .where(match.c.id == bindparam("match"))
    .with_for_update(of=game_set)
)
# Not in the statement that waits for the lock: PostgreSQL would show the result as it was before the wait.
_RECORDED: Final = select(result.c.content_hash).where(result.c.match_id == bindparam("match"))
_FINISH_ATTEMPT: Final = (
    update(attempt)
    .where(
        attempt.c.match_id == bindparam("match"),
        attempt.c.attempt == bindparam("number"),
        attempt.c.worker_id == bindparam("lease_id"),
        attempt.c.epoch == bindparam("lease_epoch"),
        attempt.c.outcome.is_(None),
    )
    .values(outcome="FINISHED", ended_at=now_ms())
)
_INSERT_RESULT: Final = insert(result).values(finished_at=now_ms())


def create_set(
    connection: Connection,
    ladder_id: int,
    seats: Sequence[NewSeat],
    *,
    budget_ms: int,
    house_only: bool,
    deal_mode: DealMode = "own",
    rated: bool = True,
    listed: bool = True,
    seed: int | None = None,
) -> str:
    """Queues a set of as many games as it has seats; returns its id. The caller rings after the commit.

    ``budget_ms``: how long one claim may last before the sweeper takes the set from its worker. ``listed``: its results
    may be seen by everybody. ``seed``: of a seeded set.
    """
    set_id = _new_id("s")
    about = {"deal_mode": deal_mode, "rated": rated, "listed": listed, "house_only": house_only, "budget_ms": budget_ms}
    connection.execute(_INSERT_SET, {"id": set_id, "ladder_id": ladder_id, "seed": seed, **about})
    connection.execute(
        _INSERT_SEAT,
        [
            {
                "set_id": set_id,
                "position": position,
                "version_id": seat.version_id,
                "bot_id": seat.bot_id,
                "instance": seat.instance,
            }
            for position, seat in enumerate(seats)
        ],
    )
    games = [{"id": _new_id("m"), "set_id": set_id, "game_index": index} for index in range(len(seats))]
    connection.execute(_INSERT_MATCH, games)
    return set_id


def claim(connection: Connection, set_id: str, lease: WorkerLease) -> SetPlan | None:
    """Makes the set the worker's; None if it is not to be had: a doorbell that rang twice, or late.

    Raises Fenced if the worker's lease has lapsed.
    """
    claimed = connection.execute(_CLAIM, {"set": set_id, **lease.parameters}).first()
    if claimed is None:
        if not worker_is_alive(connection, lease):
            raise Fenced("this worker's lease has lapsed")
        return None
    spec = ladder_spec(connection.execute(_LADDER, {"ladder": claimed.ladder_id}).one())
    return SetPlan(
        set_id=set_id,
        ladder=spec,
        set_attempt=claimed.attempt,
        rated=claimed.rated,
        deal_mode=claimed.deal_mode,
        seats=_seats(connection, set_id),
        games=tuple(
            GamePlan(row.id, row.game_index, claimed.attempt, seating(spec.players, row.game_index))
            for row in connection.execute(_UNPLAYED, {"set": set_id})
        ),
        seed=claimed.seed,
    )


def begin_attempts(connection: Connection, lease: WorkerLease, set_id: str, beginnings: Sequence[Beginning]) -> None:
    """Writes down the commitments of games before any bot is told of them. Raises Fenced.

    Doing it again changes nothing: the answer to a commit may have been lost.
    """
    held_set(connection, lease, set_id)
    first = beginnings[0]
    begun = connection.execute(_BEGUN, {"match": first.match_id, "number": first.attempt}).scalar()
    if begun == first.commitment.hex():
        return
    rows = [
        {
            "match_id": beginning.match_id,
            "attempt": beginning.attempt,
            "worker_id": lease.id,
            "epoch": lease.epoch,
            "commitment": beginning.commitment.hex(),
            "secret": beginning.secret.hex(),
        }
        for beginning in beginnings
    ]
    connection.execute(_INSERT_ATTEMPT, rows)


def record_result(connection: Connection, lease: WorkerLease, ended: MatchResult) -> Recorded:
    """Records how a match ended, once. Raises Fenced if the claim on its set no longer stands.

    The same result again is SAME; another result of a match that has one is put into quarantine for a person to look
    at, and the caller should report an error after the commit.
    """
    held = connection.execute(_LOCK_SET_OF_MATCH, {"match": ended.match_id}).first()
    if held is None:
        raise ArenaError(f"there is no match {ended.match_id}")
    content_hash = ended.content_hash
    recorded = connection.execute(_RECORDED, {"match": ended.match_id}).scalar()
    if recorded == content_hash:
        return Recorded.SAME
    check_held(held, lease)
    if {len(ended.places), len(ended.scores), len(ended.reasons)} != {held.players}:
        raise ValueError(f"a result of {ended.match_id} has {held.players} places, scores and reasons")
    if recorded is not None:
        connection.execute(
            insert(quarantine).values(
                match_id=ended.match_id, content_hash=content_hash, payload=ended.to_json(), created_at=now_ms()
            )
        )
        return Recorded.QUARANTINED
    finished = connection.execute(
        _FINISH_ATTEMPT, {"match": ended.match_id, "number": ended.attempt, **lease.parameters}
    )
    if finished.rowcount != 1:
        raise Fenced(f"attempt {ended.attempt} at match {ended.match_id} is not this worker's to finish")
    row = {"ladder_id": held.ladder_id, "content_hash": content_hash, **ended.to_json()}
    connection.execute(_INSERT_RESULT, row)
    if held.listed and held.deal_mode == "own":  # of a shared deal nobody may hear before the whole set is final
        about = {"match_id": ended.match_id, "set_id": held.id, "ladder": held.slug, "places": ended.places}
        outbox.post(connection, "match.finished", about)
    return Recorded.NEW


def void_attempts(connection: Connection, lease: WorkerLease, set_id: str, reason: VoidReason) -> SetState:
    """Ends what is running of a set without a result, by no bot's fault, and queues it again.

    Returns QUEUED, or ERRORED (the engine failed three times), or VOID (spoilt too often). Raises Fenced.
    """
    return void(connection, held_set(connection, lease, set_id), reason)


def release_set(connection: Connection, lease: WorkerLease, set_id: str, reason: str) -> None:
    """Gives up a set that cannot be played now, as when a bot was not ready. Raises Fenced."""
    end_void(connection, held_set(connection, lease, set_id), SetState.VOID, reason)


def void(connection: Connection, row: Row[Any], reason: VoidReason) -> SetState:
    """As :func:`void_attempts`, for a locked row of game_set, whoever held it."""
    engine_errors = row.engine_errors + (reason is VoidReason.ENGINE_ERROR)
    if engine_errors >= MAX_ENGINE_ERRORS or row.attempt >= MAX_ATTEMPTS:
        state = SetState.ERRORED if engine_errors >= MAX_ENGINE_ERRORS else SetState.VOID
        end_void(connection, row, state, reason)
        return state
    _end_attempts(connection, row, reason)
    connection.execute(
        update(game_set)
        .where(game_set.c.id == row.id)
        .values(
            state=SetState.QUEUED,
            attempt=row.attempt + 1,
            engine_errors=engine_errors,
            worker_id=None,
            epoch=None,
            claimed_at=None,
            queued_at=now_ms(),
            rung_at=0,  # nobody has rung for it yet: the sweeper will, at once
        )
    )
    return SetState.QUEUED


def blame(connection: Connection, set_id: str, spoilt: int) -> None:
    """The rules ended the process in which the attempt ``spoilt`` was played: an engine error, whoever has the set by now."""
    row = connection.execute(_LOCK_SET, {"set": set_id}).first()
    if row is None or row.state not in (SetState.QUEUED, SetState.CLAIMED):
        return
    if row.attempt == spoilt:
        void(connection, row, VoidReason.ENGINE_ERROR)
    elif row.engine_errors + 1 >= MAX_ENGINE_ERRORS:
        end_void(connection, row, SetState.ERRORED, VoidReason.ENGINE_ERROR)
    else:  # The sweeper was here first, and somebody may be playing the next attempt.
        connection.execute(update(game_set).where(game_set.c.id == set_id).values(engine_errors=row.engine_errors + 1))


def call_off(connection: Connection, set_id: str, *, again: bool) -> SetState:
    """Takes a set that is queued or being played from whoever holds it, to be played again or given up.

    Its worker is fenced at its next write. Returns the new state: a set spoilt too often is given up either way. Raises
    UserError if the set is over already, or is not there.
    """
    row = connection.execute(_LOCK_SET, {"set": set_id}).first()
    if row is None or row.state not in (SetState.QUEUED, SetState.CLAIMED):
        raise UserError(f"there is no set {set_id!r} in flight" if row is None else f"the set is {row.state} already")
    if again:
        return void(connection, row, VoidReason.INFRA_VOID)
    end_void(connection, row, SetState.VOID, VoidReason.INFRA_VOID)
    return SetState.VOID


def end_void(connection: Connection, row: Row[Any], state: SetState, reason: str) -> None:
    """Ends a set, given its locked row, for good and without a rating."""
    _end_attempts(connection, row, reason)
    connection.execute(
        update(game_set).where(game_set.c.id == row.id).values(state=state, reason=reason, finished_at=now_ms())
    )
    if row.rated:
        ledger.append(connection, row.ladder_id, SetVoid(row.id, reason))


def _end_attempts(connection: Connection, row: Row[Any], reason: str) -> None:
    """Marks running attempts VOID; of a shared deal the finished ones too, whose results nobody has seen."""
    of_set = select(match.c.id).where(match.c.set_id == row.id)
    spoilt: ColumnElement[bool] = attempt.c.match_id.in_(of_set)
    if row.deal_mode == "shared":
        connection.execute(delete(result).where(result.c.match_id.in_(of_set)))
        spoilt &= attempt.c.attempt == row.attempt
    else:
        spoilt &= attempt.c.outcome.is_(None)
    ended = connection.execute(
        update(attempt)
        .where(spoilt)
        .values(outcome="VOID", reason=reason, ended_at=now_ms())
        .returning(attempt.c.match_id)
    ).scalars()
    about = {"set_id": row.id, "attempt": row.attempt, "reason": reason, "match_ids": sorted(ended)}
    outbox.post(connection, "set.void", about)


def held_set(connection: Connection, lease: WorkerLease, set_id: str) -> Row[Any]:
    """The set's row, locked till the end of the transaction. Raises Fenced unless the worker's claim stands."""
    row = locked_set(connection, set_id)
    check_held(row, lease)
    return row


def locked_set(connection: Connection, set_id: str) -> Row[Any]:
    """The set's row, locked till the end of the transaction, whoever holds it. Raises ArenaError if there is none."""
    row = connection.execute(_LOCK_SET, {"set": set_id}).first()
    if row is None:
        raise ArenaError(f"there is no set {set_id}")
    return row


def check_held(row: Row[Any], lease: WorkerLease) -> None:
    """Raises Fenced unless the worker's claim on the set of this row stands."""
    if row.state != SetState.CLAIMED or (row.worker_id, row.epoch) != (lease.id, lease.epoch):
        raise Fenced(f"the set {row.id} is {row.state} and not this worker's")


def ladder_spec(row: Row[Any]) -> LadderSpec:
    """A ladder's row as a spec."""
    time_control = TimeControl(row.bank_ms, row.increment_ms, row.move_cap_ms)
    return LadderSpec(row.slug, row.game, row.players, row.config, time_control)


def _seats(connection: Connection, set_id: str) -> tuple[SeatPlan, ...]:
    rows = connection.execute(_SEATS, {"set": set_id})
    return tuple(
        SeatPlan(
            position=row.position,
            version_id=row.version_id,
            bot_id=row.bot_id,
            bot=row.bot,
            version=row.version,
            owner=row.owner,
            kind="house" if row.house else "remote",
            instance=row.instance,
        )
        for row in rows
    )


def _new_id(kind: str) -> str:
    return f"{kind}_{secrets.token_urlsafe(12)}"
