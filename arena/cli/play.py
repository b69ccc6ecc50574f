"""``arena play``: a person against programs, in the terminal."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

import engines
from arena.cli.common import ConfigOption, console, find_game, parse_config, program_logs, programs_of
from arena.cli.terminal import Lines, TerminalPerson
from arena.errors import UserError
from arena.host.local_match import LocalGame, LocalMatch, play_local
from arena.host.person import PersonPort
from arena.host.processes import Program
from arena.match.record import parse_record
from arena.match.replay import steps
from arena.match.spec import TimeControl

NO_CLOCK = TimeControl(bank_ms=7 * 24 * 3600 * 1000, increment_ms=0, move_cap_ms=0)
PERSON = Program("you", "1", (), Path(os.devnull), owner="person")


def add_to(app: typer.Typer) -> None:
    app.command()(play)


def play(
    game: Annotated[str, typer.Argument(help="Name of the game; `arena games` lists them.")],
    against: Annotated[
        list[str],
        typer.Option("--against", "-a", help="A bot, as for `arena match`; may be repeated: they take turns."),
    ] = ["heuristic"],  # noqa: B006 - typer copies it
    players: Annotated[int | None, typer.Option("--players", "-p", help="Default: the game's least.")] = None,
    seat: Annotated[int, typer.Option("--seat", min=0, help="Yours; seat 0 is the first.")] = 0,
    seed: Annotated[int | None, typer.Option("--seed", help="Repeats the deal, and house bots' moves.")] = None,
    config: ConfigOption = [],  # noqa: B006
) -> None:
    """Plays one game against programs. There is no clock."""
    rules = find_game(game)
    number = players or rules.min_players
    complete = parse_config(rules, number, config)
    if seat >= number:
        raise UserError(f"--seat is 0 to {number - 1} with {number} players, not {seat}")
    with program_logs() as logs:
        bots = list(programs_of([against[turn % len(against)] for turn in range(number - 1)], logs.folder))
        bots.insert(seat, PERSON)
        plan = LocalMatch(rules.name, complete, tuple(bots), games=1, time_control=NO_CLOCK, seed=seed)
        try:
            finished, status = asyncio.run(_play(plan, rules, seat)), 1
        except KeyboardInterrupt:
            finished, status = False, 130
        if not finished:
            console.print("\nYou left the game.")
            raise typer.Exit(status)


async def _play(plan: LocalMatch, rules: engines.Game, seat: int) -> bool:
    """Whether the game came to its end."""
    person = TerminalPerson(rules, console, Lines())

    def show(game: LocalGame) -> None:
        outcome = game.finished.outcome
        person.show_news()
        person.show_result(
            _last_table(game, seat),
            [*zip(outcome.places, outcome.scores, map(str, outcome.reasons), strict=True)],
        )

    match = asyncio.ensure_future(play_local(plan, show, people={seat: PersonPort(person)}))
    left = asyncio.ensure_future(person.left.wait())
    try:
        await asyncio.wait((match, left), return_when=asyncio.FIRST_COMPLETED)
        return match.done() and bool(match.result())
    finally:  # Ctrl-C too: the bots are to end before the loop does
        left.cancel()
        match.cancel()
        await asyncio.gather(match, return_exceptions=True)


def _last_table(game: LocalGame, seat: int) -> str:
    """What the seat sees at the end."""
    *_, (referee, _, _) = steps(parse_record(game.finished.record.to_bytes()))
    return referee.state.render(seat)
