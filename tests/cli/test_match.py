"""`arena match`: what it says of games that were lost otherwise than on the board, and what Ctrl-C leaves."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

RAW = Path(__file__).parents[2] / "bots" / "python" / "raw_random.py"
CHOICE = "random.choice(asked.legal).id"
FAULTS = {
    "ILLEGAL": (
        "next(k for k in range(99) if k not in [one.id for one in asked.legal])",
        "play [A-Z]+\\d+ is not legal here",
    ),
    "BOT_CRASH": ("os._exit(3)", "its program ended"),
    "TIMEOUT": ("__import__('time').sleep(60)", "no answer within \\d+ ms"),
}
QUICK = ("--bank-ms", "300", "--increment-ms", "0", "-n", "1")


def arena(*words: str) -> subprocess.CompletedProcess[str]:
    """`arena match` to its end."""
    command = [sys.executable, "-m", "arena", "match", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("reason", FAULTS)
def test_a_fault_is_told_with_its_detail_and_the_log(reason: str, tmp_path: Path) -> None:
    """As text and as JSON, with a log that is still there to be read."""
    choice, detail = FAULTS[reason]
    bot, logs = tmp_path / "bad.py", tmp_path / "logs"
    bot.write_text("print('I am here', flush=True)\n" + RAW.read_text().replace(CHOICE, choice))
    lines = arena(str(bot), "random", *QUICK).stdout.splitlines()
    (told,) = (number for number, line in enumerate(lines) if line.startswith("bad failed"))
    assert re.fullmatch(f"bad failed in game 0: {reason}, {detail}", lines[told])
    log = Path(lines[told + 1].removeprefix("    its log: "))
    assert log.read_text().startswith("I am here\n")
    log.unlink()
    report: dict[str, Any] = json.loads(arena(str(bot), "random", *QUICK, "--logs", str(logs), "--json").stdout)
    (game,) = report["games"]
    assert game["reasons"] == [reason, "NORMAL"]
    assert re.fullmatch(detail, game["details"][0])
    assert game["details"][1] == ""
    assert [bot["log"] for bot in report["bots"]] == [str(logs / "0-bad.log"), str(logs / "1-random.log")]


def test_a_match_without_faults_keeps_no_logs() -> None:
    """Unless it is asked to."""
    report = json.loads(arena("random", "greedy", "-n", "2", "--json").stdout)
    assert [bot["log"] for bot in report["bots"]] == [None, None]
    assert (report["asked"], len(report["games"])) == (2, 2)


@pytest.mark.parametrize("concurrency", ["1", "2"])
def test_ctrl_c_leaves_what_is_finished(concurrency: str, tmp_path: Path) -> None:
    """The games that are over are reported, each with its record, and the status is that of Ctrl-C."""
    records = tmp_path / "records"
    words = [
        "match",
        "random",
        "greedy",
        "-n",
        "100000",
        "--concurrency",
        concurrency,
        "--records",
        str(records),
        "--json",
    ]
    running = subprocess.Popen([sys.executable, "-m", "arena", *words], stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while not (records.is_dir() and len(list(records.iterdir())) >= 3):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        said, _ = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 130
    report = json.loads(said)
    games = {f"{game['number']:04d}-{game['match_id']}.jsonl.gz" for game in report["games"]}
    assert games == {path.name for path in records.iterdir()}
    assert report["bots"][0]["games"] == len(games) >= 3
    assert report["asked"] == 100_000


def test_a_bot_that_does_not_come_back_takes_no_game_along(tmp_path: Path) -> None:
    """A program that connects once alone: its lost game is reported, and then why there are no more."""
    bot = tmp_path / "once.py"
    once = f"import pathlib, sys\nif pathlib.Path({str(tmp_path / 'been')!r}).exists(): sys.exit('once only')\n"
    crash = f"[pathlib.Path({str(tmp_path / 'been')!r}).touch(), os._exit(3)]"
    bot.write_text(once + RAW.read_text().replace(CHOICE, crash))
    done = arena(str(bot), "random", "-n", "4", "--concurrency", "1")
    assert done.returncode == 2
    assert "1 of 4 games" in done.stdout
    assert "once failed in game 0: BOT_CRASH" in done.stdout
    assert "arena: once ended with status 1 unconnected: a bot is a program that connects" in done.stderr
    assert done.stderr.endswith("once only\n")
