"""One leader for a role among all processes, by a lease on the database's clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, case, update

from arena.errors import Fenced
from arena.storage.db import insert_unless_there
from arena.storage.tables import leader, now_ms

LEASE_MS: Final = 15_000


@dataclass(frozen=True, slots=True)
class Leadership:
    """What a leader shows with each write. ``holder`` must be unique to the process."""

    role: str
    holder: str
    epoch: int


def take_lead(connection: Connection, role: str, holder: str) -> Leadership | None:
    """Leads, or goes on leading; None while somebody else does."""
    insert_unless_there(connection, leader, role=role, holder="", epoch=0, lease_until=0)
    lapsed = leader.c.lease_until < now_ms()
    row = connection.execute(
        update(leader)
        .where(leader.c.role == role, lapsed | (leader.c.holder == holder))
        .values(
            holder=holder,
            lease_until=now_ms() + LEASE_MS,
            epoch=case((lapsed, leader.c.epoch + 1), else_=leader.c.epoch),
        )
        .returning(leader.c.epoch)
    ).first()
    return None if row is None else Leadership(role, holder, row.epoch)


def keep_lead(connection: Connection, leadership: Leadership) -> None:
    """Renews the lease, first thing in a leader's transaction: rivals wait till it ends. Raises Fenced."""
    kept = connection.execute(
        update(leader)
        .where(
            leader.c.role == leadership.role,
            leader.c.holder == leadership.holder,
            leader.c.epoch == leadership.epoch,
            leader.c.lease_until >= now_ms(),
        )
        .values(lease_until=now_ms() + LEASE_MS)
    )
    if kept.rowcount != 1:
        raise Fenced(f"somebody else is the {leadership.role} now")


def resign(connection: Connection, leadership: Leadership) -> None:
    """Lets the next one lead at once."""
    connection.execute(
        update(leader)
        .where(
            leader.c.role == leadership.role, leader.c.holder == leadership.holder, leader.c.epoch == leadership.epoch
        )
        .values(lease_until=0)
    )
