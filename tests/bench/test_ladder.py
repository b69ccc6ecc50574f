"""``arena bench ladder`` and ``arena simulate``, small."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any


def run(*words: str) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "arena", *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, json.loads(done.stdout)


def test_bench_ladder_measures_all_four() -> None:
    """A small ladder gives every figure, and sets are made for its bots; how fast is not asked here."""
    code, found = run("bench", "ladder", "--bots", "200", "--results", "4000")
    assert code == 0
    assert (found["sets"], found["official_rows"]) == (1000, 200)
    assert found["fold"]["fold_results_per_s"] > 0
    assert found["fold"]["openskill_BradleyTerryFull_results_per_s"] > 0
    assert found["pairing"]["sets_a_round"] == 32
    assert len(found["goals"]) == 4


def test_simulate_ladder_says_which_goals_are_met() -> None:
    """Few ladders and hours give all figures with the deal mode; the exit code says whether all goals are met."""
    code, found = run(
        "simulate", "ladder", "--ladders", "20", "--newcomers", "20", "--hours", "2", "--bots", "12", "--shared-deals"
    )
    assert found["deal_mode"] == "shared"
    assert found["goals"]["intervals of ratings cover 93-97 %"] == (0.93 <= found["coverage"]["ratings"] <= 0.97)
    assert code == (0 if all(found["goals"].values()) else 1)


def test_simulate_sprt_keeps_its_errors() -> None:
    """300 tests between hypotheses far apart err within noise of what they may."""
    _, found = run("simulate", "sprt", "--runs", "300", "--elo1", "80")
    assert found["at_elo0"]["wrong"] < 0.09
    assert found["at_elo1"]["wrong"] < 0.09
