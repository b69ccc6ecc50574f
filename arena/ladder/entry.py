"""Ladders opened, and versions entered on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqlalchemy import Connection, select, update

from arena.errors import UserError
from arena.ladder.settlement import post
from arena.ladder.standings import START_RATING
from arena.ratings.entries import AnchorSet, Entry
from arena.settings import LadderSpec
from arena.storage.accounts import ensure_house_bot
from arena.storage.db import insert_unless_there
from arena.storage.sets import ladder_spec
from arena.storage.tables import bot_version, ladder, now_ms, rating
from bots.house import catalogue

ANCHOR: Final = "random"
"""The house bot whose rating is the same, and frozen, on every ladder."""


def standing_house_bots(game: str) -> Sequence[str]:
    """The house bots that always stand ready on the ladders of a game: those that answer within milliseconds."""
    bots = map(catalogue.find, catalogue.NAMES)
    return [bot.name for bot in bots if not bot.playouts and (bot.games is None or game in bot.games)]


def open_ladders(
    connection: Connection,
    specs: Sequence[LadderSpec],
    house_bots: Callable[[str], Sequence[str]] = standing_house_bots,
) -> None:
    """Makes the ladders that are new, with their house bots; ladders not among ``specs`` get no more sets.

    Raises UserError if a ladder would change what is played on it: its numbers would not compare.
    """
    for spec in specs:
        ladder_id = ensure_ladder(connection, spec, active=True)
        for name in house_bots(spec.game):
            _enter_house_bot(connection, ladder_id, name)
    opened = ladder.c.slug.in_([spec.slug for spec in specs])
    connection.execute(update(ladder).where(ladder.c.active != opened).values(active=opened))


def ensure_ladder(connection: Connection, spec: LadderSpec, *, active: bool) -> int:
    """The id of the ladder, made if it is new. On one that is not active only a tournament has sets played.

    Raises UserError if the ladder would change what is played on it.
    """
    insert_unless_there(
        connection,
        ladder,
        slug=spec.slug,
        game=spec.game,
        players=spec.players,
        config=dict(spec.config),
        bank_ms=spec.time_control.bank_ms,
        increment_ms=spec.time_control.increment_ms,
        move_cap_ms=spec.time_control.move_cap_ms,
        active=active,
        seq=0,
        cursor=0,
        created_at=now_ms(),
    )
    row = connection.execute(select(ladder).where(ladder.c.slug == spec.slug)).one()
    if ladder_spec(row) != spec:
        raise UserError(
            f"the ladder {spec.slug!r} exists with another game, number of players, configuration or time control; "
            "ratings do not compare between them, so choose another slug"
        )
    return int(row.id)


def enter(connection: Connection, ladder_id: int, version_id: int) -> None:
    """Enters a version on a ladder, once: with the rating of its predecessor there, else 1000.

    That is the bot's version that played last of those that are not retired, or of all if all are.
    """
    if _entered(connection, ladder_id, version_id):
        return
    last = _predecessor(connection, ladder_id, version_id)
    if last is None:
        post(connection, ladder_id, Entry(version_id, START_RATING))
    else:
        post(connection, ladder_id, Entry(version_id, last[1], predecessor=last[0]))


def _enter_house_bot(connection: Connection, ladder_id: int, name: str) -> None:
    version = ensure_house_bot(connection, name)
    if _entered(connection, ladder_id, version.id):
        return
    enter(connection, ladder_id, version.id)
    if name == ANCHOR:
        post(connection, ladder_id, AnchorSet(version.id, START_RATING))


def _entered(connection: Connection, ladder_id: int, version_id: int) -> bool:
    here = (rating.c.ladder_id == ladder_id) & (rating.c.version_id == version_id)
    return connection.execute(select(rating.c.version_id).where(here)).first() is not None


def _predecessor(connection: Connection, ladder_id: int, version_id: int) -> tuple[int, float] | None:
    bot_id = select(bot_version.c.bot_id).where(bot_version.c.id == version_id).scalar_subquery()
    row = connection.execute(
        select(rating.c.version_id, rating.c.rating)
        .join(bot_version, bot_version.c.id == rating.c.version_id)
        .where(rating.c.ladder_id == ladder_id, bot_version.c.bot_id == bot_id)
        .order_by(bot_version.c.retired_at.is_not(None), rating.c.last_seq.desc())
        .limit(1)
    ).first()
    return None if row is None else (row.version_id, row.rating)
