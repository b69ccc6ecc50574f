"""``arena bench play``: the whole path of a decision, and of a match."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table

from arena import loops
from arena.cli.common import JsonFlag, console, print_json, progress_console


def play(
    seconds: Annotated[float, typer.Option(min=1, help="How long each rate is measured.")] = 10,
    decisions: Annotated[int, typer.Option(min=50, help="Decisions whose latency is measured.")] = 2_000,
    matches: Annotated[int, typer.Option(min=1, help="Concurrent matches through the relay.")] = 500,
    processes: Annotated[int, typer.Option(min=2, help="Bot processes.")] = 20,
    part: Annotated[
        list[str], typer.Option("--part", help="latency, relay or whole; may be repeated. Default: all.")
    ] = [],  # noqa: B006 - typer copies it
    as_json: JsonFlag = False,
) -> None:
    """Latency of a seat, decisions a second of many matches, whole matches a second; beside raw gRPC."""
    from arena.bench import play as bench  # noqa: PLC0415 - imports the whole arena

    parts = part or ["latency", "relay", "whole"]
    document: dict[str, Any] = {}
    with progress_console.status("") as status:
        if "latency" in parts:
            document["latency"] = loops.run(bench.latency(decisions, status.update))
        if "relay" in parts:
            document["relay"] = loops.run(bench.relay(matches, processes, seconds, status.update))
        if "whole" in parts:
            document["whole"] = loops.run(bench.whole(processes, seconds, status.update))
    if as_json:
        print_json(document)
        return
    for name, figures in document.items():
        table = Table("figure", "value", title=name)
        for key, value in figures.items():
            table.add_row(key, str(value))
        console.print(table)
