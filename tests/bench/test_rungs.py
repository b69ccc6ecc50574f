"""`arena rungs`: the statistics, that sets repeat, and that a clear rung ends early."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from typer.testing import CliRunner

import engines
from arena.bench.rungs import Played, Rung, looks, play_set, rungs, sign_test
from arena.cli import application
from arena.errors import UserError

WON, DRAWN, LOST = Played(1.0, True, False), Played(0.5, False, True), Played(0.0, False, False)


def test_sign_test():
    """Golden values of the one-sided binomial test."""
    assert sign_test(0, 0) == 1
    assert sign_test(10, 0) == 2**-10
    assert sign_test(8, 2) == (45 + 10 + 1) / 2**10
    assert sign_test(0, 5) == 1


def test_sets_are_the_unit():
    """A set counts once, however its games went; a set that both won half of says nothing."""
    rung = Rung("pop", "a", "b", [(WON, WON), (WON, LOST), (WON, DRAWN), (LOST, LOST)])
    assert rung.counts() == (4, 1, 3)
    assert rung.p_value == sign_test(2, 1)
    assert rung.summary.sets == 4
    assert rung.summary.score == (1 + 0.5 + 0.75 + 0) / 4


def test_looks():
    """At most seven looks at a rung of a thousand games, the last one at the end."""
    assert list(looks(500)) == [16, 32, 64, 128, 256, 500]
    assert list(looks(10)) == [10]
    assert list(looks(16)) == [16]


@pytest.mark.parametrize("game", engines.names())
def test_every_rung_of_a_ladder(game: str):
    """Each game's rungs go from random to the search, without a gap."""
    found = rungs(game)
    assert found[0].lower == "random"
    assert found[-1].upper == "flatmc-200"
    assert all(above.lower == below.upper for below, above in pairwise(found))


def test_a_set_repeats_and_shares_its_deal():
    """The same number is the same set; each seat is had once; equal bots that use no chance of their own tie a set."""
    once, again, other = (play_set("pop", "random", "greedy", 1, number) for number in (3, 3, 4))
    assert once == again
    assert len(once) == 2
    assert once != other or once[0].won
    mirror = play_set("balloon-challenge", "greedy", "greedy", 1, 5)
    assert sum(game.score for game in mirror) == 1


def test_the_command():
    """A clear rung ends after the first look; the document says who beat whom how clearly."""
    done = CliRunner().invoke(
        application(), ["rungs", "balloon-challenge", "--games", "40", "--jobs", "1", "--json", "--to", "heuristic"]
    )
    assert done.exit_code == 0, done.output
    first, second = json.loads(done.stdout)["rungs"]
    assert (first["lower"], first["upper"]) == ("random", "greedy")
    assert first["games"] == 32
    assert first["p"] < 0.001
    assert first["wins"] + first["draws"] + first["losses"] == first["games"]
    assert second["upper"] == "heuristic"


def test_an_unknown_rung_is_refused():
    """`--to` names a bot of the game."""
    done = CliRunner().invoke(application(), ["rungs", "pop", "--to", "nobody"])
    assert isinstance(done.exception, UserError)
    assert "heuristic" in str(done.exception)
