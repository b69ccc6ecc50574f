"""``arena bench``: measurements."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich import box
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import engines
from arena.cli.bench_play import add_commands
from arena.cli.common import JsonFlag, console, find_game, print_json, progress_console


def add_to(app: typer.Typer) -> None:
    bench = typer.Typer(help="Measures.", no_args_is_help=True)
    bench.command()(engine)
    add_commands(bench)
    bench.callback()(_group)
    app.add_typer(bench, name="bench")


def _group() -> None:
    """Measures."""


def engine(
    seconds: Annotated[float, typer.Option(min=0.05, help="CPU time for each contestant, over five rounds.")] = 3.0,
    game: Annotated[list[str], typer.Option("--game", "-g", help="One of ours; may be repeated. Default: all.")] = [],  # noqa: B006 - typer copies it
    profile: Annotated[
        str | None, typer.Option("--profile", metavar="GAME", help="Shows where the time of this game goes instead.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Random games a second: ours, native and through each adapter, beside OpenSpiel's and PettingZoo's."""
    from arena.bench import contestants as field  # noqa: PLC0415 - what they import takes its time
    from arena.bench import engine as bench  # noqa: PLC0415

    if profile is not None:
        found, _ = field.contestants([find_game(profile).name])
        for contestant in found:
            if contestant.form == "native":
                console.rule(f"{contestant.game}, {contestant.players} players")
                typer.echo(bench.profile(contestant, seconds))
        return
    found, left_out = field.contestants([find_game(name).name for name in game] or engines.names())
    columns = (TextColumn("{task.description:<32}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=progress_console, transient=True) as progress:
        task = progress.add_task("", total=len(found) * bench.ROUNDS)
        results = bench.measure(
            found,
            seconds,
            lambda contestant: progress.update(task, advance=1, description=f"{contestant.form} {contestant.game}"),
        )
    document = bench.report(results, seconds, left_out)
    if as_json:
        print_json(document)
    else:
        _print(document)


def _print(document: dict[str, Any]) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("game")
    for title in ("n", "games/s", "decisions/s", "events/s", "min - max", "x ttt", "x pz"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in document["contestants"]:
        events = row["events_per_s"]
        table.add_row(
            f"{row['game']}, {row['form']}",
            str(row["players"]),
            f"{row['playouts_per_s']['median']:,.0f}",
            f"{row['decisions_per_s']['median']:,.0f}",
            f"{events['median']:,.0f}",
            f"{events['min'] / 1000:,.0f}k - {events['max'] / 1000:,.0f}k",
            *("-" if row[key] is None else f"{row[key]:.2f}" for key in ("to_baseline", "to_pettingzoo_fastest")),
        )
    console.print(table)
    console.print(
        f"Per second of CPU time, median of {document['rounds']} rounds. Events: decisions and chance outcomes; through "
        f"PettingZoo, which shows no chance, agents' steps. Events/s as a multiple: x ttt of {document['baseline']}'s, "
        f"x pz of {document['pettingzoo_fastest']}'s, PettingZoo's fastest."
    )
    for line in document["left_out"]:
        console.print(f"left out: {line}")
