"""A game in a package of its own, as docs/add-a-game.md tells a stranger to write it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

STRANGER = Path(__file__).parent.parent / "stranger"


def install(folder: Path) -> None:
    """What an installer writes for the package: its module's folder on the path, and the metadata beside it."""
    project = tomllib.loads((STRANGER / "pyproject.toml").read_text())["project"]
    metadata = folder / f"{project['name']}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    points = project["entry-points"]["botarena.games"]
    lines = "".join(f"{name} = {target}\n" for name, target in points.items())
    (metadata / "entry_points.txt").write_text(f"[botarena.games]\n{lines}")


def test_a_game_is_found_by_its_entry_point_and_conforms(tmp_path: Path) -> None:
    """With the package on the path, the registry lists the game beside ours and the kit passes it."""
    install(tmp_path)
    program = (
        "import engines; from engines.conformance import check_game\n"
        "assert {'goofspiel', 'balloon-challenge'} <= set(engines.names()), engines.names()\n"
        "check_game(engines.get('goofspiel'))\n"
    )
    path = os.pathsep.join([str(tmp_path), str(STRANGER)])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        cwd=STRANGER.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
