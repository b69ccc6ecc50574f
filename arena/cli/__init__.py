"""The command line: ``arena COMMAND``. A module a command; each imports what it needs when it runs."""

from __future__ import annotations

import sys

import typer

from arena.cli import (
    account,
    analysis,
    audit,
    bench,
    bench_ladder,
    bench_web,
    bot,
    challenge,
    conformance,
    demo,
    doctor,
    export,
    games,
    ladder,
    match,
    new,
    play,
    processes,
    records,
    rungs,
    simulate,
    simulate_tournament,
    sprt,
    tournament,
    trial,
    up,
)
from arena.errors import ArenaError

app = typer.Typer(
    name="arena",
    help="Runs an arena for game-playing programs, and everything around it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for module in (
    up,
    demo,
    account,
    bot,
    new,
    match,
    play,
    games,
    records,
    ladder,
    analysis,
    challenge,
    trial,
    audit,
    processes,
    bench,
    bench_ladder,
    bench_web,
    export,
    rungs,
    sprt,
    simulate,
    simulate_tournament,
    tournament,
    conformance,
    doctor,
):
    module.add_to(app)


def main() -> None:
    """Runs a command: errors that say what to do instead of tracebacks."""
    try:
        app()
    except ArenaError as error:
        print(f"arena: {error}", file=sys.stderr)
        sys.exit(2)
