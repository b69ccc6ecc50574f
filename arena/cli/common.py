"""What commands share: output as JSON or tables, programs from words, options from KEY=VALUE."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

import engines
from arena.errors import UserError
from arena.host.processes import Program
from bots.house import catalogue

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON on standard output instead of a table.")]
GameOption = Annotated[str, typer.Option("--game", "-g", help="Name of the game; `arena games` lists them.")]
ConfigOption = Annotated[
    list[str], typer.Option("--config", "-c", metavar="KEY=VALUE", help="An option of the game; may be repeated.")
]

HOUSE = "house"
"""The owner of the house bots."""

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


def programs_of(words: Sequence[str], folder: Path) -> tuple[Program, ...]:
    """Programs from what a person wrote: a house bot's name, a Python file, or a command with its arguments.

    Names are made unique (``random``, ``random-2``). Raises UserError for a word that is none of the three.
    """
    seen: Counter[str] = Counter()
    programs = []
    for number, word in enumerate(words):
        name, version, command, owner = _resolve(word)
        seen[name] += 1
        unique = name if seen[name] == 1 else f"{name}-{seen[name]}"
        programs.append(Program(unique, version, command, folder / f"{number}-{unique}.log", owner))
    return tuple(programs)


def house_command(name: str, version: str) -> tuple[str, ...]:
    """How a house bot is started."""
    return (sys.executable, "-m", "bots.house", f"{name}@{version}")


def _resolve(word: str) -> tuple[str, str, tuple[str, ...], str]:
    if catalogue.is_house(word):
        bot = catalogue.find(word)
        return bot.name, bot.version, house_command(bot.name, bot.version), HOUSE
    if word.endswith(".py"):
        if not Path(word).is_file():
            raise UserError(f"there is no file {word}")
        return Path(word).stem, "local", (sys.executable, str(Path(word).resolve())), "local"
    parts = tuple(shlex.split(word))
    if not parts or shutil.which(parts[0]) is None:
        house = ", ".join(catalogue.NAMES)
        raise UserError(f"{word!r} is no house bot ({house}), no Python file, and no command on PATH")
    return Path(parts[-1]).stem or Path(parts[0]).name, "local", parts, "local"
