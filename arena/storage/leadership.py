"""One leader for a role among all processes, by a lease on the database's clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, case, update

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

    @property
    def parameters(self) -> dict[str, str | int]:
        """What the prepared statements are to be executed with."""
        return {"of_role": self.role, "by": self.holder, "of_epoch": self.epoch}


_LAPSED: Final = leader.c.lease_until < now_ms()
_TAKE: Final = (
    update(leader)
    .where(leader.c.role == bindparam("of_role"), _LAPSED | (leader.c.holder == bindparam("by")))
    .values(
        holder=bindparam("by"),
        lease_until=now_ms() + LEASE_MS,
        epoch=case((_LAPSED, leader.c.epoch + 1), else_=leader.c.epoch),
    )
    .returning(leader.c.epoch)
)
_HELD: Final = update(leader).where(
    leader.c.role == bindparam("of_role"), leader.c.holder == bindparam("by"), leader.c.epoch == bindparam("of_epoch")
)
_KEEP: Final = _HELD.where(leader.c.lease_until >= now_ms()).values(lease_until=now_ms() + LEASE_MS)
_RESIGN: Final = _HELD.values(lease_until=0)


def take_lead(connection: Connection, role: str, holder: str) -> Leadership | None:
    """Leads, or goes on leading; None while somebody else does."""
    wish = {"of_role": role, "by": holder}
    row = connection.execute(_TAKE, wish).first()
    if row is None and insert_unless_there(connection, leader, role=role, holder="", epoch=0, lease_until=0):
        row = connection.execute(_TAKE, wish).first()
    return None if row is None else Leadership(role, holder, row.epoch)


def keep_lead(connection: Connection, leadership: Leadership) -> None:
    """Renews the lease, first thing in a leader's transaction: rivals wait till it ends. Raises Fenced."""
    if connection.execute(_KEEP, leadership.parameters).rowcount != 1:
        raise Fenced(f"somebody else is the {leadership.role} now")


def resign(connection: Connection, leadership: Leadership) -> None:
    """Lets the next one lead at once."""
    connection.execute(_RESIGN, leadership.parameters)
