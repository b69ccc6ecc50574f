"""Matches that are being played and may be watched: of listed sets whose games do not share their deal. Sets in flight."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, and_, func, select

from arena.storage.plans import SetState, seating
from arena.storage.tables import attempt, bot, bot_version, game_set, ladder, match, result, set_seat, worker


@dataclass(frozen=True, slots=True)
class RunningMatch:
    """``bots`` and ``versions`` by seat."""

    match_id: str
    set_id: str
    attempt: int
    game_index: int
    ladder: str
    game: str
    rated: bool
    bots: tuple[str, ...]
    versions: tuple[str, ...]
    started_at: int


@dataclass(frozen=True, slots=True)
class SetInFlight:
    """A set that is queued or being played. ``since``: queued, or claimed by ``worker``. ``bots`` by position."""

    set_id: str
    ladder: str
    state: str
    attempt: int
    rated: bool
    worker: str | None
    since: int
    bots: tuple[str, ...]


def sets_in_flight(connection: Connection, limit: int) -> tuple[SetInFlight, ...]:
    """Queued and claimed sets, the oldest first."""
    since = func.coalesce(game_set.c.claimed_at, game_set.c.queued_at).label("since")
    rows = connection.execute(
        select(game_set, ladder.c.slug, worker.c.name.label("worker"), since)
        .join(ladder, ladder.c.id == game_set.c.ladder_id)
        .outerjoin(worker, worker.c.id == game_set.c.worker_id)
        .where(game_set.c.state.in_([SetState.QUEUED, SetState.CLAIMED]))
        .order_by(since, game_set.c.id)
        .limit(limit)
    ).all()
    seated = _seated(connection, {row.id for row in rows})
    return tuple(
        SetInFlight(
            row.id,
            row.slug,
            row.state,
            row.attempt,
            row.rated,
            row.worker,
            row.since,
            tuple(seat.name for seat in seated[row.id]),
        )
        for row in rows
    )


def running_match(connection: Connection, match_id: str) -> RunningMatch | None:
    """The match, if it is being played, or is about to be in a set that is; None if it is not, or may not be watched."""
    rows = connection.execute(_running().where(match.c.id == match_id)).all()
    return _told(connection, rows)[0] if rows else None


def running_matches(connection: Connection, limit: int) -> tuple[RunningMatch, ...]:
    """What can be watched now, one match a set, the longest running first."""
    first = (
        select(match.c.set_id, func.min(match.c.game_index).label("game_index"))
        .outerjoin(result, result.c.match_id == match.c.id)
        .where(result.c.match_id.is_(None))
        .group_by(match.c.set_id)
        .subquery()
    )
    chosen = and_(first.c.set_id == match.c.set_id, first.c.game_index == match.c.game_index)
    query = _running().join(first, chosen).order_by(attempt.c.started_at, match.c.id).limit(limit)
    return _told(connection, connection.execute(query).all())


def _running() -> Select[*tuple[Any, ...]]:
    return (
        select(
            match.c.id,
            match.c.set_id,
            match.c.game_index,
            attempt.c.attempt,
            attempt.c.started_at,
            game_set.c.rated,
            ladder.c.slug,
            ladder.c.game,
            ladder.c.players,
        )
        .select_from(attempt)
        .join(match, match.c.id == attempt.c.match_id)
        .join(game_set, game_set.c.id == match.c.set_id)
        .join(ladder, ladder.c.id == game_set.c.ladder_id)
        .where(
            attempt.c.outcome.is_(None),
            game_set.c.state == SetState.CLAIMED,
            game_set.c.listed,
            game_set.c.deal_mode == "own",
        )
    )


def _told(connection: Connection, rows: Sequence[Any]) -> tuple[RunningMatch, ...]:
    seated = _seated(connection, {row.set_id for row in rows})
    told = []
    for row in rows:
        seats = [seated[row.set_id][position] for position in seating(row.players, row.game_index)]
        told.append(
            RunningMatch(
                match_id=row.id,
                set_id=row.set_id,
                attempt=row.attempt,
                game_index=row.game_index,
                ladder=row.slug,
                game=row.game,
                rated=row.rated,
                bots=tuple(seat.name for seat in seats),
                versions=tuple(seat.label for seat in seats),
                started_at=row.started_at,
            )
        )
    return tuple(told)


def _seated(connection: Connection, set_ids: Collection[str]) -> dict[str, list[Any]]:
    """Names and labels of who sits in each set, by position."""
    seated: dict[str, list[Any]] = {}
    for seat in connection.execute(
        select(set_seat.c.set_id, bot.c.name, bot_version.c.label)
        .join(bot, bot.c.id == set_seat.c.bot_id)
        .join(bot_version, bot_version.c.id == set_seat.c.version_id)
        .where(set_seat.c.set_id.in_(set_ids))
        .order_by(set_seat.c.set_id, set_seat.c.position)
    ):
        seated.setdefault(seat.set_id, []).append(seat)
    return seated
