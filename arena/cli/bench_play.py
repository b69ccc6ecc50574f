"""``arena bench play``, ``workers``, ``idle`` and ``match``: the whole path of a decision, and of a match."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.table import Table

from arena import loops
from arena.cli.common import JsonFlag, console, print_json, progress_console

Seconds = Annotated[float, typer.Option(min=1, help="How long each rate is measured.")]
Processes = Annotated[int, typer.Option(min=2, help="Bot processes.")]


def add_commands(bench: typer.Typer) -> None:
    """Joins the group ``bench``."""
    for command in (play, workers, idle, match):
        bench.command()(command)


def play(
    seconds: Seconds = 10,
    decisions: Annotated[int, typer.Option(min=50, help="Decisions whose latency is measured.")] = 2_000,
    matches: Annotated[int, typer.Option(min=1, help="Concurrent matches through the relay.")] = 500,
    processes: Processes = 20,
    worker: Annotated[
        int | None, typer.Option("--workers", min=1, help="Worker processes of the relay; one a core by default.")
    ] = None,
    part: Annotated[
        list[str], typer.Option("--part", help="latency, relay or whole; may be repeated. Default: all.")
    ] = [],  # noqa: B006 - typer copies it
    as_json: JsonFlag = False,
) -> None:
    """Latency of a seat, decisions a second of many matches, whole matches a second; beside raw gRPC."""
    from arena.bench import play as bench  # noqa: PLC0415 - imports the whole arena
    from arena.bench.whole import whole  # noqa: PLC0415

    parts = part or ["latency", "relay", "whole"]
    document: dict[str, Any] = {}
    with progress_console.status("") as status:
        if "latency" in parts:
            document["latency"] = loops.run(bench.latency(decisions, status.update))
        if "relay" in parts:
            document["relay"] = loops.run(
                bench.relay(matches, processes, worker or os.cpu_count() or 1, seconds, status.update)
            )
        if "whole" in parts:
            document["whole"] = loops.run(whole(processes, seconds, status.update))
    if as_json:
        print_json(document)
        return
    for name, figures in document.items():
        _print_figures(name, figures)


def workers(
    seconds: Seconds = 10,
    processes: Processes = 20,
    worker: Annotated[
        list[int], typer.Option("--workers", min=1, help="Worker processes; may be repeated. Default: 1, 2, 4.")
    ] = [],  # noqa: B006 - typer copies it
    gateway: Annotated[
        list[int], typer.Option("--gateways", min=1, help="Gateways; may be repeated. Default: 1, 2.")
    ] = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Results a second with so many workers and gateways, and where the processor's time goes."""
    from arena.bench.whole import grid  # noqa: PLC0415

    with progress_console.status("") as status:
        rows = loops.run(grid(worker or [1, 2, 4], gateway or [1, 2], processes, seconds, status.update))
    if as_json:
        print_json({"runs": rows})
        return
    kinds = list(rows[0]["cpu_ms_per_match"])
    table = Table("workers", "gateways", "matches/s", "a core", *(f"{kind}, ms" for kind in kinds), "load")
    for row in rows:
        costs = row["cpu_ms_per_match"]
        figures = (row["matches_per_s"], row["matches_per_s_per_core"], *(costs[kind] for kind in kinds), row["load"])
        table.add_row(str(row["workers"]), str(row["gateways"]), *map(str, figures))
    console.print(table)
    console.print("ms: processor time a match. A core: matches a second of a core that serves; bots have others.")


def idle(
    sessions: Annotated[int, typer.Option(min=2, help="Bots that are connected.")] = 10_000,
    clients: Annotated[int, typer.Option(min=1, help="Processes that they are in.")] = 4,
    a_connection: Annotated[int, typer.Option(min=1, max=1_000, help="Bots on each connection.")] = 900,
    rest_s: Annotated[float, typer.Option(min=1, help="How long they rest before they are asked.")] = 15,
    as_json: JsonFlag = False,
) -> None:
    """One gateway holds many bots that do nothing; then each is asked for a decision at the same time."""
    from arena.bench import idle as bench  # noqa: PLC0415

    with progress_console.status("") as status:
        document = loops.run(bench.idle(sessions, clients, a_connection, rest_s, status.update))
    if as_json:
        print_json(document)
        return
    goals = document.pop("goals")
    _print_figures("idle", document)
    print_goals(goals)


def match(
    seconds: Annotated[float, typer.Option(min=1, help="How long each plays, in three rounds.")] = 30,
    stockfish: Annotated[
        str | None, typer.Option("--stockfish", metavar="PATH", help="Else the one on PATH or Debian's.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Moves a second of local matches, beside kaggle-environments, python-chess with Stockfish, and a bare loop.

    The others are installed at first use, in an environment of their own in the user's cache.
    """
    from arena.bench import match as bench  # noqa: PLC0415

    with progress_console.status("") as status:
        document = loops.run(bench.match(seconds, stockfish, status.update))
    if as_json:
        print_json(document)
        return
    goals = document.pop("goals")
    for line in document.pop("left_out"):
        console.print(f"left out: {line}", highlight=False)
    _print_figures("match", document)
    print_goals(goals)


def _print_figures(title: str, figures: Mapping[str, Any]) -> None:
    table = Table("figure", "value", title=title)
    for key, value in figures.items():
        table.add_row(key, str(value))
    console.print(table)


def print_goals(goals: Mapping[str, bool]) -> None:
    """A line a goal."""
    for goal, met in goals.items():
        console.print(f"{'[green]yes[/green]' if met else '[red]NO[/red]'}  {goal}", highlight=False)
