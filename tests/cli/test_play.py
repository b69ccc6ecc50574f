"""`arena play`: a person, here a script, plays whole games against house bots in other processes."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

import engines
from arena.cli import application
from arena.cli.colours import PATTERNS, painted
from arena.errors import UserError

ARENA = [sys.executable, "-m", "arena"]
ENVIRONMENT = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "50"}


def piped(*words: str, typed: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ARENA, "play", *words], input=typed, capture_output=True, text=True, timeout=120, check=False, env=ENVIRONMENT
    )


@pytest.mark.parametrize("game", ["balloon-challenge", "balloon-pop", "balloon-race", "pop"])
def test_a_whole_game(game: str):
    """Seeded choices, some of them impossible and asked again, lead to a ranking."""
    rng = Random(1)
    typed = "".join(f"{rng.choice(['', 'd', rng.randrange(1, 51), rng.randrange(1, 9)])}\n" for _ in range(3000))
    players = engines.get(game).min_players + 1
    words = (game, "--against", "random", "-a", "greedy", "--players", str(players), "--seat", "1", "--seed", "7")
    done = piped(*words, typed=typed)
    assert done.returncode == 0, done.stderr
    text = done.stdout
    assert "\x1b" not in text, "no control characters where nobody looks"
    assert "you are seat 1, against random (seat 0), greedy (seat 2)" in text
    assert "is not possible now" in text
    assert "chance: " in text
    ranking = text.splitlines()[-players:]
    assert [line[0] for line in ranking] == sorted(line[0] for line in ranking)
    assert sum(" you, " in line for line in ranking) == 1
    assert {re.sub(r"^\d\. (.*), -?\d+ points$", r"\1", line) for line in ranking} == {
        "you",
        "random (seat 0)",
        "greedy (seat 2)",
    }


def test_a_seed_repeats_the_game():
    """The same choices with the same seed lead to the same game, bots' moves included."""
    words = ("pop", "--against", "greedy", "--seed", "5")
    first, second = (piped(*words, typed="1\n" * 100).stdout for _ in range(2))
    assert first == second
    assert "1. " in first


def test_the_person_sees_only_what_the_seat_may():
    """Cards dealt to others come as ``?``, and nobody's hand but one's own is on the table."""
    done = piped("balloon-challenge", "--against", "random", "--seed", "3", typed="drop\n" * 50)
    assert done.returncode == 0
    dealt = [words for line in done.stdout.split("greedy")[0].splitlines() for words in re.findall(r"deal (\S+)", line)]
    assert "?" in dealt
    hands = re.findall(r"your hand (.*) ·", done.stdout)
    assert set(hands[0].split()) <= {word.rstrip(",") for word in dealt}


def test_help_and_unclear_beginnings():
    """`?` shows the rules, a beginning of several actions lists these, and Enter shows the table again."""
    done = piped("balloon-challenge", "--against", "random", "--seed", "3", typed="?\np\n\n")
    assert done.stdout.count("round 1 of 5") == 2
    assert "Ctrl-D leaves the game" in done.stdout
    lists = [line for line in done.stdout.splitlines() if line.startswith("play ")]
    assert len(lists) == 3
    assert lists[0] == lists[1] == lists[2]


def test_the_end_of_the_input_leaves_the_game():
    """Status 1 and a sentence, no traceback."""
    done = piped("pop", "--against", "random", typed="")
    assert done.returncode == 1
    assert done.stdout.endswith("You left the game.\n")
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("chess",), "no game 'chess'"),
        (("pop", "--seat", "2"), "--seat is 0 to 1 with 2 players"),
        (("pop", "--players", "9"), "2 to 5 players"),
        (("pop", "--against", "nobody"), "no house bot"),
        (("pop", "--config", "rounds=x"), "rounds"),
    ],
)
def test_mistakes_are_explained(words: tuple[str, ...], complaint: str):
    """What cannot be played is an error that says why, before any bot is started."""
    done = CliRunner().invoke(application(), ["play", *words])
    assert isinstance(done.exception, UserError)
    assert complaint in str(done.exception)


def _until(terminal: int, wanted: bytes, limit_s: float = 30) -> bytes:
    seen, end = b"", time.monotonic() + limit_s
    while wanted not in seen and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                seen += os.read(terminal, 1 << 16)
            except OSError:  # the other side has closed
                break
    return seen


@pytest.mark.parametrize(("key", "status"), [(b"\x03", 130), (b"\x04", 1)])
def test_on_a_terminal(key: bytes, status: int):
    """There are colours and a frame; Ctrl-C and Ctrl-D end it at once, and the bots with it."""
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # which a test in the background is started without
        words = [*ARENA, "play", "balloon-race", "--against", "heuristic", "--seed", "1"]
        os.execve(words[0], words, ENVIRONMENT)
    try:
        screen = _until(terminal, b"> \x1b[0m")
        assert b"\x1b[" in screen
        assert "╭".encode() in screen
        bots = _children(pid)
        assert bots
        os.write(terminal, key)
        rest = _until(terminal, b"You left the game.")
        assert b"You left the game." in rest
        assert b"Traceback" not in rest
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == status
        pid = 0
        assert not any(Path(f"/proc/{bot}").exists() for bot in bots)
    finally:
        if pid:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(terminal)


def _children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def test_colours_change_no_letter():
    """Every game of the house is painted, and the picture stays the same text."""
    assert set(PATTERNS) <= set(engines.names())
    for name in PATTERNS:
        picture = engines.get(name).new_state(3).render(0)
        assert painted(name, picture).plain == picture
    race = painted("balloon-race", " 0  .  R  @\n 1  .  .  B")
    assert {race.plain[span.start : span.end]: str(span.style) for span in race.spans} == {
        " .": "bright_black",
        "R": "bold red",
        " @": "bold cyan",
        "B": "bold bright_blue",
    }
    assert painted("somebody-elses", "R 1").spans == []
