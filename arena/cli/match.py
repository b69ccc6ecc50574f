"""``arena match``: games between programs of this machine, no server."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from arena import loops
from arena.cli.common import (
    Bank,
    ConfigOption,
    GameOption,
    Increment,
    JsonFlag,
    MoveCap,
    console,
    find_game,
    parse_config,
    print_json,
    program_logs,
    programs_of,
    progress_console,
)
from arena.host.house import HOUSE
from arena.host.local_match import LocalGame, LocalMatch, play_local
from arena.match.spec import TimeControl
from arena.ratings.summary import Summary, pairwise_scores, summarise


def add_to(app: typer.Typer) -> None:
    app.command()(match)


def match(
    bots: Annotated[
        list[str], typer.Argument(metavar="A B [C...]", help="House bots' names, Python files, or quoted commands.")
    ],
    game: GameOption = "balloon-challenge",
    games: Annotated[int, typer.Option("--games", "-n", min=1, help="How many games; seats rotate.")] = 10,
    config: ConfigOption = [],  # noqa: B006 - typer copies it
    shared_deals: Annotated[
        bool, typer.Option("--shared-deals", help="The games of a set share one deal; programs start anew each game.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Repeats deals (and house bots' moves); records are unproven.")
    ] = None,
    records: Annotated[Path | None, typer.Option("--records", metavar="DIR", help="Writes a record a game.")] = None,
    logs: Annotated[Path | None, typer.Option("--logs", metavar="DIR", help="Keeps what the programs print.")] = None,
    bank_ms: Bank = 10_000,
    increment_ms: Increment = 100,
    move_cap_ms: MoveCap = 3_000,
    concurrency: Annotated[int, typer.Option(min=1, help="Sets played at once, in a process a core.")] = max(
        1, (os.cpu_count() or 1) // 2
    ),
    as_json: JsonFlag = False,
) -> None:
    """Plays games between programs of this machine and says who is better."""
    rules = find_game(game)
    complete = parse_config(rules, len(bots), config)
    if records is not None:
        records.mkdir(parents=True, exist_ok=True)
    with program_logs(logs) as kept:
        programs = programs_of(bots, kept.folder)
        plan = LocalMatch(
            game=rules.name,
            config=complete,
            programs=programs,
            games=games,
            time_control=TimeControl(bank_ms, increment_ms, move_cap_ms),
            deal_mode="shared" if shared_deals else "own",
            seed=seed,
            concurrency=concurrency,
            fresh=frozenset(i for i, program in enumerate(programs) if program.owner != HOUSE),
        )
        played: list[LocalGame] = []
        try:
            _play(plan, records, played)
        finally:  # Ctrl-C, or a bot that does not come back, takes nothing from the games that are over
            if played:
                kept.wanted |= any(any(game.finished.details) for game in played)
                _show(plan, _report(plan, played, logs=kept.wanted), as_json=as_json)


def _play(plan: LocalMatch, records: Path | None, played: list[LocalGame]) -> None:
    """Plays with a progress bar; each game is in ``played``, and its record on disk, as soon as it is over."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=progress_console, transient=True) as progress:
        task = progress.add_task(" - ".join(program.name for program in plan.programs), total=plan.games)

        def on_game(game: LocalGame) -> None:
            if records is not None:
                path = records / f"{game.number:04d}-{game.finished.spec.match_id}.jsonl.gz"
                path.write_bytes(game.finished.record.to_bytes())
            played.append(game)
            progress.advance(task)

        loops.run(play_local(plan, on_game))


def _report(plan: LocalMatch, finished: Sequence[LocalGame], *, logs: bool) -> dict[str, Any]:
    """All that is known of the games that are over; ``logs``: what the programs printed is kept."""
    played = sorted(finished, key=lambda game: game.number)
    decisions = sum(game.finished.decisions for game in played)
    return {
        "game": plan.game,
        "players": len(plan.programs),
        "config": dict(plan.config),
        "deal_mode": plan.deal_mode,
        "seed": plan.seed,
        "bots": [
            _bot_report(plan, played, position) | {"log": str(program.log) if logs else None}
            for position, program in enumerate(plan.programs)
        ],
        "asked": plan.games,
        "games": [_game_report(plan, game) for game in played],
        "decisions": decisions,
    }


