"""Databases to test on, and a small arena inside one."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy import Connection, create_engine, delete, select, update
from sqlalchemy.exc import OperationalError

from arena.ladder.entry import enter, open_ladders, standing_house_bots
from arena.ladder.settlement import Settlement, finish_set
from arena.match.spec import TimeControl
from arena.settings import LadderSpec
from arena.storage import accounts, sets
from arena.storage.db import Database
from arena.storage.plans import Beginning, MatchResult, NewSeat, SetPlan
from arena.storage.tables import game_set, ladder, metadata, worker
from arena.storage.workers import WorkerLease, register_worker

T = TypeVar("T")
SPEC = LadderSpec("balloon-challenge-3p", "balloon-challenge", 3, {}, TimeControl())


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a PostgreSQL database of our own, with the newest schema."""
    initdb, postgres = shutil.which("initdb"), shutil.which("postgres")
    if not initdb or not postgres or not importlib.util.find_spec("psycopg"):
        message = "needs PostgreSQL (initdb and postgres on the PATH) and psycopg"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    # Not pytest's own folder: nobody but its owner may enter that, and PostgreSQL does not run as root.
    with tempfile.TemporaryDirectory(prefix="arena-pg-") as folder:
        as_user = ["setpriv", "--pdeathsig=SIGQUIT"]
        if os.getuid() == 0:
            shutil.chown(folder, "nobody")
            as_user += ["--reuid=nobody", "--clear-groups"]
        data = f"{folder}/data"
        initialise = [initdb, "-D", data, "-A", "trust", "-U", "arena", "--no-sync"]
        subprocess.run([*as_user, *initialise], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        options = ["listen_addresses=", f"unix_socket_directories={folder}", "fsync=off", "full_page_writes=off"]
        command = [postgres, "-D", data, *(part for option in options for part in ("-c", option))]
        with (Path(folder) / "log").open("wb") as log:
            server = subprocess.Popen([*as_user, *command], cwd=folder, stderr=log)
        url = f"postgresql+psycopg://arena@/postgres?host={folder}"
        _wait_until_up(url)
        _migrate(url)
        yield url
        server.send_signal(signal.SIGQUIT)
        server.wait(timeout=30)


def _wait_until_up(url: str) -> None:
    engine = create_engine(url)
    for _ in range(300):
        try:
            engine.connect().close()
        except OperationalError:
            time.sleep(0.1)
        else:
            engine.dispose()
            return
    raise TimeoutError("PostgreSQL did not start")


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the newest schema, to be copied."""
    path = tmp_path_factory.mktemp("template") / "arena.db"
    _migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty database with the newest schema, of each kind that the arena supports."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("migrated"), tmp_path / "arena.db")
        made = Database(f"sqlite:///{tmp_path / 'arena.db'}")
    else:
        made = Database(request.getfixturevalue("postgresql"))
        with made.write() as connection:
            for table in reversed(metadata.sorted_tables):
                connection.execute(delete(table))
    yield made
    made.close()


def behind(database: Database, first: Callable[[Connection], object], then: Callable[[], T]) -> T:
    """What ``then`` comes to, begun in a thread of its own while the transaction that did ``first`` is still open.

    It has time to come to the end, or to the lock that the open transaction holds.
    """
    with ThreadPoolExecutor(1) as pool:
        with database.write() as connection:
            first(connection)
            waiting = pool.submit(then)
            wait([waiting], timeout=0.5)
        return waiting.result(timeout=30)


def _migrate(url: str) -> None:
    database = Database(url)
    database.upgrade()
    database.close()


@dataclass
class World:
    """A ladder for three, the house bots on it, one worker, and external bots as they are asked for."""

    database: Database
    ladder_id: int
    house: dict[str, NewSeat]
    lease: WorkerLease

    def external(self, name: str, *, owner_of: str = "") -> NewSeat:
        """A new external bot on the ladder; its owner is new, or the one of another bot."""
        with self.database.write() as connection:
            if owner_of:
                sibling = accounts.find_bot(connection, owner_of)
                assert sibling is not None
                bot = accounts.create_bot(connection, sibling.account_id, name)
            else:
                bot, _ = accounts.register(connection, f"{name}-owner", name)
            version = accounts.ensure_version(connection, bot.id)
            enter(connection, self.ladder_id, version.id)
        return NewSeat(version.id, bot.id, "0")

    def queue(self, seats: Sequence[NewSeat] = (), *, deal_mode: str = "own", rated: bool = True) -> str:
        """A queued set, of the three house bots unless others are named."""
        with self.database.write() as connection:
            return sets.create_set(
                connection,
                self.ladder_id,
                seats or list(self.house.values()),
                budget_ms=60_000,
                house_only=not seats,
                deal_mode=deal_mode,  # type: ignore[arg-type]
                rated=rated,
            )

    def begun(self, set_id: str, lease: WorkerLease | None = None) -> SetPlan:
        """The plan of the set, claimed and with all its attempts begun."""
        lease = lease or self.lease
        with self.database.write() as connection:
            plan = sets.claim(connection, set_id, lease)
            assert plan is not None
            sets.begin_attempts(
                connection,
                lease,
                set_id,
                [Beginning(game.match_id, game.attempt, b"c" * 32, b"s" * 32) for game in plan.games],
            )
        return plan

    def record(self, plan: SetPlan, index: int, places: tuple[int, ...], lease: WorkerLease | None = None) -> str:
        """Records the places, by seat, of one game of the plan."""
        with self.database.write() as connection:
            return sets.record_result(connection, lease or self.lease, result_of(plan, index, places))

    def finish(self, set_id: str, lease: WorkerLease | None = None) -> Settlement:
        """Settles the set."""
        with self.database.write() as connection:
            return finish_set(connection, lease or self.lease, set_id)

    def play(self, set_id: str, places: Callable[[int], tuple[int, ...]] = lambda index: (1, 2, 3)) -> Settlement:
        """Plays a queued set to its end; ``places(game index)`` by seat."""
        plan = self.begun(set_id)
        for index, game in enumerate(plan.games):
            self.record(plan, index, places(game.index))
        return self.finish(set_id)

    def lapse(self, lease: WorkerLease | None = None) -> None:
        """Lets a worker's lease run out."""
        with self.database.write() as connection:
            connection.execute(update(worker).where(worker.c.id == (lease or self.lease).id).values(lease_until=0))

    def state(self, set_id: str) -> tuple[str, int]:
        """State and attempt of a set."""
        with self.database.read() as connection:
            row = connection.execute(select(game_set.c.state, game_set.c.attempt).where(game_set.c.id == set_id)).one()
        return row.state, row.attempt


def result_of(plan: SetPlan, index: int, places: tuple[int, ...]) -> MatchResult:
    """A result of one game of the plan with those places by seat."""
    game = plan.games[index]
    return MatchResult(
        match_id=game.match_id,
        attempt=game.attempt,
        places=places,
        scores=tuple(10 - place for place in places),
        reasons=("NORMAL",) * len(places),
        record_digest="d" * 64,
        record_head="e" * 64,
        events=50,
    )


@pytest.fixture
def world(database: Database) -> World:
    """A small arena in an empty database."""
    return small_arena(database)


def small_arena(database: Database) -> World:
    """A ladder with its house bots, and a worker, in an empty database."""
    with database.write() as connection:
        open_ladders(connection, [SPEC])
        ladder_id = connection.execute(select(ladder.c.id)).scalar_one()
        house = {}
        for name in standing_house_bots(SPEC.game):
            version = accounts.ensure_house_bot(connection, name)
            house[name] = NewSeat(version.id, version.bot_id)
        lease = register_worker(connection, "worker-0")
    return World(database, ladder_id, house, lease)
