"""What a worker keeps: SQL and record files, off its event loop."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from sqlalchemy import Connection

from arena.storage.db import Database
from arena.storage.plans import MatchResult
from arena.storage.records import RecordStore, write_synced
from arena.storage.workers import WorkerLease

log = logging.getLogger(__name__)
T = TypeVar("T")

DATABASE_THREADS: Final = 4
DISK_RESERVE: Final = 256 * 2**20
"""With fewer bytes free than this nothing new is begun: what is left is for the results of what runs."""


@dataclass(frozen=True, slots=True)
class Spooled:
    """A result that SQL did not take yet, and the claim under which it was played. ``last``: of its set."""

    lease: WorkerLease
    set_id: str
    ended: MatchResult
    last: bool


class Store(Protocol):
    """Where the sets of a worker come from and go to. Everything here may raise Unavailable."""

    async def in_transaction(self, work: Callable[[Connection], T]) -> T:
        """Runs ``work`` in a write transaction."""
        ...

    async def keep_record(self, data: Callable[[], bytes]) -> str:
        """Writes a record file, fsynced, and returns its digest."""
        ...

    async def spool(self, result: Spooled) -> None:
        """Keeps a result on disk, fsynced, till :meth:`unspool`."""
        ...

    async def unspool(self, match_id: str) -> None:
        """SQL has the result, or does not want it any more."""
        ...

    def has_room(self) -> bool:
        """Whether there is disk enough to begin something new."""
        ...


class Spool:
    """Results that wait for the database, a file each: they outlive the process, and count while its claim stands."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, result: Spooled) -> None:
        """On disk when it returns. Raises Unavailable."""
        write_synced(self._path(result.ended.match_id), json.dumps(asdict(result)).encode())

    def drop(self, match_id: str) -> None:
        """Harmless if it is not there."""
        self._path(match_id).unlink(missing_ok=True)

    def __iter__(self) -> Iterator[Spooled]:
        for path in sorted(self._folder.glob("*.json")):
            try:
                yield _spooled(json.loads(path.read_bytes()))
            except (ValueError, TypeError, KeyError):
                log.error("%s is no spooled result of this version of the arena; it stays where it is", path)

    def _path(self, match_id: str) -> Path:
        return self._folder / f"{match_id}.json"


def _spooled(document: dict[str, Any]) -> Spooled:
    ended = document["ended"]
    by_seat = {name: tuple(ended[name]) for name in ("places", "scores", "reasons")}
    return Spooled(
        lease=WorkerLease(**document["lease"]),
        set_id=document["set_id"],
        ended=MatchResult(**{**ended, **by_seat}),
        last=bool(document["last"]),
    )


class ThreadedStore:
    """The store of a real worker: a pool of threads in front of the database and the disk."""

    def __init__(self, database: Database, data_dir: Path, name: str) -> None:
        self.spooled: Final = Spool(data_dir / "spool" / name)
        self._database = database
        self._data_dir = data_dir
        self._records = RecordStore(data_dir)
        self._threads = ThreadPoolExecutor(DATABASE_THREADS, thread_name_prefix="sql")

    async def in_transaction(self, work: Callable[[Connection], T]) -> T:
        def run() -> T:
            with self._database.write() as connection:
                return work(connection)

        return await self._in_thread(run)

    async def keep_record(self, data: Callable[[], bytes]) -> str:
        return await self._in_thread(lambda: self._records.write(data()))

    async def spool(self, result: Spooled) -> None:
        await self._in_thread(lambda: self.spooled.put(result))

    async def unspool(self, match_id: str) -> None:
        await self._in_thread(lambda: self.spooled.drop(match_id))

    def has_room(self) -> bool:
        try:
            return shutil.disk_usage(self._data_dir).free >= DISK_RESERVE
        except OSError as error:
            log.error("cannot ask how full the disk is: %s", os.strerror(error.errno or 0))
            return False

    def close(self) -> None:
        """Waits for what runs."""
        self._threads.shutdown()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)
