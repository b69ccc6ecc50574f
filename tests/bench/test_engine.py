"""`arena bench engine`: who takes part, that forms count alike, and the document it prints."""

from __future__ import annotations

import json
from random import Random

import pytest
from typer.testing import CliRunner

import engines
from arena.bench.contestants import OPENSPIEL_CPP, OPENSPIEL_PYTHON, PETTINGZOO, Contestant, Played, contestants
from arena.bench.engine import Rates, Result, ratio
from arena.cli import application

pytest.importorskip("pyspiel")
pytest.importorskip("pettingzoo")


def test_everybody_takes_part():
    """Each game at its least and greatest number of players in three forms, and the frameworks' own games."""
    found, left_out = contestants(engines.names())
    assert left_out == []
    for name in engines.names():
        game = engines.get(name)
        for players in {game.min_players, game.max_players}:
            assert {c.form for c in found if (c.game, c.players) == (name, players)} == {
                "native",
                "openspiel",
                "pettingzoo",
            }
    assert {c.game for c in found if c.form in ("OpenSpiel C++", "OpenSpiel Python", "PettingZoo")} == {
        *OPENSPIEL_CPP,
        *OPENSPIEL_PYTHON,
        *PETTINGZOO,
    }


def test_forms_count_alike():
    """POP! has the same number of events in each game: native and through OpenSpiel all of them, through PettingZoo the decisions."""
    for contestant in contestants(["pop"])[0]:
        if contestant.game == "pop":
            game = engines.get("pop")
            decisions, events = contestant.playout(Random(1))
            assert decisions == 8 * contestant.players
            all_events = game.max_events(contestant.players, game.complete_config(contestant.players, {}))
            assert events == (decisions if contestant.form == "pettingzoo" else all_events)


def test_ratios_compare_within_rounds():
    """A machine that is half as fast in one round does not move the ratio."""
    contestant = Contestant("pop", "native", 2, lambda rng: Played(1, 1))
    mine = Result(contestant, [Rates(1, 1, events) for events in (300, 150, 300)])
    theirs = Result(contestant, [Rates(1, 1, events) for events in (100, 50, 100)])
    assert ratio(mine, theirs) == 3


def test_the_document():
    """`--json` prints rates and ratios of every contestant, the baselines' own being 1."""
    done = CliRunner().invoke(application(), ["bench", "engine", "--seconds", "0.05", "--game", "pop", "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    rows = {(row["game"], row["form"], row["players"]): row for row in document["contestants"]}
    assert len(rows) == 6 + len(OPENSPIEL_CPP) + len(OPENSPIEL_PYTHON) + len(PETTINGZOO)
    assert rows["python_tic_tac_toe", "OpenSpiel Python", 2]["to_baseline"] == 1
    assert rows[document["pettingzoo_fastest"], "PettingZoo", 2]["to_pettingzoo_fastest"] == 1
    events = rows["pop", "native", 2]["events_per_s"]
    assert 0 < events["min"] <= events["median"] <= events["max"]


def test_profile():
    """`--profile` names the functions that the time goes into."""
    done = CliRunner().invoke(application(), ["bench", "engine", "--profile", "pop", "--seconds", "0.05"])
    assert done.exit_code == 0, done.output
    assert "apply_chance" in done.stdout
