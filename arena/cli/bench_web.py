"""``arena bench web``: how the pages carry."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from arena.cli.common import JsonFlag, console, print_json, progress_console


def add_to(app: typer.Typer) -> None:
    """Joins the group ``bench``, which :mod:`arena.cli.bench` has made."""
    [bench] = [group.typer_instance for group in app.registered_groups if group.name == "bench"]
    assert bench is not None
    bench.command(name="web")(web)


def web(
    bots: Annotated[int, typer.Option(min=100, help="Bots stored, each on the four ladders for two.")] = 1_000,
    matches: Annotated[int, typer.Option(min=1_000, help="Matches stored.")] = 50_000,
    seconds: Annotated[float, typer.Option(min=0.5, help="For each kind of page.")] = 5.0,
    viewers: Annotated[int, typer.Option(min=0, help="Live viewers of one ladder.")] = 1_000,
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the arena is kept, and taken from the next time.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Requests a second and p99 of every page of a large arena, beside a static file, and live viewers of a ladder."""
    from arena.bench import web as bench  # noqa: PLC0415 - numpy is slow to import

    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder, progress_console.status("starting") as status:
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
        document = bench.measure(keep or Path(folder), bots, matches, seconds, viewers, status.update)
    if as_json:
        print_json(document)
    else:
        _print(document)


def _print(document: dict[str, Any]) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("page")
    for title in ("requests/s", "p50 ms", "p99 ms", "CPU ms", "kB", "of static"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in document["pages"]:
        size = f"{row['bytes'] / 1000:.1f}"
        numbers = (f"{row['per_s']:,.0f}", f"{row['p50_ms']:.1f}", f"{row['p99_ms']:.1f}", f"{row['cpu_ms']:.2f}", size)
        table.add_row(row["page"], *numbers, f"{row['to_static']:.2f}")
    console.print(table)
    if (seen := document["viewers"]) is not None:
        console.print(
            f"{seen['viewers']:,} viewers of one ladder: {seen['updates_per_s']:,.0f} updates/s, {seen['cpu_share']:.0%} of a core; heard of a set after "
            f"{seen['p50_ms']:.0f} ms (p99 {seen['p99_ms']:.0f}); {seen['broken']} cut off",
            highlight=False,
        )
    for goal, met in document["goals"].items():
        console.print(f"{'[green]yes[/green]' if met else '[red]NO[/red]'}  {goal}", highlight=False)
