"""Playing a game to its end, and replaying what was played: what searches, tests and benchmarks have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from random import Random
from typing import TypeAlias

from engines.game import Chance, Game, State

Step: TypeAlias = int | Mapping[int, int]
"""What takes a state to the next: a chance id, or the joint decision ``{seat: action id}``."""

_weight = itemgetter(1)


def pick(outcomes: Chance, rng: Random) -> int:
    """A chance id drawn by weight. Takes one ``rng.random()``, so that a seed means the same on every Python."""
    total = sum(map(_weight, outcomes))
    left = int(rng.random() * total)
    if total == len(outcomes):  # every weight is 1
        return outcomes[left][0]
    for outcome, weight in outcomes:
        left -= weight
        if left < 0:
            return outcome
    raise ValueError("no outcome to pick from: no chance event is due")


def choose(legal: Sequence[int], rng: Random) -> int:
    """One of ``legal``, all equally likely. Takes one ``rng.random()``."""
    return legal[int(rng.random() * len(legal))]


def random_step(state: State, rng: Random) -> Step:
    """A step from ``state``, which is not terminal: chance by weight, decisions uniform."""
    if outcomes := state.chance():
        return pick(outcomes, rng)
    return {seat: choose(state.legal(seat), rng) for seat in state.actors()}


def advance(state: State, step: Step) -> State:
    """The state after ``step``. Raises what ``apply`` and ``apply_chance`` raise."""
    return state.apply_chance(step) if isinstance(step, int) else state.apply(step)


def play_out(state: State, rng: Random) -> State:
    """The terminal state of a uniformly random game that goes on from ``state``."""
    while not state.is_terminal:
        state = advance(state, random_step(state, rng))
    return state


def random_playout(game: Game, players: int, rng: Random, **config: bool | int) -> tuple[State, list[Step]]:
    """A uniformly random game: its terminal state, and the steps that led there."""
    state = game.new_state(players, **config)
    steps: list[Step] = []
    while not state.is_terminal:
        step = random_step(state, rng)
        steps.append(step)
        state = advance(state, step)
    return state, steps


def replay(state: State, steps: Iterable[Step]) -> State:
    """The state after ``steps``."""
    for step in steps:
        state = advance(state, step)
    return state


def events(step: Step) -> int:
    """How many events a step is, as ``Game.max_events`` counts: a joint decision counts each seat."""
    return 1 if isinstance(step, int) else len(step)
