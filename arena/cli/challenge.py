"""``arena challenge``: unrated games against named opponents of a running arena."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated

import typer

from arena.cli.common import DataDir, JsonFlag, console, print_json, progress_console
from arena.cli.ladder import open_database
from arena.errors import UserError
from arena.storage import challenges
from arena.storage.accounts import find_bot

POLL_S = 1.0


def add_to(app: typer.Typer) -> None:
    app.command()(challenge)


def challenge(
    ladder: Annotated[str, typer.Argument(metavar="LADDER", help="Whose game, seats and clock are meant.")],
    bot: Annotated[str, typer.Argument(metavar="BOT", help="Yours; BOT@VERSION, or its newest version there.")],
    opponents: Annotated[list[str], typer.Argument(metavar="OPPONENT...", help="As many as there are other seats.")],
    games: Annotated[int, typer.Option("--games", "-n", help="Rounded up to whole sets.")] = 10,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Until it is over, and print how it went.")] = True,
    data_dir: DataDir = None,
    as_json: JsonFlag = False,
) -> None:
    """Has unrated games played on this machine's arena, as soon as everybody has a free seat. They move no rating."""
    database = open_database(data_dir)
    with database.write() as connection:
        mine = find_bot(connection, bot.partition("@")[0])
        if mine is None:
            raise UserError(f"there is no bot {bot!r}")
        challenge_id = challenges.create(connection, mine.account_id, ladder, bot, opponents, games)
    with database.read() as connection:
        found = challenges.get(connection, challenge_id)
    with progress_console.status("waiting") as status:
        while wait and not found.over:
            time.sleep(POLL_S)
            with database.read() as connection:
                found = challenges.get(connection, challenge_id)
            status.update(f"{found.sets_finished} of {found.sets} sets")
    if as_json:
        print_json(asdict(found))
        return
    summary = found.summary
    console.print(f"challenge {found.id}: {found.sets_finished} of {found.sets} sets", highlight=False)
    if summary.sets:
        elo = "" if summary.elo is None else f", Elo {summary.elo:+.0f} ± {summary.error or 0:.0f}"
        console.print(f"{bot} scored {summary.score:.1%}{elo}; matches: {' '.join(found.matches)}", highlight=False)
