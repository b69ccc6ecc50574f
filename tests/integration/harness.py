"""A whole arena as processes, on free ports and a folder of its own, for tests that do to it what life does."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import func, select

from arena.bench.processes import free_port
from arena.host.processes import dies_with_parent
from arena.ladder import settlement
from arena.storage import accounts
from arena.storage.db import Database
from arena.storage.sets import seating
from arena.storage.tables import bot, game_set, match, result, set_seat

ROOT = Path(__file__).parents[2]
RAW_BOT = ROOT / "bots" / "python" / "raw_random.py"
DEMO_BOT = ROOT / "arena" / "cli" / "demo_bot.py"

LADDERS = """
[[ladders]]
game = "balloon-challenge"
players = 2

[[ladders]]
game = "balloon-challenge"
players = 3
"""


def until(condition: Callable[[], bool], timeout_s: float, what: str) -> None:
    """Waits for something to become true. Raises AssertionError."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {timeout_s} s"
        time.sleep(0.1)


@dataclass
class Arena:
    """A running ``arena up``."""

    folder: Path
    ladders: str = LADDERS
    workers: int = 1
    environment: dict[str, str] = field(default_factory=dict)
    database_url: str = ""
    """Its own SQLite file if empty."""

    def __post_init__(self) -> None:
        self.gateway = f"127.0.0.1:{free_port()}"
        self.web = f"127.0.0.1:{free_port()}"
        self.data = self.folder / "data"
        self._bots: list[subprocess.Popen[bytes]] = []
        self._up: subprocess.Popen[bytes] | None = None

    @property
    def variables(self) -> dict[str, str]:
        return {
            **os.environ,
            "ARENA_GATEWAY_LISTEN": self.gateway,
            "ARENA_WEB_LISTEN": self.web,
            "ARENA_GATEWAY_METRICS_LISTEN": f"127.0.0.1:{free_port()}",
            "ARENA_SCHEDULER_METRICS_LISTEN": f"127.0.0.1:{free_port()}",
            "ARENA_WORKER_METRICS_LISTEN": f"127.0.0.1:{free_port()}",
            "ARENA_WORKER_PROCESSES": str(self.workers),
            "ARENA_DATABASE_URL": self.database_url,
            **self.environment,
        }

    def start(self) -> None:
        """Starts it and waits until bots can connect."""
        (self.folder / "arena.toml").write_text(self.ladders)
        with (self.folder / "up.log").open("ab") as log:
            self._up = subprocess.Popen(
                dies_with_parent((sys.executable, "-m", "arena", "up", "--data-dir", str(self.data))),
                cwd=self.folder,
                env=self.variables,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            until(self._says_it_runs, 180, "the arena starts")
        except BaseException:
            self._up.kill()  # its processes die with it
            self._up.wait()
            raise

    def _says_it_runs(self) -> bool:
        assert self._up is not None
        log = (self.folder / "up.log").read_text()
        assert self._up.poll() is None, log
        return "The arena runs" in log

    def stop(self) -> int:
        """Ends the bots and then the arena as Ctrl-C does; returns the arena's exit status."""
        for program in self._bots:
            program.kill()
            program.wait()
        assert self._up is not None
        self._up.send_signal(signal.SIGINT)
        try:
            status = self._up.wait(120)
        except subprocess.TimeoutExpired:
            self._up.kill()
            raise
        (self.folder / "up.log").rename(self.folder / f"up-{time.monotonic_ns()}.log")
        return status

    @property
    def pid(self) -> int:
        assert self._up is not None
        return self._up.pid

    def kill(self, name: str) -> None:
        """SIGKILL for the arena's process of that name, as `gateway`, `scheduler`, `celery`, `valkey`."""
        pids = [pid for pid in descendants(self.pid) if name in command_of(pid)]
        assert pids, f"no process {name}"
        os.kill(min(pids), signal.SIGKILL)

    @contextlib.contextmanager
    def database(self) -> Iterator[Database]:
        database = Database(self.database_url or f"sqlite:///{self.data / 'arena.db'}")
        yield database
        database.close()

    def register(self, owner: str, bot: str) -> str:
        """A new bot's token."""
        with self.database() as database, database.write() as connection:
            return accounts.register(connection, owner, bot)[1]

    def start_bot(self, program: Path, token: str, *flags: str) -> subprocess.Popen[bytes]:
        """Starts a bot as its author would."""
        log = (self.folder / f"bot-{len(self._bots)}.log").open("ab")
        bot = subprocess.Popen(
            [sys.executable, str(program), *flags],
            env={**os.environ, "ARENA_ADDRESS": self.gateway, "ARENA_TOKEN": token},
            stdout=log,
            stderr=log,
        )
        self._bots.append(bot)
        return bot

    def results(self) -> int:
        """How many matches have a result."""
        with self.database() as database, database.read() as connection:
            return int(connection.execute(select(func.count()).select_from(result)).scalar_one())

    def sets(self, state: str) -> int:
        """How many sets are in a state."""
        with self.database() as database, database.read() as connection:
            counted = select(func.count()).select_from(game_set).where(game_set.c.state == state)
            return int(connection.execute(counted).scalar_one())

    def reasons(self) -> dict[str, set[str]]:
        """How the games of each bot ended."""
        found: dict[str, set[str]] = {}
        with self.database() as database, database.read() as connection:
            rows = connection.execute(
                select(bot.c.name, set_seat.c.position, match.c.game_index, result.c.reasons)
                .join(match, match.c.id == result.c.match_id)
                .join(set_seat, set_seat.c.set_id == match.c.set_id)
                .join(bot, bot.c.id == set_seat.c.bot_id)
            )
            for name, position, index, ended in rows:
                seat = seating(len(ended), index).index(position)
                found.setdefault(name, set()).add(ended[seat])
        return found

    def problems(self) -> tuple[str, ...]:
        """What `arena ladder check` says."""
        with self.database() as database, database.read() as connection:
            return settlement.check(connection)

    def wait_results(self, more: int, timeout_s: float = 60) -> None:
        """Waits until so many more matches have results."""
        wanted = self.results() + more
        until(lambda: self.results() >= wanted, timeout_s, f"{more} more results")


def descendants(pid: int) -> list[int]:
    """All processes below ``pid``."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, task.read_text().split()):
                found += [child, *descendants(child)]
    return found


def command_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
