"""What commands share: output as JSON or tables, programs from words, options from KEY=VALUE."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console

import engines
from arena.errors import ArenaError, UserError
from arena.host.house import house_program
from arena.host.processes import Program
from arena.settings import MOST
from bots.house import catalogue

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON on standard output instead of a table.")]
GameOption = Annotated[str, typer.Option("--game", "-g", help="Name of the game; `arena games` lists them.")]
ConfigOption = Annotated[
    list[str], typer.Option("--config", "-c", metavar="KEY=VALUE", help="An option of the game; may be repeated.")
]

DataDir = Annotated[Path | None, typer.Option("--data-dir", help="Where everything is kept; ./arena-data by default.")]

Bank = Annotated[int, typer.Option("--bank-ms", min=1, max=MOST, help="Time a bot has for the game.")]
Increment = Annotated[int, typer.Option("--increment-ms", min=0, max=MOST, help="Time added with each decision.")]
MoveCap = Annotated[
    int, typer.Option("--move-cap-ms", min=0, max=MOST, help="Most that one decision may take; 0: no cap.")
]

NOT_KNOWN: Final = (
    "the token in ARENA_TOKEN is none of this arena, or was revoked: "
    "set all of what `arena register` or `arena token create` printed"
)
"""Of a token that the arena refuses."""

console = Console()
progress_console = Console(stderr=True)


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def find_game(name: str) -> engines.Game:
    """The game of that name. Raises UserError, listing those that exist."""
    try:
        return engines.get(name)
    except engines.UnknownGame as error:
        raise UserError(str(error)) from None


def parse_config(game: engines.Game, players: int, words: Sequence[str]) -> dict[str, bool | int]:
    """A complete configuration from KEY=VALUE words. Raises UserError."""
    given: dict[str, bool | int] = {}
    for word in words:
        key, separator, text = word.partition("=")
        if not separator:
            raise UserError(f"--config takes KEY=VALUE, not {word!r}")
        try:
            value = json.loads(text)
        except ValueError:
            raise UserError(f"--config {key}: {text!r} is neither true, false nor a number") from None
        given[key] = value
    try:
        return game.complete_config(players, given)
    except engines.BadConfig as error:
        raise UserError(str(error)) from None


@dataclass(slots=True)
class Logs:
    """The folder for what programs print. ``wanted``: there is something to look up in it."""

    folder: Path
    wanted: bool = False


@contextmanager
def program_logs(chosen: Path | None = None) -> Iterator[Logs]:
    """The folder ``chosen``; or one of our own, which stays if it is wanted or the arena says what went wrong."""
    if chosen is not None:
        chosen.mkdir(parents=True, exist_ok=True)
        yield Logs(chosen, wanted=True)
        return
    logs = Logs(Path(tempfile.mkdtemp(prefix="arena-logs-")))
    try:
        yield logs
    except ArenaError:
        logs.wanted = any(path.stat().st_size for path in logs.folder.iterdir())
        raise
    finally:
        if not logs.wanted:
            shutil.rmtree(logs.folder)


def programs_of(words: Sequence[str], folder: Path) -> tuple[Program, ...]:
    """Programs from what a person wrote: a house bot's name, a Python file, or a command with its arguments.

    Names are made unique (``random``, ``random-2``). Raises UserError for a word that is none of the three.
    """
    seen: Counter[str] = Counter()
    programs = []
    for number, word in enumerate(words):
        program = _resolve(word)
        seen[program.name] += 1
        name = program.name if seen[program.name] == 1 else f"{program.name}-{seen[program.name]}"
        programs.append(replace(program, name=name, log=folder / f"{number}-{name}.log"))
    return tuple(programs)


def _resolve(word: str) -> Program:
    log = Path(os.devnull)
    if catalogue.is_house(word):
        bot = catalogue.find(word)
        return house_program(bot.name, bot.version, log)
    try:
        parts = tuple(shlex.split(word))
    except ValueError as error:
        raise UserError(f"{word!r} is no command: {error}") from None
    if len(parts) == 1 and word.endswith(".py"):
        if not Path(word).is_file():
            raise UserError(f"there is no file {word}")
        return Program(Path(word).stem, "local", (sys.executable, str(Path(word).resolve())), log)
    if not parts or shutil.which(parts[0]) is None:
        house = ", ".join(catalogue.NAMES)
        raise UserError(f"{word!r} is no house bot ({house}), no Python file, and no command on PATH")
    return Program(Path(parts[-1]).stem or Path(parts[0]).name, "local", parts, log)
