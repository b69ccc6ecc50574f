"""The command line: ``arena COMMAND``. A module a command or group; each imports what it needs when it runs."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Final, NoReturn

import typer

from arena.errors import ArenaError

_MODULES: Final = {
    "up": ["up"],
    "demo": ["demo"],
    "register": ["account"],
    "token": ["account"],
    "bot": ["bot"],
    "admin": ["admin"],
    "new": ["new"],
    "match": ["match"],
    "play": ["play"],
    "games": ["games"],
    "verify": ["records"],
    "replay": ["records"],
    "rerun": ["records"],
    "ladder": ["ladder", "analysis"],
    "challenge": ["challenge"],
    "trial": ["trial"],
    "audit": ["audit"],
    "gateway": ["processes"],
    "web": ["processes"],
    "scheduler": ["processes"],
    "prepare": ["processes"],
    "bench": ["bench", "bench_ladder", "bench_web"],
    "export": ["export"],
    "rungs": ["rungs"],
    "sprt": ["sprt"],
    "simulate": ["simulate", "simulate_tournament"],
    "tournament": ["tournament"],
    "conformance": ["conformance"],
    "doctor": ["doctor"],
}
"""Commands in the order of ``arena --help``, and the modules of this package that have them."""


def application(command: str = "") -> typer.Typer:
    """All commands; or only what ``command`` needs, if it is one.

    To import them all takes a second, which neither a person nor a process of the arena that starts again should wait.
    """
    app = typer.Typer(
        name="arena",
        help="Runs an arena for game-playing programs, and everything around it.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_several)
    chosen = _MODULES.get(command) or dict.fromkeys(module for modules in _MODULES.values() for module in modules)
    for module in chosen:
        import_module(f"{__name__}.{module}").add_to(app)
    return app


def _several() -> None:
    """Keeps Typer from taking a single command for the whole application."""


def main() -> None:
    """Runs a command: errors that say what to do instead of tracebacks."""
    try:
        application(sys.argv[1] if len(sys.argv) > 1 else "")()
    except ArenaError as error:
        _give_up(str(error))
    except OSError as error:
        if error.filename is None:
            raise
        _give_up(f"{error.strerror}: {error.filename}")


def _give_up(why: str) -> NoReturn:
    print(f"arena: {why}", file=sys.stderr)
    sys.exit(2)
