"""Finished matches, as pages, calls and metrics show them. Read only; a list has a cap and a cursor.

Of a set with a shared deal nothing is shown before all of it is final, and of a deal's secret nothing before the match,
or the set of a shared deal, is. Times are ms since 1970.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, or_, select, tuple_

from arena.errors import UserError
from arena.storage.accounts import find_bot
from arena.storage.plans import seating
from arena.storage.queries import get_ladder
from arena.storage.tables import account, attempt, bot, bot_version, game_set, ladder, match, result, set_seat

MAX_MATCHES: Final = 200


@dataclass(frozen=True, slots=True)
class MatchSeat:
    """How a seat fared."""

    bot: str
    version: str
    owner: str
    place: int
    score: int
    reason: str


@dataclass(frozen=True, slots=True)
class MatchRow:
    """A match with a result; ``seats`` in seat order."""

    match_id: str
    set_id: str
    game_index: int
    ladder: str
    game: str
    players: int
    rated: bool
    seats: tuple[MatchSeat, ...]
    events: int
    record_digest: str
    record_head: str
    finished_at: int


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """An attempt at a match. ``secret`` (hex) is None as long as it must be."""

    attempt: int
    commitment: str
    secret: str | None
    outcome: str | None
    reason: str | None
    started_at: int
    ended_at: int | None

    @classmethod
    def of(cls, row: Row[Any]) -> AttemptRow:
        """A row of the table; only where its secret may be told."""
        return cls(row.attempt, row.commitment, row.secret, row.outcome, row.reason, row.started_at, row.ended_at)


@dataclass(frozen=True, slots=True)
class MatchPage:
    """A match and how it came about: all attempts, void ones too, so that nobody can deal again unseen."""

    match: MatchRow
    set_state: str
    deal_mode: str
    attempts: tuple[AttemptRow, ...]


def recent_matches(
    connection: Connection,
    *,
    ladder_slug: str | None = None,
    bot_name: str | None = None,
    limit: int = 50,
    cursor: str = "",
) -> tuple[tuple[MatchRow, ...], str]:
    """Matches with a result, newest first, of all or of one ladder or bot, and the cursor of the next page ("": none).

    A bot's matches are in the order in which their sets were made. Raises UserError on a cursor from elsewhere.
    """
    limit = min(max(limit, 1), MAX_MATCHES)
    query, order = _matches(), (result.c.finished_at, result.c.match_id)
    if ladder_slug is not None:
        query = query.where(result.c.ladder_id == get_ladder(connection, ladder_slug).id)
    if bot_name is not None:
        found = find_bot(connection, bot_name)
        if found is None:
            raise UserError(f"there is no bot {bot_name!r}")
        # A bot has one seat of a set, house bots perhaps more: those matches are listed once, by the first.
        mine = set_seat.alias("mine")
        first = select(func.min(set_seat.c.position)).where(
            set_seat.c.set_id == mine.c.set_id, set_seat.c.bot_id == found.id
        )
        query = query.join(mine, mine.c.set_id == game_set.c.id).where(
            mine.c.bot_id == found.id, mine.c.position == first.scalar_subquery()
        )
        order = (mine.c.created_at, result.c.match_id)
    if cursor:
        query = query.where(tuple_(*order) < tuple_(*_decoded(cursor)))
    query = query.add_columns(order[0].label("at")).order_by(*(column.desc() for column in order)).limit(limit + 1)
    rows = connection.execute(query).all()
    page = rows[:limit]
    return _match_rows(connection, page), _encoded(page[-1].at, page[-1].match_id) if len(rows) > limit else ""


def match_page(connection: Connection, match_id: str) -> MatchPage:
    """A finished match. Raises UserError if there is none that may be shown."""
    row = connection.execute(_matches().where(result.c.match_id == match_id)).first()
    if row is None:
        raise UserError(f"there is no finished match {match_id!r}")
    attempts = connection.execute(select(attempt).where(attempt.c.match_id == match_id).order_by(attempt.c.attempt))
    return MatchPage(
        match=_match_rows(connection, [row])[0],
        set_state=row.state,
        deal_mode=row.deal_mode,
        attempts=tuple(map(AttemptRow.of, attempts)),
    )


def shown() -> ColumnElement[bool]:
    """What may be shown of matches: not those of a shared deal that is still being played, nor a hidden event's."""
    final = game_set.c.state.in_(["FINISHED", "VOID", "ERRORED"])
    return and_(game_set.c.listed, or_(game_set.c.deal_mode == "own", final))


def _matches() -> Select[*tuple[Any, ...]]:
    return (
        select(
            result,
            match.c.set_id,
            match.c.game_index,
            game_set.c.rated,
            game_set.c.state,
            game_set.c.deal_mode,
            ladder.c.slug,
            ladder.c.game,
            ladder.c.players,
        )
        .join(match, match.c.id == result.c.match_id)
        .join(game_set, game_set.c.id == match.c.set_id)
        .join(ladder, ladder.c.id == game_set.c.ladder_id)
        .where(shown())
    )


def _match_rows(connection: Connection, rows: Sequence[Any]) -> tuple[MatchRow, ...]:
    seated: dict[str, list[Any]] = {}
    for seat in connection.execute(
        select(set_seat.c.set_id, bot.c.name, bot_version.c.label, account.c.name.label("owner"))
        .join(bot, bot.c.id == set_seat.c.bot_id)
        .join(bot_version, bot_version.c.id == set_seat.c.version_id)
        .join(account, account.c.id == bot.c.account_id)
        .where(set_seat.c.set_id.in_({row.set_id for row in rows}))
        .order_by(set_seat.c.set_id, set_seat.c.position)
    ):
        seated.setdefault(seat.set_id, []).append(seat)
    return tuple(_match_row(row, seated[row.set_id]) for row in rows)


def _match_row(row: Any, positions: Sequence[Any]) -> MatchRow:
    order = seating(row.players, row.game_index)
    return MatchRow(
        match_id=row.match_id,
        set_id=row.set_id,
        game_index=row.game_index,
        ladder=row.slug,
        game=row.game,
        players=row.players,
        rated=row.rated,
        seats=tuple(
            MatchSeat(
                bot=positions[position].name,
                version=positions[position].label,
                owner=positions[position].owner,
                place=row.places[seat],
                score=row.scores[seat],
                reason=row.reasons[seat],
            )
            for seat, position in enumerate(order)
        ),
        events=row.events,
        record_digest=row.record_digest,
        record_head=row.record_head,
        finished_at=row.finished_at,
    )


def _encoded(at: int, match_id: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([at, match_id]).encode()).decode()


def _decoded(cursor: str) -> tuple[int, str]:
    try:
        at, match_id = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, TypeError, RecursionError):
        at, match_id = None, None
    if not isinstance(at, int) or not 0 <= at < 2**63 or not isinstance(match_id, str) or "\0" in match_id:
        raise UserError("this cursor is not one that a list gave")
    return at, match_id
