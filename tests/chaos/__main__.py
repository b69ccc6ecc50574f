"""Kills processes of an arena: ``python -m tests.chaos --kills 500``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.chaos.kills import run
from tests.chaos.postgres import PostgreSQL


def say(line: str) -> None:
    """Progress, for whoever waits for an hour."""
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0, help="of which processes, and when")
    parser.add_argument("--postgresql", action="store_true", help="on PostgreSQL, and kill it too")
    given = parser.parse_args()
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="arena-chaos-") as folder,
        tempfile.TemporaryDirectory(prefix="arena-pg-") as data,
    ):
        postgres = PostgreSQL(Path(data)) if given.postgresql else None
        try:
            outcome = run(Path(folder), given.kills, given.seed, postgres, say)
        finally:
            if postgres is not None:
                postgres.crash()
    print(outcome)
    faults = {bot: sorted(reasons - {"NORMAL"}) for bot, reasons in outcome.reasons.items() if reasons != {"NORMAL"}}
    print(f"faults of bots: {faults or 'none'}; {time.monotonic() - began:.0f} s")
    assert outcome.audit is not None
    return 1 if outcome.audit.problems or faults or outcome.tokens_in_logs or not outcome.bots_alive else 0


if __name__ == "__main__":
    sys.exit(main())
