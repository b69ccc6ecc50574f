"""``arena export`` and ``arena verify ladder``: a ladder that anybody can check."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from arena import settings
from arena.cli.common import DataDir, JsonFlag, console, print_json, progress_console
from arena.cli.opened import open_arena
from arena.errors import UserError
from arena.keys import load
from arena.storage.records import RecordStore

SHOWN = 20


def add_to(app: typer.Typer) -> None:
    app.command()(export)


def export(
    ladder: Annotated[str, typer.Argument(metavar="LADDER", help="A ladder, such as balloon-challenge-3p.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="By default LADDER.jsonl.gz.")] = None,
    data_dir: DataDir = None,
    as_json: JsonFlag = False,
) -> None:
    """Writes everything that a ladder's ratings rest on into one signed file: ledger, records, seeds, ratings."""
    from arena.ladder.export import write_export  # noqa: PLC0415 - only here

    chosen = settings.load({"data_dir": data_dir})
    database = open_arena(chosen)
    path = output or Path(f"{ladder}.jsonl.gz")
    if path.is_dir():
        raise UserError(f"{path} is a folder: --output names the file to write")
    with database.read() as connection:
        counts = write_export(connection, ladder, RecordStore(chosen.data_dir), load(chosen.data_dir), path)
    if as_json:
        print_json({"file": str(path), "bytes": path.stat().st_size, "lines": counts})
    else:
        console.print(
            f"{path}: {counts.get('match', 0)} matches, {counts.get('entry', 0)} ledger entries", highlight=False
        )
        console.print(f"check it with: arena verify ladder {path}", highlight=False)


def verify_ladder(file: Path, *, as_json: bool) -> None:
    """Referees every match of an export again and recomputes every rating. Exits with 1 if anything is wrong."""
    from arena.ladder.verify import verify_export  # noqa: PLC0415 - only here

    with progress_console.status("refereeing") as status:
        seen = 0

        def on_match() -> None:
            nonlocal seen
            seen += 1
            status.update(f"refereeing match {seen}")

        report = verify_export(file, on_match)
    if as_json:
        print_json({"file": str(file), "ok": not report.problems, **asdict(report)})
    else:
        verdict = "[red]WRONG[/red]" if report.problems else "[green]OK[/green]"
        console.print(
            f"{verdict} {file}: {report.ladder}, {report.matches} matches refereed again, {report.entries} ledger entries "
            f"folded, {report.ratings} ratings the same; signed by {report.arena_key[:16]}",
            highlight=False,
        )
        for line in [*report.problems, *(f"note: {note}" for note in report.notes)][:SHOWN]:
            console.print(f"   {line}", highlight=False, markup=False)
    if report.problems:
        raise typer.Exit(1)
