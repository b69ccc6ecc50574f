"""Official tables, as they were computed: what pages show beside the live table, and what pairing knows of errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from sqlalchemy import Connection, Select, delete, func, insert, select

from arena.ladder.standings import PROVISIONAL_SE
from arena.ratings.bradley_terry import OfficialTable, superiority
from arena.ratings.comparisons import Floats
from arena.storage.tables import (
    account,
    bot,
    bot_version,
    ladder,
    ledger,
    now_ms,
    official,
    official_rating,
    rating,
)

KEPT: Final = 60
"""Official tables of a ladder that are kept."""
MAX_ROWS: Final = 500


@dataclass(frozen=True, slots=True)
class OfficialVersion:
    """A row of an official table. ``standard_error`` against the mean of all; unlinked rows compare with no anchor."""

    rank: int
    version_id: int
    bot: str
    version: str
    owner: str
    house: bool
    rating: float
    standard_error: float
    sets: int
    games: int
    linked: bool

    @property
    def provisional(self) -> bool:
        """Whether the rating is too uncertain to be ranked with the others."""
        return self.standard_error >= PROVISIONAL_SE or not self.linked


@dataclass(frozen=True, slots=True)
class OfficialPage:
    """An official table. ``los[a][b]``: probability that rank a is better than rank b, of the first rows only."""

    ladder_id: int
    seq: int
    created_at: int
    dispersion: float
    rows: tuple[OfficialVersion, ...]
    covariance: Floats
    los: Floats


@dataclass(frozen=True, slots=True)
class OfficialErrors:
    """What pairing takes from a table: by version the standard error, and after how many games it was so."""

    official_id: int
    by_version: dict[int, tuple[float, int]]


def save(connection: Connection, ladder_id: int, seq: int, table: OfficialTable) -> int:
    """Keeps a table made of a ladder's entries up to ``seq``; returns its id. The oldest ones are forgotten."""
    played = dict(
        connection.execute(select(rating.c.version_id, rating.c.games).where(rating.c.ladder_id == ladder_id)).all()
    )
    official_id: int = connection.execute(
        insert(official)
        .values(
            ladder_id=ladder_id,
            seq=seq,
            dispersion=table.dispersion,
            covariance=table.covariance.astype("<f4").tobytes(),
            created_at=now_ms(),
        )
        .returning(official.c.id)
    ).scalar_one()
    connection.execute(
        insert(official_rating),
        [
            {
                "official_id": official_id,
                "rank": rank,
                "version_id": row.version,
                "rating": row.rating,
                "standard_error": row.standard_error,
                "sets": row.sets,
                "games": played.get(row.version, 0),
                "linked": row.linked,
            }
            for rank, row in enumerate(table.rows, 1)
        ],
    )
    _forget(connection, ladder_id)
    return official_id


def _forget(connection: Connection, ladder_id: int) -> None:
    of_ladder = select(official.c.id).where(official.c.ladder_id == ladder_id)
    old = connection.execute(of_ladder.order_by(official.c.id.desc()).offset(KEPT)).scalars().all()
    if old:
        connection.execute(delete(official_rating).where(official_rating.c.official_id.in_(old)))
        connection.execute(delete(official).where(official.c.id.in_(old)))


def latest(connection: Connection, ladder_id: int, limit: int = 100) -> OfficialPage | None:
    """The last official table of a ladder, its first ``limit`` rows; None before the first."""
    head = connection.execute(
        select(official).where(official.c.ladder_id == ladder_id).order_by(official.c.id.desc()).limit(1)
    ).first()
    if head is None:
        return None
    limit = min(max(limit, 0), MAX_ROWS)
    rows = tuple(
        OfficialVersion(*row)
        for row in connection.execute(
            _rows().where(official_rating.c.official_id == head.id).order_by(official_rating.c.rank).limit(limit)
        )
    )
    covariance = np.frombuffer(head.covariance, "<f4").astype(np.float64)
    size = round(len(covariance) ** 0.5)
    shown = min(size, len(rows))
    covariance = covariance.reshape(size, size)[:shown, :shown]
    return OfficialPage(
        ladder_id=ladder_id,
        seq=head.seq,
        created_at=head.created_at,
        dispersion=head.dispersion,
        rows=rows,
        covariance=covariance,
        los=superiority(np.array([row.rating for row in rows[:shown]]), covariance),
    )


def of_versions(connection: Connection, versions: Sequence[int]) -> dict[tuple[str, int], tuple[float, float]]:
    """Rating and standard error in the last official tables by (ladder's slug, version), of linked versions alone."""
    newest = select(func.max(official.c.id)).where(official.c.ladder_id == ladder.c.id).scalar_subquery()
    rows = connection.execute(
        select(ladder.c.slug, official_rating.c.version_id, official_rating.c.rating, official_rating.c.standard_error)
        .select_from(ladder)
        .join(official_rating, official_rating.c.official_id == newest)
        .where(official_rating.c.version_id.in_(versions), official_rating.c.linked)
    )
    return {(slug, version): (rating, error) for slug, version, rating, error in rows}


def errors(connection: Connection, ladder_id: int, known: int) -> OfficialErrors | None:
    """Standard errors of the last official table; None if there is none, or it is the one with the id ``known``."""
    newest = connection.execute(
        select(func.max(official.c.id)).where(official.c.ladder_id == ladder_id)
    ).scalar_one_or_none()
    if newest is None or newest == known:
        return None
    rows = connection.execute(
        select(official_rating.c.version_id, official_rating.c.standard_error, official_rating.c.games).where(
            official_rating.c.official_id == newest, official_rating.c.linked
        )
    )
    return OfficialErrors(newest, {version: (error, games) for version, error, games in rows})


def due(connection: Connection, every_ms: int) -> tuple[int, ...]:
    """Active ladders with results that are in no official table, and whose last table is ``every_ms`` old."""
    last = (
        select(official.c.ladder_id, func.max(official.c.seq).label("seq"), func.max(official.c.created_at).label("at"))
        .group_by(official.c.ladder_id)
        .subquery()
    )
    fresh = (
        select(ledger.c.seq)
        .where(
            ledger.c.ladder_id == ladder.c.id, ledger.c.kind == "RESULT", ledger.c.seq > func.coalesce(last.c.seq, 0)
        )
        .exists()
    )
    rows = connection.execute(
        select(ladder.c.id)
        .outerjoin(last, last.c.ladder_id == ladder.c.id)
        .where(ladder.c.active, func.coalesce(last.c.at, 0) <= now_ms() - every_ms, fresh)
        .order_by(ladder.c.id)
    )
    return tuple(rows.scalars())


def _rows() -> Select[*tuple[Any, ...]]:
    return (
        select(
            official_rating.c.rank,
            official_rating.c.version_id,
            bot.c.name,
            bot_version.c.label,
            account.c.name.label("owner"),
            account.c.house,
            official_rating.c.rating,
            official_rating.c.standard_error,
            official_rating.c.sets,
            official_rating.c.games,
            official_rating.c.linked,
        )
        .join(bot_version, bot_version.c.id == official_rating.c.version_id)
        .join(bot, bot.c.id == bot_version.c.bot_id)
        .join(account, account.c.id == bot.c.account_id)
    )
