"""Runs histories: ``python -m tests.simulation --seed 17`` shows one, ``--seeds 100000`` looks for a bad one."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter

from tests.simulation.bugs import BUGS, planted
from tests.simulation.seeds import run_seeds
from tests.simulation.world import simulate


def show(seed: int, bug: str | None) -> int:
    """One history, event by event."""
    if bug:
        with planted(bug):
            history = simulate(seed, keep_trace=True)
    else:
        history = simulate(seed, keep_trace=True)
    print("\n".join(history.trace))
    print(f"seed {seed}: {history.matches} matches, {history.faults} faults, {history.virtual_s:.0f} s of virtual time")
    print(f"trace {history.digest}")
    for problem in history.problems:
        print(f"broken: {problem}")
    return 1 if history.problems else 0


def search(first: int, count: int, jobs: int) -> int:
    """Many histories; names each that breaks an invariant. Ctrl-C ends it early, and says from where to go on."""
    began = time.perf_counter()
    total: Counter[str] = Counter()
    try:
        for history in run_seeds(first, count, jobs):
            total.update(histories=1, matches=history.matches, faults=history.faults, broken=bool(history.problems))
            if history.problems:
                print(f"seed {history.seed} ({history.digest[:16]}): {history.problems[0]}", flush=True)
            if total["histories"] % 1000 == 0:
                print(
                    f"{total['histories']} histories, {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True
                )
    except KeyboardInterrupt:
        left = f"SEEDS={count - total['histories']} FIRST={first + total['histories']}"
        print(f"stopped; the rest: make sim {left}", file=sys.stderr, flush=True)
    seconds = time.perf_counter() - began
    print(
        f"{total['histories']} histories from seed {first}: {total['matches']} matches, {total['faults']} faults, "
        f"{total['broken']} broken, {seconds:.0f} s ({total['histories'] / seconds:.1f} a second)"
    )
    if total["matches"] < total["histories"]:
        print("hardly anything was played: what is never played is never broken")
        return 1
    return 1 if total["broken"] else 0 if total["histories"] == count else 130


def main() -> int:
    parser = argparse.ArgumentParser(prog="make sim", description=__doc__)
    parser.add_argument("--seed", type=int, help="show one history")
    parser.add_argument("--seeds", type=int, default=2000, help="how many to look at")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--bug", choices=sorted(BUGS), help="with --seed: with this bug put in")
    given = parser.parse_args()
    if given.seed is not None:
        return show(given.seed, given.bug)
    return search(given.first, given.seeds, given.jobs)


if __name__ == "__main__":
    sys.exit(main())
