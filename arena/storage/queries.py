"""Ladders, tables, bots and totals, as pages, calls and metrics show them; matches are in :mod:`arena.storage.matches`.

Read only; every list has a cap. Times are ms since 1970.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, case, func, select

from arena.errors import UserError
from arena.ladder.standings import PROVISIONAL_SE, Standing
from arena.ratings import elo
from arena.settings import LadderSpec
from arena.storage.accounts import Bot, Version, find_bot
from arena.storage.plans import SetState
from arena.storage.sets import ladder_spec
from arena.storage.tables import (
    account,
    bot,
    bot_version,
    game_set,
    ladder,
    ledger,
    now_ms,
    official,
    official_rating,
    rating,
    rating_point,
    result,
    tournament_ladder,
    worker,
)
from arena.storage.versions import on_table, versions_of

MAX_ROWS: Final = 500
MAX_POINTS: Final = 5_000


@dataclass(frozen=True, slots=True)
class LadderRow:
    """A ladder. ``entries`` of its ledger, ``bots`` on its table."""

    id: int
    spec: LadderSpec
    active: bool
    entries: int
    bots: int


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a ladder's table; provisional ratings are ranked with the others and marked.

    ``rank`` is None of a version that is not on the table: retired, or not seen for 14 days. ``score``: mean against an
    opponent, 0..1. ``standard_error`` is approximate until the version is in an official table.
    """

    rank: int | None
    version_id: int
    bot: str
    version: str
    owner: str
    house: bool
    rating: float
    standard_error: float
    provisional: bool
    anchor: bool
    sets: int
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    seen_at: int
    retired: bool


@dataclass(frozen=True, slots=True)
class BotLadderRow:
    """A version of a bot on a ladder."""

    ladder: str
    version: str
    row: TableRow


@dataclass(frozen=True, slots=True)
class BotPage:
    """A bot, its versions (newest first) and where they stand."""

    bot: Bot
    versions: tuple[Version, ...]
    standings: tuple[BotLadderRow, ...]


@dataclass(frozen=True, slots=True)
class RatingPoint:
    """A rating after a ledger entry."""

    seq: int
    rating: float
    at: int


@dataclass(frozen=True, slots=True)
class Counters:
    """What a dashboard shows of the whole arena. Ages in ms; ``oldest_queued_ms`` is 0 if nothing waits."""

    matches: int
    matches_last_minute: int
    sets_queued: int
    sets_claimed: int
    oldest_queued_ms: int
    workers: int
    bots: int


def ladders(connection: Connection) -> tuple[LadderRow, ...]:
    """All ladders by slug, but those that tournaments play on: nothing is rated there."""
    of_events = select(tournament_ladder.c.ladder_id)
    rows = connection.execute(_ladders().where(ladder.c.id.not_in(of_events)).order_by(ladder.c.slug))
    return tuple(map(_ladder_row, rows))


def get_ladder(connection: Connection, slug: str) -> LadderRow:
    """The ladder of that slug. Raises UserError."""
    row = connection.execute(_ladders().where(ladder.c.slug == slug)).first()
    if row is None:
        raise UserError(f"there is no ladder {slug!r}")
    return _ladder_row(row)


def slugs(connection: Connection, wanted: Collection[str]) -> frozenset[str]:
    """Those of ``wanted`` that are the slug of a ladder."""
    return frozenset(connection.execute(select(ladder.c.slug).where(ladder.c.slug.in_(wanted))).scalars())


def _ladders() -> Select[*tuple[Any, ...]]:
    bots = (
        select(func.count())
        .select_from(rating.join(bot_version, bot_version.c.id == rating.c.version_id))
        .where(rating.c.ladder_id == ladder.c.id, on_table())
    )
    return select(ladder, bots.scalar_subquery().label("bots"))


def _ladder_row(row: Row[Any]) -> LadderRow:
    return LadderRow(row.id, ladder_spec(row), row.active, row.seq, row.bots)


def leaderboard(connection: Connection, slug: str, limit: int = 100, offset: int = 0) -> tuple[TableRow, ...]:
    """A ladder's live table, best first. Raises UserError."""
    held = get_ladder(connection, slug)
    rows = connection.execute(
        _standings()
        .where(rating.c.ladder_id == held.id, on_table())
        .order_by(rating.c.rating.desc(), rating.c.version_id)
        .limit(min(max(limit, 0), MAX_ROWS))
        .offset(max(offset, 0))
    )
    found = tuple(_table_row(row, rank, held.spec.players) for rank, row in enumerate(rows, max(offset, 0) + 1))
    return _with_official_errors(connection, held.id, held.spec.players, found)


def search(connection: Connection, slug: str, text: str, limit: int = 100) -> tuple[TableRow, ...]:
    """The best rows of a ladder's table whose bot's or owner's name contains ``text``. Raises UserError."""
    held = get_ladder(connection, slug)
    wanted = text.lower()
    called = bot.c.name_key.contains(wanted, autoescape=True) | account.c.name_key.contains(wanted, autoescape=True)
    rows = connection.execute(
        _standings()
        .add_columns(_rank())
        .where(rating.c.ladder_id == held.id, on_table(), called)
        .order_by(rating.c.rating.desc(), rating.c.version_id)
        .limit(min(max(limit, 0), MAX_ROWS))
    )
    return tuple(_table_row(row, row.rank, held.spec.players) for row in rows)


