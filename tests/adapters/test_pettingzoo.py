"""Our games in PettingZoo: its own test suites, and what its observations must and must not tell."""

from __future__ import annotations

import copy
import importlib.util
import os
import warnings
from random import Random
from typing import Any

import pytest

if importlib.util.find_spec("pettingzoo") is None:
    if os.environ.get("CI") == "true":
        raise ModuleNotFoundError("CI must have the extra `pettingzoo`")
    pytest.skip("needs the extra `pettingzoo`: uv sync --all-packages --extra pettingzoo", allow_module_level=True)

import numpy as np
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test

import engines
from engines.adapters.pettingzoo import SimultaneousEnv, env, layout, parallel_env
from engines.adapters.pettingzoo_table import Table
from engines.conformance import Case, cases
from engines.playout import choose, pick

CASES = [case for name in engines.names() for case in cases(engines.get(name))]

EXPECTED_WARNINGS = (
    "Observation space for each agent probably should be gymnasium.spaces.box",  # a dict, for the action mask
    "Observation is not a NumPy array",
)

each_case = pytest.mark.parametrize("case", CASES, ids=str)


def arguments(case: Case) -> dict[str, Any]:
    return {"game": case.game.name, "players": case.players, **case.config}


@each_case
def test_aec_suites(case: Case, capsys: pytest.CaptureFixture[str]):
    """PettingZoo's suites for AEC environments pass, and warn of nothing but that observations are dicts."""

    def make(render_mode: str | None = None) -> Any:
        return env(**arguments(case), render_mode=render_mode)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(make(), num_cycles=500)
        seed_test(make, num_cycles=200)
        render_test(make)
    assert {str(w.message) for w in caught if not str(w.message).startswith(EXPECTED_WARNINGS)} == set()
    assert "Passed API test" in capsys.readouterr().out


@each_case
def test_parallel_suites(case: Case):
    """PettingZoo's suites for parallel environments pass."""
    parallel_api_test(parallel_env(**arguments(case)), num_cycles=500)
    parallel_seed_test(lambda: parallel_env(**arguments(case)), num_cycles=200)


@each_case
def test_parallel_where_seats_decide_at_once(case: Case):
    """Games with joint decisions, and no others, have a parallel form of their own."""
    at_once = case.game.name == "pop" or bool(case.config.get("simultaneous_cards"))
    assert isinstance(parallel_env(**arguments(case)), SimultaneousEnv) == at_once


@each_case
def test_encoding_tells_what_the_view_tells(case: Case):
    """In random games different views of a seat have different numbers, all within their bounds, and equal views equal ones."""
    state, rng = case.new_state(), case.rng("encoding")
    encoding = case.game.encoding(case.players, state.config)
    assert encoding is not None
    low, high = np.array(encoding.low), np.array(encoding.high)
    seen: dict[tuple[int, ...], tuple[int, str]] = {}
    while not state.is_terminal:
        if outcomes := state.chance():
            state = state.apply_chance(pick(outcomes, rng))
            continue
        for seat in range(case.players):
            numbers = encoding.encode(state.view(seat))
            assert (low <= numbers).all()
            assert (numbers <= high).all()
            assert encoding.encode(state.resample(seat, rng).view(seat)) == numbers
            key = (seat, *numbers)
            assert seen.setdefault(key, (seat, state.info_key(seat))) == (seat, state.info_key(seat))
        state = state.apply({seat: choose(state.legal(seat), rng) for seat in state.actors()})
    for seat in (None, *range(case.players)):
        numbers = encoding.encode(state.view(seat))
        assert (low <= numbers).all()
        assert (numbers <= high).all()
    assert len(seen) > 10


def test_layout():
    """The blocks lie one behind the other, and an agent finds its hand where they say."""
    where = layout("pop", players=3)
    assert [part.start for part in where.values()][1:] == [part.stop for part in where.values()][:-1]
    aec = env("pop", players=3)
    aec.reset(seed=5)
    for agent in aec.agents:
        hand = np.flatnonzero(aec.observe(agent)["observation"][where["hand"]]) + 1
        assert tuple(hand) == aec.unwrapped.table.state.view(int(agent[-1])).hand


def test_values_go_round_from_the_own_seat():
    """A seat's own number comes first in every block that has one for each seat."""
    game = engines.get("balloon-challenge")
    where = layout("balloon-challenge", players=3)["totals"]
    doc = {**game.new_state(3).to_json(), "totals": [10, 20, 30]}
    state = game.from_json(doc)
    encoding = game.encoding(3, {})
    assert encoding is not None
    assert encoding.encode(state.view(1))[where] == [20, 30, 10]
    assert encoding.encode(state.view(None))[where] == [10, 20, 30]


