"""The command line as a whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from arena import settings
from arena.bench.processes import free_port
from arena.cli import application
from arena.cli import up as up_module
from arena.cli.up import prepare, up
from arena.settings import Settings

WHOLE = typer.main.get_command(application())


def commands(command: Any) -> dict[str, Any]:
    """The commands of a group by name, and theirs within; of a single command none."""
    return {name: commands(inner) for name, inner in getattr(command, "commands", {}).items()}


@pytest.mark.parametrize("name", sorted(commands(WHOLE)))
def test_a_command_alone_is_the_same_command(name: str) -> None:
    """What is loaded for one command has that command, and all of its group, as the whole application does."""
    assert commands(typer.main.get_command(application(name)))[name] == commands(WHOLE)[name]


def test_a_process_of_the_arena_does_not_load_the_rest() -> None:
    """A gateway that starts again waits for no tournament's or ladder's modules."""
    program = "import sys; from arena.cli import application; application('gateway'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "arena.cli.processes" in loaded
    assert not {"arena.cli.tournament", "arena.cli.ladder", "numpy", "sqlalchemy"} & set(loaded)


@pytest.mark.parametrize("words", [["--help"], ["nothing-of-the-sort"], []])
def test_without_a_command_all_are_there(words: list[str]) -> None:
    """Help lists every command that is not hidden, and a word that is none is told as such."""
    done = subprocess.run([sys.executable, "-m", "arena", *words], capture_output=True, text=True, check=False)
    assert ("tournament" in done.stdout and "doctor" in done.stdout) or "nothing-of-the-sort" in done.stderr


@pytest.mark.parametrize("command", ["up", "gateway", "web", "prepare"])
def test_a_folder_that_cannot_be_is_told_in_one_line(command: str, tmp_path: Path) -> None:
    """What the system says of a file is for whoever gave its name, and no matter of tracebacks."""
    (tmp_path / "file").touch()
    environment = {**os.environ, "ARENA_DATA_DIR": str(tmp_path / "file" / "arena-data")}
    words = [sys.executable, "-m", "arena", command]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert done.stderr == f"arena: Not a directory: {tmp_path / 'file' / 'arena-data'}\n"


BEGINNERS = {"up", "demo"}
"""Commands that may make an arena where there is none."""
WORDS = {"name": "balloon-pop-2p", "ladder": "balloon-pop-2p", "first": "a", "second": "b", "bot": "a", "event": "cup"}


def takers(command: Any, *path: str) -> list[tuple[str, ...]]:
    """Every command that takes ``--data-dir``, with words for its arguments, but those of events, which take a file."""
    if inner := getattr(command, "commands", None):
        return [found for name, one in inner.items() for found in takers(one, *path, name)]
    taken = {option for parameter in command.params for option in parameter.opts}
    if "--data-dir" not in taken or path[0] in {*BEGINNERS, "tournament"}:
        return []
    arguments = [one for one in command.params if one.param_type_name == "argument" and one.required]
    return [(*path, *(WORDS[one.name] for one in arguments))]


@pytest.mark.parametrize("words", takers(WHOLE), ids=" ".join)
def test_where_no_arena_is_none_is_made(words: tuple[str, ...], tmp_path: Path) -> None:
    """A misspelt folder is no empty arena in which all is well."""
    folder = tmp_path / "arena-dta"
    command = [sys.executable, "-m", "arena", *words, "--data-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"arena: there is no arena in {folder}: `arena up` begins one"), done.stderr
    assert not folder.exists()


WRONG = {
    "no Redis": (["up", "--redis-url", "redis://127.0.0.1:1"], "no Redis answers at redis://127.0.0.1:1"),
    "a gateway for everybody": (["up"], "gateway: 0.0.0.0:0 is not a loopback address"),
    "a damaged database": (["up"], "the database is damaged: file is not a database"),
    "half a command": (["match", "random", "python 'x"], '"python \'x" is no command: No closing quotation'),
    "a clock for ever": (["match", "random", "random", "--bank-ms", "99999999999999999999"], "1000000000"),
    "a port beyond the last": (["up"], "65535 is the last: set worker.metrics_listen to a lower port"),
    "a folder for a file": (["export", "pop-2p", "-o", "."], ". is a folder: --output names the file to write"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_is_told_at_once(what: str, tmp_path: Path) -> None:
    """No traceback, and no arena that seems to run and in which nothing is ever played."""
    words, told = WRONG[what]
    own = {f"ARENA_{name}": f"127.0.0.1:{free_port()}" for name in ADDRESSES}
    folder = tmp_path / "data"
    folder.mkdir()
    if what == "a damaged database":
        (folder / "arena.db").write_text("garbage " * 100)
    elif what == "a gateway for everybody":
        own["ARENA_GATEWAY_LISTEN"] = "0.0.0.0:0"
    elif what == "a port beyond the last":
        own |= {"ARENA_WORKER_METRICS_LISTEN": "127.0.0.1:65535", "ARENA_WORKER_PROCESSES": "2"}
    elif what == "a folder for a file":
        prepare(Settings(data_dir=folder))
    environment = {**os.environ, **own, "ARENA_DATA_DIR": str(folder)}
    command = [sys.executable, "-m", "arena", *words]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=90, cwd=tmp_path
    )
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


ADDRESSES = (
    "GATEWAY_LISTEN",
    "GATEWAY_METRICS_LISTEN",
    "SCHEDULER_METRICS_LISTEN",
    "WEB_LISTEN",
    "WORKER_METRICS_LISTEN",
)


def test_up_hands_its_file_to_all_of_its_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scheduler would open the standard ladders again, and close those of the file."""
    file = tmp_path / "mine.toml"
    file.write_text('[[ladders]]\ngame = "pop"\nplayers = 2\nslug = "only"\n')
    started: list[Settings] = []

    async def run(chosen: Settings) -> None:
        started.append(chosen)

    monkeypatch.setenv("ARENA_CONFIG", "")  # and back to what it was
    monkeypatch.setattr(up_module, "_run", run)
    monkeypatch.chdir(tmp_path)
    up(config=Path("mine.toml"))
    monkeypatch.chdir("/")
    assert settings.load() == started[0]
    assert [ladder.slug for ladder in started[0].ladders] == ["only"]
