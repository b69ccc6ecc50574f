"""Flat Monte Carlo: plays every action many times to an end and takes the one that did best. Plays any game.

Playouts are uniformly random, and valued by the game's returns, unless the game's module of house bots has a ``playout``
of its own: where random play says little about good play it is worth more than any number of random games. Where there are more
actions than a budget can tell apart the module has a ``short_list``, and where seats decide at the same time ``quick``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from math import inf, sqrt
from random import Random
from statistics import fmean, stdev
from typing import Any, Final, TypeAlias, TypeVar

from engines import Game, State
from engines.playout import choose, play_out

T = TypeVar("T")

ShortList: TypeAlias = Callable[[Game, Any, Sequence[int], Random], Sequence[int]]
"""From what a bot is asked to the actions that are worth a playout, what the game's heuristic would do first."""

Quick: TypeAlias = Callable[[State, int, Random], int]
"""What a seat does in a playout."""

CAUTION: Final = 1.0
"""How many standard errors better than the heuristic's choice another one must do."""

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

    Each round draws one world that the view allows and plays every action once in it from the same seed, so that all actions
    meet the same luck. ``out_of_time`` is asked between rounds; True ends the search early.
    """
    playout: Playout = _own(game.name, "playout", _uniform)
    short_list: ShortList | None = _own(game.name, "short_list", None)
    candidates = short_list(game, view, legal, rng) if short_list else legal
    results: dict[int, list[float]] = {action: [] for action in candidates}
    for _ in range(max(1, playouts // len(candidates))):
        world, seed = game.determinize(view, rng), rng.getrandbits(62)
        for action in candidates:
            luck = Random(seed)
            results[action].append(playout(_after(world, view.seat, action, luck), view.seat, luck))
        if out_of_time():
            break
    if short_list:
        return _best_for_sure(results)
    return max(candidates, key=lambda action: sum(results[action]))


def _best_for_sure(results: Mapping[int, Sequence[float]]) -> int:
    """The first action, unless others did better by more than luck explains; of those the best."""
    first, *others = results
    gains = {
        action: [mine - theirs for mine, theirs in zip(results[action], results[first], strict=True)]
        for action in others
    }
    better = [action for action in others if fmean(gains[action]) > CAUTION * _standard_error(gains[action])]
    return max(better, key=lambda action: fmean(gains[action]), default=first)


def _standard_error(values: Sequence[float]) -> float:
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else inf


@cache
def _own(game: str, name: str, default: T) -> T:
    """The function ``name`` of the game's module of house bots, the default where it has none."""
    try:
        module = import_module(f"bots.house.{game.replace('-', '_')}")
    except ModuleNotFoundError:
        return default
    own: T = getattr(module, name, default)
    return own


def _uniform(world: State, seat: int, rng: Random) -> float:
    return play_out(world, rng).returns()[seat]


def _after(world: State, seat: int, action: int, rng: Random) -> State:
    """The state after ``seat`` took ``action``; who decides at the same time does what players of playouts do."""
    quick: Quick = _own(world.game.name, "quick", _random)
    joint = {other: action if other == seat else quick(world, other, rng) for other in world.actors()}
    return world.apply(joint)


def _random(world: State, seat: int, rng: Random) -> int:
    return choose(world.legal(seat), rng)
