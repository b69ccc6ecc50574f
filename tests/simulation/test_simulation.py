"""Histories of a whole arena on virtual time, and whether they would show it if something were wrong."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.bugs import BUGS, planted
from tests.simulation.seeds import run_seeds
from tests.simulation.world import World, simulate

ROOT = Path(__file__).parents[2]
IN_CI = os.environ.get("CI") == "true"
SEEDS = 2000 if IN_CI else 100
PATIENCE = 150
"""Within so many seeds each bug that is put in must be found."""


@pytest.mark.timeout(2400)
def test_no_history_breaks_an_invariant() -> None:
    """R66 to R75, R78, R87: whatever dies, stalls, or is told twice, late or never: one result, right ratings, rest."""
    histories = list(run_seeds(0, SEEDS, os.cpu_count() or 1))
    assert not [f"make sim SEED={one.seed}: {one.problems[0]}" for one in histories if one.problems]
    assert sum(one.matches for one in histories) > 3 * SEEDS, "an arena that plays nothing breaks nothing"


def test_a_seed_is_a_history_to_the_byte() -> None:
    """Two processes with different hash seeds tell the same story of the same seeds."""
    program = "from tests.simulation.world import simulate\nfor s in range(40, 46): print(simulate(s).digest)"
    told = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]
    assert told[0] == told[1]
    assert len(set(told[0].split())) == 6


def test_a_world_is_gone_with_its_history() -> None:
    """A hundred thousand of them would fill any memory; the last one may stay with the database that all share."""
    for seed in range(3):
        simulate(seed)
    gc.collect()
    assert sum(isinstance(one, World) for one in gc.get_objects()) <= 1


@pytest.mark.parametrize("bug", sorted(BUGS))
def test_a_bug_put_in_on_purpose_is_found(bug: str) -> None:
    """Each of these bugs breaks an invariant within a few seeds, and without it those seeds break none."""
    with planted(bug):
        found = next((seed for seed in range(PATIENCE) if simulate(seed).problems), None)
    assert found is not None, f"{bug}: not within {PATIENCE} seeds"
    assert not simulate(found).problems
