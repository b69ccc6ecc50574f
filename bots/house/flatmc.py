"""Flat Monte Carlo: plays every action many times to an end and takes the one that did best. Plays any game.

Playouts are uniformly random, and valued by the game's returns, unless the game's module of house bots has a ``playout``
of its own: where random play says little about good play it is worth more than any number of random games.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from random import Random
from typing import Any, TypeAlias

from engines import Game, State
from engines.playout import choose, play_out

Playout: TypeAlias = Callable[[State, int, Random], float]
"""Plays a state to some end; gives what that was worth to the seat."""


def flatmc(
    game: Game,
    view: Any,
    legal: Sequence[int],
    rng: Random,
    playouts: int,
    out_of_time: Callable[[], bool] = lambda: False,
) -> int:
    """The action with the best mean result over about ``playouts`` games, at least one for each.

    Each round draws one world that the view allows and plays every action once in it, so that all actions meet the
    same luck. ``out_of_time`` is asked between rounds; True ends the search early.
    """
    seat, playout = view.seat, _playout_of(game.name)
    total = dict.fromkeys(legal, 0.0)
    for _ in range(max(1, playouts // len(legal))):
        world = game.determinize(view, rng)
        for action in legal:
            total[action] += playout(_after(world, seat, action, rng), seat, rng)
        if out_of_time():
            break
    return max(legal, key=lambda action: total[action])


@cache
def _playout_of(game: str) -> Playout:
    try:
        module = import_module(f"bots.house.{game.replace('-', '_')}")
    except ModuleNotFoundError:
        return _uniform
    own: Playout = getattr(module, "playout", _uniform)
    return own


def _uniform(world: State, seat: int, rng: Random) -> float:
    return play_out(world, rng).returns()[seat]


def _after(world: State, seat: int, action: int, rng: Random) -> State:
    """The state after ``seat`` took ``action``; who decides at the same time does so at random."""
    joint = {other: choose(world.legal(other), rng) for other in world.actors()}
    joint[seat] = action
    return world.apply(joint)
