"""Runs scenarios, some at once, each with a program of its own."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from arena.conformance.scenario import HungUp, Mismatch, NotApplicable, Result, Scenario, Status
from arena.conformance.stage import Stage

SCENARIO_S: Final = 180.0
"""A scenario that takes longer has failed, whatever it waits for."""


async def run(
    command: Sequence[str], scenarios: Sequence[Scenario], *, jobs: int, on_result: Callable[[Result], None]
) -> list[Result]:
    """The results in the scenarios' order; ``on_result`` hears of each as it comes. ``jobs``: how many at once."""
    slots = asyncio.Semaphore(jobs)
    # Short, since the path of a unix socket has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="arena-") as folder:

        async def one(number: int, scenario: Scenario) -> Result:
            async with slots:
                place = Path(folder) / str(number)
                place.mkdir()
                result = await _run(command, scenario, place)
            on_result(result)
            return result

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(number, scenario)) for number, scenario in enumerate(scenarios)]
        return [task.result() for task in tasks]


async def _run(command: Sequence[str], scenario: Scenario, folder: Path) -> Result:
    began = time.monotonic()
    stage = Stage(command, folder)
    status, did, expected = Status.PASSED, "", ""
    async with stage:
        try:
            async with asyncio.timeout(SCENARIO_S):
                await scenario.play(stage)
            stage.check_manners()
            did = stage.summary()
        except Mismatch as mismatch:
            status, did, expected = Status.FAILED, str(mismatch), mismatch.expected
            if isinstance(mismatch, HungUp) and await stage.ended_within(1.0):
                did += f" and ended with status {stage.exit_status}"
        except NotApplicable as reason:
            status, did = Status.SKIPPED, str(reason)
        except TimeoutError:
            status, did = Status.FAILED, f"was not done within {SCENARIO_S:g} s"
    if expected:
        scenario = Scenario(scenario.name, scenario.level, expected, scenario.play)
    return Result(scenario, status, did, time.monotonic() - began, stage.tail())
