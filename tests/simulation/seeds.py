"""Many seeds, in several processes."""

from __future__ import annotations

import gc
from collections.abc import Iterator

from arena.pools import process_pool
from tests.simulation.world import History, simulate

BATCH = 10


def run_batch(first: int, count: int) -> list[History]:
    """Some seeds, in a process of the pool.

    Looking for garbage takes a fifth of the time if Python chooses when. So it is looked for between histories, and not in what
    outlasts them.
    """
    gc.disable()
    histories = []
    for seed in range(first, first + count):
        histories.append(simulate(seed))
        gc.collect()
    gc.freeze()
    return histories


def run_seeds(first: int, count: int, jobs: int) -> Iterator[History]:
    """The histories of many seeds, in order."""
    if jobs == 1:
        yield from (simulate(seed) for seed in range(first, first + count))
        return
    with process_pool(jobs) as pool:
        starts = range(first, first + count, BATCH)
        for batch in pool.map(run_batch, starts, [min(BATCH, first + count - start) for start in starts]):
            yield from batch
