"""The TypeScript kit from an empty folder, by the commands of its README."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest

from arena import kits
from tests.languages import kit

kit.needs("node", "npm")

SOURCE = kit.ROOT / "bots" / "typescript"
BOT = "node dist/examples/balloon_pop/balloon_pop.js"
IMPORTS = r"^import (.|\n)*?;$"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, after the first commands of the README: install, build, and games by `arena match`."""
    folder = tmp_path_factory.mktemp("typescript")
    kit.copy_tree(SOURCE, folder)
    started = time.monotonic()
    kit.shell(kit.commands(folder / "README.md")[0], folder)
    kit.timed("install, build and first match", started)
    return folder


def test_formatted_and_linted(built: Path) -> None:
    """Biome finds nothing to say."""
    kit.shell("npm run check", built)


def test_its_own_tests_pass(built: Path) -> None:
    """`npm test` in the copy."""
    kit.shell("npm test", built)


def test_raw_random_is_short() -> None:
    """At most 25 lines without imports; that it plays every game is for the conformance kit to say."""
    assert kit.bare_lines(SOURCE / "raw_random.ts", imports=IMPORTS) <= 25


def test_the_example_beats_random(built: Path) -> None:
    """The typed bot for Balloon Pop wins most of its games."""
    bots = kit.match(built, BOT, "random", game="balloon-pop", games=10)
    assert kit.faults(bots) == 0
    assert bots["balloon_pop"]["score"] >= 0.8


def test_conformance(built: Path) -> None:
    """The SDK does all that is recommended, the bare bot what is required."""
    kit.conformance(built, BOT, strict=True)
    kit.conformance(built, "node dist/raw_random.js", strict=False)


def test_plays_on_a_running_arena(built: Path) -> None:
    """The last command of the README: the same program, on an arena; SIGTERM ends it with status 0."""
    command = kit.commands(built / "README.md")[-1].splitlines()[-1]
    kit.plays_on_a_running_arena(built, command, "balloon-pop")


def test_the_package_holds_the_sdk_alone(built: Path) -> None:
    """What `npm pack` would publish: code with types, licence and README, no tests, and all that `exports` names."""
    packed = json.loads(kit.shell("npm pack --dry-run --json --ignore-scripts --loglevel=error", built))
    packages = packed if isinstance(packed, list) else list(packed.values())
    files = {file["path"] for file in packages[0]["files"]}
    exports = json.loads((built / "package.json").read_text())["exports"].values()
    assert {path.removeprefix("./") for path in exports} <= files
    assert {"LICENSE", "README.md", "package.json", "dist/src/index.d.ts"} <= files
    assert not [path for path in files if (path.endswith(".ts") and not path.endswith(".d.ts")) or "test" in path]


def test_a_new_project_plays(tmp_path: Path) -> None:
    """What `arena new` makes installs, builds and plays; its lock file names no registry."""
    folder = tmp_path / "my-bot"
    started = time.monotonic()
    kits.make_project(kits.load("typescript"), folder, "balloon-race")
    kit.shell(kit.commands(folder / "README.md")[0], folder)
    kit.timed("new project to first match", started)
    for lock in (folder / "package-lock.json", SOURCE / "package-lock.json"):
        packages = json.loads(lock.read_text())["packages"].values()
        assert not [package for package in packages if "://" in str(package.get("resolved", ""))]


def test_stubs_are_up_to_date(built: Path, tmp_path: Path) -> None:
    """Generating them again changes nothing."""
    kit.copy_tree(kit.ROOT / "proto", tmp_path / "proto")
    kit.copy_tree(SOURCE, tmp_path / "bots" / "typescript")
    shutil.copytree(built / "node_modules", tmp_path / "bots" / "typescript" / "node_modules", symlinks=True)
    kit.shell("npm run generate", tmp_path / "bots" / "typescript")
    kit.shell(f"diff -r src/gen {tmp_path}/bots/typescript/src/gen", SOURCE)
