"""``arena ladder``: the ledger and what is folded from it."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from arena import settings
from arena.cli.common import DataDir, JsonFlag, console, print_json
from arena.errors import UserError
from arena.ladder import settlement
from arena.storage import queries
from arena.storage.db import Database

ladder = typer.Typer(help="Tables, and whether they are what the ledger says.", no_args_is_help=True)
Name = Annotated[str | None, typer.Argument(metavar="LADDER", help="A ladder, such as balloon-challenge-3p.")]


def add_to(app: typer.Typer) -> None:
    app.add_typer(ladder, name="ladder")


def open_database(data_dir: DataDir) -> Database:
    """The arena's database. Raises UserError if there is none yet."""
    chosen = settings.load({"data_dir": data_dir})
    database = Database(chosen.database_url)
    database.upgrade()
    return database


@ladder.command()
def check(data_dir: DataDir = None, as_json: JsonFlag = False) -> None:
    """Says whether every rating is what its ledger gives, and every finished set has its one entry. Exits 1 if not."""
    with open_database(data_dir).read() as connection:
        problems = settlement.check(connection)
        ladders = queries.ladders(connection)
    if as_json:
        print_json({"ok": not problems, "ladders": len(ladders), "problems": problems})
    else:
        for problem in problems:
            console.print(problem, highlight=False, markup=False)
        if not problems:
            entries = sum(row.entries for row in ladders)
            console.print(f"OK: {len(ladders)} ladders, {entries} ledger entries, every rating as folded from them")
    if problems:
        raise typer.Exit(1)


@ladder.command()
def rebuild(name: Name = None, data_dir: DataDir = None) -> None:
    """Throws ratings away and folds them anew from the ledger; all ladders, or one."""
    with open_database(data_dir).write() as connection:
        ladders = queries.ladders(connection) if name is None else (queries.get_ladder(connection, name),)
        for row in ladders:
            entries = settlement.rebuild(connection, row.id)
            console.print(f"{row.spec.slug}: {entries} entries folded")


@ladder.command()
def show(name: Name = None, data_dir: DataDir = None, as_json: JsonFlag = False) -> None:
    """Prints a ladder's table, or those of all ladders where something was played."""
    with open_database(data_dir).read() as connection:
        rows = queries.ladders(connection) if name is None else (queries.get_ladder(connection, name),)
        tables = {row.spec.slug: queries.leaderboard(connection, row.spec.slug) for row in rows}
    if name is None:
        tables = {slug: table for slug, table in tables.items() if any(row.games for row in table)}
    if as_json:
        print_json({slug: [as_dict(row) for row in table] for slug, table in tables.items()})
        return
    if not tables:
        raise UserError("nothing was played yet")
    for slug, table in tables.items():
        console.print(ladder_table(slug, table))


def as_dict(row: queries.TableRow) -> dict[str, object]:
    """A row as JSON."""
    return {field: getattr(row, field) for field in row.__dataclass_fields__ if field != "version_id"}


def ladder_table(title: str, rows: tuple[queries.TableRow, ...]) -> Table:
    """A ladder as people expect to see it."""
    table = Table("#", "bot", "version", "Elo", "±", "games", "W", "D", "L", "score", "", title=title)
    for row in rows:
        mark = "anchor" if row.anchor else "provisional" if row.provisional else ""
        table.add_row(
            str(row.rank),
            row.bot,
            row.version,
            f"{row.rating:.0f}",
            "-" if row.anchor else f"{1.96 * row.standard_error:.0f}",
            *(str(number) for number in (row.games, row.wins, row.draws, row.losses)),
            f"{row.score:.1%}" if row.games else "-",
            mark,
        )
    return table
