"""``arena rungs``: whether each house bot beats the one below it."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer
from rich import box
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from arena.bench import rungs as bench
from arena.cli.common import JsonFlag, console, find_game, print_json, progress_console
from arena.errors import UserError


def add_to(app: typer.Typer) -> None:
    app.command()(rungs)


def rungs(
    game: Annotated[str, typer.Argument(help="Name of the game; `arena games` lists them.")],
    games: Annotated[int, typer.Option("--games", "-n", min=1, help="At most so many a rung.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="Repeats everything.")] = 0,
    to: Annotated[str | None, typer.Option("--to", metavar="BOT", help="Up to this bot. Default: all.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes.")] = os.cpu_count() or 1,
    as_json: JsonFlag = False,
) -> None:
    """Plays each house bot against the one below it, until it is clear which is better."""
    climbed = _rungs(find_game(game).name, to)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=progress_console, transient=True) as progress:
        for rung in climbed:
            task = progress.add_task(f"{rung.upper} - {rung.lower}", total=games)

            def on_set(rung: bench.Rung, task: Any = task) -> None:
                progress.update(task, completed=sum(rung.counts()))

            bench.climb(rung, games, seed, jobs, on_set)
    rows = [_row(rung) for rung in climbed]
    if as_json:
        print_json({"game": game, "seed": seed, "rungs": rows})
    else:
        _print(rows)


def _rungs(game: str, to: str | None) -> list[bench.Rung]:
    """The rungs up to a bot. Raises UserError."""
    found = bench.rungs(game)
    uppers = [rung.upper for rung in found]
    if to is not None and to not in uppers:
        raise UserError(f"--to is one of {', '.join(uppers) or 'no bots: there is only one'}, not {to!r}")
    return found if to is None else found[: uppers.index(to) + 1]


def _row(rung: bench.Rung) -> dict[str, Any]:
    won, drawn, lost = rung.counts()
    summary = rung.summary
    return {
        "upper": rung.upper,
        "lower": rung.lower,
        "games": won + drawn + lost,
        "wins": won,
        "draws": drawn,
        "losses": lost,
        "score": round(summary.score, 4),
        "elo": None if summary.elo is None else round(summary.elo, 1),
        "error": None if summary.error is None else round(summary.error, 1),
        "p": rung.p_value,
    }


def _print(rows: list[dict[str, Any]]) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("rung")
    for title in ("games", "W", "D", "L", "score", "Elo", "±", "p"):
        table.add_column(title, justify="right")
    for row in rows:
        table.add_row(
            f"{row['upper']} over {row['lower']}",
            *(str(row[key]) for key in ("games", "wins", "draws", "losses")),
            f"{row['score']:.1%}",
            *("-" if row[key] is None else f"{row[key]:{sign}.0f}" for key, sign in (("elo", "+"), ("error", ""))),
            f"{row['p']:.1g}",
        )
    console.print(table)
    console.print(
        "± is half of the 95 % interval over sets; p of a one-sided sign test over sets, which ends a rung below 0.001."
    )
