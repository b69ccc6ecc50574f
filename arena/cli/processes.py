"""``arena prepare``, ``arena gateway``, ``arena web``, ``arena scheduler``: the arena's processes one by one, for more than one machine."""

from __future__ import annotations

import asyncio

import typer

from arena import logs, loops, settings


def add_to(app: typer.Typer) -> None:
    app.command(hidden=True)(gateway)
    app.command(hidden=True)(web)
    app.command(hidden=True)(scheduler)
    app.command(hidden=True)(prepare)


def gateway() -> None:
    """Serves bots, and the workers that play with them."""
    from arena.gateway.process import run  # noqa: PLC0415 - each process imports its own part

    logs.configure()
    run(settings.load())


def web() -> None:
    """Serves the pages."""
    from arena.web.process import serve  # noqa: PLC0415

    logs.configure()
    loops.run(serve(settings.load()))


def scheduler() -> None:
    """Makes sets for whoever is there."""
    from arena.ladder.process import serve  # noqa: PLC0415

    logs.configure()
    asyncio.run(serve(settings.load()))


def prepare() -> None:
    """Brings data folder, key, schema and ladders up to date; to be run before the others, as often as one likes."""
    from arena.cli.up import prepare  # noqa: PLC0415

    logs.configure()
    prepare(settings.load())
