"""Processes of a running arena die in random order."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.chaos.kills import Outcome, run
from tests.chaos.postgres import PostgreSQL, is_here

IN_CI = os.environ.get("CI") == "true"
KILLS = 40 if IN_CI else 6
KILLS_ON_POSTGRESQL = 12 if IN_CI else 4


@pytest.mark.timeout(2400)
def test_kills(tmp_path: Path) -> None:
    """R43, R66 to R69, R78: worker, gateway, Valkey and scheduler killed while sets are played: every match has one result
    that can be replayed, every rating is its ledger's, no bot has a fault, the bots play on, and no log holds a token."""
    _check(run(tmp_path, KILLS, seed=1))


@pytest.mark.timeout(2400)
@pytest.mark.skipif(not is_here() and not IN_CI, reason="needs PostgreSQL and psycopg")
def test_kills_on_postgresql(tmp_path: Path) -> None:
    """R70, R78: the same where the database's server dies too."""
    # Not pytest's own folder: nobody but its owner may enter that, and PostgreSQL does not run as root.
    with tempfile.TemporaryDirectory(prefix="arena-pg-") as folder:
        postgres = PostgreSQL(Path(folder))
        try:
            _check(run(tmp_path, KILLS_ON_POSTGRESQL, seed=2, postgres=postgres))
        finally:
            postgres.crash()


def _check(outcome: Outcome) -> None:
    print(outcome)
    assert outcome.audit is not None
    assert outcome.audit.problems == ()
    assert set().union(*outcome.reasons.values()) == {"NORMAL"}
    assert outcome.bots_alive
    assert not outcome.tokens_in_logs
