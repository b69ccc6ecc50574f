"""``arena bench ladder``: how a large ladder carries."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.bench_play import print_goals
from arena.cli.common import JsonFlag, console, print_json, progress_console
from arena.errors import UserError


def add_to(app: typer.Typer) -> None:
    """Joins the group ``bench``, which :mod:`arena.cli.bench` has made."""
    [bench] = [group.typer_instance for group in app.registered_groups if group.name == "bench"]
    assert bench is not None
    bench.command(name="ladder")(ladder)


def ladder(
    bots: Annotated[int, typer.Option(min=100, help="Bots on the ladder.")] = 10_000,
    results: Annotated[int, typer.Option(min=1000, help="Games of four in its ledger.")] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Of the made-up ladder.")] = 1,
    as_json: JsonFlag = False,
) -> None:
    """A ladder of many bots: fold beside openskill, leaderboard, official table, a round of pairing."""
    try:
        from arena.bench import ladder as bench  # noqa: PLC0415 - scipy is slow to import

        with (
            tempfile.TemporaryDirectory(prefix="arena-bench-") as folder,
            progress_console.status("starting") as status,
        ):
            document = bench.measure(Path(folder), bots, results, seed, status.update)
    except ModuleNotFoundError as error:
        raise UserError(f"{error.name} is needed to compare with: pip install 'bot-arena[openskill]'") from None
    if as_json:
        print_json(document)
        return
    for name, value in document.items():
        if name != "goals":
            console.print(f"{name}: {value}", highlight=False)
    print_goals(document["goals"])
