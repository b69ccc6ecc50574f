"""Balloon Pop's house bots: what they choose in plain positions, and that they can play every game."""

from __future__ import annotations

from random import Random

import pytest

from bots.house.balloon_pop import BOTS
from engines.balloon_pop import GAME
from engines.playout import pick

OPTIONS = [(2, {}), (3, {"simultaneous_cards": True}), (4, {"bonus": True})]


@pytest.mark.parametrize("name", BOTS)
@pytest.mark.parametrize(("players", "config"), OPTIONS, ids=str)
def test_bots_play_legal_actions(name, players, config):
    """Every decision of whole games, forced ones too, is one of the legal actions."""
    rng = Random(players)
    state = GAME.new_state(players, **config)
    while not state.is_terminal:
        if outcomes := state.chance():
            state = state.apply_chance(pick(outcomes, rng))
            continue
        joint = {seat: BOTS[name](GAME, state.view(seat), state.legal(seat), rng) for seat in state.actors()}
        assert all(joint[seat] in state.legal(seat) for seat in joint)
        state = state.apply(joint)


@pytest.mark.parametrize("name", BOTS)
def test_bots_know_an_empty_group(name):
    """A group that stayed empty, and an action `discard`, do not trip them."""
    doc = GAME.new_state(2).to_json()
    full = "rgbyrgby"
    doc |= {"phase": "group", "cards": [8, 7], "groups": ["", "rgby"], "boards": [[full] * 6, [""] * 6]}
    state = GAME.from_json(doc)
    assert BOTS[name](GAME, state.view(0), state.legal(0), Random(1)) in state.legal(0)
    state = GAME.from_json(doc | {"phase": "place", "taken": [2, 1]})
    assert BOTS[name](GAME, state.view(0), state.legal(0), Random(1)) == GAME.parse("discard")


@pytest.mark.parametrize("name", BOTS)
def test_bots_pop_what_they_can(name):
    """With three red cubes on the board and four in the group both lay them so that all seven pop."""
    doc = GAME.new_state(2).to_json()
    doc |= {"phase": "place", "cards": [10, 1], "groups": ["rrrr", ""], "taken": [1, 2]}
    doc["boards"] = [["g", "b", "g", "rrr", "b", "g"], [""] * 6]
    state = GAME.from_json(doc)
    state = state.apply({0: BOTS[name](GAME, state.view(0), state.legal(0), Random(1))})
    (pop,) = state.legal(0)
    assert state.apply({0: pop}).points == (5, 0)


@pytest.mark.parametrize(("name", "pop"), [("greedy", "pop r@0,0"), ("heuristic", "pop *@0,0")])
def test_the_heuristic_looks_at_every_order(name, pop):
    """`RRgg w w`: red first is 2 and the end, the symbols first are 1 and then a green set for 2."""
    doc = GAME.new_state(2).to_json()
    doc |= {"phase": "pop", "cards": [10, 1], "taken": [1, 2], "boards": [["RRgg", "w", "w", "", "", ""], [""] * 6]}
    state = GAME.from_json(doc)
    assert GAME.text(BOTS[name](GAME, state.view(0), state.legal(0), Random(1))) == pop
