"""``arena doctor``: what keeps a bot from playing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from arena.cli.common import JsonFlag, console, print_json

COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


def add_to(app: typer.Typer) -> None:
    app.command()(doctor)


def doctor(
    address: Annotated[str, typer.Option(envvar="ARENA_ADDRESS", help="The gateway, host:port or unix:path.")] = (
        "127.0.0.1:7700"
    ),
    token: Annotated[str, typer.Option(envvar="ARENA_TOKEN", help="The bot's token.", show_default=False)] = "",
    ca: Annotated[str, typer.Option(envvar="ARENA_CA", help="PEM file of a private CA: TLS.", show_default=False)] = "",
    web: Annotated[str, typer.Option(help="Where the pages are, http://host:port, to compare clocks.")] = "",
    as_json: JsonFlag = False,
) -> None:
    """Tries all that a bot needs, and says what to do about what fails. Ends with 1 if anything does."""
    from arena.doctor import Verdict, examine  # noqa: PLC0415 - gRPC takes a while to import

    if web and not web.startswith(("http://", "https://")):
        web = f"http://{web}"
    lines = list(examine(address, token, ca, web))
    well = all(line.verdict is not Verdict.FAIL for line in lines)
    if as_json:
        print_json({"ok": well, "checks": [asdict(line) for line in lines]})
    else:
        table = Table(show_header=False, box=None, pad_edge=False)
        for line in lines:
            table.add_row(f"[{COLOURS[line.verdict]}]{line.verdict}[/]", line.name, line.found)
            if line.advice:
                table.add_row("", "", f"[bold]→ {line.advice}[/bold]")
        console.print(table)
    if not well:
        raise typer.Exit(1)
