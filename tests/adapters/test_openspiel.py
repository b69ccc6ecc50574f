"""Our games in OpenSpiel: its own test suites, and what its strings must and must not tell.

Each test runs a program of its own, since a fault in OpenSpiel's C++ ends the process.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import textwrap

import pytest

if importlib.util.find_spec("pyspiel") is None:
    if os.environ.get("CI") == "true":
        raise ModuleNotFoundError("CI must have the extra `openspiel`")
    pytest.skip("needs the extra `openspiel`: uv sync --all-packages --extra openspiel", allow_module_level=True)

PRELUDE = """
import random
import numpy as np
import pyspiel
from engines.adapters.openspiel import NAMES
from engines.conformance import cases

def games(*names):
    \"\"\"Our games at each number of players, and with each option changed.\"\"\"
    for name in names or NAMES:
        simple = pyspiel.load_game(name)
        for case in cases(simple.engine):
            yield pyspiel.load_game(name, {"players": case.players, **case.config})

def random_states(game, rng):
    state = game.new_initial_state()
    while not state.is_terminal():
        yield state
        if state.is_chance_node():
            outcomes, weights = zip(*state.chance_outcomes())
            state.apply_action(rng.choices(outcomes, weights)[0])
        elif state.is_simultaneous_node():
            state.apply_actions([rng.choice(state.legal_actions(p)) for p in range(game.num_players())])
        else:
            state.apply_action(rng.choice(state.legal_actions()))
    yield state
"""


def run(program: str) -> str:
    """What ``program`` prints, run after the prelude; fails with its output if it fails."""
    code = PRELUDE + textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def test_what_is_registered():
    """Every game has a sequential form, and those with joint decisions a simultaneous one."""
    names = run("print(*NAMES)").split()
    forms = ["balloon_challenge", "balloon_pop", "balloon_pop_simultaneous", "balloon_race", "pop", "pop_simultaneous"]
    assert set(names) >= {f"botarena_{form}" for form in forms}
    assert "botarena_balloon_race_simultaneous" not in names


def test_random_sim_test():
    """OpenSpiel's random simulations, with cloning and serialisation, accept every form at every number of players and variant."""
    out = run(
        """
        for game in games():
            pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
            print("done", game)
        """
    )
    assert out.count("done") >= 22


def test_games_sim_test():
    """OpenSpiel's Python simulations pass at every number of players, pickling included; simultaneous forms also as turn-based."""
    run(
        """
        from open_spiel.python.tests.games_sim_test import GamesSimTest
        suite = GamesSimTest("test_breakthrough")
        for game in games():
            suite.sim_game(game)
            if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
                suite.sim_game(pyspiel.convert_to_turn_based(game))
        """
    )


def test_api_test():
    """OpenSpiel's API suite for games too large to enumerate passes at every number of players."""
    run(
        """
        import sys, unittest
        from open_spiel.integration_tests.api_test import EnforceAPIOnPartialTreeBase
        suite = unittest.TestSuite()
        for name in NAMES:
            low, high = (getattr(pyspiel.load_game(name).engine, f"{end}_players") for end in ("min", "max"))
            for players in range(low, high + 1):
                case = type(f"{name}_{players}p", (EnforceAPIOnPartialTreeBase,), {})
                case.game_name, case.game = name, pyspiel.load_game(name, {"players": players})
                suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
        result = unittest.TextTestRunner().run(suite)
        assert result.testsRun > 50
        sys.exit(not result.wasSuccessful())
        """
    )


def test_worlds_resampled_from_an_information_state():
    """A resampled state gives the player the same strings and actions, differs elsewhere in some place, and plays to the end."""
    run(
        """
        rng = random.Random(1)
        for game in games():
            if game.get_type().dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
                continue
            differ = False
            for state in random_states(game, rng):
                if state.is_chance_node() or state.is_terminal() or rng.random() < 0.7:
                    continue
                me = state.current_player()
                world = state.resample_from_infostate(me, pyspiel.UniformProbabilitySampler(rng.getrandbits(30), 0.0, 1.0))
                assert world.information_state_string(me) == state.information_state_string(me)
                assert world.observation_string(me) == state.observation_string(me)
                assert world.legal_actions() == state.legal_actions()
                differ |= str(world) != str(state)
                copy = world.clone()
                assert str(copy) == str(world)
                while not copy.is_terminal():
                    choices = copy.chance_outcomes() if copy.is_chance_node() else [(a, 1) for a in copy.legal_actions()]
                    copy.apply_action(rng.choices(*zip(*choices))[0])
                assert abs(sum(copy.returns())) < 1e-9
            assert differ or "balloon_pop" in str(game), game  # whose hidden things are no part of a position
        """
    )


def test_sequential_choices_stay_hidden():
    """In the sequential form of a joint decision the second seat's strings do not depend on what the first chose."""
    run(
        """
        rng = random.Random(2)
        checked = 0
        for state in random_states(pyspiel.load_game("botarena_pop"), rng):
            if state.is_chance_node() or state.is_terminal() or state.current_player() != 0:
                continue
            a, b = (state.child(action) for action in rng.sample(state.legal_actions(), 2))
            assert a.information_state_string(1) == b.information_state_string(1)
            assert a.observation_string(1) == b.observation_string(1)
            assert a.information_state_string(0) != b.information_state_string(0)
            checked += 1
        assert checked == 8
        """
    )


def test_information_states_remember():
    """An information state holds what a player has seen: its own cards by name, and that others got cards."""
    run(
        """
        state = pyspiel.load_game("botarena_pop").new_initial_state()
        engine = pyspiel.load_game("botarena_pop").engine
        for text in ["row 11", "row 22", "row 13", "row 24", "row 15", "deal 1", "deal 2"]:
            state.apply_action(engine.parse(text) - engine.num_actions)
        mine, theirs = state.information_state_string(0), state.information_state_string(1)
        assert "chance: deal 1\\n" in mine and "chance: deal ?\\n" in mine and "deal 2" not in mine
        assert "chance: deal 2\\n" in theirs and "chance: deal ?\\n" in theirs and "deal 1" not in theirs
        """
    )


@pytest.mark.parametrize("search", ["mcts", "ismcts"])
def test_searches_play_every_game(search: str):
    """OpenSpiel's Python MCTS and IS-MCTS finish a match of each sequential form against random players."""
    run(
        f"""
        from open_spiel.python.algorithms import ismcts, mcts
        rng = random.Random(3)
        for name in NAMES:
            game = pyspiel.load_game(name)
            if game.get_type().dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
                continue
            noise = np.random.RandomState(3)
            evaluator = mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=noise)
            if {search!r} == "mcts":
                bot = mcts.MCTSBot(game, 1.4, 4, evaluator, random_state=noise)
            else:
                bot = ismcts.ISMCTSBot(game, evaluator, 1.4, 4, random_state=noise)
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes, weights = zip(*state.chance_outcomes())
                    state.apply_action(rng.choices(outcomes, weights)[0])
                elif state.current_player() == 0:
                    state.apply_action(bot.step(state))
                else:
                    state.apply_action(rng.choice(state.legal_actions()))
            print(name, state.returns())
        """
    )
