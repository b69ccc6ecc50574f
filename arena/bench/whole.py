"""Whole matches a second through everything: scheduler, Celery, worker, gateway, SQL and ratings; and where the time goes."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.bench import stage
from arena.bench.echo import until
from arena.bench.processes import Say, load, measure, running
from arena.storage.db import Database

CREDIT = 32
BACKLOG = 64
STEADY_RESULTS = 2
"""For each bot, before anything is measured."""
START_S = 120.0


async def whole(bots: int, seconds: float, say: Say, *, workers: int = 1, gateways: int = 1) -> dict[str, Any]:
    """One arena of so many processes with bots of the bare protocol that take 32 matches each."""
    say(f"an arena with {workers} workers, {gateways} gateways and {bots} bots")
    others = {
        "worker.processes": workers,
        "scheduler.house_sets": 0,
        "scheduler.backlog": BACKLOG * workers,
        "limits.credit": CREDIT,
    }
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        chosen = stage.settings_in(Path(folder), others)
        tokens = [token for _, token in stage.register(chosen, bots)]
        async with stage.serving(chosen, gateways=gateways, workers=workers) as (servers, addresses):
            with (
                running(stage.bare_bots(addresses, tokens, CREDIT)) as playing,
                contextlib.closing(Database(chosen.database_url)) as database,
            ):
                await until(lambda: stage.results(database) >= STEADY_RESULTS * bots, START_S)
                say(f"measuring for {seconds:.0f} s")
                parts = {**servers, "bots": playing}
                rate, cost_us = await measure(lambda: stage.results(database), parts, seconds)
    server_ms = sum(cost for kind, cost in cost_us.items() if kind != "bots") / 1000
    return {
        "workers": workers,
        "gateways": gateways,
        "bots": bots,
        "matches_per_s": round(rate, 1),
        "cpu_ms_per_match": {kind: round(cost / 1000, 2) for kind, cost in cost_us.items()},
        "matches_per_s_per_core": round(1000 / server_ms, 1) if server_ms else None,
        "load": load(),
        "goal": "150 a core",
    }


async def grid(
    workers: Sequence[int], gateways: Sequence[int], bots: int, seconds: float, say: Say
) -> list[dict[str, Any]]:
    """:func:`whole` for each number of workers with each number of gateways."""
    return [await whole(bots, seconds, say, workers=some, gateways=others) for others in gateways for some in workers]
