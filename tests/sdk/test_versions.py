"""Both ends of what the SDK allows: its stubs load, and it plays, on the oldest and the newest grpcio and protobuf."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import botarena

from .scripted import scripted_arena
from .table import ended, first_stream, play_game, program

SDK = Path(botarena.__file__).parents[1]
ROOT = SDK.parents[1]
UV = shutil.which("uv") or next(iter(ROOT.glob(".tools/bin/uv")), None)

BOT = """
import importlib, pathlib, sys, grpc, google.protobuf, botarena
root = pathlib.Path(botarena.__file__).parent
for path in sorted(root.rglob("*.py")):
    importlib.import_module(".".join(path.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__"))
print("versions", grpc.__version__, google.protobuf.__version__, file=sys.stderr)
botarena.run(botarena.bot("pop")(lambda view, legal, clock: view.json and legal[0]))
"""


def lowest(requirement: str) -> str:
    """``grpcio>=1.66.2`` as ``grpcio==1.66.2``."""
    return requirement.replace(">=", "==")


def dependencies() -> list[str]:
    project = tomllib.loads((SDK / "pyproject.toml").read_text())["project"]
    return list(project["dependencies"])


def environment(folder: Path, requirements: list[str]) -> Path:
    """A throwaway environment with these requirements; its Python. Skips where it cannot be made, except in CI."""
    python = folder / "bin" / "python"
    problem = "uv is not installed"
    if UV:
        env = {key: value for key, value in os.environ.items() if key != "PIP_FIND_LINKS"}
        for command in (
            [UV, "venv", "-q", "--python", sys.executable, folder],
            [UV, "pip", "install", "-q", "--only-binary", ":all:", "--python", python, *requirements],
        ):
            done = subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=300)
            if done.returncode:
                problem = done.stderr.strip()
                break
        else:
            return python
    if os.environ.get("CI") == "true":
        pytest.fail(f"no environment to test in: {problem}")
    pytest.skip(f"needs uv and a package index: {problem}")


@pytest.mark.parametrize("end", ["oldest", "newest"])
async def test_the_sdk_plays_on(end: str, tmp_path: Path) -> None:
    """Every module imports, and a game is played against a server of this environment's version."""
    requirements = dependencies()
    python = environment(tmp_path / "env", [lowest(item) for item in requirements] if end == "oldest" else requirements)
    bot = tmp_path / "bot.py"
    bot.write_text(BOT)
    async with (
        scripted_arena() as arena,
        program(arena, str(python), str(bot), env={"PYTHONPATH": str(SDK)}) as process,
    ):
        stream = await first_stream(arena, process)
        await stream.welcome()
        assert len(await play_game(stream, "pop", players=2, seed=3, most=60)) >= 60
        stream.done()
        code, err = await ended(process)
    assert code == 0, err
    if end == "oldest":
        assert "versions " + " ".join(lowest(item).partition("==")[2] for item in requirements) in err


def test_the_version_is_that_of_the_distribution() -> None:
    """What Hello says is what pip says."""
    assert tomllib.loads((SDK / "pyproject.toml").read_text())["project"]["version"] == botarena.__version__
