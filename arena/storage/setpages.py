"""One set as a page shows it: who sat where in which game, its deals, and what it did to the ratings and why. Read only.

What may be shown is as in :mod:`arena.storage.queries`. Times are ms since 1970.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from sqlalchemy import Connection, select

from arena.errors import UserError
from arena.ratings.elo import expected
from arena.storage.matches import AttemptRow, MatchSeat, shown
from arena.storage.plans import SetState, seating
from arena.storage.tables import (
    account,
    attempt,
    bot,
    bot_version,
    game_set,
    ladder,
    ledger,
    match,
    rating_point,
    result,
    set_seat,
)

FINAL: Final = frozenset({SetState.FINISHED, SetState.VOID, SetState.ERRORED})


@dataclass(frozen=True, slots=True)
class SetSeat:
    """Who sits on a position of a set."""

    bot: str
    version: str
    owner: str
    house: bool
    version_id: int


@dataclass(frozen=True, slots=True)
class SetGame:
    """A game of a set. ``order`` names the position by seat; of one that is not over nothing else is told."""

    index: int
    match_id: str | None
    order: tuple[int, ...]
    seats: tuple[MatchSeat, ...]
    attempts: tuple[AttemptRow, ...]
    finished_at: int | None


@dataclass(frozen=True, slots=True)
class Duel:
    """A bot against one opponent of its set: mean score over its games, and what the ratings before it expected, 0..1."""

    opponent: str
    score: float
    expected: float


@dataclass(frozen=True, slots=True)
class SetChange:
    """What a set did to a version's rating. ``score`` and ``expected`` are the means over its duels."""

    bot: str
    version: str
    before: float
    after: float
    score: float
    expected: float
    duels: tuple[Duel, ...]


@dataclass(frozen=True, slots=True)
class SetPage:
    """A set. ``seq`` of its ledger entry and ``changes`` are there once it is rated; seats by position."""

    set_id: str
    ladder: str
    game: str
    players: int
    state: str
    reason: str | None
    deal_mode: str
    rated: bool
    attempt: int
    created_at: int
    finished_at: int | None
    seats: tuple[SetSeat, ...]
    games: tuple[SetGame, ...]
    seq: int | None
    changes: tuple[SetChange, ...]


def set_page(connection: Connection, set_id: str) -> SetPage:
    """A set that may be shown and of which something is over. Raises UserError."""
    row = connection.execute(
        select(game_set, ladder.c.slug, ladder.c.game, ladder.c.players)
        .join(ladder, ladder.c.id == game_set.c.ladder_id)
        .where(game_set.c.id == set_id, shown())
    ).first()
    seats = _seats(connection, set_id)
    games = _games(connection, row, seats) if row is not None else ()
    if row is None or (row.state not in FINAL and not any(game.seats for game in games)):
        raise UserError(f"there is no set {set_id!r} of which anything is over")
    seq, changes = _changes(connection, row.ladder_id, set_id, seats, games)
    return SetPage(
        set_id=set_id,
        ladder=row.slug,
        game=row.game,
        players=row.players,
        state=row.state,
        reason=row.reason,
        deal_mode=row.deal_mode,
        rated=row.rated,
        attempt=row.attempt,
        created_at=row.created_at,
        finished_at=row.finished_at,
        seats=seats,
        games=games,
        seq=seq,
        changes=changes,
    )


def _seats(connection: Connection, set_id: str) -> tuple[SetSeat, ...]:
    rows = connection.execute(
        select(bot.c.name, bot_version.c.label, account.c.name.label("owner"), account.c.house, bot_version.c.id)
        .select_from(set_seat)
        .join(bot_version, bot_version.c.id == set_seat.c.version_id)
        .join(bot, bot.c.id == set_seat.c.bot_id)
        .join(account, account.c.id == bot.c.account_id)
        .where(set_seat.c.set_id == set_id)
        .order_by(set_seat.c.position)
    )
    return tuple(SetSeat(*row) for row in rows)


def _games(connection: Connection, held: Any, seats: Sequence[SetSeat]) -> tuple[SetGame, ...]:
    rows = connection.execute(
        select(match.c.id, match.c.game_index, result.c.places, result.c.scores, result.c.reasons, result.c.finished_at)
        .outerjoin(result, result.c.match_id == match.c.id)
        .where(match.c.set_id == held.id)
        .order_by(match.c.game_index)
    ).all()
    tried: dict[str, list[AttemptRow]] = {}
    for one in connection.execute(
        select(attempt)
        .where(attempt.c.match_id.in_([row.id for row in rows]))
        .order_by(attempt.c.match_id, attempt.c.attempt)
    ):
        tried.setdefault(one.match_id, []).append(AttemptRow.of(one))
    games = []
    for row in rows:
        order, over = seating(held.players, row.game_index), row.places is not None
        fared = _fared(row, [seats[position] for position in order]) if over else ()
        # Of a match that may still be dealt again nothing is told, its earlier attempts included.
        known = over or held.state in FINAL
        told = tuple(tried.get(row.id, ())) if known else ()
        games.append(SetGame(row.game_index, row.id if known else None, order, fared, told, row.finished_at))
    return tuple(games)


def _fared(row: Any, sitting: Sequence[SetSeat]) -> tuple[MatchSeat, ...]:
    """How each seat of a game fared."""
    results = zip(sitting, row.places, row.scores, row.reasons, strict=True)
    return tuple(MatchSeat(seat.bot, seat.version, seat.owner, *fared) for seat, *fared in results)


def _changes(
    connection: Connection, ladder_id: int, set_id: str, seats: Sequence[SetSeat], games: Sequence[SetGame]
) -> tuple[int | None, tuple[SetChange, ...]]:
    """The ledger entry of a set and what it changed, in the order of the positions; (None, ()) if it has none."""
    seq = connection.execute(select(ledger.c.seq).where(ledger.c.set_id == set_id)).scalar()
    if seq is None:
        return None, ()
    points = {
        row.version_id: row
        for row in connection.execute(
            select(rating_point.c.version_id, rating_point.c.before, rating_point.c.after).where(
                rating_point.c.ladder_id == ladder_id,
                rating_point.c.version_id.in_({seat.version_id for seat in seats}),
                rating_point.c.seq == seq,
            )
        )
    }
    places = [[game.seats[game.order.index(position)].place for position in range(len(seats))] for game in games]
    changes = []
    for version_id, point in points.items():
        duels = tuple(
            Duel(
                seats[other].bot,
                fmean((game[mine] < game[other]) + (game[mine] == game[other]) / 2 for game in places),
                expected(point.before, points[seats[other].version_id].before),
            )
            for mine, seat in enumerate(seats)
            for other in range(len(seats))
            if seat.version_id == version_id and other != mine
        )
        sits = next(seat for seat in seats if seat.version_id == version_id)
        score, hoped = fmean(one.score for one in duels), fmean(one.expected for one in duels)
        changes.append(SetChange(sits.bot, sits.version, point.before, point.after, score, hoped, duels))
    return seq, tuple(sorted(changes, key=lambda one: one.before - one.after))
