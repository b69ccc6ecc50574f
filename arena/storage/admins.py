"""Who may use the admin pages, and what they did there.

An admin token looks like any other (:mod:`arena.storage.accounts`) and is kept apart from them: no account has one, and a
bot's token opens nothing here.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select, update

from arena.errors import UserError
from arena.storage.accounts import check_format, check_name, digest, new_token
from arena.storage.tables import admin_deed, admin_token, now_ms


@dataclass(frozen=True, slots=True)
class Admin:
    """Who a token speaks for."""

    token_id: int
    name: str


@dataclass(frozen=True, slots=True)
class Deed:
    """What an admin did: ``action`` on ``subject``, at ``at`` (ms)."""

    id: int
    at: int
    admin: str
    action: str
    subject: str


def create_token(connection: Connection, name: str) -> str:
    """A new token of the admin ``name``, whose earlier ones end. It can be seen this once. Raises UserError."""
    check_name(name, "an admin")
    _end(connection, name)
    prefix, text = new_token()
    row = {"name": name, "prefix": prefix, "sha256": digest(text)}
    connection.execute(insert(admin_token).values(**row, created_at=now_ms()))
    return text


def revoke(connection: Connection, name: str) -> None:
    """Ends the admin's token. Raises UserError if there is none that stands."""
    if not _end(connection, name):
        raise UserError(f"the admin {name!r} has no token")


def authenticate(connection: Connection, text: str) -> Admin | None:
    """Who ``text`` speaks for; None if it is no admin's token, or was revoked."""
    try:
        prefix = check_format(text)
    except UserError:
        return None
    standing = (admin_token.c.prefix == prefix) & admin_token.c.revoked_at.is_(None)
    row = connection.execute(select(admin_token).where(standing)).first()
    if row is None or not hmac.compare_digest(row.sha256, digest(text)):
        return None
    return Admin(row.id, row.name)


def stands(connection: Connection, admin: Admin) -> bool:
    """Whether the token that ``admin`` came with has not been revoked since."""
    standing = (admin_token.c.id == admin.token_id) & admin_token.c.revoked_at.is_(None)
    return connection.execute(select(admin_token.c.id).where(standing)).first() is not None


def note(connection: Connection, admin: Admin, action: str, subject: str) -> None:
    """Writes down what is done in this transaction."""
    about = {"token_id": admin.token_id, "action": action, "subject": subject}
    connection.execute(insert(admin_deed).values(**about, created_at=now_ms()))


def deeds(connection: Connection, limit: int, before: int | None = None) -> tuple[Deed, ...]:
    """What was done, newest first; only what came ``before`` the deed of that id."""
    query = (
        select(admin_deed.c.id, admin_deed.c.created_at, admin_token.c.name, admin_deed.c.action, admin_deed.c.subject)
        .join(admin_token, admin_token.c.id == admin_deed.c.token_id)
        .order_by(admin_deed.c.id.desc())
        .limit(limit)
    )
    query = query if before is None else query.where(admin_deed.c.id < before)
    return tuple(Deed(*row) for row in connection.execute(query))


def _end(connection: Connection, name: str) -> bool:
    mine = (admin_token.c.name == name) & admin_token.c.revoked_at.is_(None)
    return connection.execute(update(admin_token).where(mine).values(revoked_at=now_ms())).rowcount > 0
