"""The house bots that play any game, and the catalogue that the arena reads."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from random import Random

import pytest

import engines
from bots import house
from bots.house.catalogue import BUILT_IN
from bots.house.flatmc import flatmc
from bots.house.players import allowance_ms
from bots.house.uniform import uniform
from engines.playout import advance, random_step


def test_the_catalogue_says_what_there_is() -> None:
    """Every bot that it lists for a game is there, and the names are the ladder's rungs from the bottom."""
    assert house.NAMES[:3] == ("random", "greedy", "heuristic")
    for name in ("greedy", "heuristic"):
        assert house.games_of(name) == BUILT_IN
        for game in house.games_of(name):
            assert name in import_module(f"bots.house.{game.replace('-', '_')}").BOTS
    assert house.games_of("random") == house.games_of("flatmc-7@1") == engines.names()


def test_names_carry_versions_and_budgets() -> None:
    """name@version is found if it is the version there is; flatmc takes any budget."""
    assert house.find("flatmc-50").playouts == 50
    assert house.find("greedy@1").name == "greedy"
    assert house.is_house("flatmc-200@1")
    for wrong in ("greedy@2", "flatmc-0", "flatmc-", "flatmc-x", "alphago", "", "@1"):
        assert not house.is_house(wrong)
        with pytest.raises(house.UnknownBot):
            house.find(wrong)


def test_the_catalogue_loads_neither_bots_nor_grpc() -> None:
    """The arena and `arena match` import it to look up names, which must cost nothing."""
    code = (
        "import sys, bots.house; print([m for m in sys.modules if m.split('.')[0] in ('grpc', 'botarena', 'engines')])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


def test_random_is_uniform() -> None:
    """Each of four actions is drawn about equally often (five standard deviations)."""
    rng = Random(1)
    drawn = [uniform((3, 5, 8, 9), rng) for _ in range(4000)]
    for action in (3, 5, 8, 9):
        assert abs(drawn.count(action) - 1000) < 140


@pytest.mark.parametrize("name", engines.names())
def test_flatmc_plays_every_game_the_same_way_from_a_seed(name: str) -> None:
    """It answers legally from a view alone, and the same view and seed give the same action."""
    game, rng, asked = engines.get(name), Random(5), 0
    state = game.new_state(game.min_players)
    while asked < 3 and not state.is_terminal:
        for seat in state.actors():
            legal = state.legal(seat)
            if len(legal) > 1:
                view = game.view_from_json(state.view(seat).to_json())
                choice = flatmc(game, view, legal, Random(7), 12)
                assert choice in legal
                assert choice == flatmc(game, view, legal, Random(7), 12)
                asked += 1
        state = advance(state, random_step(state, rng))
    assert asked >= 3


def test_flatmc_beats_random() -> None:
    """At Balloon Challenge for two, seats in turn: at least 9 points of 10 (for equals p = 0.011)."""
    game, rng, points = engines.get("balloon-challenge"), Random(11), 0.0
    for number in range(10):
        mine, state = number % 2, game.new_state(2)
        while not state.is_terminal:
            step = random_step(state, rng)
            if isinstance(step, dict) and len(legal := state.legal(mine)) > 1:
                step = {**step, mine: flatmc(game, state.view(mine), legal, rng, 20)}
            state = advance(state, step)
        points += (state.returns()[mine] + 1) / 2
    assert points >= 9


def test_a_search_leaves_the_clock_alive() -> None:
    """flatmc never takes more than the limit, and as the bank runs dry it can go on for ever on the increment."""
    assert allowance_ms(10_000, 3000) == 2400
    bank_ms = 10_000.0
    for _ in range(1000):
        bank_ms += 100 - allowance_ms(int(bank_ms), min(3000, int(bank_ms)))
        assert bank_ms > 300
