"""`arena new`: from an empty folder to a bot on an arena. That each language's project builds and plays is in its own
module beside this one."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arena import kits
from arena.cli import application
from arena.errors import UserError
from tests.languages import kit

UV = shutil.which("uv") or str(kit.ROOT / ".tools" / "bin" / "uv")


def new(*words: str) -> str:
    """What `arena new` prints. Raises what it raises."""
    outcome = CliRunner().invoke(application(), ["new", *words])
    if outcome.exception is not None:
        raise outcome.exception
    return outcome.stdout


def test_python_from_an_empty_folder_to_a_running_arena(tmp_path: Path) -> None:
    """The commands that it prints are those of the project's README; they play a match, and then the same file on an
    arena."""
    started = time.monotonic()
    printed = kit.shell("arena new my-bot --lang python --game balloon-pop", tmp_path)
    folder = tmp_path / "my-bot"
    commands = [line.strip() for line in printed.splitlines() if line.startswith("    ")]
    assert commands[0] == "cd my-bot"
    table = kit.shell(commands[1], folder)
    kit.timed("arena new to the first finished match, Python", started)
    assert "balloon-pop, 10 games" in table
    readme = "".join(kit.commands(folder / "README.md")).splitlines()
    assert readme == commands[1:]
    kit.plays_on_a_running_arena(folder, readme[-1], "balloon-pop")


def test_a_new_python_bot_conforms(tmp_path: Path) -> None:
    """In what the template itself could get wrong; the SDK has the whole kit behind it."""
    kit.shell("arena new my-bot", tmp_path)
    only = "--only ready --only play-balloon-challenge --only cut-act"
    kit.shell(f"arena conformance --strict {only} -- python bot.py", tmp_path / "my-bot")


@pytest.mark.parametrize("language", kits.languages())
def test_every_kit_makes_a_project(language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Named everywhere, with its SDK, and with a README of the commands that are printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    printed = new("my-bot", "--lang", language, "--game", "pop")
    project = tmp_path / "my-bot"
    own = [path for path in project.rglob("*") if path.is_file()]
    assert not [path for path in own if "{{" in str(path)]
    template = kits.FOLDER / language / "template"
    named = [project / path.relative_to(template) for path in template.rglob("*") if path.is_file()]
    assert not [path for path in named if path.is_file() and "{{name}}" in path.read_text()]
    readme = (project / "README.md").read_text()
    for line in printed.splitlines():
        if line.startswith("    ") and not line.startswith("    cd "):
            assert line.strip() in readme
    if (sdk := kits.load(language).sdk) is not None:
        assert [path for path in (project / sdk.folder).rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["there"], "there is there already"),
        (["My-Bot"], "is no name for a bot"),
        (["a/b"], "is no name for a bot"),
        (["heuristic"], "belongs to a house bot"),
        (["botarena"], "the name 'botarena' is taken by the tools of Python: choose another, as my-botarena"),
        (["build", "--lang", "rust"], "the name 'build' is taken by the tools of Rust"),
        (["v12", "--lang", "go"], "the name 'v12' is taken by the tools of Go"),
        (["my-bot", "--lang", "cobol"], "there is no kit for 'cobol'; there are: .*python"),
        (["my-bot", "--game", "chess"], "no game 'chess' is installed"),
    ],
)
def test_what_cannot_be_made(words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Says why, and makes nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    with pytest.raises(UserError, match=said):
        new(*words)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_a_missing_tool_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UserError, match=r"a bot in Go needs Go 1\.\d+ or newer: https://"):
        new("my-bot", "--lang", "go")
    assert not list(tmp_path.iterdir())


def test_the_wheel_has_every_kit(tmp_path: Path) -> None:
    """All of each template and SDK, and nothing that was built."""
    command = [UV, "build", "--quiet", "--wheel", "--out-dir", str(tmp_path), str(kit.ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=kit.BUILD_TIMEOUT_S)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for language in kits.languages():
        loaded = kits.load(language)
        wanted = {*loaded.folder.glob("template/**/*"), loaded.folder / "kit.toml"}
        for pattern in loaded.sdk.include if loaded.sdk else ():
            wanted |= set(loaded.folder.glob(pattern))
        paths = {str(path.relative_to(kit.ROOT)) for path in wanted if path.is_file()}
        assert paths <= names, language
    assert not [name for name in names if re.match(r"bots/.*/(node_modules|target|build|bin|dist)/", name)]
