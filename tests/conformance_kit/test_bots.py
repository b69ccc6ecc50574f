"""Our own programs pass `arena conformance`, and its reports say so."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

import botarena
from arena.cli import application
from arena.conformance.scenario import SCENARIOS
from arena.errors import UserError

SDK = Path(botarena.__file__).parents[1]
SDK_BOT = """
import botarena

@botarena.bot()
def act(view, legal, clock):
    return view.rng.choice(legal)

if __name__ == "__main__":
    botarena.run(act)
"""
ABOUT_GAMES = [
    flag
    for name in ("play-balloon-challenge", "play-balloon-pop", "play-balloon-race", "play-pop", "several-at-once")
    for flag in ("--only", name)
]


def conformance(*words: str) -> subprocess.CompletedProcess[str]:
    """What `arena conformance` prints and how it ends."""
    command = [sys.executable, "-m", "arena", "conformance", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def failed(run: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What a run with --json has to complain of."""
    report = json.loads(run.stdout)
    return {row["name"]: row for row in report["scenarios"] if row["status"] == "failed"}


def test_a_bot_of_the_sdk_passes_everything(tmp_path: Path) -> None:
    """Required and recommended; the JUnit file holds a case for each scenario, none failed or skipped."""
    bot, junit = tmp_path / "bot.py", tmp_path / "junit.xml"
    bot.write_text(SDK_BOT)
    run = conformance("--strict", "--json", "--junit", str(junit), "--", str(bot))
    assert (run.returncode, failed(run)) == (0, {}), run.stderr
    suite = ET.parse(junit).getroot()
    assert int(suite.attrib["tests"]) == len(suite.findall("testcase")) == len(json.loads(run.stdout)["scenarios"])
    assert (suite.attrib["failures"], suite.attrib["skipped"]) == ("0", "0")


def test_the_bare_bot_passes_what_is_required() -> None:
    """And not what is recommended, which ends the run with 1 only where --strict asks for it."""
    bare = ("--", sys.executable, str(SDK / "raw_random.py"))
    names = ("ready", "ping", "stale", "void", "unknown-fields", "slow-network", "wrong-token", "busy", "ready-nonce")
    some = [flag for name in names for flag in ("--only", name)]
    run = conformance("--json", *some, *ABOUT_GAMES, *bare)
    assert (run.returncode, failed(run).keys()) == (0, {"ready-nonce"})
    assert failed(run)["ready-nonce"]["did"] == "sent Ready without a nonce"
    run = conformance("--strict", "--only", "ready-nonce", *bare)
    assert run.returncode == 1
    assert "The bot does not conform: 0 of 1 recommended passed." in run.stdout


def test_a_house_bot_passes() -> None:
    """Every game, and a few things that a bot with an engine inside could get wrong."""
    some = [flag for name in ("hello-unix", "ping-thinking", "cut-act", "sigterm-game") for flag in ("--only", name)]
    run = conformance("--strict", "--json", *some, *ABOUT_GAMES, "--", "heuristic")
    assert (run.returncode, failed(run)) == (0, {})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "which program?"),
        (["--only", "nothing", "--", "random"], "there is no scenario 'nothing'"),
        (["--", "no-such-program"], "no house bot"),
    ],
)
def test_a_wrong_call_says_what_would_be_right(words: list[str], said: str) -> None:
    """In an error of the kind that the command line shows as one line."""
    outcome = CliRunner().invoke(application(), ["conformance", *words])
    assert isinstance(outcome.exception, UserError)
    assert said in str(outcome.exception)


def test_the_list_names_what_there_is() -> None:
    """With its level and what is expected."""
    outcome = CliRunner().invoke(application(), ["conformance", "--list"])
    assert outcome.exit_code == 0
    assert re.search(r"wrong-token +required +gives up after UNAUTHENTICATED", outcome.stdout)


def test_the_page_names_every_scenario() -> None:
    """docs/conformance.md has a row for each, with its level's heading above and its words."""
    page = (SDK.parents[1] / "docs" / "conformance.md").read_text()
    rows = [
        (level.lower(), *row)
        for level, table in re.findall(r"## (\w+)\n\n(.*?)(?=\n##|\Z)", page, re.DOTALL)
        for row in re.findall(r"\| `([\w-]+)` \| (.*) \|", table)
    ]
    scenarios = SCENARIOS.values()
    assert sorted(rows) == sorted((str(one.level), one.name, one.expected) for one in scenarios)
