"""The ledger: one dense sequence of typed entries for each ladder, append only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, bindparam, insert, select, update

from arena.errors import ArenaError
from arena.ratings.entries import AnchorSet, Entry, LedgerEntry, Recentring, SetResult, SetVoid
from arena.storage.tables import ladder, ledger, now_ms


@dataclass(frozen=True, slots=True)
class Posted:
    """An entry in its place. ``created_at`` in ms since 1970."""

    seq: int
    entry: LedgerEntry
    created_at: int


_MOVE: Final = (
    update(ladder)
    .where(ladder.c.id == bindparam("of_ladder"), ladder.c.cursor == ladder.c.seq)
    .values(seq=ladder.c.seq + 1, cursor=ladder.c.seq + 1)
    .returning(ladder.c.seq)
)
_INSERT: Final = insert(ledger).values(created_at=now_ms())


def append(connection: Connection, ladder_id: int, entry: LedgerEntry) -> int:
    """Adds ``entry`` and moves the ladder's cursor past it; the caller folds it in the same transaction.

    Locks the ladder's row till the end of the transaction. Returns the entry's number. Raises ArenaError if the
    ratings are behind the ledger, which only a rebuild mends.
    """
    moved = connection.execute(_MOVE, {"of_ladder": ladder_id}).first()
    if moved is None:
        raise ArenaError(f"the ratings of ladder {ladder_id} are not those of its ledger: run `arena ladder rebuild`")
    kind, payload = to_json(entry)
    set_id = entry.set_id if isinstance(entry, SetResult) else None
    row = {"ladder_id": ladder_id, "seq": moved.seq, "kind": kind, "payload": payload, "set_id": set_id}
    connection.execute(_INSERT, row)
    return int(moved.seq)


def entries(connection: Connection, ladder_id: int, after: int = 0) -> Iterator[Posted]:
    """The entries of a ladder in order, from number ``after + 1``."""
    rows = connection.execute(
        select(ledger.c.seq, ledger.c.kind, ledger.c.payload, ledger.c.created_at)
        .where(ledger.c.ladder_id == ladder_id, ledger.c.seq > after)
        .order_by(ledger.c.seq)
        .execution_options(yield_per=1000)
    )
    for seq, kind, payload, created_at in rows:
        yield Posted(seq, from_json(kind, payload), created_at)


def to_json(entry: LedgerEntry) -> tuple[str, dict[str, Any]]:
    """The kind and payload of an entry."""
    match entry:
        case SetResult(set_id, versions, places):
            return "RESULT", {"set": set_id, "versions": list(versions), "places": [list(game) for game in places]}
        case SetVoid(set_id, reason):
            return "VOID", {"set": set_id, "reason": reason}
        case Entry(version, rating, predecessor):
            return "ENTRY", {"version": version, "rating": rating, "predecessor": predecessor}
        case AnchorSet(version, rating):
            return "ANCHOR", {"version": version, "rating": rating}
        case Recentring(delta):
            return "RECENTRING", {"delta": delta}


def from_json(kind: str, payload: dict[str, Any]) -> LedgerEntry:
    """The inverse of :func:`to_json`. Raises ArenaError on a kind that this arena does not know."""
    match kind:
        case "RESULT":
            places = tuple(tuple(game) for game in payload["places"])
            return SetResult(payload["set"], tuple(payload["versions"]), places)
        case "VOID":
            return SetVoid(payload["set"], payload["reason"])
        case "ENTRY":
            return Entry(payload["version"], payload["rating"], payload["predecessor"])
        case "ANCHOR":
            return AnchorSet(payload["version"], payload["rating"])
        case "RECENTRING":
            return Recentring(payload["delta"])
        case _:
            raise ArenaError(f"a ledger entry of kind {kind!r} was written by another version of the arena")
