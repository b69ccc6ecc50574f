"""Events for those who watch, written in the transaction that made them true and published afterwards.

Topics: ``match.finished``, ``set.finished``, ``set.void``. Publishing is at least once; what is lost in Redis is only a
hint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, insert, select

from arena.storage.tables import now_ms, outbox


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. ``id`` ascends."""

    id: int
    topic: str
    payload: dict[str, Any]


_INSERT: Final = insert(outbox).values(created_at=now_ms())
_OLDEST: Final = select(outbox.c.id, outbox.c.topic, outbox.c.payload).order_by(outbox.c.id).limit(bindparam("at_most"))


def post(connection: Connection, topic: str, payload: Mapping[str, Any]) -> None:
    """Leaves an event to be published after the commit."""
    connection.execute(_INSERT, {"topic": topic, "payload": dict(payload)})


def pending(connection: Connection, limit: int = 500) -> tuple[Event, ...]:
    """The oldest events that are not known to be published."""
    return tuple(Event(*row) for row in connection.execute(_OLDEST, {"at_most": limit}))


def discard(connection: Connection, events: Sequence[Event]) -> None:
    """Forgets published events."""
    if events:
        connection.execute(delete(outbox).where(outbox.c.id.in_([event.id for event in events])))
