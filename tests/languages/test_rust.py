"""The Rust kit from an empty folder, by the commands of its README."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from arena import kits
from tests.languages import kit

kit.needs("cargo", "cc")

SOURCE = kit.ROOT / "bots" / "rust"
IMPORTS = r"^use .*?;\n"
EXAMPLE = "target/debug/examples/balloon_race"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, after the first commands of the README: build, and games by `arena match`."""
    folder = tmp_path_factory.mktemp("rust")
    kit.copy_tree(SOURCE, folder)
    started = time.monotonic()
    kit.shell(kit.commands(folder / "README.md")[0], folder)
    kit.timed("build and first match", started)
    return folder


def test_its_own_tests_pass(built: Path) -> None:
    """`cargo test` in the copy, with the versions that Cargo.lock names."""
    kit.shell("cargo test --locked", built)


def test_formatted_and_linted(built: Path) -> None:
    """rustfmt would change nothing, and clippy finds nothing."""
    kit.shell("cargo fmt --check && cargo clippy --all-targets --locked -- -D warnings", built)


def test_the_package_is_in_form(built: Path) -> None:
    """`cargo package` takes what the crate needs to be built, and no more."""
    listed = kit.shell("cargo package --list --allow-dirty", built).splitlines()
    assert {"Cargo.lock", "LICENSE", "build.rs", "proto/botarena/v1/play.proto", "src/lib.rs"} <= set(listed)
    assert not [name for name in listed if name.startswith(("target", "template"))]


def test_raw_random_is_short() -> None:
    """At most 25 lines without imports; that it plays every game is for the conformance kit to say."""
    assert kit.bare_lines(SOURCE / "examples" / "raw_random.rs", imports=IMPORTS) <= 25


def test_the_example_beats_random(built: Path) -> None:
    """The typed bot for Balloon Race wins most of its games."""
    bots = kit.match(built, EXAMPLE, "random", game="balloon-race", games=20)
    assert kit.faults(bots) == 0
    assert bots["balloon_race"]["score"] >= 0.8


def test_conformance(built: Path) -> None:
    """The SDK does all that is recommended, the bare bot what is required."""
    kit.conformance(built, EXAMPLE, strict=True)
    kit.conformance(built, "target/debug/examples/raw_random", strict=False)


def test_plays_on_a_running_arena(built: Path) -> None:
    """The last command of the README: the same program, on an arena; SIGTERM ends it with status 0."""
    command = kit.commands(built / "README.md")[-1].splitlines()[-1]
    kit.plays_on_a_running_arena(built, command, "balloon-race")


def test_a_new_project_plays(tmp_path: Path) -> None:
    """What `arena new` makes builds and plays."""
    folder = tmp_path / "my-bot"
    started = time.monotonic()
    kits.make_project(kits.load("rust"), folder, "balloon-pop")
    kit.shell(kit.commands(folder / "README.md")[0], folder)
    kit.timed("new project to first match", started)
    kit.shell("cargo fmt --check", folder)
