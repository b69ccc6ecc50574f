"""The Java kit from an empty folder, by the commands of its README."""

from __future__ import annotations

import time
import zipfile
from pathlib import Path

import pytest

from arena import kits
from tests.languages import kit

kit.needs("javac", "mvn")

SOURCE = kit.ROOT / "bots" / "java"
IMPORTS = r"^import .*?;\n"
JAR = "java -cp examples/target/examples.jar"
EXAMPLE = f"{JAR} BalloonChallengeBot"
FORMATTER = "com.google.googlejavaformat:google-java-format:1.28.0:jar:all-deps"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, after the first commands of the README: build with JUnit's tests, and games by `arena match`."""
    folder = tmp_path_factory.mktemp("java")
    kit.copy_tree(SOURCE, folder)
    started = time.monotonic()
    kit.shell(kit.commands(folder / "README.md")[0], folder)
    kit.timed("build and first match", started)
    return folder


def test_its_own_tests_passed(built: Path) -> None:
    """Surefire ran them in the build."""
    reports = [path.read_text() for path in built.glob("*/target/surefire-reports/*.txt")]
    assert len(reports) >= 3
    assert all("Failures: 0, Errors: 0, Skipped: 0" in report for report in reports)


def test_formatted(built: Path) -> None:
    """google-java-format would change nothing."""
    copy = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
    kit.shell(f"mvn -q -N {copy} -Dartifact={FORMATTER} -DoutputDirectory=target -Dmdep.stripVersion=true", built)
    check = "java -jar target/google-java-format-all-deps.jar --dry-run --set-exit-if-changed"
    kit.shell(f"{check} $(find botarena/src examples/src template -name '*.java')", built)


def test_the_package_is_in_form(built: Path) -> None:
    """The SDK's jar has its classes and those of the protocol, and no test."""
    names = set(zipfile.ZipFile(built / "botarena" / "target" / "botarena-0.1.0.jar").namelist())
    assert {"botarena/BotArena.class", "botarena/v1/Play.class", "botarena/games/pop/v1/Pop.class"} <= names
    assert not [name for name in names if "Test" in name]


def test_raw_random_is_short() -> None:
    """At most 25 lines without imports; that it plays every game is for the conformance kit to say."""
    assert kit.bare_lines(SOURCE / "examples" / "src" / "main" / "java" / "RawRandom.java", imports=IMPORTS) <= 25


def test_the_example_beats_random(built: Path) -> None:
    """The typed bot for Balloon Challenge wins most of its games."""
    bots = kit.match(built, EXAMPLE, "random", game="balloon-challenge", games=20)
    assert kit.faults(bots) == 0
    assert bots["BalloonChallengeBot"]["score"] >= 0.8


def test_conformance(built: Path) -> None:
    """The SDK does all that is recommended, the bare bot what is required."""
    kit.conformance(built, EXAMPLE, strict=True)
    kit.conformance(built, f"{JAR} RawRandom", strict=False)


def test_plays_on_a_running_arena(built: Path) -> None:
    """The last command of the README: the same program, on an arena; SIGTERM ends it with status 0."""
    command = kit.commands(built / "README.md")[-1].splitlines()[-1]
    kit.plays_on_a_running_arena(built, command, "balloon-challenge")


def test_a_new_project_plays(tmp_path: Path) -> None:
    """What `arena new` makes builds and plays."""
    folder = tmp_path / "my-bot"
    started = time.monotonic()
    kits.make_project(kits.load("java"), folder, "balloon-pop")
    kit.shell(kit.commands(folder / "README.md")[0], folder)
    kit.timed("new project to first match", started)
