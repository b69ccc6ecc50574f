"""What stands in for Redis, Celery, the database's machine and the disk."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import StaticPool

from arena.errors import ArenaError, Unavailable
from arena.gateway.registry import FILLED_MS, LEASE_MS, OnlineSession
from arena.host.store import Spooled
from arena.storage.db import Database, _prepare_sqlite
from tests.simulation.loop import Process

T = TypeVar("T")

EPOCH_MS = 1_700_000_000_000
JULIAN_1970 = 2440587.5


class MemoryDatabase(Database):
    """The real schema and SQL in memory, on virtual time.

    One for each Python process, for its compiled SQL and its one connection are kept. What histories begin with is made once.
    Transactions begin and end here: SQLAlchemy takes the connection as one that commits by itself, which saves it much work.
    """

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="arena-sim-")
        self.raw = sqlite3.connect(":memory:", check_same_thread=False)
        self.clock: Callable[[], float] = lambda: 0.0
        self.rng = Random(0)
        self.down = False
        self.acks_lost = 0.0
        super().__init__(f"sqlite:///{self._folder.name}/unused.db")
        self._connection = self._writes.connect()
        self._beginnings: defaultdict[Hashable, sqlite3.Connection] = defaultdict(lambda: sqlite3.connect(":memory:"))
        template = Database(f"sqlite:///{self._folder.name}/template.db")
        template.upgrade()
        template.close()
        with sqlite3.connect(f"{self._folder.name}/template.db") as made:
            made.execute("PRAGMA journal_mode = DELETE")
            made.backup(self._beginnings[None])
        self._beginnings[None].execute("PRAGMA journal_mode = MEMORY")

    def _engine(self, url: str, begin: str, **options: Any) -> Engine:
        engine = create_engine(
            "sqlite://", creator=lambda: self.raw, poolclass=StaticPool, isolation_level="AUTOCOMMIT"
        )
        event.listen(engine, "connect", _prepare_sqlite)
        return engine

    def prepare(self, beginning: Hashable, fill: Callable[[Connection], None]) -> None:
        """Keeps a database with nothing but what ``fill`` writes, for histories to begin with."""
        self.reset(lambda: 0.0, Random(0), None)
        with self.write() as connection:
            fill(connection)
        self.raw.backup(self._beginnings[beginning])

    def reset(self, clock: Callable[[], float], rng: Random, beginning: Hashable) -> None:
        """As it was prepared, on another clock."""
        self.clock, self.rng, self.down, self.acks_lost = clock, rng, False, 0.0
        self.raw.rollback()
        self._beginnings[beginning].backup(self.raw)
        self.raw.create_function("julianday", 1, self._julian, deterministic=True)  # the same within a statement

    def _julian(self, _: str) -> float:
        return JULIAN_1970 + (EPOCH_MS + self.clock() * 1000) / 86_400_000

    @contextmanager
    def read(self) -> Iterator[Connection]:
        if self.down:
            raise Unavailable("the database is away")
        self.raw.execute("BEGIN")
        try:
            yield self._connection
        except BaseException:
            self.raw.rollback()
            raise
        self.raw.commit()

    @contextmanager
    def write(self) -> Iterator[Connection]:
        with self.read() as connection:
            yield connection
        if self.acks_lost and self.rng.random() < self.acks_lost:
            raise Unavailable("the answer to the commit got lost")


class SimSpool:
    """A worker's spool."""

    def __init__(self) -> None:
        self.results: dict[str, Spooled] = {}

    def __iter__(self) -> Iterator[Spooled]:
        return iter(self.results.values())

    def drop(self, match_id: str) -> None:
        self.results.pop(match_id, None)


class Disk:
    """Record files and spools, which outlive processes."""

    def __init__(self) -> None:
        self.full = False
        self.records: dict[str, bytes] = {}
        self.spools: dict[str, SimSpool] = {}

    def read(self, digest: str) -> bytes:
        try:
            return self.records[digest]
        except KeyError:
            raise ArenaError(f"the record {digest} is not kept here") from None


