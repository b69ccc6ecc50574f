"""``arena audit``: everything that the arena keeps, looked at again."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from arena import settings
from arena.audit import Auditor, Report
from arena.cli.common import DataDir, JsonFlag, console, print_json, progress_console
from arena.cli.opened import open_arena
from arena.keys import load
from arena.storage.records import RecordStore

Shown = Annotated[int, typer.Option("--show", min=1, help="How many problems are named.")]


def add_to(app: typer.Typer) -> None:
    app.command()(audit)


def audit(data_dir: DataDir = None, show: Shown = 20, as_json: JsonFlag = False) -> None:
    """Replays every record, folds every rating anew, and checks sets, deals and deadlines. Exits 1 on any problem."""
    chosen = settings.load({"data_dir": data_dir})
    database = open_arena(chosen)
    key = load(chosen.data_dir).public_key().public_bytes_raw()
    auditor = Auditor(database, RecordStore(chosen.data_dir).read, key)
    with Progress(
        TextColumn("replaying"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=progress_console,
        transient=True,
    ) as bar:
        task = bar.add_task("records", total=None)
        report = auditor.run(lambda done, total: bar.update(task, completed=done, total=total))
    database.close()
    if as_json:
        print_json(_document(report))
    else:
        _print(report, show)
    if report.problems:
        raise typer.Exit(1)


def _document(report: Report) -> dict[str, object]:
    return {
        "ok": not report.problems,
        "matches": report.matches,
        "attempts": report.attempts,
        "sets": report.sets,
        "problems": report.problems,
        "notes": report.notes,
    }


def _print(report: Report, show: int) -> None:
    for problem in report.problems[:show]:
        console.print(problem, highlight=False, markup=False)
    if len(report.problems) > show:
        console.print(f"and {len(report.problems) - show} more; --json lists all", highlight=False)
    for note in report.notes:
        console.print(f"note: {note}", highlight=False, markup=False)
    verdict = f"{len(report.problems)} problems" if report.problems else "OK"
    console.print(
        f"{verdict}: {report.matches} records replayed, {report.attempts} attempts, {report.sets} sets", highlight=False
    )