def bot_page(connection: Connection, name: str) -> BotPage:
    """A bot with its versions and standings. Raises UserError."""
    found = find_bot(connection, name)
    if found is None:
        raise UserError(f"there is no bot {name!r}")
    standings = connection.execute(
        _standings()
        .add_columns(ladder.c.slug, ladder.c.players, _rank())
        .join(ladder, ladder.c.id == rating.c.ladder_id)
        .where(bot.c.id == found.id)
        .order_by(ladder.c.slug, rating.c.version_id.desc())
        .limit(MAX_ROWS)
    )
    rows: list[BotLadderRow] = []
    for row in standings.all():
        [known] = _with_official_errors(
            connection, row.ladder_id, row.players, (_table_row(row, row.rank, row.players),)
        )
        rows.append(BotLadderRow(row.slug, row.version, known))
    return BotPage(found, versions_of(connection, found, MAX_ROWS), tuple(rows))


def rating_history(
    connection: Connection, slug: str, version_id: int, after: int = 0, limit: int = 1000
) -> tuple[RatingPoint, ...]:
    """A version's rating after each ledger entry that moved it, oldest first, from entry ``after + 1``."""
    held = get_ladder(connection, slug)
    rows = connection.execute(
        select(rating_point.c.seq, rating_point.c.after, ledger.c.created_at)
        .join(ledger, and_(ledger.c.ladder_id == rating_point.c.ladder_id, ledger.c.seq == rating_point.c.seq))
        .where(
            rating_point.c.ladder_id == held.id,
            rating_point.c.version_id == version_id,
            rating_point.c.seq > after,
        )
        .order_by(rating_point.c.seq)
        .limit(min(limit, MAX_POINTS))
    )
    return tuple(RatingPoint(*row) for row in rows)


def matches_stored(connection: Connection) -> int:
    """How many matches have a result. It reads an index of all of them: not for every request."""
    return connection.execute(select(func.count()).select_from(result)).scalar_one()


def counters(connection: Connection, matches: int | None = None) -> Counters:
    """Numbers of the whole arena, now; ``matches`` if somebody has counted them a moment ago."""
    states = {
        row.state: row.sets
        for row in connection.execute(
            select(game_set.c.state, func.count().label("sets"))
            .where(game_set.c.state.in_([SetState.QUEUED, SetState.CLAIMED]))
            .group_by(game_set.c.state)
        )
    }
    oldest = select(func.min(game_set.c.queued_at)).where(game_set.c.state == SetState.QUEUED).scalar_subquery()
    minute = select(func.count()).where(result.c.finished_at > now_ms() - 60_000).scalar_subquery()
    row = connection.execute(
        select(
            minute.label("minute"),
            func.coalesce(now_ms() - oldest, 0).label("oldest"),
            select(func.count()).where(worker.c.lease_until >= now_ms()).scalar_subquery().label("workers"),
            select(func.count()).select_from(bot).scalar_subquery().label("bots"),
        )
    ).one()
    return Counters(
        matches=matches_stored(connection) if matches is None else matches,
        matches_last_minute=row.minute,
        sets_queued=states.get(SetState.QUEUED, 0),
        sets_claimed=states.get(SetState.CLAIMED, 0),
        oldest_queued_ms=max(0, row.oldest),
        workers=row.workers,
        bots=row.bots,
    )


def _rank() -> ColumnElement[int | None]:
    """One more than how many are above a version on its table; null if it is not on it."""
    above, other = rating.alias("above"), bot_version.alias("other")
    better = (
        select(func.count() + 1)
        .select_from(above.join(other, other.c.id == above.c.version_id))
        .where(above.c.ladder_id == rating.c.ladder_id, above.c.rating > rating.c.rating, on_table(other))
        .scalar_subquery()
    )
    return case((on_table(), better)).label("rank")


def _standings() -> Select[*tuple[Any, ...]]:
    return (
        select(
            rating,
            bot.c.name.label("bot"),
            bot_version.c.label.label("version"),
            bot_version.c.seen_at,
            bot_version.c.retired_at,
            account.c.name.label("owner"),
            account.c.house,
        )
        .join(bot_version, bot_version.c.id == rating.c.version_id)
        .join(bot, bot.c.id == bot_version.c.bot_id)
        .join(account, account.c.id == bot.c.account_id)
    )


def _table_row(row: Any, rank: int | None, players: int) -> TableRow:
    standing = Standing(
        row.version_id, row.rating, row.k2, games=row.games, half_points=row.half_points, anchor=row.anchor
    )
    return TableRow(
        rank=rank,
        version_id=row.version_id,
        bot=row.bot,
        version=row.version,
        owner=row.owner,
        house=row.house,
        rating=row.rating,
        standard_error=standing.standard_error(players),
        provisional=standing.provisional(players),
        anchor=row.anchor,
        sets=row.sets,
        games=row.games,
        wins=row.wins,
        draws=row.draws,
        losses=row.losses,
        score=standing.score(players),
        seen_at=row.seen_at,
        retired=row.retired_at is not None,
    )


def _with_official_errors(
    connection: Connection, ladder_id: int, players: int, rows: tuple[TableRow, ...]
) -> tuple[TableRow, ...]:
    """The rows with what the last official table knows of their errors, and of the games since."""
    newest = select(func.max(official.c.id)).where(official.c.ladder_id == ladder_id).scalar_subquery()
    known = {
        version: (error, games)
        for version, error, games in connection.execute(
            select(official_rating.c.version_id, official_rating.c.standard_error, official_rating.c.games).where(
                official_rating.c.official_id == newest,
                official_rating.c.version_id.in_([row.version_id for row in rows]),
                official_rating.c.linked,
            )
        )
    }

    def with_error(row: TableRow) -> TableRow:
        if row.anchor or row.version_id not in known:
            return row
        error, games = known[row.version_id]
        now = elo.standard_error(max(0, row.games - games), players, before=error)
        return replace(row, standard_error=now, provisional=now >= PROVISIONAL_SE)

    return tuple(map(with_error, rows))
