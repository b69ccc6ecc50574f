"""A language's kit as a stranger has it: copied into an empty folder, built and run by the commands of its README."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.certificates import Authority
from tests.integration.harness import Arena, until

ROOT = Path(__file__).parents[2]
BUILD_TIMEOUT_S = 1500.0
MATCH_TIMEOUT_S = 300.0
STOP_TIMEOUT_S = 90.0
"""A drained bot first finishes the set that it plays."""
NICE = ("nice", "-n", "5")


def needs(*tools: str) -> None:
    """Skips the module where a tool is missing; fails where CI should have installed it."""
    for tool in tools:
        if shutil.which(tool) is None:
            if os.environ.get("CI") == "true":
                pytest.fail(f"{tool} is not installed")
            pytest.skip(f"needs {tool}", allow_module_level=True)


def copy_tree(source: Path, target: Path) -> None:
    """Copies what Git has or would take, without build output."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=source,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name)


def commands(readme: Path) -> list[str]:
    """The ``sh`` blocks of a page."""
    return re.findall(r"^```sh\n(.*?)^```", readme.read_text(), re.M | re.S)


def environment() -> dict[str, str]:
    """This process's, with `arena` on PATH."""
    return {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}


def shell(script: str, folder: Path, timeout_s: float = BUILD_TIMEOUT_S) -> str:
    """Runs a script as a person would type it; returns what it printed. Fails with it if a command fails."""
    done = subprocess.run(
        [*NICE, "bash", "-euo", "pipefail", "-c", script],
        check=False,
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout_s,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout[-4000:]}"
    return done.stdout


def match(folder: Path, *bots: str, game: str, games: int) -> dict[str, dict[str, Any]]:
    """By name what `arena match` reports of each bot. The same deals and the same luck each time: bots draw from their seed."""
    words = ["arena", "match", *bots, "--game", game, "--games", str(games), "--seed", "1", "--json"]
    done = subprocess.run(
        words, check=False, cwd=folder, env=environment(), capture_output=True, text=True, timeout=MATCH_TIMEOUT_S
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return {bot["name"]: bot for bot in json.loads(done.stdout)["bots"]}


def faults(bots: Mapping[str, Mapping[str, Any]]) -> int:
    """Games that somebody lost by a fault."""
    return sum(bot["faults"] for bot in bots.values())


def conformance(folder: Path, command: str, *, strict: bool) -> None:
    """Fails with the report if a program does not conform."""
    shell(f"arena conformance {'--strict' if strict else ''} -- {command}", folder, MATCH_TIMEOUT_S)


def plays_on_a_running_arena(folder: Path, command: str, game: str) -> None:
    """Starts an arena, connects the program, waits for a few games and ends the program by SIGTERM. The arena speaks TLS
    with a private CA, which the program knows from ARENA_CA."""
    data = folder / "an-arena"
    authority = Authority(data / "ca")
    certificate, key = authority.issue("gateway")
    arena = Arena(
        data,
        ladders=f'[[ladders]]\ngame = "{game}"\nplayers = 2\n',
        environment={"ARENA_GATEWAY_TLS_CERTIFICATE": str(certificate), "ARENA_GATEWAY_TLS_KEY": str(key)},
    )
    arena.start()
    try:
        token = arena.register("ann", "from-the-kit")
        with (folder / "bot.log").open("wb") as log:
            bot = subprocess.Popen(
                shlex.split(command),
                cwd=folder,
                env={
                    **environment(),
                    "ARENA_ADDRESS": arena.gateway,
                    "ARENA_TOKEN": token,
                    "ARENA_CA": str(authority.ca),
                },
                stdout=log,
                stderr=log,
            )
        try:
            until(lambda: "from-the-kit" in arena.reasons(), 60, "a result of the bot")
            assert arena.reasons()["from-the-kit"] == {"NORMAL"}
            bot.send_signal(signal.SIGTERM)
            assert bot.wait(STOP_TIMEOUT_S) == 0, (folder / "bot.log").read_text()
            assert arena.reasons()["from-the-kit"] == {"NORMAL"}
        finally:
            bot.kill()
            bot.wait()
    finally:
        arena.stop()


def bare_lines(path: Path, *, comment: str = "//", imports: str) -> int:
    """Lines of a program without blanks, comments and imports; ``imports`` is a pattern of the latter."""
    text = re.sub(imports, "", path.read_text(), flags=re.M)
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith(comment))


def timed(what: str, started: float) -> None:
    """Prints how long something took since ``time.monotonic()`` was ``started``; pytest shows it with -rP."""
    print(f"{what}: {time.monotonic() - started:.1f} s")