def test_rewards_come_at_the_end_and_follow_the_places():
    """In a random game all rewards are 0 until the last step, whose rewards are the engine's returns."""
    aec = env("balloon-challenge", players=4)
    aec.reset(seed=3)
    total = dict.fromkeys(aec.agents, 0.0)
    for agent in aec.agent_iter():
        observation, reward, termination, _, _ = aec.last()
        total[agent] += reward
        assert termination or reward == 0
        aec.step(None if termination else int(np.flatnonzero(observation["action_mask"])[-1]))
    state = aec.unwrapped.table.state
    assert list(total.values()) == list(state.returns())
    assert any(total.values())


def test_choices_of_a_joint_decision_stay_hidden():
    """In the AEC form the second agent's observation does not depend on what the first has chosen."""
    observed = []
    for choice in (0, -1):
        aec = env("pop", players=2)
        aec.reset(seed=1)
        legal = np.flatnonzero(aec.observe("player_0")["action_mask"])
        aec.step(int(legal[choice]))
        assert aec.agent_selection == "player_1"
        observed.append(aec.observe("player_1"))
    assert (observed[0]["observation"] == observed[1]["observation"]).all()
    assert (observed[0]["action_mask"] == observed[1]["action_mask"]).all()
    assert observed[0]["action_mask"].any()


def test_an_illegal_action_ends_the_game():
    """It costs its agent 1 and the others nothing, in either form."""
    aec = env("balloon-race", players=3)
    aec.reset(seed=1)
    offender = aec.agent_selection
    aec.step(int(np.flatnonzero(aec.observe(offender)["action_mask"] == 0)[0]))
    assert aec.rewards == {agent: -1.0 if agent == offender else 0.0 for agent in aec.possible_agents}
    assert all(aec.terminations.values())

    parallel = parallel_env("pop", players=2)
    observations, _ = parallel.reset(seed=1)
    legal = {agent: int(np.flatnonzero(seen["action_mask"])[0]) for agent, seen in observations.items()}
    _, rewards, terminations, _, _ = parallel.step({**legal, "player_1": -5})
    assert rewards == {"player_0": 0.0, "player_1": -1.0}
    assert all(terminations.values())
    assert parallel.agents == []


def test_both_forms_play_the_same_game():
    """With one seed and the same choices the parallel form comes to the same position as the AEC form."""
    aec, parallel = env("pop", players=3), parallel_env("pop", players=3)
    aec.reset(seed=9)
    observations, _ = parallel.reset(seed=9)
    while parallel.agents:
        actions = {agent: int(np.flatnonzero(observations[agent]["action_mask"])[0]) for agent in parallel.agents}
        for agent in parallel.agents:
            assert aec.agent_selection == agent
            aec.step(actions[agent])
        observations, rewards, *_ = parallel.step(actions)
        assert aec.unwrapped.table.state.to_json() == parallel.unwrapped.table.state.to_json()
    assert rewards == aec.rewards


def test_a_game_without_an_encoding_is_tallied():
    """Its observation counts the events that a seat has seen, and cannot tell the hidden ones apart."""
    pop = copy.copy(engines.get("pop"))
    pop.encoding = lambda players, config: None  # type: ignore[method-assign]
    table, cards = Table(pop, 2, {}), Random(4)
    table.reset(seed=2)
    columns = pop.num_actions + pop.num_chance + 1
    chance = table.observe(0, decides=True)["observation"].reshape(3, columns)[2]
    hand = table.state.view(0).hand
    assert [pop.text(event) for event in np.flatnonzero(chance[:-1]) if pop.text(event).startswith("deal")] == [
        f"deal {card}" for card in hand if chance[pop.parse(f"deal {card}")]
    ]
    assert chance[-1] == 10, "nine cards dealt to the other, and one drawn"
    assert chance.sum() == 5 + 18 + 2 + 1, "the row, the hands, two draws, the Chief"
    while (seat := table.to_move()) is not None:
        table.choose(seat, choose(table.state.legal(seat), cards))
    tally = table.observe(1, decides=False)["observation"].reshape(3, columns)
    assert tally[0].sum() == tally[1].sum() == 8
    assert tally[1][-1] == 0, "choices come out in the end"
