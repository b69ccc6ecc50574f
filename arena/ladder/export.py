"""A ladder as a public file: everything that its ratings rest on, for anybody to check without the arena.

JSON Lines, gzipped; each line is an object with a ``line``:

    header    the ladder, the arena's public key, how many ledger entries there are
    version   a bot's version: id, bot, label, owner, whether it is the house's
    set       versions by position, deal mode, whether rated, state and reason
    match     of the set before it: every attempt with its commitment and secret, the result by seat, the record (base64)
    entry     the ledger, in order
    rating    what the entries add up to
    end       SHA-256 of all lines before it, and the arena's signature over that

Only sets that are final are in it, and none of a hidden event, so that nothing is told before its time.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import Connection, select

from arena.errors import ArenaError
from arena.ladder.standings import Standing
from arena.storage import ledger, queries
from arena.storage.plans import SetState
from arena.storage.records import RecordStore
from arena.storage.tables import account, attempt, bot, bot_version, game_set, match, rating, result, set_seat

FORMAT: Final = 1
SIGNATURE_TAG: Final = b"botarena/export/1"
FINAL: Final = (SetState.FINISHED, SetState.VOID, SetState.ERRORED)


def write_export(
    connection: Connection, slug: str, records: RecordStore, key: Ed25519PrivateKey, path: Path
) -> dict[str, int]:
    """Writes a ladder's export, whole or not at all; returns how many lines there are of each kind. Raises UserError."""
    counts: dict[str, int] = {}
    digest = hashlib.sha256()
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("wb") as raw, gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as file:
            for document in _documents(connection, slug, records, key):
                line = json.dumps(document, separators=(",", ":")).encode() + b"\n"
                digest.update(line)
                file.write(line)
                counts[document["line"]] = counts.get(document["line"], 0) + 1
            closing = {
                "line": "end",
                "sha256": digest.hexdigest(),
                "signature": key.sign(SIGNATURE_TAG + digest.digest()).hex(),
            }
            file.write(json.dumps(closing, separators=(",", ":")).encode() + b"\n")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return counts


def _documents(
    connection: Connection, slug: str, records: RecordStore, key: Ed25519PrivateKey
) -> Iterator[dict[str, Any]]:
    held = queries.get_ladder(connection, slug)
    spec = held.spec
    yield {
        "line": "header",
        "export": FORMAT,
        "ladder": spec.slug,
        "game": spec.game,
        "players": spec.players,
        "config": dict(spec.config),
        "time_control": spec.time_control.to_json(),
        "entries": held.entries,
        "arena_key": key.public_key().public_bytes_raw().hex(),
    }
    yield from _versions(connection, held.id)
    yield from _sets(connection, held.id, records)
    for posted in ledger.entries(connection, held.id):
        kind, payload = ledger.to_json(posted.entry)
        yield {"line": "entry", "seq": posted.seq, "kind": kind, "payload": payload, "at": posted.created_at}
    names = [field.name for field in fields(Standing) if field.name != "version"]
    for row in connection.execute(select(rating).where(rating.c.ladder_id == held.id).order_by(rating.c.version_id)):
        yield {"line": "rating", "version": row.version_id, **{name: getattr(row, name) for name in names}}


def _versions(connection: Connection, ladder_id: int) -> Iterator[dict[str, Any]]:
    """Those on the ladder, and those that played a set of it."""
    there = select(rating.c.version_id).where(rating.c.ladder_id == ladder_id)
    played = (
        select(set_seat.c.version_id)
        .join(game_set, game_set.c.id == set_seat.c.set_id)
        .where(game_set.c.ladder_id == ladder_id)
    )
    rows = connection.execute(
        select(bot_version.c.id, bot.c.name, bot_version.c.label, account.c.name.label("owner"), account.c.house)
        .join(bot, bot.c.id == bot_version.c.bot_id)
        .join(account, account.c.id == bot.c.account_id)
        .where(bot_version.c.id.in_(there.union(played)))
        .order_by(bot_version.c.id)
    )
    for row in rows:
        about = {"id": row.id, "bot": row.name, "label": row.label, "owner": row.owner, "house": row.house}
        yield {"line": "version", **about}


def _sets(connection: Connection, ladder_id: int, records: RecordStore) -> Iterator[dict[str, Any]]:
    rows = connection.execute(
        select(game_set)
        .where(game_set.c.ladder_id == ladder_id, game_set.c.listed, game_set.c.state.in_(FINAL))
        .order_by(game_set.c.finished_at, game_set.c.id)
    ).all()
    for row in rows:
        seats = select(set_seat.c.version_id).where(set_seat.c.set_id == row.id).order_by(set_seat.c.position)
        yield {
            "line": "set",
            "id": row.id,
            "versions": list(connection.execute(seats).scalars()),
            "deal_mode": row.deal_mode,
            "rated": row.rated,
            "state": row.state,
            "reason": row.reason,
        }
        matches = connection.execute(
            select(match.c.id.label("of_match"), match.c.game_index, result)
            .outerjoin(result, result.c.match_id == match.c.id)
            .where(match.c.set_id == row.id)
            .order_by(match.c.game_index)
        )
        for one in matches:
            yield _match(connection, one, records)


def _match(connection: Connection, row: Any, records: RecordStore) -> dict[str, Any]:
    attempts = connection.execute(
        select(attempt).where(attempt.c.match_id == row.of_match).order_by(attempt.c.attempt)
    ).all()
    document: dict[str, Any] = {
        "line": "match",
        "id": row.of_match,
        "game_index": row.game_index,
        "attempts": [
            {
                "attempt": one.attempt,
                "commitment": one.commitment,
                "secret": one.secret,
                "outcome": one.outcome,
                "reason": one.reason,
            }
            for one in attempts
        ],
        "result": None,
        "record": None,
    }
    if row.match_id is not None:
        names = ("attempt", "places", "scores", "reasons", "record_digest", "record_head", "events")
        document["result"] = {name: getattr(row, name) for name in names}
        document["record"] = _record(records, row.record_digest)
    return document


def _record(records: RecordStore, digest: str) -> str | None:
    """None if the file is not kept any more."""
    try:
        return base64.b64encode(records.read(digest)).decode()
    except (ArenaError, ValueError):
        return None
