"""How a ladder of thousands of bots and a million results carries: fold, official table, leaderboard, a round of pairing.

The ladder is made up, in a database of its own. The fold is compared with openskill's models for four players, taking turns
with them, so that the ratio holds where the machine is busy with other things too.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np
from sqlalchemy import Connection, insert, select, update

from arena.errors import ArenaError, Fenced
from arena.ladder.desk import OnlineBot
from arena.ladder.entry import open_ladders
from arena.ladder.scheduler import Round, Scheduler
from arena.ladder.standings import START_RATING, fold
from arena.ratings.bradley_terry import official_table
from arena.ratings.entries import AnchorSet, Entry, LedgerEntry, SetResult
from arena.ratings.simulation import TRUE_SD, play
from arena.settings import LadderSpec, SchedulerSettings
from arena.storage import ledger, queries
from arena.storage.db import Database
from arena.storage.tables import account, bot, bot_version, now_ms, rating
from arena.storage.tables import ladder as ladder_table
from arena.storage.tables import ledger as ledger_table

PLAYERS: Final = 4
ROUNDS: Final = 5
QUERIES: Final = 30
CHUNK: Final = 20_000


@dataclass(frozen=True, slots=True)
class Made:
    """The made-up ladder: its entries in order, the versions of its external bots, and its anchor."""

    ladder_id: int
    slug: str
    entries: tuple[LedgerEntry, ...]
    online: tuple[OnlineBot, ...]
    anchor: int

    @property
    def results(self) -> tuple[SetResult, ...]:
        """The sets alone."""
        return tuple(entry for entry in self.entries if isinstance(entry, SetResult))


def measure(folder: Path, bots: int, results: int, seed: int, on_stage: Callable[[str], None]) -> dict[str, Any]:
    """The JSON document of a run; ``on_stage`` hears what comes next. Rates are per second of CPU time, and goals are
    judged by it, so that they hold on a busy machine.
    """
    on_stage("making the ladder")
    database = Database(f"sqlite:///{folder / 'bench.db'}")
    database.upgrade()
    made = _make(database, bots, results, np.random.default_rng(seed))
    gc.collect()
    gc.freeze()  # millions of entries that no process of an arena holds: their collection is not to be measured
    on_stage("fold and openskill")
    speeds = _fold_speeds(made)
    on_stage("leaderboard")
    leaderboard = _leaderboard(database, made.slug)
    on_stage("official table")
    clock = _Clock()
    table = official_table(made.results, {made.anchor: START_RATING})
    official_s = clock.read()
    on_stage("pairing")
    pairing = _pairing(database, made)
    database.close()
    return {
        "bots": bots,
        "results": PLAYERS * len(made.results),
        "sets": len(made.results),
        "players": PLAYERS,
        "fold": speeds,
        "leaderboard_ms": leaderboard,
        "official_table_s": official_s,
        "official_rows": len(table.rows),
        "pairing": pairing,
        "goals": {
            "fold at least 3 times openskill's 4-player updates": speeds["to_openskill"] >= 3,
            "a round of pairing within 1 s": pairing["round_s"]["cpu"] <= 1,
            "leaderboard within 50 ms": leaderboard["cpu"] <= 50,
            "official table within 60 s": official_s["cpu"] <= 60,
        },
    }


def _make(database: Database, bots: int, results: int, rng: np.random.Generator) -> Made:
    spec = LadderSpec("bench-4p", "balloon-challenge", PLAYERS, {})
    with database.write() as connection:
        open_ladders(connection, [spec])
        ladder_id = connection.execute(select(ladder_table.c.id)).scalar_one()
        before = [posted.entry for posted in ledger.entries(connection, ladder_id)]
        anchor = next(entry.version for entry in before if isinstance(entry, AnchorSet))
        online = _register(connection, bots)
    versions = np.array([one.version_id for one in online])
    sets = results // PLAYERS
    truth = np.sort(rng.normal(0, TRUE_SD, bots))
    tables = _tables(bots, sets, rng)
    entries: list[LedgerEntry] = [*before, *(Entry(int(version), START_RATING) for version in versions)]
    for first in range(0, sets, CHUNK):
        chunk = tables[first : first + CHUNK]
        places = play(truth[chunk], PLAYERS, rng, shared=False).tolist()
        for number, (seated, games) in enumerate(zip(versions[chunk].tolist(), places, strict=True), first):
            entries.append(SetResult(f"s{number}", tuple(seated), tuple(map(tuple, games))))
    _write(database, ladder_id, entries, len(before))
    return Made(ladder_id, spec.slug, tuple(entries), online, anchor)


def _register(connection: Connection, bots: int) -> tuple[OnlineBot, ...]:
    """External bots, each of an owner of its own."""
    names = [f"bot-{number}" for number in range(bots)]
    about = [{"name": name, "name_key": name, "created_at": 0} for name in names]
    connection.execute(insert(account), [{**one, "house": False} for one in about])
    owners = connection.execute(select(account.c.id).where(~account.c.house).order_by(account.c.id)).scalars().all()
    connection.execute(insert(bot), [{**one, "account_id": owner} for one, owner in zip(about, owners, strict=True)])
    ids = connection.execute(select(bot.c.id).where(bot.c.account_id.in_(owners[:1]))).scalar_one()
    connection.execute(
        insert(bot_version).values(seen_at=now_ms()),
        [{"bot_id": ids + number, "label": "1", "claimed": True, "created_at": 0} for number in range(bots)],
    )
    rows = connection.execute(
        select(bot_version.c.bot_id, bot_version.c.id).where(bot_version.c.bot_id >= ids).order_by(bot_version.c.id)
    )
    return tuple(OnlineBot(bot_id, version_id, "0", 1) for bot_id, version_id in rows)


def _tables(bots: int, sets: int, rng: np.random.Generator) -> Any:
    """(sets, 4) bots that are near each other in strength, as pairing would have it."""
    first = rng.integers(0, bots, (sets, 1))
    steps = np.cumsum(rng.integers(1, max(2, bots // 20), (sets, PLAYERS - 1)), axis=1)
    return np.concatenate([first, (first + steps) % bots], axis=1)


def _write(database: Database, ladder_id: int, entries: Sequence[LedgerEntry], there: int) -> None:
    """Appends the entries after the first ``there`` to the ledger, and writes the ratings that they fold to."""
    for first in range(there, len(entries), CHUNK):
        rows = []
        for seq, entry in enumerate(entries[first : first + CHUNK], first + 1):
            kind, payload = ledger.to_json(entry)
            rows.append({"ladder_id": ladder_id, "seq": seq, "kind": kind, "payload": payload, "set_id": None})
        with database.write() as connection:
            connection.execute(insert(ledger_table).values(created_at=now_ms()), rows)
    standings = fold(enumerate(entries, 1))
    names = [column.name for column in rating.columns if column.name not in ("ladder_id", "version_id")]
    with database.write() as connection:
        connection.execute(rating.delete())
        connection.execute(
            insert(rating),
            [
                {"ladder_id": ladder_id, "version_id": version, **{name: getattr(standing, name) for name in names}}
                for version, standing in standings.items()
            ],
        )
        connection.execute(update(ladder_table).values(seq=len(entries), cursor=len(entries)))


def _fold_speeds(made: Made) -> dict[str, Any]:
    """Results a second of the fold and of openskill's models, median over rounds of a fifth of the ledger each."""
    results = made.results
    entered = [entry for entry in made.entries if not isinstance(entry, SetResult)]
    share = max(1, len(results) // ROUNDS)
    models = list(_openskill())
    rates: dict[str, list[float]] = {name: [] for name in ("fold", *(name for name, _ in models))}
    for number in range(ROUNDS):
        part = results[number * share : (number + 1) * share]
        began = time.process_time()
        fold(enumerate([*entered, *part], 1))
        rates["fold"].append(PLAYERS * len(part) / (time.process_time() - began))
        for name, model in models:
            rates[name].append(_openskill_rate(model, part[: max(1, 20_000 // PLAYERS)]))
    ratios = [
        fold_rate / max(rates[name][number] for name, _ in models) for number, fold_rate in enumerate(rates["fold"])
    ]
    return {
        **{f"{name}_results_per_s": round(median(values)) for name, values in rates.items()},
        "to_openskill": round(median(ratios), 2),
    }


def _openskill() -> Iterator[tuple[str, Any]]:
    from openskill.models import BradleyTerryFull, PlackettLuce  # noqa: PLC0415 - an extra

    yield "openskill_BradleyTerryFull", BradleyTerryFull()
    yield "openskill_PlackettLuce", PlackettLuce()


def _openskill_rate(model: Any, part: Sequence[SetResult]) -> float:
    known = {version: model.rating() for result in part for version in result.versions}
    began = time.process_time()
    for result in part:
        for places in result.places:
            after = model.rate([[known[version]] for version in result.versions], ranks=list(places))
            for version, [new] in zip(result.versions, after, strict=True):
                known[version] = new
    return PLAYERS * len(part) / (time.process_time() - began)


class _Clock:
    """Seconds since it was made: on the wall, and of this process's CPUs, which a busy machine does not lengthen."""

    def __init__(self) -> None:
        self._began = time.perf_counter(), time.process_time()

    def read(self) -> dict[str, float]:
        wall, cpu = self._began
        return {"wall": round(time.perf_counter() - wall, 4), "cpu": round(time.process_time() - cpu, 4)}


def _median(took: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: round(median(one[name] for one in took), 4) for name in took[0]}


def _leaderboard(database: Database, slug: str) -> dict[str, float]:
    """Median milliseconds of the query of the first page, and of one in the middle of the table, in turn."""
    took = []
    for number in range(QUERIES):
        clock = _Clock()
        with database.read() as connection:
            queries.leaderboard(connection, slug, limit=100, offset=5_000 * (number % 2))
        took.append(clock.read())
    return {name: round(1000 * seconds, 2) for name, seconds in _median(took).items()}


class _Everybody:
    """All bots are connected."""

    def __init__(self, online: Sequence[OnlineBot]) -> None:
        self._online = online

    def online(self) -> Sequence[OnlineBot]:
        return self._online


def _pairing(database: Database, made: Made) -> dict[str, Any]:
    """The scheduler's rounds with everybody connected: the first reads the whole ledger, later ones find new sets to make."""
    scheduler = Scheduler(
        database, SchedulerSettings(), _Everybody(made.online), lambda set_id: None, lambda event: None
    )
    first, first_s = _round(scheduler)
    took, sets = [], 0
    for _ in range(ROUNDS):
        with database.write() as connection:
            connection.exec_driver_sql("UPDATE game_set SET state = 'VOID'")
            connection.execute(update(ladder_table).values(seq=ladder_table.c.seq + 1, cursor=ladder_table.c.seq + 1))
        later, seconds = _round(scheduler)
        sets += later.made
        took.append(seconds)
    return {
        "first_round_s": first_s,
        "round_s": _median(took),
        "sets_a_round": (sets + first.made) // (ROUNDS + 1),
    }


def _round(scheduler: Scheduler) -> tuple[Round, dict[str, float]]:
    """A round and its seconds; again, as the scheduler's process does, if the machine was too busy to keep the lead."""
    for _ in range(20):
        clock = _Clock()
        try:
            return scheduler.round(), clock.read()
        except Fenced:
            continue
    raise ArenaError("the machine is too busy: no round of pairing ended within the scheduler's lease")
