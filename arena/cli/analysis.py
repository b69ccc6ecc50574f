"""``arena ladder head-to-head, weakness, circles, odd-pairs, history``: what lies behind a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table

from arena import settings
from arena.cli.common import DataDir, JsonFlag, console, print_json
from arena.cli.ladder import ladder
from arena.cli.opened import open_arena
from arena.errors import UserError
from arena.ratings.summary import Summary
from arena.storage import analysis, queries
from arena.storage.records import RecordStore

Ladder = Annotated[str, typer.Argument(metavar="LADDER", help="A ladder, such as balloon-challenge-3p.")]
Bot = Annotated[str, typer.Argument(metavar="BOT")]


def add_to(app: typer.Typer) -> None:
    """Joins the group ``ladder``."""
    ladder.command(name="head-to-head")(head_to_head)
    ladder.command()(weakness)
    ladder.command()(circles)
    ladder.command(name="odd-pairs")(odd_pairs)
    ladder.command()(history)


def head_to_head(name: Ladder, first: Bot, second: Bot, data_dir: DataDir = None, as_json: JsonFlag = False) -> None:
    """How two bots do against each other, by version, seat and day, with 95 % intervals over sets."""
    with open_arena(settings.load({"data_dir": data_dir})).read() as connection:
        found = analysis.head_to_head(connection, name, first, second)
    if as_json:
        print_json(asdict(found))
        return
    table = Table(
        "", "sets", "score", "Elo", "±", "LOS", title=f"{first} against {second}, {name}: {found.games} games"
    )
    _add(table, {"all": found.overall})
    _add(table, {f"versions {key}": part for key, part in found.by_version.items()})
    _add(table, {f"{first} on seat {key}": part for key, part in found.by_seat.items()})
    _add(table, found.by_day)
    console.print(table)


def _add(table: Table, parts: Mapping[str, Summary]) -> None:
    for what, part in parts.items():
        elo = "-" if part.elo is None else f"{part.elo:+.0f}"
        error = "-" if part.error is None else f"{part.error:.0f}"
        table.add_row(what, str(part.sets), f"{part.score:.1%}", elo, error, f"{part.los:.1%}")


def weakness(name: Ladder, bot: Bot, data_dir: DataDir = None, as_json: JsonFlag = False) -> None:
    """Where a bot loses: by seat, opponent, fault and use of its clock, the worst first, with matches to look at."""
    records = RecordStore(settings.load({"data_dir": data_dir}).data_dir)
    with open_arena(settings.load({"data_dir": data_dir})).read() as connection:
        found = analysis.weakness(connection, name, bot, records)
    if as_json:
        print_json(asdict(found))
        return
    table = Table(
        "", "games", "score", "±", "lost", "matches", title=f"{bot} on {name}: {found.score:.1%} of {found.games}"
    )
    for parts in (found.by_seat, found.by_opponent, found.by_reason, found.by_clock):
        for part in parts:
            error = "-" if part.error is None else f"{part.error:.0f} Elo"
            table.add_row(
                part.what, str(part.games), f"{part.score:.1%}", error, str(part.lost), " ".join(part.matches[:2])
            )
    console.print(table)
    clock = found.clock
    if clock.games:
        console.print(
            f"In its last {clock.games} games it used {clock.share:.1%} of its time; "
            f"{clock.near_limit} of {clock.decisions} decisions were near the limit."
        )


def circles(name: Ladder, data_dir: DataDir = None, as_json: JsonFlag = False) -> None:
    """Circles of three bots, each better against the next than ratings allow: what one number hides."""
    from arena.ratings.residuals import residuals  # noqa: PLC0415 - scipy is slow to import

    with open_arena(settings.load({"data_dir": data_dir})).read() as connection:
        names, results = analysis.results_of(connection, name)
    found = residuals(results).circles()
    if as_json:
        print_json([{**asdict(one), "bots": [names[version] for version in one.versions]} for one in found])
        return
    table = Table("circle", "strength", "scores", title=name)
    for one in found:
        bots = " > ".join(names[version] for version in (*one.versions, one.versions[0]))
        scores = ", ".join(f"{part.score:.0%} not {part.expected:.0%}" for part in one.pairs)
        table.add_row(bots, f"{one.strength:.1f}", scores)
    console.print(table if found else "no circles")


def odd_pairs(
    name: Ladder,
    least_z: Annotated[float, typer.Option(help="From how many standard errors on a pair is odd.")] = 3.0,
    data_dir: DataDir = None,
    as_json: JsonFlag = False,
) -> None:
    """Pairs whose results their ratings do not explain: styles that suit each other, or games that are thrown."""
    from arena.ratings.residuals import residuals  # noqa: PLC0415 - scipy is slow to import

    with open_arena(settings.load({"data_dir": data_dir})).read() as connection:
        names, results = analysis.results_of(connection, name)
    found = residuals(results).odd_pairs(least_z)
    if as_json:
        print_json([{**asdict(one), "bots": [names[one.first], names[one.second]]} for one in found])
        return
    table = Table("bot", "against", "sets", "score", "expected", "z", title=name)
    for one in found:
        numbers = (str(one.sets), f"{one.score:.1%}", f"{one.expected:.1%}", f"{one.z:+.1f}")
        table.add_row(names[one.first], names[one.second], *numbers)
    console.print(table if found else "no pair is odd")


def history(
    name: Ladder,
    bot: Bot,
    version: Annotated[str | None, typer.Option(help="A version's label; by default the newest.")] = None,
    data_dir: DataDir = None,
    as_json: JsonFlag = False,
) -> None:
    """What each ledger entry did to a bot's rating: before, after and why."""
    with open_arena(settings.load({"data_dir": data_dir})).read() as connection:
        page = queries.bot_page(connection, bot)
        chosen = [one for one in page.versions if version in (None, one.label)]
        if not chosen:
            raise UserError(f"{bot!r} has no version {version!r}")
        found = analysis.changes(connection, name, chosen[0].id)
    if as_json:
        print_json([asdict(one) for one in found])
        return
    table = Table("entry", "at", "before", "after", "", "why", title=f"{bot} {chosen[0].label} on {name}")
    for one in found:
        at = datetime.fromtimestamp(one.at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
        why = one.kind.lower()
        if one.set_id is not None:
            why = f"{one.set_id}: places {', '.join(map(str, one.places))} against {', '.join(one.opponents)}"
        table.add_row(str(one.seq), at, f"{one.before:.1f}", f"{one.after:.1f}", f"{one.after - one.before:+.1f}", why)
    console.print(table)
