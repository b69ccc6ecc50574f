"""The documents are true: links lead somewhere, commands and flags exist, code runs."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
import typer

from arena.cli import application

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "bots").glob("*/README.md")])
FENCE = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]


def commands_of(text: str) -> list[str]:
    """Lines of shell that call arena, from indented and fenced blocks and inline code."""
    inline = re.findall(r"`(arena [^`]+)`", text)
    lines = [line.strip() for line in text.splitlines() if re.match(r"^(    |\t)?arena [a-z]", line)]
    return [line.split("#")[0].split("|")[0].strip() for line in (*inline, *lines)]


def find(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that words name, and what is left of them."""
    command: click.Command = typer.main.get_command(application())
    while hasattr(command, "commands") and words and words[0] in command.commands:
        command, words = command.commands[words[0]], words[1:]
    return command, words


@pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)
def test_links_lead_somewhere(path: Path) -> None:
    """Each relative link and picture of a document exists."""
    for target in LINK.findall(FENCE.sub("", path.read_text())):
        if "://" not in target and not target.startswith("#"):
            assert (path.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)
def test_no_command_needs_what_a_fresh_clone_has_not(path: Path) -> None:
    """`make` puts uv into .tools, not on the path: who has only this project cannot type it."""
    assert not re.search(r"(?m)(^\s*|`)uvx? \w+", path.read_text())


@pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)
def test_commands_exist(path: Path) -> None:
    """Each `arena ...` that a document shows is a command, and its flags are that command's."""
    for line in commands_of(path.read_text()):
        words = shlex.split(line.replace("[", "").replace("]", ""))[1:]
        if not words or not re.fullmatch(r"[a-z-]+", words[0]):
            continue
        command, rest = find(words)
        assert not hasattr(command, "commands") or not rest or not re.fullmatch(r"[a-z]+", rest[0]), line
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        before_dashes = rest[: rest.index("--")] if "--" in rest else rest
        flags = {word.partition("=")[0] for word in before_dashes if re.match(r"--?[a-z]", word)}
        assert flags <= known | {"--help"}, line


@pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)
def test_python_compiles(path: Path) -> None:
    """Each block of Python in a document is Python."""
    for language, code in FENCE.findall(path.read_text()):
        if language == "python":
            ast.parse(code)


def test_first_bot_of_the_readme_plays(tmp_path: Path) -> None:
    """README's bot, copied into a file, plays a local match to its end without a fault."""
    code = next(code for language, code in FENCE.findall((ROOT / "README.md").read_text()) if language == "python")
    lines = [line for line in code.splitlines() if line.strip()]
    assert len(lines) <= 15
    (tmp_path / "mybot.py").write_text(code)
    played = subprocess.run(
        [sys.executable, "-m", "arena", "match", "mybot.py", "random", "--games", "4", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert played.returncode == 0, played.stderr
    assert played.stdout.count('"NORMAL"') == 8, played.stdout


def test_files_that_the_architecture_names_are_there() -> None:
    """`file.py` is in the folder that its line begins with, or in the one it names with the file."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    for line in re.split(r"\n- ", text)[1:]:
        if not (begins := re.match(r"`([\w/]+)/`", line)):
            continue
        for name in re.findall(r"`([\w/]+\.(?:py|proto|js))`", line):
            folder = ROOT if "/" in name else ROOT / begins[1]
            assert any(str(path).endswith(f"/{name}") for path in folder.rglob(Path(name).name)), f"{begins[1]}: {name}"
