"""What the status page, the home page and Prometheus show of the arena as a whole. Read only. Times are ms since 1970."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, Integer, String, and_, bindparam, cast, func, select

from arena.match.spec import SeatReason
from arena.storage.plans import seating
from arena.storage.tables import (
    bot,
    bot_version,
    database_time,
    game_set,
    ladder,
    ledger,
    match,
    now_ms,
    outbox,
    quarantine,
    rating,
    rating_point,
    result,
    set_seat,
    worker,
)

MINUTE_MS: Final = 60_000
RECENT_WORKERS_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class Activity:
    """Matches that finished in the last minutes. ``by_minute`` oldest first; ``by_ladder`` by slug."""

    by_minute: tuple[int, ...]
    by_ladder: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker process. ``lease_ms``: how long its lease still holds, negative if it has lapsed."""

    name: str
    epoch: int
    lease_ms: int
    started_at: int
    sets: int


@dataclass(frozen=True, slots=True)
class VoidSet:
    """A set that ended without a rating."""

    set_id: str
    ladder: str
    state: str
    reason: str
    finished_at: int


@dataclass(frozen=True, slots=True)
class Backlog:
    """Events that wait to be published."""

    events: int
    oldest_ms: int


_LISTED: Final = (
    select(match.c.id)
    .join(game_set, game_set.c.id == match.c.set_id)
    .where(match.c.id == result.c.match_id, game_set.c.listed)
    .exists()
)
"""The condition on a result that it may be told of: a hidden event's ladder is named nowhere."""


def activity(connection: Connection, minutes: int) -> Activity:
    """How much was played in the last whole ``minutes``, the current one included; without hidden events."""
    now = database_time(connection)
    first = now // MINUTE_MS - minutes + 1
    minute = result.c.finished_at // MINUTE_MS
    rows = connection.execute(
        select(ladder.c.slug, minute.label("minute"), func.count().label("matches"))
        .join(ladder, ladder.c.id == result.c.ladder_id)
        .where(result.c.finished_at >= first * MINUTE_MS, _LISTED)
        .group_by(ladder.c.slug, minute)
    )
    by_minute, by_ladder = [0] * minutes, Counter[str]()
    for slug, at, matches in rows:
        by_ladder[slug] += matches
        by_minute[min(max(at - first, 0), minutes - 1)] += matches
    return Activity(tuple(by_minute), by_ladder)


def matches_by_reason(connection: Connection, since: int, before: int) -> Counter[tuple[str, str]]:
    """Matches that finished in ``[since, before)`` by (game, how their worst seat ended); without hidden events."""
    reasons = cast(result.c.reasons, String)
    rows = connection.execute(
        select(ladder.c.game, reasons.label("reasons"), func.count().label("matches"))
        .join(ladder, ladder.c.id == result.c.ladder_id)
        .where(result.c.finished_at >= since, result.c.finished_at < before, _LISTED)
        .group_by(ladder.c.game, reasons)
    )
    found: Counter[tuple[str, str]] = Counter()
    for game, text, matches in rows:
        faults = [reason for reason in json.loads(text) if reason != SeatReason.NORMAL]
        found[game, faults[0] if faults else str(SeatReason.NORMAL)] += matches
    return found


def endings_by_bot(connection: Connection, since: int, before: int) -> Counter[tuple[str, str]]:
    """Seats of matches that finished in ``[since, before)`` by (bot, how it ended); without hidden events."""
    reasons = cast(result.c.reasons, String)
    key = (bot.c.name, set_seat.c.position, match.c.game_index, reasons)
    rows = connection.execute(
        select(*key, func.count().label("matches"))
        .select_from(result)
        .join(match, match.c.id == result.c.match_id)
        .join(game_set, game_set.c.id == match.c.set_id)
        .join(set_seat, set_seat.c.set_id == match.c.set_id)
        .join(bot, bot.c.id == set_seat.c.bot_id)
        .where(result.c.finished_at >= since, result.c.finished_at < before, game_set.c.listed)
        .group_by(*key)
    )
    found: Counter[tuple[str, str]] = Counter()
    for name, position, index, text, matches in rows:
        ended = json.loads(text)
        found[name, ended[seating(len(ended), index).index(position)]] += matches
    return found


@dataclass(frozen=True, slots=True)
class BotStanding:
    """Where a version of a bot stands on a ladder."""

    bot: str
    version: str
    ladder: str
    rating: float
    games: int
    wins: int
    draws: int
    losses: int