class SimStore:
    """A worker's way to database and disk: takes a while, and breaks."""

    def __init__(self, process: Process, database: MemoryDatabase, disk: Disk, rng: Random) -> None:
        self.stalled_until = 0.0
        self._process = process
        self._database = database
        self._disk = disk
        self._rng = rng
        self.spooled = disk.spools.setdefault(process.name, SimSpool())

    async def in_transaction(self, work: Callable[[Connection], T]) -> T:
        await self._travel()
        with self._database.write() as connection:
            result = work(connection)
        await self._travel()
        return result

    async def keep_record(self, data: Callable[[], bytes]) -> str:
        content = data()
        await self._travel()
        digest = sha256(content).hexdigest()
        self._disk.records[digest] = content
        return digest

    async def spool(self, result: Spooled) -> None:
        await self._travel()
        self.spooled.results[result.ended.match_id] = result

    async def unspool(self, match_id: str) -> None:
        self.spooled.drop(match_id)

    def has_room(self) -> bool:
        return not self._disk.full

    async def _travel(self) -> None:
        loop = asyncio.get_running_loop()
        if not self._process.alive:
            raise Unavailable("this process is dead")
        await asyncio.sleep(max(self._rng.uniform(0.0003, 0.004), self.stalled_until - loop.time()))


@dataclass(slots=True)
class _Entry:
    session: OnlineSession
    until: float


class SimRegistry:
    """The registry's semantics without Redis; ``clear`` is what a restart does."""

    def __init__(self, rng: Random) -> None:
        self.down = False
        self._rng = rng
        self._entries: dict[tuple[int, str], _Entry] = {}
        self._since, self._since_until = -60.0, LEASE_MS / 1000  # the arena has run for long
        self._out: dict[int, float] = {}

    def clear(self) -> None:
        self._entries.clear()
        self._out.clear()
        self._since_until = 0.0

    async def put_out(self, bot_id: int, out_ms: int) -> None:
        await self._travel()
        self._out[bot_id] = self._now() + out_ms / 1000

    async def out_ms(self, bot_id: int) -> int:
        await self._travel()
        return max(0, int((self._out.get(bot_id, 0.0) - self._now()) * 1000))

    async def find(self, bot_id: int, instance: str) -> OnlineSession | None:
        await self._travel()
        entry = self._entries.get((bot_id, instance))
        if entry is not None and entry.until >= self._now():
            return entry.session
        if self._since_until < self._now() or self._now() - self._since < FILLED_MS / 1000:
            raise Unavailable("the registry has lost what it knew")
        return None

    async def list_online(self) -> list[OnlineSession]:
        await self._travel()
        return [entry.session for _, entry in sorted(self._entries.items()) if entry.until >= self._now()]

    async def renew(
        self, held: Iterable[OnlineSession], new: Iterable[OnlineSession], changed: Iterable[OnlineSession] = ()
    ) -> list[str]:
        await self._travel()
        if self._since_until < self._now():
            self._since = self._now()
        self._since_until = self._now() + LEASE_MS / 1000
        lost = []
        for session, newly in [*((one, False) for one in (*held, *changed)), *((one, True) for one in new)]:
            key = (session.bot_id, session.instance)
            there = self._entries.get(key)
            alive = there is not None and there.until >= self._now()
            if there is not None and alive and not newly and there.session.session != session.session:
                lost.append(session.session)
            else:
                self._entries[key] = _Entry(session, self._now() + LEASE_MS / 1000)
        return lost

    async def remove(self, gone: Iterable[tuple[int, str, str]]) -> None:
        await self._travel()
        for bot_id, instance, session in list(gone):
            there = self._entries.get((bot_id, instance))
            if there is not None and there.session.session == session:
                del self._entries[bot_id, instance]

    async def _travel(self) -> None:
        if self.down:
            raise Unavailable("Redis does not answer")
        await asyncio.sleep(self._rng.uniform(0.0002, 0.002))
        if self.down:
            raise Unavailable("Redis does not answer")

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


class Queue:
    """Doorbells: late, twice, out of order, or lost with Redis."""

    def __init__(self, rng: Random) -> None:
        self.down = False
        self.deaf = False
        """Whether doorbells are taken, and never delivered."""
        self.twice = 0.0
        self._rng = rng
        self._waiting: deque[str] = deque()
        self._takers: deque[asyncio.Future[str]] = deque()

    def clear(self) -> None:
        self._waiting.clear()

    def ring(self, set_id: str) -> None:
        if self.down:
            raise Unavailable("cannot reach the queue")
        if self.deaf:
            return
        for _ in range(1 + (self._rng.random() < self.twice)):
            asyncio.get_running_loop().call_later(self._rng.uniform(0.001, 0.1), self._arrive, set_id)

    def _arrive(self, set_id: str) -> None:
        if self.down:
            return
        while self._takers:
            taker = self._takers.popleft()
            if not taker.done():
                taker.set_result(set_id)
                return
        self._waiting.append(set_id)

    async def take(self) -> str:
        if self._waiting:
            return self._waiting.popleft()
        taker: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._takers.append(taker)
        return await taker
