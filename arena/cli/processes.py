"""``arena prepare``, ``arena gateway``, ``arena web``, ``arena scheduler``: the arena's processes one by one, for more than one machine."""

from __future__ import annotations

import asyncio

import typer

from arena import logs, loops, settings
from arena.tracing import TRACES


def add_to(app: typer.Typer) -> None:
    app.command(hidden=True)(gateway)
    app.command(hidden=True)(web)
    app.command(hidden=True)(scheduler)
    app.command(hidden=True)(prepare)


def gateway() -> None:
    """Serves bots, and the workers that play with them."""
    from arena.gateway.process import run  # noqa: PLC0415 - each process imports its own part

    run(_begun("gateway"))
    TRACES.stop()


def web() -> None:
    """Serves the pages."""
    from arena.web.process import serve  # noqa: PLC0415

    loops.run(serve(_begun("web")))


def scheduler() -> None:
    """Makes sets for whoever is there."""
    from arena.ladder.process import serve  # noqa: PLC0415

    asyncio.run(serve(_begun("scheduler")))
    TRACES.stop()


def prepare() -> None:
    """Brings data folder, key, schema and ladders up to date; to be run before the others, as often as one likes."""
    from arena.cli.up import prepare  # noqa: PLC0415

    prepare(_begun("prepare"))


def _begun(process: str) -> settings.Settings:
    """The settings of this process, whose logs and traces begin as they say."""
    found = settings.load()
    logs.configure(form=found.log.format, process=process)
    if process in {"gateway", "scheduler"}:
        TRACES.start(process)
    return found