def standings_of(connection: Connection, versions: Sequence[int]) -> tuple[BotStanding, ...]:
    """Where these versions stand, on every ladder."""
    of_rating = (rating.c.rating, rating.c.games, rating.c.wins, rating.c.draws, rating.c.losses)
    rows = connection.execute(
        select(bot.c.name, bot_version.c.label, ladder.c.slug, *of_rating)
        .select_from(rating)
        .join(ladder, ladder.c.id == rating.c.ladder_id)
        .join(bot_version, bot_version.c.id == rating.c.version_id)
        .join(bot, bot.c.id == bot_version.c.bot_id)
        .where(rating.c.version_id.in_(versions))
        .order_by(ladder.c.slug, bot.c.name, bot_version.c.label)
    )
    return tuple(BotStanding(*row) for row in rows)


def sets_by_state(connection: Connection) -> dict[str, int]:
    """How many sets are in each state. It reads an index of all sets: not for every request."""
    rows = connection.execute(select(game_set.c.state, func.count().label("sets")).group_by(game_set.c.state))
    return {row.state: row.sets for row in rows}


def workers(connection: Connection) -> tuple[WorkerRow, ...]:
    """Workers that live, or lived within the last hour, by name."""
    claimed = (
        select(func.count())
        .where(game_set.c.worker_id == worker.c.id, game_set.c.epoch == worker.c.epoch, game_set.c.state == "CLAIMED")
        .scalar_subquery()
    )
    now = now_ms()
    rows = connection.execute(
        select(worker.c.name, worker.c.epoch, worker.c.lease_until - now, worker.c.started_at, claimed)
        .where(worker.c.lease_until > now - RECENT_WORKERS_MS)
        .order_by(worker.c.name)
        .limit(200)
    )
    return tuple(WorkerRow(*row) for row in rows)


def recent_voids(connection: Connection, limit: int = 20) -> tuple[VoidSet, ...]:
    """The sets that last ended without a rating, newest first; without hidden events."""
    rows = connection.execute(
        select(game_set.c.id, ladder.c.slug, game_set.c.state, game_set.c.reason, game_set.c.finished_at)
        .join(ladder, ladder.c.id == game_set.c.ladder_id)
        .where(game_set.c.state.in_(["VOID", "ERRORED"]), game_set.c.listed)
        .order_by(game_set.c.finished_at.desc())
        .limit(limit)
    )
    return tuple(VoidSet(*row) for row in rows)


def backlog(connection: Connection) -> Backlog:
    """What the outbox holds."""
    count, oldest = connection.execute(select(func.count(), now_ms() - func.min(outbox.c.created_at))).one()
    return Backlog(count, max(0, oldest or 0))


def quarantined(connection: Connection) -> int:
    """Results that contradict another one and wait for a person."""
    return connection.execute(select(func.count()).select_from(quarantine)).scalar_one()


def trends(
    connection: Connection, ladder_id: int, versions: Sequence[int], points: int = 40
) -> dict[int, tuple[float, ...]]:
    """The last ratings of each version, oldest first."""
    of = {"of_ladder": ladder_id, "points": points}
    return {
        version: tuple(connection.execute(_TREND, {**of, "of_version": version}).scalars())[::-1]
        for version in versions
    }


_TREND: Final = (
    select(rating_point.c.after)
    .where(rating_point.c.ladder_id == bindparam("of_ladder"), rating_point.c.version_id == bindparam("of_version"))
    .order_by(rating_point.c.seq.desc())
    .limit(bindparam("points", type_=Integer))
)


@dataclass(frozen=True, slots=True)
class History:
    """The last ratings of a version on a ladder, oldest first, from ``first_at`` to ``last_at``."""

    ratings: tuple[float, ...]
    first_at: int
    last_at: int


def history(connection: Connection, ladder_id: int, version_id: int, points: int = 2_000) -> History:
    """A version's last ``points`` ratings on a ladder."""
    rows = connection.execute(
        select(rating_point.c.after, ledger.c.created_at)
        .join(ledger, and_(ledger.c.ladder_id == rating_point.c.ladder_id, ledger.c.seq == rating_point.c.seq))
        .where(rating_point.c.ladder_id == ladder_id, rating_point.c.version_id == version_id)
        .order_by(rating_point.c.seq.desc())
        .limit(points)
    ).all()
    if not rows:
        return History((), 0, 0)
    return History(tuple(row.after for row in reversed(rows)), rows[-1].created_at, rows[0].created_at)


def matches_of_set(connection: Connection, set_id: str) -> tuple[tuple[int, str], ...]:
    """(index, match id) of each game of a set that has a result, in order. Only for sets that may be shown."""
    rows = connection.execute(
        select(match.c.game_index, match.c.id)
        .join(result, result.c.match_id == match.c.id)
        .where(match.c.set_id == set_id)
        .order_by(match.c.game_index)
    )
    return tuple((index, match_id) for index, match_id in rows)