def _bot_report(plan: LocalMatch, played: Sequence[LocalGame], position: int) -> dict[str, Any]:
    """One bot's row: each game is compared with each opponent; sets are the unit of the error."""
    program = plan.programs[position]
    by_set: dict[int, list[float]] = {}
    counts = {"wins": 0, "draws": 0, "losses": 0}
    points, faults = 0, 0
    for game in played:
        seat, outcome = game.order.index(position), game.finished.outcome
        by_set.setdefault(game.set_number, []).append(pairwise_scores(outcome.places)[seat])
        best = outcome.places[seat] == 1
        shared = outcome.places.count(1) > 1
        counts["draws" if best and shared else "wins" if best else "losses"] += 1
        points += outcome.scores[seat]
        faults += outcome.reasons[seat] != "NORMAL"
    summary = summarise(
        [sum(scores) / len(scores) for scores in by_set.values()], [len(scores) for scores in by_set.values()]
    )
    return {
        "name": program.name,
        "version": program.version,
        **counts,
        "games": len(played),
        "mean_points": round(points / max(1, len(played)), 2),
        "faults": faults,
        **_summary_json(summary),
    }


def _summary_json(summary: Summary) -> dict[str, Any]:
    return {
        "sets": summary.sets,
        "score": round(summary.score, 4),
        "elo": None if summary.elo is None else round(summary.elo, 1),
        "error": None if summary.error is None else round(summary.error, 1),
        "los": round(summary.los, 4),
    }


def _game_report(plan: LocalMatch, game: LocalGame) -> dict[str, Any]:
    finished = game.finished
    return {
        "number": game.number,
        "set": game.set_number,
        "match_id": finished.spec.match_id,
        "seats": [plan.programs[position].name for position in game.order],
        "places": list(finished.outcome.places),
        "scores": list(finished.outcome.scores),
        "reasons": [str(reason) for reason in finished.outcome.reasons],
        "details": list(finished.details),
        "events": finished.events,
        "duration_ms": finished.duration_ms,
    }


def _show(plan: LocalMatch, report: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(report)
        return
    table = Table("bot", "games", "W", "D", "L", "score", "Elo", "±", "LOS", "points", "faults")
    for row in sorted(report["bots"], key=lambda row: -row["score"]):
        table.add_row(
            f"{row['name']} {row['version']}",
            *(str(row[key]) for key in ("games", "wins", "draws", "losses")),
            f"{row['score']:.1%}",
            "-" if row["elo"] is None else f"{row['elo']:+.0f}",
            "-" if row["error"] is None else f"{row['error']:.0f}",
            f"{row['los']:.1%}",
            f"{row['mean_points']:.1f}",
            str(row["faults"]),
        )
    console.print(table)
    ms, over = sum(game["duration_ms"] for game in report["games"]), len(report["games"])
    games = f"{over if over == plan.games else f'{over} of {plan.games}'} game{'s' * (plan.games != 1)}"
    console.print(
        f"{plan.game}, {games}, {report['decisions']} decisions, {ms / 1000:.1f} s of play; "
        "Elo against the mean of the opponents, ± half of the 95 % interval over sets."
    )
    for line in _faults(report):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _faults(report: dict[str, Any]) -> Iterator[str]:
    """Why bots lost without being beaten: a line for each bot and reason, with the first game, and where its log is."""
    for bot in report["bots"]:
        seats = [(game, game["seats"].index(bot["name"])) for game in report["games"]]
        failed = [(game, seat) for game, seat in seats if game["reasons"][seat] != "NORMAL"]
        for reason, count in Counter(game["reasons"][seat] for game, seat in failed).items():
            game, seat = next((game, seat) for game, seat in failed if game["reasons"][seat] == reason)
            where = f"game {game['number']}"
            if count > 1:
                where = f"{count} games, first in {where}"
            yield f"{bot['name']} failed in {where}: {reason}, {game['details'][seat]}"
        if failed:
            yield f"    its log: {bot['log']}"
