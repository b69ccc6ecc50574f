"""``arena simulate tournament``: how often each format crowns the best."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.progress import Progress

from arena.cli.common import JsonFlag, console, print_json, progress_console
from arena.cli.simulate import Seed, simulate
from arena.errors import UserError


def add_to(app: typer.Typer) -> None:
    simulate.command()(tournament)


def tournament(
    bots: Annotated[int, typer.Option("--bots", min=4, help="How many bots of known strength.")] = 200,
    events: Annotated[int, typer.Option("--events", min=1, help="Events of each format.")] = 100,
    only: Annotated[str, typer.Option("--only", help="Formats whose name contains this.")] = "",
    seeded: Annotated[bool, typer.Option("--seeded", help="Seeds from a table instead of by lot.")] = False,
    seed: Seed = 1,
    as_json: JsonFlag = False,
) -> None:
    """How often each tournament format crowns the best, and with how many games."""
    from arena.cli.tournament_views import simulation_table  # noqa: PLC0415 - scipy is slow to import
    from arena.tournaments.simulation import candidates, measure  # noqa: PLC0415

    chosen = [one for one in candidates(bots) if only.lower() in one.name.lower()]
    if not chosen:
        raise UserError(f"no format is called {only!r}")
    with Progress(console=progress_console, transient=True) as progress:
        task = progress.add_task("events", total=events * len(chosen))
        measured = [
            row
            for one in chosen
            for row in measure(
                one, bots=bots, events=events, seed=seed, seeded=seeded, on_event=lambda: progress.advance(task)
            )
        ]
    if as_json:
        print_json([asdict(one) for one in measured])
    else:
        console.print(simulation_table(measured, bots))
