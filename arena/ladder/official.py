"""Makes official tables of what the ledgers say, and re-centres the live ratings by them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, select

from arena.ladder.settlement import post
from arena.ladder.standings import PROVISIONAL_SE
from arena.ratings.bradley_terry import OfficialTable, official_table
from arena.ratings.elo import rounded
from arena.ratings.entries import Recentring, SetResult
from arena.storage import ledger, official
from arena.storage.db import Database
from arena.storage.tables import rating

DAY_MS: Final = 24 * 60 * 60 * 1000
LEAST_DELTA: Final = 0.01
"""Recentrings of less are not worth an entry."""


@dataclass(frozen=True, slots=True)
class Made:
    """A table that was made and kept. ``delta``: what re-centring added to the live ratings, 0 if there was none."""

    official_id: int
    seq: int
    table: OfficialTable
    delta: float


def make(
    database: Database, ladder_id: int, *, recentre: bool, may_write: Callable[[Connection], None] = lambda _: None
) -> Made | None:
    """Computes and keeps a ladder's official table; None if nothing was played there.

    Nothing is locked while it computes. ``may_write`` is asked in the transaction that writes, and raises if not.
    """
    with database.read() as connection:
        results, seq = [], 0
        for posted in ledger.entries(connection, ladder_id):
            seq = posted.seq
            if isinstance(posted.entry, SetResult):
                results.append(posted.entry)
        frozen = connection.execute(
            select(rating.c.version_id, rating.c.rating).where(rating.c.ladder_id == ladder_id, rating.c.anchor)
        )
        anchors = dict(frozen.all())
    if not results:
        return None
    table = official_table(results, anchors)
    with database.write() as connection:
        may_write(connection)
        official_id = official.save(connection, ladder_id, seq, table)
        delta = _drift(connection, ladder_id, table) if recentre else 0.0
        if abs(delta) >= LEAST_DELTA:
            post(connection, ladder_id, Recentring(delta))
        return Made(official_id, seq, table, delta)


def _drift(connection: Connection, ladder_id: int, table: OfficialTable) -> float:
    """Mean of official minus live rating over the established bots that are no anchors; 0 without any."""
    moving = select(rating.c.version_id, rating.c.rating).where(rating.c.ladder_id == ladder_id, ~rating.c.anchor)
    live = dict(connection.execute(moving).all())
    apart = [
        row.rating - live[row.version]
        for row in table.rows
        if row.version in live and row.linked and row.standard_error < PROVISIONAL_SE
    ]
    return rounded(sum(apart) / len(apart)) if apart else 0.0


def make_due(
    database: Database, may_write: Callable[[Connection], None], every_ms: int = DAY_MS
) -> tuple[tuple[int, Made], ...]:
    """Makes the tables that are due, and re-centres: (ladder id, what was made) each."""
    with database.read() as connection:
        ladder_ids = official.due(connection, every_ms)
    made = []
    for ladder_id in ladder_ids:
        if (one := make(database, ladder_id, recentre=True, may_write=may_write)) is not None:
            made.append((ladder_id, one))
    return tuple(made)
