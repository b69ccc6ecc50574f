"""Worker processes and their leases. A lease is on the database's clock, so that nobody's own clock matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, func, select, update

from arena.errors import Fenced
from arena.storage.db import insert_unless_there
from arena.storage.tables import now_ms, worker

LEASE_MS: Final = 15_000
HEARTBEAT_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class WorkerLease:
    """What a worker process shows with each write: its row, and which start of it this is."""

    id: int
    epoch: int

    @property
    def parameters(self) -> dict[str, int]:
        """What a prepared statement that contains :data:`ALIVE` is to be executed with."""
        return {"lease_id": self.id, "lease_epoch": self.epoch}


ALIVE: Final = (
    (worker.c.id == bindparam("lease_id"))
    & (worker.c.epoch == bindparam("lease_epoch"))
    & (worker.c.lease_until >= now_ms())
)
"""The condition on the worker table that a lease is good."""
_RENEW: Final = update(worker).where(ALIVE).values(lease_until=now_ms() + LEASE_MS)
_LIVING: Final = select(func.count()).where(worker.c.lease_until >= now_ms())


def register_worker(connection: Connection, name: str) -> WorkerLease:
    """A lease for the process that calls itself ``name``; an earlier process of that name is fenced from here on."""
    insert_unless_there(connection, worker, name=name, epoch=0, lease_until=0, started_at=0)
    row = connection.execute(
        update(worker)
        .where(worker.c.name == name)
        .values(epoch=worker.c.epoch + 1, lease_until=now_ms() + LEASE_MS, started_at=now_ms())
        .returning(worker.c.id, worker.c.epoch)
    ).one()
    return WorkerLease(row.id, row.epoch)


def heartbeat(connection: Connection, lease: WorkerLease) -> None:
    """Renews the lease. Raises Fenced if it has lapsed or passed on: stop playing, and register again."""
    if connection.execute(_RENEW, lease.parameters).rowcount != 1:
        raise Fenced("this worker's lease has lapsed")


def retire_worker(connection: Connection, lease: WorkerLease) -> None:
    """Ends the lease at once; whatever the worker still holds is played again by others."""
    connection.execute(update(worker).where(ALIVE).values(lease_until=0), lease.parameters)


def worker_is_alive(connection: Connection, lease: WorkerLease) -> bool:
    """Whether the lease is good now."""
    return connection.execute(select(worker.c.id).where(ALIVE), lease.parameters).first() is not None


def alive_workers(connection: Connection) -> int:
    """How many workers' leases hold."""
    return connection.execute(_LIVING).scalar_one()
