"""A made-up arena of any size: the rows that so many bots and matches would have left, with one real record a game.

Results are drawn from the bots' strengths; ratings are what the ledgers fold to.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from sqlalchemy import Connection, Table, insert, select, update

import engines
from arena.keys import load_or_create
from arena.ladder.entry import open_ladders
from arena.ladder.settlement import finish_set
from arena.ladder.standings import START_RATING, Standing, step
from arena.match.deal import ChanceStream, Deal, commitment, rules_hash
from arena.match.record import write_record
from arena.match.referee import Referee, Reply
from arena.match.spec import Player, SeatReason, Spec
from arena.ratings.bradley_terry import COVERED, OfficialRow, OfficialTable
from arena.ratings.elo import expected
from arena.ratings.entries import Entry, LedgerEntry, SetResult
from arena.settings import LadderSpec, standard_ladders
from arena.storage import ledger, official, sets, tables
from arena.storage.db import Database
from arena.storage.plans import Beginning, MatchResult, NewSeat
from arena.storage.records import RecordStore
from arena.storage.workers import WorkerLease, register_worker

T = TypeVar("T")

PLAYERS: Final = 2
OWNED: Final = 5
"""Bots of an account."""
STRENGTH_SD: Final = 200.0
SPAN_MS: Final = 30 * 24 * 60 * 60 * 1000
"""The matches are spread evenly over so long, up to now."""
CHUNK: Final = 10_000
"""Sets in one transaction."""
FAULTS: Final = 0.01
_STANDING: Final = tuple(one.name for one in fields(Standing) if one.name != "version")


@dataclass(frozen=True, slots=True)
class Filled:
    """What was made. ``strengths`` by version; ``records`` are (digest, head, events) by game."""

    database: Database
    ladders: dict[str, int]
    lease: WorkerLease
    strengths: dict[int, float]
    bots: dict[int, int]
    records: dict[str, tuple[str, str, int]]


def fill(folder: Path, bots: int, matches: int, seed: int, on_stage: Callable[[str], None]) -> Filled:
    """Makes the arena in an empty folder, on the standard ladders for two, all bots on each of them."""
    rng = random.Random(seed)  # noqa: S311 - a made-up arena
    database = Database(f"sqlite:///{folder / 'arena.db'}")
    database.upgrade()
    specs = [spec for spec in standard_ladders() if spec.players == PLAYERS]
    records = {spec.game: _record(spec, folder, rng) for spec in specs}
    with database.write() as connection:
        open_ladders(connection, specs)
        held = {row.slug: row.id for row in connection.execute(select(tables.ladder.c.slug, tables.ladder.c.id))}
        lease = register_worker(connection, "bench")
        of_bot = _register(connection, bots)
    strengths = {version: rng.gauss(START_RATING, STRENGTH_SD) for version in of_bot}
    filled = Filled(database, held, lease, strengths, of_bot, records)
    for number, spec in enumerate(specs):
        on_stage(f"{spec.slug}, {number + 1} of {len(specs)} ladders")
        _fill_ladder(filled, spec, matches // PLAYERS // len(specs), rng)
    return filled


def reopen(folder: Path) -> Filled:
    """An arena that :func:`fill` made before; all its bots are equally strong from now on."""
    database = Database(f"sqlite:///{folder / 'arena.db'}")
    database.upgrade()
    with database.write() as connection:
        held = {row.slug: row.id for row in connection.execute(select(tables.ladder.c.slug, tables.ladder.c.id))}
        theirs = tables.bot.c.name_key.startswith("bot-")
        versions = connection.execute(
            select(tables.bot_version.c.id, tables.bot.c.id)
            .join(tables.bot, tables.bot.c.id == tables.bot_version.c.bot_id)
            .where(theirs)
        )
        of_bot = dict(versions.all())
        written = (tables.result.c.record_digest, tables.result.c.record_head, tables.result.c.events)
        records = {
            game: tuple(
                connection.execute(select(*written).where(tables.result.c.ladder_id == ladder_id).limit(1)).one()
            )
            for game, ladder_id in connection.execute(select(tables.ladder.c.game, tables.ladder.c.id))
        }
        # What the arena says of who was seen is of the day it was made.
        connection.execute(update(tables.bot_version).values(seen_at=tables.now_ms()))
        lease = register_worker(connection, "bench")
    return Filled(database, held, lease, dict.fromkeys(of_bot, START_RATING), of_bot, records)


def settle(filled: Filled, spec: LadderSpec, rng: random.Random) -> None:
    """One more set, on the way that a worker takes."""
    table = rng.sample(sorted(filled.strengths), PLAYERS)
    digest, head, events = filled.records[spec.game]
    with filled.database.write() as connection:
        lease = register_worker(connection, "bench, live")
        seats = [NewSeat(version, filled.bots[version]) for version in table]
        set_id = sets.create_set(connection, filled.ladders[spec.slug], seats, budget_ms=60_000, house_only=False)
        plan = sets.claim(connection, set_id, lease)
        assert plan is not None
        games = [
            Beginning(one.match_id, one.attempt, secrets.token_bytes(32), secrets.token_bytes(32)) for one in plan.games
        ]
        sets.begin_attempts(connection, lease, set_id, games)
        for game in plan.games:
            places = _places([table[position] for position in game.order], filled.strengths, rng)
            ended = MatchResult(game.match_id, game.attempt, places, (0, 0), ("NORMAL", "NORMAL"), digest, head, events)
            sets.record_result(connection, lease, ended)
        finish_set(connection, lease, set_id)


def _register(connection: Connection, bots: int) -> dict[int, int]:
    """Accounts, bots and versions; the bot of each version."""
    now = tables.database_time(connection)
    first = {
        table: (connection.execute(select(table.c.id).order_by(table.c.id.desc()).limit(1)).scalar() or 0) + 1
        for table in (tables.account, tables.bot, tables.bot_version)
    }
    owners = -(-bots // OWNED)
    connection.execute(
        insert(tables.account),
        [
            {
                "id": first[tables.account] + k,
                "name": f"owner-{k}",
                "name_key": f"owner-{k}",
                "house": False,
                "created_at": now,
            }
            for k in range(owners)
        ],
    )
    connection.execute(
        insert(tables.bot),
        [
            {
                "id": first[tables.bot] + k,
                "account_id": first[tables.account] + k % owners,
                "name": f"bot-{k:05}",
                "name_key": f"bot-{k:05}",
                "created_at": now,
            }
            for k in range(bots)
        ],
    )
    versions = {first[tables.bot_version] + k: first[tables.bot] + k for k in range(bots)}
    connection.execute(
        insert(tables.bot_version),
        [
            {"id": version, "bot_id": bot, "label": "1.0", "claimed": True, "created_at": now, "seen_at": now}
            for version, bot in versions.items()
        ],
    )
    return versions


def _fill_ladder(filled: Filled, spec: LadderSpec, count: int, rng: random.Random) -> None:
    ladder_id = filled.ladders[spec.slug]
    with filled.database.read() as connection:
        seq = connection.execute(select(tables.ladder.c.seq).where(tables.ladder.c.id == ladder_id)).scalar_one()
        now = tables.database_time(connection)
        standings: dict[int, Standing] = {}
        for posted in ledger.entries(connection, ladder_id):
            standings.update(step(standings, posted.seq, posted.entry))
    house = set(standings)
    order = sorted(filled.strengths, key=filled.strengths.__getitem__)
    played = (_played(order, filled.strengths, rng) for _ in range(count))
    begin = now - SPAN_MS
    number = 0
    rows = _Rows(filled, spec, standings, seq)
    for version in order:
        rows.enter(Entry(version, START_RATING), begin)
    seq = rows.write()
    for many in _batches(played, CHUNK):
        rows = _Rows(filled, spec, standings, seq)
        for result, reasons in many:
            number += 1
            rows.play(result, reasons, begin + SPAN_MS * number // count, rng)
        seq = rows.write()
    with filled.database.write() as connection:
        connection.execute(
            tables.rating.delete().where(tables.rating.c.ladder_id == ladder_id, tables.rating.c.version_id.in_(house))
        )
        connection.execute(
            insert(tables.rating),
            [
                {"ladder_id": ladder_id, "version_id": one.version, **{name: getattr(one, name) for name in _STANDING}}
                for one in standings.values()
            ],
        )
        connection.execute(update(tables.ladder).where(tables.ladder.c.id == ladder_id).values(seq=seq, cursor=seq))
        official.save(connection, ladder_id, seq, _official(standings.values()))


def _official(standings: Iterable[Standing]) -> OfficialTable:
    """A table of the live ratings: computing a real one takes a minute, and pages only read it."""
    best = sorted(standings, key=lambda one: -one.rating)
    rows = tuple(OfficialRow(one.version, one.rating, one.standard_error(PLAYERS), one.sets, True) for one in best)
    return OfficialTable(rows, np.eye(min(len(rows), COVERED)), 1.0)


class _Rows:
    """Rows of some ledger entries, written at once."""

    def __init__(self, filled: Filled, spec: LadderSpec, standings: dict[int, Standing], seq: int) -> None:
        self._filled = filled
        self._ladder_id = filled.ladders[spec.slug]
        self._record = filled.records[spec.game]
        self._standings = standings
        self._seq = seq
        self._rows: dict[Table, list[dict[str, Any]]] = {
            table: []
            for table in (
                tables.game_set,
                tables.set_seat,
                tables.match,
                tables.attempt,
                tables.result,
                tables.ledger,
                tables.rating_point,
            )
        }

    def enter(self, entry: LedgerEntry, at: int) -> None:
        """An entry and what it does to the ratings."""
        self._seq += 1
        kind, payload = ledger.to_json(entry)
        set_id = entry.set_id if isinstance(entry, SetResult) else None
        key = {"ladder_id": self._ladder_id, "seq": self._seq}
        self._rows[tables.ledger].append({**key, "kind": kind, "payload": payload, "set_id": set_id, "created_at": at})
        changed = step(self._standings, self._seq, entry)
        for version, after in changed.items():
            before = self._standings.get(version, after).rating
            point = {**key, "version_id": version, "before": before, "after": after.rating}
            self._rows[tables.rating_point].append(point)
        self._standings.update(changed)

    def play(self, played: SetResult, reasons: Sequence[str], at: int, rng: random.Random) -> None:
        """A set with its matches and its entry."""
        lease, (digest, head, events) = self._filled.lease, self._record
        self._rows[tables.game_set].append(
            {
                "id": played.set_id,
                "ladder_id": self._ladder_id,
                "state": "FINISHED",
                "deal_mode": "own",
                "rated": True,
                "listed": True,
                "house_only": False,
                "attempt": 1,
                "engine_errors": 0,
                "budget_ms": 60_000,
                "worker_id": lease.id,
                "epoch": lease.epoch,
                "created_at": at,
                "queued_at": at,
                "rung_at": at,
                "claimed_at": at,
                "finished_at": at,
            }
        )
        for position, version in enumerate(played.versions):
            seat = {"version_id": version, "bot_id": self._filled.bots[version], "instance": "0", "created_at": at}
            self._rows[tables.set_seat].append({"set_id": played.set_id, "position": position, **seat})
        for index, places in enumerate(played.places):
            match_id = f"m{played.set_id[1:]}{index}"
            self._rows[tables.match].append({"id": match_id, "set_id": played.set_id, "game_index": index})
            about = {"match_id": match_id, "attempt": 1}
            proof = {"commitment": rng.randbytes(32).hex(), "secret": rng.randbytes(32).hex(), "outcome": "FINISHED"}
            held = {"worker_id": lease.id, "epoch": lease.epoch, "started_at": at, "ended_at": at}
            self._rows[tables.attempt].append({**about, **held, **proof})
            by_seat = {"places": places if index == 0 else places[::-1], "scores": [5, 3], "reasons": reasons}
            written = {"record_digest": digest, "record_head": head, "events": events, "finished_at": at}
            content = {"ladder_id": self._ladder_id, "content_hash": digest}
            self._rows[tables.result].append({**about, **content, **by_seat, **written})
        self.enter(played, at)

    def write(self) -> int:
        """Writes them; returns the last entry's number."""
        with self._filled.database.write() as connection:
            for table, rows in self._rows.items():
                if rows:
                    connection.execute(insert(table), rows)
        return self._seq


