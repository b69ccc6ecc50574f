"""Events for tests: files, and programs that do what is needed of them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from arena.cli import application
from arena.errors import ArenaError
from arena.storage import tournaments as store
from arena.storage.db import Database
from arena.tournaments.offline import LocalEvent
from arena.tournaments.progress import State

ROUND_ROBIN = """\
format = "round-robin"
[[games]]
game = "balloon-pop"
[field]
bots = ["random", "greedy", "heuristic", { name = "other", program = "random" }]
"""


def write_event(folder: Path, text: str, name: str = "cup") -> Path:
    """A tournament.toml of that name."""
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    status: int
    stdout: str
    stderr: str

    @property
    def document(self) -> dict[str, Any]:
        """What it printed as JSON, once it has succeeded."""
        assert self.status == 0, self.stderr
        found: dict[str, Any] = json.loads(self.stdout)
        return found


def arena(*words: str | Path) -> Done:
    """Runs ``arena WORDS`` in this process."""
    ended = CliRunner().invoke(application(), [str(word) for word in words])
    if isinstance(ended.exception, ArenaError):
        return Done(2, ended.stdout, str(ended.exception))
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return Done(ended.exit_code, ended.stdout, ended.stderr)


def state_of(file: Path) -> State:
    """What a local event's database holds."""
    event = LocalEvent(file)
    database: Database = event.database()
    try:
        with database.read() as connection:
            return store.load(connection, store.newest(connection, 1)[0])
    finally:
        database.close()


def match_ids(state: State) -> Counter[str]:
    """How often each game is there."""
    return Counter(game.match_id for sets in state.sets.values() for played in sets.values() for game in played.games)
