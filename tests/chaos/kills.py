"""A running arena whose processes are killed again and again, and what an auditor says of it afterwards."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import func, select

from arena.audit import Auditor, Report
from arena.keys import load_or_create
from arena.storage.records import RecordStore
from arena.storage.tables import attempt, now_ms, result
from tests.chaos.postgres import PostgreSQL
from tests.integration.harness import Arena, command_of, descendants, until

VICTIMS = {"worker": "celery", "gateway": "arena gateway", "valkey": "valkey", "scheduler": "arena scheduler"}
"""Kinds of processes, and what their command lines hold."""
LADDERS = """
[[ladders]]
game = "pop"
players = 2

[[ladders]]
game = "pop"
players = 3
"""
BOT = Path(__file__).with_name("chaos_bot.py")
TOGETHER = 0.25
PATIENCE_S = 180.0


@dataclass(frozen=True)
class Kill:
    """A SIGKILL, at a time of the database's clock."""

    kind: str
    at_ms: int


@dataclass
class Outcome:
    """What came of it. ``recovery_s``: by kind, from each kill to the first result of a match begun after it."""

    kills: Counter[str] = field(default_factory=Counter)
    recovery_s: dict[str, list[float]] = field(default_factory=dict)
    matches: int = 0
    voids: int = 0
    reasons: dict[str, set[str]] = field(default_factory=dict)
    bots_alive: bool = False
    tokens_in_logs: int = 0
    audit: Report | None = None

    def __str__(self) -> str:
        lines = [f"{self.kills.total()} kills, {self.matches} matches, {self.voids} attempts void"]
        for kind, times in sorted(self.recovery_s.items()):
            lines.append(
                f"{kind:10} {self.kills[kind]:4} kills, recovery p50 {quantile(times, 0.5):5.1f} s, "
                f"p99 {quantile(times, 0.99):5.1f} s, longest {max(times):5.1f} s"
            )
        if self.audit is not None:
            lines.append(f"audit: {self.audit.matches} records replayed, {len(self.audit.problems)} problems")
            lines += self.audit.problems[:20]
        return "\n".join(lines)


def quantile(times: Sequence[float], q: float) -> float:
    """The ``q`` quantile, as the least time that so many do not exceed."""
    return sorted(times)[min(len(times) - 1, int(q * len(times)))]


def run(
    folder: Path, kills: int, seed: int, postgres: PostgreSQL | None = None, say: Callable[[str], None] = lambda _: None
) -> Outcome:
    """Kills so many processes of a new arena in ``folder``, ends it and audits what it kept.

    Most kills wait until the arena has recovered from the one before; every fourth hits it while it is down. The arena
    is on ``postgres`` if there is one, which is killed too; on SQLite otherwise. ``say`` hears of each kill.
    """
    rng = random.Random(seed)
    url = postgres.url if postgres else ""
    arena = Arena(folder, ladders=LADDERS, environment={"ARENA_SCHEDULER_HOUSE_SETS": "0"}, database_url=url)
    arena.start()
    tokens = [arena.register(f"owner{i}", f"bot{i}") for i in range(3)]
    bots = [arena.start_bot(BOT, token, "--credit", "2") for token in tokens]
    try:
        arena.wait_results(4, PATIENCE_S)
        done: list[Kill] = []
        while len(done) < kills:
            time.sleep(rng.uniform(0.1, 2.0))
            done.append(_kill(arena, rng, postgres))
            say(f"{len(done)} of {kills}: {done[-1].kind}")
            if rng.random() < TOGETHER and len(done) < kills:
                continue
            last = done[-1]
            until(lambda at=last.at_ms: _recovered(arena, at) is not None, PATIENCE_S, f"recovery from {last}")  # type: ignore[misc]
        arena.wait_results(10, PATIENCE_S)
        alive = all(bot.poll() is None for bot in bots)
        reasons = arena.reasons()  # before the end, which the bots do not live to see
    finally:
        arena.stop()
    outcome = _outcome(arena, done)
    outcome.bots_alive, outcome.reasons = alive, reasons
    written = b"".join(path.read_bytes() for path in folder.rglob("*.log"))
    outcome.tokens_in_logs = sum(token.encode() in written for token in tokens)
    return outcome


def _kill(arena: Arena, rng: random.Random, postgres: PostgreSQL | None) -> Kill:
    """One process that runs now, of a kind chosen by chance; a database comes back after a moment."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        kind = rng.choice([*sorted(VICTIMS), *(["postgresql"] if postgres else [])])
        with arena.database() as database, database.read() as connection:
            now = int(connection.execute(select(now_ms())).scalar_one())
        if kind == "postgresql":
            assert postgres is not None
            postgres.crash()
            time.sleep(rng.uniform(0.0, 5.0))
            postgres.start()
            return Kill(kind, now)
        if pids := [pid for pid in descendants(arena.pid) if VICTIMS[kind] in command_of(pid)]:
            os.kill(min(pids), signal.SIGKILL)
            return Kill(kind, now)
        time.sleep(0.2)
    raise AssertionError("no process to kill: the arena does not come back")


def _recovered(arena: Arena, since_ms: int) -> int | None:
    """When the first match begun after that moment had its result."""
    begun_after = (
        select(func.min(result.c.finished_at))
        .join(attempt, (attempt.c.match_id == result.c.match_id) & (attempt.c.attempt == result.c.attempt))
        .where(attempt.c.started_at > since_ms)
    )
    with arena.database() as database, database.read() as connection:
        return connection.execute(begun_after).scalar()


def _outcome(arena: Arena, kills: Sequence[Kill]) -> Outcome:
    outcome = Outcome(Counter(kill.kind for kill in kills))
    for kill in kills:
        at = _recovered(arena, kill.at_ms)
        assert at is not None
        outcome.recovery_s.setdefault(kill.kind, []).append((at - kill.at_ms) / 1000)
    outcome.matches = arena.results()
    key = load_or_create(arena.data).public_key().public_bytes_raw()
    with arena.database() as database:
        with database.read() as connection:
            void = select(func.count()).select_from(attempt).where(attempt.c.outcome == "VOID")
            outcome.voids = int(connection.execute(void).scalar_one())
        outcome.audit = Auditor(database, RecordStore(arena.data).read, key).run()
    return outcome
