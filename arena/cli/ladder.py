"""``arena ladder``: the ledger and what is folded from it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from arena import settings
from arena.cli.common import DataDir, JsonFlag, console, print_json
from arena.cli.opened import open_arena
from arena.errors import UserError
from arena.ladder import settlement
from arena.ratings.entries import SetResult
from arena.storage import ledger, queries
from arena.storage.db import Database

ladder = typer.Typer(help="Tables, and whether they are what the ledger says.", no_args_is_help=True)
Name = Annotated[str | None, typer.Argument(metavar="LADDER", help="A ladder, such as balloon-challenge-3p.")]


def add_to(app: typer.Typer) -> None:
    app.add_typer(ladder, name="ladder")


@ladder.command()
def check(data_dir: DataDir = None, as_json: JsonFlag = False) -> None:
    """Says whether every rating is what its ledger gives, and every finished set has its one entry. Exits 1 if not."""
    with open_arena(settings.load({"data_dir": data_dir})).read() as connection:
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
    with open_arena(settings.load({"data_dir": data_dir})).write() as connection:
        ladders = queries.ladders(connection) if name is None else (queries.get_ladder(connection, name),)
        for row in ladders:
            entries = settlement.rebuild(connection, row.id)
            console.print(f"{row.spec.slug}: {entries} entries folded")


@ladder.command()
def show(name: Name = None, data_dir: DataDir = None, as_json: JsonFlag = False) -> None:
    """Prints a ladder's table, or those of all ladders where something was played."""
    with open_arena(settings.load({"data_dir": data_dir})).read() as connection:
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


@ladder.command()
def official(
    name: Annotated[str, typer.Argument(metavar="LADDER", help="A ladder, such as balloon-challenge-3p.")],
    recentre: Annotated[
        bool, typer.Option("--recentre", help="Adds the mean of (official - live) to the live ratings, as every night.")
    ] = False,
    data_dir: DataDir = None,
    as_json: JsonFlag = False,
) -> None:
    """Makes the official table now, keeps it and prints it: Bradley-Terry over the whole ledger, errors over sets."""
    from arena.ladder.official import make  # noqa: PLC0415 - scipy is slow to import
    from arena.storage.official import latest  # noqa: PLC0415

    database = open_arena(settings.load({"data_dir": data_dir}))
    with database.read() as connection:
        held = queries.get_ladder(connection, name)
    made = make(database, held.id, recentre=recentre)
    if made is None:
        raise UserError("nothing was played yet")
    with database.read() as connection:
        page = latest(connection, held.id)
    assert page is not None
    opinion = _second_opinion(database, held.id) if held.spec.players > 2 else {}
    if as_json:
        rows = [
            {**asdict(row), "provisional": row.provisional, "openskill": opinion.get(row.version_id)}
            for row in page.rows
        ]
        print_json(
            {
                "ladder": name,
                "seq": page.seq,
                "dispersion": round(page.dispersion, 4),
                "recentred": made.delta,
                "rows": rows,
                "covariance": [[round(float(value), 3) for value in row] for row in page.covariance],
                "los": [[round(float(value), 4) for value in row] for row in page.los],
            }
        )
        return
    table = Table("#", "bot", "version", "Elo", "±", "sets", "games", "LOS", "openskill", "", title=f"{name}, official")
    for place, row in enumerate(page.rows):
        mark = "not linked" if not row.linked else "provisional" if row.provisional else ""
        above_next = f"{page.los[place, place + 1]:.1%}" if place + 1 < len(page.los) else "-"
        seen = f"{opinion[row.version_id]:.1f}" if row.version_id in opinion else "-"
        numbers = (f"{row.rating:.0f}", f"{1.96 * row.standard_error:.0f}", str(row.sets), str(row.games))
        table.add_row(str(row.rank), row.bot, row.version, *numbers, above_next, seen, mark)
    console.print(table)
    console.print(
        f"± half of the 95 % interval against the mean of all; LOS: better than the next; {page.seq} ledger entries; "
        f"results vary {page.dispersion:.2f} times as independent games would."
    )


def _second_opinion(database: Database, ladder_id: int) -> dict[int, float]:
    """openskill's ordinals, or nothing where it is not installed."""
    from arena.ratings.second_opinion import second_opinion  # noqa: PLC0415

    with database.read() as connection:
        results = [
            posted.entry for posted in ledger.entries(connection, ladder_id) if isinstance(posted.entry, SetResult)
        ]
    try:
        return second_opinion(results)
    except ImportError:
        return {}


def as_dict(row: queries.TableRow) -> dict[str, object]:
    """A row as JSON."""
    return {field: getattr(row, field) for field in row.__dataclass_fields__ if field != "version_id"}


def ladder_table(title: str, rows: tuple[queries.TableRow, ...]) -> Table:
    """A ladder as people expect to see it."""
    table = Table(title=title, caption="? provisional; ± half of a 95 % interval")
    table.add_column("#", justify="right")
    table.add_column("bot", overflow="fold")
    for name in ("version", "Elo", "±", "games", "W", "D", "L", "score"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            str(row.rank),
            row.bot,
            row.version,
            f"{row.rating:.0f}{'?' if row.provisional else ''}",
            "anchor" if row.anchor else f"{1.96 * row.standard_error:.0f}",
            *(str(number) for number in (row.games, row.wins, row.draws, row.losses)),
            f"{row.score:.1%}" if row.games else "-",
        )
    return table
