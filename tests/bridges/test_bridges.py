"""What people already have plays: each sample by `arena match`, and what a bridge says of a program that fails."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from botarena.bridges import from_file
from botarena.bridges.jsonlines import ProgramFailed, answer_of
from botarena.bridges.kaggle import Struct
from botarena.errors import Misconfigured

ROOT = Path(__file__).parents[2]
SAMPLES = "bots/bridges/samples"
PATIENT = ("--bank-ms", "600000", "--move-cap-ms", "60000")


def needs(package: str, extra: str) -> None:
    """Skips where an extra is missing; fails where CI should have it."""
    if importlib.util.find_spec(package) is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI must have the extra `{extra}`")
        pytest.skip(f"needs the extra `{extra}`")


def match(program: str, *, game: str, games: int, logs: Path | None = None) -> dict[str, Any]:
    """The program's row and the games of a match against `random`."""
    words = [sys.executable, "-m", "arena", "match", f"{sys.executable} {program}", "random", "--json", *PATIENT]
    words += ["--game", game, "--games", str(games)] + (["--logs", str(logs)] if logs else [])
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout)
    return {**report["bots"][0], "reasons": [game["reasons"] for game in report["games"]]}


@pytest.mark.parametrize(
    ("program", "games"),
    [
        (f"-m botarena.bridges.kaggle {SAMPLES}/kaggle_agent.py --game balloon-challenge", 6),
        (f"-m botarena.bridges.jsonlines -- {sys.executable} {SAMPLES}/lines_bot.py", 6),
        (f"-m botarena.bridges.jsonlines --events -- {sys.executable} {SAMPLES}/lines_bot.py", 2),
    ],
)
def test_simple_programs_play_and_win(program: str, games: int) -> None:
    """The Kaggle-style function and the program of JSON lines beat random play, without a fault."""
    row = match(program, game="balloon-challenge", games=games)
    assert row["faults"] == 0
    assert row["wins"] >= games - 1


def test_an_openspiel_bot_plays() -> None:
    """OpenSpiel's IS-MCTS, searching through our adapter."""
    needs("pyspiel", "openspiel")
    assert match(f"-m bots.bridges.openspiel {SAMPLES}/openspiel_bot.py", game="pop", games=2)["faults"] == 0


@pytest.mark.parametrize("game", ["pop", "balloon-pop"])
def test_a_pettingzoo_policy_plays(game: str) -> None:
    """With the observations and masks of our environments."""
    needs("pettingzoo", "pettingzoo")
    assert match(f"-m bots.bridges.pettingzoo {SAMPLES}/pettingzoo_policy.py", game=game, games=2)["faults"] == 0


def test_a_program_that_ends_loses_at_once(tmp_path: Path) -> None:
    """Its games are given up, not lost on time, and the log says why."""
    program = tmp_path / "ends.py"
    program.write_text("import sys; sys.stdin.readline(); sys.exit(3)\n")
    row = match(f"-m botarena.bridges.jsonlines -- {sys.executable} {program}", game="pop", games=2, logs=tmp_path)
    assert [reasons.count("NORMAL") for reasons in row["reasons"]] == [1, 1]
    assert {reason for reasons in row["reasons"] for reason in reasons} == {"NORMAL", "MALFORMED"}
    log = next(tmp_path.glob("0-*.log")).read_text()
    assert "ProgramFailed: the program has" in log


@pytest.mark.parametrize(
    ("line", "answer"),
    [("3\n", 3), ('"drop"\n', "drop"), ('{"action": 3}', 3), ('{"action": "drop", "comment": "why"}', ("drop", "why"))],
)
def test_answers(line: str, answer: object) -> None:
    """An id, a text, or either with a comment."""
    assert answer_of(line) == answer


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "closed its standard output"),
        ("thinking...\n", "no JSON: 'thinking"),
        ("true", "not 'true'"),
        ("[1]", "the answer is an id"),
        ("{}", "the answer is an id"),
        ('{"action": 1, "comment": 2}', "the answer is an id"),
    ],
)
def test_answers_that_make_no_sense(line: str, said: str) -> None:
    """The error says what came and what would be right."""
    with pytest.raises(ProgramFailed, match=said):
        answer_of(line)


def test_files_that_are_not_what_they_should_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that says what is missing."""
    monkeypatch.setattr(sys, "path", [*sys.path])  # which gets the folder of a random.py
    with pytest.raises(Misconfigured, match="there is no file"):
        from_file(str(tmp_path / "nothing.py"), "agent")
    (tmp_path / "random.py").write_text("def play(): pass\n")
    with pytest.raises(Misconfigured, match="does not define agent"):
        from_file(str(tmp_path / "random.py"), "agent")


def test_a_struct_is_read_both_ways() -> None:
    """As Kaggle's are."""
    struct = Struct(a=1)
    struct.b = 2
    assert (struct.a, struct["b"]) == (1, 2)
    with pytest.raises(AttributeError):
        struct.c  # noqa: B018


def test_information_states_are_what_the_seat_has_seen() -> None:
    """An OpenSpiel bot's state has the very information state string that the adapter gives for the real position."""
    needs("pyspiel", "openspiel")
    code = """
from random import Random
import engines, pyspiel
from botarena import Clock, Legal, Action, Event, Match, TimeControl, View, codecs
from botarena.v1 import play_pb2 as pb
from bots.bridges.openspiel import bot_of
from engines.adapters.openspiel_position import Position
from engines.playout import advance, pick

strings = []
class Listener(pyspiel.Bot):
    def __init__(self, player):
        pyspiel.Bot.__init__(self); self.player = player
    def step(self, state):
        strings.append(state.information_state_string(self.player))
        assert state.current_player() == self.player
        return state.legal_actions()[0]

checked = 0
for name in engines.names():
    game, rng = engines.get(name), Random(7)
    for seat in range(2):
        bot = bot_of(lambda _game, player: Listener(player))()
        position = Position.opening(game.new_state(2))
        config = position.state.config
        bot.on_match_start(Match("g", name, 2, config, 1, seat, (), TimeControl(1, 1, 1), False, False, 1, 0, b"", b""))
        seq = 0
        while not position.state.is_terminal and seq < 60:
            before = position.state
            if outcomes := before.chance():
                event = pick(outcomes, rng)
                seen = before.sees(seat, None, event)
                text = game.text(event) if seen else game.text(event).split()[0] + " ?"
                bot.on_event(Event(seq, "chance", None, event, text))
                position = position.after(event - game.num_actions)
                seq += 1
                continue
            joint = {actor: rng.choice(before.legal(actor)) for actor in before.actors()}
            if seat in joint:
                message = pb.View(seat=seat)
                codecs.encode_view(name, before.view(seat), message)
                match = Match("g", name, 2, config, 1, seat, (), TimeControl(1, 1, 1), False, False, 1, 0, b"", b"")
                view = View(match, seq, 0, message=message)
                legal = Legal([Action(a, game.text(a)) for a in before.legal(seat)])
                bot.act(view, legal, Clock(1, 1))
                real = position
                while real.to_move() != seat:
                    real = real.after(joint[real.to_move()])
                assert strings.pop() == real.knowledge(seat), name
                checked += 1
            for actor, action in joint.items():
                seen = actor == seat or before.sees(seat, actor, action)
                text = game.text(action) if seen else game.text(action).split()[0] + " ?"
                bot.on_event(Event(seq, "seat", actor, action, text))
            for actor in sorted(joint):
                position = position.after(joint[actor])
            seq += 1
print(checked)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) > 50
