"""Processes of a running arena die in random order."""

from __future__ import annotations

import os
from pathlib import Path

from tests.chaos.kills import run

KILLS = 50 if os.environ.get("CI") == "true" else 6


def test_kills(tmp_path: Path) -> None:
    """R43, R66 to R69, R78: worker, gateway, Valkey and scheduler killed while sets are played: every match has one result
    that can be replayed, every rating is its ledger's, no bot has a fault, the bots play on, and no log holds
    a token."""
    outcome = run(tmp_path, KILLS, seed=1)
    print(outcome)
    assert outcome.audit is not None
    assert outcome.audit.problems == ()
    assert set().union(*outcome.reasons.values()) == {"NORMAL"}
    assert outcome.bots_alive
    assert not outcome.tokens_in_logs
