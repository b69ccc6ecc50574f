"""Flat Monte Carlo: plays every action many times at random and takes the one that did best. Plays any game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from engines import Game, State
from engines.playout import choose, play_out


def flatmc(
    game: Game,
    view: Any,
    legal: Sequence[int],
    rng: Random,
    playouts: int,
    out_of_time: Callable[[], bool] = lambda: False,
) -> int:
    """The action with the best mean result over about ``playouts`` uniformly random games, at least one for each.

    Each round draws one world that the view allows and plays every action once in it, so that all actions meet the
    same luck. ``out_of_time`` is asked between rounds; True ends the search early.
    """
    seat = view.seat
    total = dict.fromkeys(legal, 0.0)
    for _ in range(max(1, playouts // len(legal))):
        world = game.determinize(view, rng)
        for action in legal:
            end = play_out(_after(world, seat, action, rng), rng)
            total[action] += end.returns()[seat]
        if out_of_time():
            break
    return max(legal, key=lambda action: total[action])


def _after(world: State, seat: int, action: int, rng: Random) -> State:
    """The state after ``seat`` took ``action``; who decides at the same time does so at random."""
    joint = {other: choose(world.legal(other), rng) for other in world.actors()}
    joint[seat] = action
    return world.apply(joint)
