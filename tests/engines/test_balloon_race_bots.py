"""House bots of Balloon Race, playing the engine directly."""

from __future__ import annotations

from random import Random

import pytest

from bots.house.balloon_race import BOTS
from engines.balloon_race import GAME
from engines.playout import choose, pick


def race(seats: list[str], seed: int) -> tuple[int, ...]:
    """Places of a race among bots by name, or ``random``; every answer must be legal."""
    rng = Random(seed)
    state = GAME.new_state(len(seats))
    while not state.is_terminal:
        if outcomes := state.chance():
            state = state.apply_chance(pick(outcomes, rng))
            continue
        (seat,) = state.actors()
        legal = state.legal(seat)
        bot = BOTS.get(seats[seat])
        action = bot(GAME, state.view(seat), legal, rng) if bot else choose(legal, rng)
        assert action in legal
        state = state.apply({seat: action})
    return state.placements()


@pytest.mark.parametrize("players", [3, 4])
def test_bots_play_legally(players: int) -> None:
    """At more seats than two, too, every answer is a legal one."""
    race(["heuristic", "greedy", "random", "greedy"][:players], seed=1)


@pytest.mark.parametrize(("better", "worse", "least"), [("greedy", "random", 18), ("heuristic", "greedy", 12)])
def test_rungs(better: str, worse: str, least: int) -> None:
    """In 20 seeded races of two, seats swapped, each rung beats the one below."""
    first = [race([better, worse], seed) for seed in range(10)]
    second = [race([worse, better], seed) for seed in range(10)]
    wins = sum(places[0] < places[1] for places in first) + sum(places[1] < places[0] for places in second)
    assert wins >= least
