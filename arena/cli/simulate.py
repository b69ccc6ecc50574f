"""``arena simulate``: ladders, tests and matchmaking whose truth is known, to see whether the numbers keep their word."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from arena.cli.common import JsonFlag, console, print_json, progress_console
from arena.errors import UserError

simulate = typer.Typer(help="Ladders and tests whose truth is known.", no_args_is_help=True)
Seed = Annotated[int, typer.Option(help="The same seed, the same numbers.")]
Players = Annotated[int, typer.Option("--players", "-p", min=2, max=8)]
OwnDeals = Annotated[bool, typer.Option("--own-deals/--shared-deals", help="Deal mode of the simulated sets.")]


def add_to(app: typer.Typer) -> None:
    app.add_typer(simulate, name="simulate")


@simulate.command()
def ladder(
    ladders: Annotated[int, typer.Option(min=1, help="Ladders for the coverage of intervals.")] = 1000,
    newcomers: Annotated[int, typer.Option(min=1, help="Newcomers whose first 20 games are simulated.")] = 600,
    hours: Annotated[float, typer.Option(min=1, help="Hours of matchmaking.")] = 24.0,
    bots: Annotated[int, typer.Option(min=2, help="Bots on each ladder.")] = 50,
    players: Players = 4,
    own_deals: OwnDeals = True,
    seed: Seed = 1,
    as_json: JsonFlag = False,
) -> None:
    """Coverage of the official table's intervals, a newcomer's error after 20 games, and a day of matchmaking.

    Exits with 1 if one of the goals is missed.
    """
    from arena.ladder.simulation import day_of_play, newcomer_error  # noqa: PLC0415 - scipy is slow to import
    from arena.ratings.simulation import coverage  # noqa: PLC0415

    columns = (TextColumn("{task.description:<12}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=progress_console, transient=True) as progress:
        tasks = [progress.add_task(name) for name in ("intervals", "newcomers", "hours")]
        for task, total in zip(tasks, (ladders, newcomers, hours), strict=True):
            progress.update(task, total=total)
        covered = coverage(
            ladders,
            players=players,
            bots=min(bots, 24),
            shared=not own_deals,
            seed=seed,
            on_ladder=lambda: progress.advance(tasks[0]),
        )
        newcomer = newcomer_error(
            newcomers,
            players=players,
            games=20 // players * players,
            shared=not own_deals,
            seed=seed,
            field_size=bots,
            on_run=lambda: progress.advance(tasks[1]),
        )
        day = day_of_play(
            players=players, seed=seed, bots=bots, hours=hours, on_hour=lambda: progress.advance(tasks[2])
        )
    goals = {
        "intervals of ratings cover 93-97 %": 0.93 <= covered.ratings <= 0.97,
        "intervals of differences cover 93-97 %": 0.93 <= covered.differences <= 0.97,
        "a newcomer is within 65 Elo (RMSE) after 20 games": newcomer.rmse <= 65,
        "all top-ten pairs of different owners have met": day.unmet == 0,
        "no bot waits longer than three times the median": day.longest_wait_s <= 3 * day.median_wait_s,
        "nothing stops for a dead bot": day.fewest_sets >= 0.5 * day.median_sets,
    }
    _print(
        {
            "deal_mode": "own" if own_deals else "shared",
            "coverage": asdict(covered),
            "newcomer": asdict(newcomer),
            "day": asdict(day),
            "goals": goals,
        },
        as_json=as_json,
    )


@simulate.command()
def sprt(
    runs: Annotated[int, typer.Option(min=1, help="Tests at each of elo0 and elo1.")] = 5000,
    elo0: Annotated[float, typer.Option()] = 0.0,
    elo1: Annotated[float, typer.Option()] = 20.0,
    alpha: Annotated[float, typer.Option()] = 0.05,
    beta: Annotated[float, typer.Option()] = 0.05,
    players: Players = 2,
    own_deals: OwnDeals = False,
    seed: Seed = 1,
    as_json: JsonFlag = False,
) -> None:
    """How often the test errs where the truth is elo0, and where it is elo1. Exits with 1 beyond one point more."""
    from arena.ratings.simulation import sprt_runs  # noqa: PLC0415 - scipy is slow to import
    from arena.ratings.sprt import Hypotheses  # noqa: PLC0415

    try:
        hypotheses = Hypotheses(elo0, elo1, alpha, beta)
    except ValueError as error:
        raise UserError(str(error)) from None
    found: dict[str, Any] = {"deal_mode": "own" if own_deals else "shared", "players": players, "runs": runs}
    with Progress(console=progress_console, transient=True) as progress:
        task = progress.add_task("tests", total=2 * runs)
        for name, elo in (("at_elo0", elo0), ("at_elo1", elo1)):
            run = sprt_runs(
                runs,
                hypotheses,
                elo,
                players=players,
                shared=not own_deals,
                seed=seed,
                on_end=lambda ended: progress.advance(task, ended),
            )
            wrong = run.accepted_h1 if name == "at_elo0" else 1 - run.accepted_h1
            found[name] = {
                "elo": elo,
                "wrong": round(wrong, 4),
                "mean_sets": round(run.mean_sets, 1),
                "most_sets": run.most_sets,
            }
    found["goals"] = {
        "wrong at elo0 at most alpha + 1 point": found["at_elo0"]["wrong"] <= alpha + 0.01,
        "wrong at elo1 at most beta + 1 point": found["at_elo1"]["wrong"] <= beta + 0.01,
    }
    _print(found, as_json=as_json)


def _print(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        for name, value in found.items():
            if name != "goals":
                console.print(f"{name}: {value}", highlight=False)
        for goal, met in found["goals"].items():
            console.print(f"{'[green]yes[/green]' if met else '[red]NO[/red]'}  {goal}", highlight=False)
    if not all(found["goals"].values()):
        raise typer.Exit(1)
