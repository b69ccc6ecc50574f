"""The life of a bot's versions: seen, retired, restored, rolled back to. What a version is, and what it played, never changes.

The current version of a bot is the newest one that is not retired. A retired one is on no table and plays nothing rated; its
ledger, records and pages stay, and its owner may still have it play challenges and trials.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqlalchemy import ColumnElement, Connection, FromClause, or_, select, update

from arena.errors import UserError
from arena.storage.accounts import Bot, Version, find_bot
from arena.storage.tables import account, bot, bot_version, now_ms, rating

UNSEEN_MS: Final = 14 * 24 * 60 * 60 * 1000
"""Who was not connected for so long is on no table till it comes back."""
_RETIRED: Final = select(bot_version.c.id).where(bot_version.c.retired_at.is_not(None))


def on_table(version: FromClause = bot_version) -> ColumnElement[bool]:
    """The condition on a version's row, or an alias of it, that it is shown on tables."""
    return version.c.retired_at.is_(None) & (version.c.seen_at > now_ms() - UNSEEN_MS)


def saw(connection: Connection, version_ids: Collection[int]) -> None:
    """These versions are connected now."""
    connection.execute(update(bot_version).where(bot_version.c.id.in_(version_ids)).values(seen_at=now_ms()))


def retired(connection: Connection) -> frozenset[int]:
    """The ids of all retired versions."""
    return frozenset(connection.execute(_RETIRED).scalars())


def versions_of(connection: Connection, bot: Bot, limit: int = 500) -> tuple[Version, ...]:
    """A bot's versions, newest first."""
    rows = connection.execute(
        select(bot_version).where(bot_version.c.bot_id == bot.id).order_by(bot_version.c.id.desc()).limit(limit)
    )
    return tuple(map(Version.of, rows))


def find_versions(connection: Connection, text: str = "", limit: int = 100) -> tuple[tuple[Bot, Version], ...]:
    """Versions of bots whose name or owner contains ``text``, by bot, newest first."""
    of_bot = (bot.c.name, bot.c.account_id, account.c.name.label("owner"), account.c.house)
    rows = connection.execute(
        select(bot_version, *of_bot)
        .join(bot, bot.c.id == bot_version.c.bot_id)
        .join(account, account.c.id == bot.c.account_id)
        .where(or_(*(table.c.name_key.contains(text.lower(), autoescape=True) for table in (bot, account))))
        .order_by(bot.c.name_key, bot_version.c.id.desc())
        .limit(limit)
    )
    return tuple((Bot(row.bot_id, row.name, row.account_id, row.owner, row.house), Version.of(row)) for row in rows)


def retire(connection: Connection, bot: Bot, label: str = "") -> None:
    """Takes a version, or all that there are, off tables and out of rated play. Again changes nothing. Raises UserError."""
    _set_retired(connection, bot, label, now_ms(), bot_version.c.retired_at.is_(None))


def restore(connection: Connection, bot: Bot, label: str = "") -> None:
    """Takes retirement back, of a version or of all. Its rating goes on where it was. Raises UserError."""
    _set_retired(connection, bot, label, None, bot_version.c.retired_at.is_not(None))


def roll_back(connection: Connection, bot: Bot, label: str) -> None:
    """Makes an older version the current one: it is restored if need be, and all newer ones are retired. Raises UserError.

    Its rating and record go on where they were, and the next new version starts from them.
    """
    version_id = _find(connection, bot, label)
    restore(connection, bot, label)
    newer = (bot_version.c.bot_id == bot.id) & (bot_version.c.id > version_id) & bot_version.c.retired_at.is_(None)
    connection.execute(update(bot_version).where(newer).values(retired_at=now_ms()))


def find_on_ladder(connection: Connection, ladder_id: int, name: str, account_id: int) -> tuple[Bot, int]:
    """The bot and version that ``BOT`` (its current version there) or ``BOT@VERSION`` means to an account. Raises UserError.

    A retired version may be named by its owner alone.
    """
    wanted, _, label = name.partition("@")
    found = find_bot(connection, wanted)
    if found is None:
        raise UserError(f"there is no bot {wanted!r}")
    query = (
        select(bot_version.c.id, bot_version.c.retired_at)
        .join(rating, rating.c.version_id == bot_version.c.id)
        .where(rating.c.ladder_id == ladder_id, bot_version.c.bot_id == found.id)
        .order_by(bot_version.c.id.desc())
    )
    query = query.where(bot_version.c.label == label) if label else query.where(bot_version.c.retired_at.is_(None))
    row = connection.execute(query).first()
    if row is None:
        raise UserError(f"{name!r} is not on this ladder")
    if row.retired_at is not None and found.account_id != account_id:
        raise UserError(f"{name!r} is retired")
    return found, row.id


def _set_retired(
    connection: Connection, bot: Bot, label: str, at: ColumnElement[int] | None, where: ColumnElement[bool]
) -> None:
    which = bot_version.c.id == _find(connection, bot, label) if label else bot_version.c.bot_id == bot.id
    connection.execute(update(bot_version).where(which, where).values(retired_at=at))


def _find(connection: Connection, bot: Bot, label: str) -> int:
    found = connection.execute(
        select(bot_version.c.id).where(bot_version.c.bot_id == bot.id, bot_version.c.label == label)
    ).scalar()
    if found is None:
        raise UserError(f"{bot.name!r} has no version {label!r}")
    return int(found)
