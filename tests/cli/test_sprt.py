"""``arena sprt``, as a person runs it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ARENA = (sys.executable, "-m", "arena")
TEST = (
    "sprt",
    "heuristic",
    "random",
    "--game",
    "pop",
    "--elo0",
    "0",
    "--elo1",
    "150",
    "--seed",
    "5",
    "--concurrency",
    "1",
)


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    """Exit code, output and errors of a command in ``folder``."""
    done = subprocess.run([*ARENA, *words], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def verdict(output: str) -> dict[str, Any]:
    document = json.loads(output)
    return {key: document[key] for key in ("verdict", "llr", "sets", "counts")}


def test_a_verdict_and_the_same_after_ctrl_c(tmp_path: Path) -> None:
    """The better bot is found better with exit code 0; a run that was interrupted and resumed counts the very same sets."""
    code, output, _ = run(tmp_path, *TEST, "--json")
    whole = verdict(output)
    assert (code, whole["verdict"]) == (0, "H1")
    assert whole["sets"] >= 20
    assert list(tmp_path.iterdir()) == []

    state = tmp_path / "state.json"
    running = subprocess.Popen([*ARENA, *TEST, "--state", str(state)], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (state.exists() and json.loads(state.read_text())["scores"]) and time.monotonic() < deadline:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=30)
    assert running.returncode == 130
    assert f"arena sprt --resume {state}" in told
    assert 1 <= len(json.loads(state.read_text())["scores"]) < whole["sets"]

    code, output, _ = run(tmp_path, "sprt", "--resume", str(state), "--json")
    assert code == 0
    assert verdict(output) == whole


def test_no_better_is_exit_code_1_and_too_few_sets_3(tmp_path: Path) -> None:
    """The worse bot is found not better; a test that may play only 20 sets between near hypotheses says nothing."""
    worse = ("sprt", "random", "heuristic", *TEST[3:])
    code, output, _ = run(tmp_path, *worse, "--json")
    assert (code, json.loads(output)["verdict"]) == (1, "H0")
    close = ("sprt", "random", "random", "--game", "pop", "--elo0", "0", "--elo1", "1", "--max-sets", "20")
    code, output, _ = run(tmp_path, *close, "--json")
    assert (code, json.loads(output)["verdict"]) == (3, "CONTINUE")
    assert json.loads(output)["interval_is_biased"] is False


def test_mistakes_are_explained(tmp_path: Path) -> None:
    """Hypotheses the wrong way round and a file that is no state are told in a sentence, with exit code 2."""
    code, _, told = run(tmp_path, "sprt", "random", "greedy", "--elo0", "20", "--elo1", "0")
    assert (code, "less than" in told) == (2, True)
    (tmp_path / "x.json").write_text("[]")
    code, _, told = run(tmp_path, "sprt", "--resume", "x.json")
    assert (code, "no state file" in told) == (2, True)
