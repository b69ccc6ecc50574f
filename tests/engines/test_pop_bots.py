"""The house bots of POP!."""

from __future__ import annotations

from random import Random

import pytest

from bots.house.pop import BOTS
from engines.playout import pick
from engines.pop import GAME
from tests.engines.test_pop_rules import S0, position


@pytest.mark.parametrize(
    ("players", "config"), [(2, {}), (2, {"two_player_variant": False}), (3, {}), (4, {}), (5, {})]
)
def test_bots_choose_legal_cards(players, config):
    """Each house bot answers every decision of a match with a legal id, whoever sits where."""
    rng = Random(8)
    state = GAME.new_state(players, **config)
    while not state.is_terminal:
        if outcomes := state.chance():
            state = state.apply_chance(pick(outcomes, rng))
            continue
        joint = {}
        for seat in state.actors():
            for bot in BOTS.values():
                joint[seat] = bot(GAME, state.view(seat), state.legal(seat), rng)
                assert joint[seat] in state.legal(seat)
        state = state.apply(joint)


@pytest.mark.parametrize("bot", BOTS.values(), ids=BOTS)
def test_bots_avoid_a_sure_explosion(bot):
    """1 always goes to A, under another red, and 14 meets its colour but seldom: no bot takes the red."""
    state = position(2, [[1, 14], [30, 42]], columns=S0, chief=(27,), turn=8)
    assert GAME.text(bot(GAME, state.view(0), state.legal(0), Random(2))) == "play 14"
