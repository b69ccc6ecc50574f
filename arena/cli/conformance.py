"""``arena conformance``: does a bot's program behave, whatever the network and the arena do?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from arena import loops
from arena.cli.common import JsonFlag, console, print_json, programs_of, progress_console
from arena.conformance import report, runner, scenarios
from arena.conformance.scenario import SCENARIOS, Result, Scenario
from arena.errors import UserError

__all__ = ["add_to", "scenarios"]


def add_to(app: typer.Typer) -> None:
    app.command()(conformance)


def conformance(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND...", help="The bot's program with its arguments, or a Python file."),
    ] = None,
    only: Annotated[
        list[str], typer.Option("--only", metavar="NAME", help="Only this scenario; may be repeated.")
    ] = [],  # noqa: B006 - typer copies it
    strict: Annotated[bool, typer.Option("--strict", help="Recommended scenarios count as well.")] = False,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Writes JUnit XML.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Scenarios at once.")] = 2 * (os.cpu_count() or 1),
    list_only: Annotated[bool, typer.Option("--list", help="Says what there is, and runs nothing.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Plays an arena that misbehaves on purpose, and says what a bot's program did. Exits with 1 if it does not conform.

    Required is what any program that plays must do; recommended is what the SDKs do beyond that.
    """
    chosen = _choose(only)
    if list_only:
        for scenario in chosen:
            console.print(f"{scenario.name:18} {scenario.level:12} {scenario.expected}", highlight=False)
        return
    if not command:
        raise UserError("which program? arena conformance -- COMMAND...")
    words = _command(command)
    results = _run(words, chosen, jobs)
    if junit is not None:
        junit.write_bytes(report.to_junit(results, strict=strict))
    if as_json:
        print_json(report.to_json(words, results, strict=strict))
    else:
        _print(results, strict=strict)
    if any(report.is_fatal(result, strict=strict) for result in results):
        raise typer.Exit(1)


def _choose(only: Sequence[str]) -> list[Scenario]:
    unknown = [name for name in only if name not in SCENARIOS]
    if unknown:
        raise UserError(f"there is no scenario {unknown[0]!r}; `arena conformance --list` names them")
    return [SCENARIOS[name] for name in only] or list(SCENARIOS.values())


def _command(words: Sequence[str]) -> tuple[str, ...]:
    """What to start: one word may be all that `arena match` takes. Raises UserError."""
    if len(words) == 1:
        return programs_of(words, Path(os.devnull))[0].command
    return tuple(words)


def _run(command: tuple[str, ...], chosen: Sequence[Scenario], jobs: int) -> list[Result]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=progress_console, transient=True) as progress:
        task = progress.add_task("conformance", total=len(chosen))
        return loops.run(runner.run(command, chosen, jobs=jobs, on_result=lambda _: progress.advance(task)))


def _print(results: Sequence[Result], *, strict: bool) -> None:
    for line in report.lines(results, strict=strict):
        console.print(line, soft_wrap=True)
    console.print(report.verdict(results, strict=strict))
