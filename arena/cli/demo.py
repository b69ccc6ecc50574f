"""``arena demo``: an arena with a bot from outside on it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sqlalchemy import Connection

from arena import logs, settings
from arena.cli.common import DataDir, console, progress_console
from arena.cli.ladder import ladder_table
from arena.cli.up import announce, running
from arena.errors import UserError
from arena.settings import Settings
from arena.storage import accounts, queries
from arena.storage.db import Database
from arena.supervisor import Service, python

OWNER, BOT = "visitor", "demo"
PATIENCE_S = 120.0
"""How long nothing may finish before the demo says that something is wrong."""


def add_to(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    data_dir: DataDir = None,
    matches: Annotated[
        int | None,
        typer.Option("--matches", min=1, help="End after so many matches of the demo bot, with its ladders."),
    ] = None,
) -> None:
    """Runs an arena, and connects a Python bot to it over gRPC as any author would."""
    logs.configure(level="WARNING")
    chosen = settings.load({"data_dir": data_dir})
    asyncio.run(_run(chosen, matches))


async def _run(chosen: Settings, matches: int | None) -> None:
    stop = asyncio.Event()
    async with running(chosen, stop) as arena:
        announce(chosen)
        database = Database(chosen.database_url)
        with database.write() as connection:
            token = _token(connection)
        program = str(Path(__file__).with_name("demo_bot.py"))
        environment = {"ARENA_ADDRESS": chosen.gateway.listen, "ARENA_TOKEN": token}
        arena.start(Service("demo-bot", python(program, "--credit", "4"), environment))
        if matches is None:
            await stop.wait()
        else:
            await _wait_for(database, matches, stop)
        _print_ladders(database)
        database.close()


def _token(connection: Connection) -> str:
    """A token for the demo bot, which is registered the first time."""
    bot = accounts.find_bot(connection, BOT)
    if bot is None:
        return accounts.register(connection, OWNER, BOT)[1]
    return accounts.create_token(connection, bot.account_id, label="demo", bot_id=bot.id)


async def _wait_for(database: Database, matches: int, stop: asyncio.Event) -> None:
    """Waits until the demo bot has played so many more matches. Raises UserError if nothing happens for long."""
    loop = asyncio.get_running_loop()
    before, seen, since = _played(database), 0, loop.time()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=progress_console, transient=True) as progress:
        task = progress.add_task("matches of the demo bot", total=matches)
        while seen < matches and not stop.is_set():
            await asyncio.sleep(0.25)
            played = await asyncio.to_thread(_played, database) - before
            if played > seen:
                seen, since = played, loop.time()
                progress.update(task, completed=min(seen, matches))
            elif loop.time() - since > PATIENCE_S:
                raise UserError(f"no match has finished for {PATIENCE_S:.0f} s; see the logs in the data folder")


def _played(database: Database) -> int:
    with database.read() as connection:
        return sum(entry.row.games for entry in queries.bot_page(connection, BOT).standings)


def _print_ladders(database: Database) -> None:
    with database.read() as connection:
        for ladder in queries.ladders(connection):
            rows = queries.leaderboard(connection, ladder.spec.slug)
            if any(row.bot == BOT and row.games for row in rows):
                console.print(ladder_table(ladder.spec.slug, rows))
