"""The Go kit from an empty folder, by the commands of its README."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from arena import kits
from tests.languages import kit

kit.needs("go")

SOURCE = kit.ROOT / "bots" / "go"
IMPORTS = r"^import \((.|\n)*?^\)"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, after the first commands of the README: build, and games by `arena match`."""
    folder = tmp_path_factory.mktemp("go")
    kit.copy_tree(SOURCE, folder)
    started = time.monotonic()
    kit.shell(kit.commands(folder / "README.md")[0], folder)
    kit.timed("build and first match", started)
    return folder


def test_formatted_and_vetted(built: Path) -> None:
    """gofmt would change nothing, vet finds nothing, and go.mod is as `go mod tidy` would write it."""
    assert kit.shell("gofmt -l .", built) == ""
    kit.shell("go vet ./... && go mod tidy -diff", built)


def test_its_own_tests_pass(built: Path) -> None:
    """`go test` in the copy."""
    kit.shell("go test ./...", built)


def test_raw_random_is_short() -> None:
    """At most 25 lines without imports; that it plays every game is for the conformance kit to say."""
    assert kit.bare_lines(SOURCE / "raw_random" / "raw_random.go", imports=IMPORTS) <= 25


def test_the_example_beats_random(built: Path) -> None:
    """The typed bot for POP! wins most of its games."""
    bots = kit.match(built, "bin/pop", "random", game="pop", games=20)
    assert kit.faults(bots) == 0
    assert bots["pop"]["score"] >= 0.75


def test_conformance(built: Path) -> None:
    """The SDK does all that is recommended, the bare bot what is required."""
    kit.conformance(built, "bin/pop", strict=True)
    kit.conformance(built, "bin/raw_random", strict=False)


def test_plays_on_a_running_arena(built: Path) -> None:
    """The last command of the README: the same program, on an arena; SIGTERM ends it with status 0."""
    command = kit.commands(built / "README.md")[-1].splitlines()[-1]
    kit.plays_on_a_running_arena(built, command, "pop")


def test_a_new_project_plays(tmp_path: Path) -> None:
    """What `arena new` makes builds and plays, under the name of a package that the SDK imports, too."""
    folder = tmp_path / "fmt"
    started = time.monotonic()
    kits.make_project(kits.load("go"), folder, "balloon-race")
    kit.shell(kit.commands(folder / "README.md")[0], folder)
    kit.timed("new project to first match", started)
    assert kit.shell("gofmt -l *.go && go mod tidy -diff", folder) == ""


def test_stubs_are_up_to_date(tmp_path: Path) -> None:
    """Generating them again changes nothing."""
    subprocess.run([SOURCE / "generate.sh", tmp_path], check=True, capture_output=True, timeout=kit.BUILD_TIMEOUT_S)
    kit.shell(f"diff -r arenapb {tmp_path}/arenapb", SOURCE)