def _played(order: Sequence[int], strengths: dict[int, float], rng: random.Random) -> tuple[SetResult, list[str]]:
    """A set of two that stand near each other in ``order``, and the reasons of its games."""
    first = rng.randrange(len(order))
    other = min(max(first + rng.choice((-1, 1)) * rng.randint(1, 1 + len(order) // 10), 0), len(order) - 1)
    if other == first:
        other = first - 1 if first else 1
    table = (order[first], order[other])
    places = tuple(_places(table, strengths, rng) for _ in range(PLAYERS))
    reasons = [str(SeatReason.NORMAL)] * PLAYERS
    if rng.random() < FAULTS:
        reasons[0] = str(SeatReason.TIMEOUT)
    return SetResult(f"s_{rng.getrandbits(96):024x}", table, places), reasons


def _places(table: Sequence[int], strengths: dict[int, float], rng: random.Random) -> tuple[int, ...]:
    won = rng.random() < expected(strengths[table[0]], strengths[table[1]])
    return (1, 2) if won else (2, 1)


def _record(spec: LadderSpec, folder: Path, rng: random.Random) -> tuple[str, str, int]:
    """A game played at random, kept as a record: its digest, its head and how many events it has."""
    secret, match_id = rng.randbytes(32), "m_bench"
    deal = Deal(
        mode="own",
        commitment=commitment(match_id, 1, rules_hash(engines.get(spec.game)), secret),
        nonces=tuple(rng.randbytes(16) for _ in range(spec.players)),
        set_attempt=1,
        proven=True,
        secret=secret,
    )
    played = Spec(
        match_id=match_id,
        set_id="s_bench",
        attempt=1,
        game_index=0,
        game=spec.game,
        config=spec.config,
        seats=tuple(Player(f"bot-{seat:05}", "1.0", "owner-0") for seat in range(spec.players)),
        bot_seeds=tuple(rng.getrandbits(63) for _ in range(spec.players)),
        time_control=spec.time_control,
        deal=deal,
        rated=True,
    )
    referee = Referee(played, ChanceStream(deal.seed(match_id, 1, "s_bench")).pick)
    now = referee.start()
    while now.outcome is None:
        now = referee.advance(
            {one.seat: Reply(rng.choice(one.legal), None, rng.randint(500, 20_000), 400) for one in now.requests}, 0
        )
    record = write_record(played, referee.events, now.outcome, load_or_create(folder))
    return RecordStore(folder).write(record.to_bytes()), record.head.hex(), len(referee.events)


def _batches(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """As itertools.batched, which Python 3.11 does not have."""
    found = iter(items)
    while some := tuple(islice(found, size)):
        yield some
