"""What the command lines of the bridges share."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botarena.errors import Misconfigured


@dataclass(frozen=True, slots=True)
class Arguments:
    """``games`` the program plays, none for all; ``rest`` is for :func:`botarena.run`."""

    given: argparse.Namespace
    games: tuple[str, ...]
    rest: tuple[str, ...]


def arguments(parser: argparse.ArgumentParser, argv: Sequence[str]) -> Arguments:
    """Parses what the bridge knows; ``parser`` has its own arguments, and gets --game."""
    parser.add_argument("--game", action="append", default=[], metavar="NAME", help="what it plays; may be repeated")
    parser.epilog = "Other flags are those of every bot: --address, --token, --name, --credit, ..."
    given, rest = parser.parse_known_args(argv)
    return Arguments(given, tuple(given.game), tuple(rest))


def from_file(path: str, name: str) -> Any:
    """What a Python file calls ``name``. The file's folder is on the path while it is read and after, as if it were run.

    Raises Misconfigured, saying what is missing."""
    file = Path(path).resolve()
    if not file.is_file():
        raise Misconfigured(f"there is no file {path}")
    sys.path.insert(0, str(file.parent))
    module_name = f"bot_{file.stem}"
    spec = importlib.util.spec_from_file_location(module_name, file)
    if spec is None or spec.loader is None:
        raise Misconfigured(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    try:
        return getattr(module, name)
    except AttributeError:
        raise Misconfigured(f"{path} does not define {name}") from None
