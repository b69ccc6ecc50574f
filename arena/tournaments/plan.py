"""The dry run: an event's schedule and how long it takes, without playing.

The event is gone through in thought, on as many lanes as will be played at once: once with the better seed winning every
game, once with everything level, when level pairings are played on and a final takes all of its sets.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from statistics import mean
from typing import Final

import engines
from arena.match.spec import TimeControl
from arena.tournaments.formats.event import Entrant, Event, Pairing
from arena.tournaments.progress import STAGES, GamePlayed, SetOrder, SetPlayed, Stage, State, apply, next_step
from arena.tournaments.spec import EventGame, TournamentSpec
from engines.playout import advance, random_step

PLAYOUTS: Final = 12
OVERHEAD_S: Final = 0.3
"""Of a set: starting programs, offers, records."""


@dataclass(frozen=True, slots=True)
class GameLength:
    """Of an average game, by random playouts: decisions of all seats, and how long if clocks are used to the end."""

    decisions: float
    longest_s: float


@dataclass(frozen=True, slots=True)
class RoundPlan:
    """A round. ``known``: its pairings follow from the field alone and are what will be played; times from the start."""

    stage: Stage
    number: int
    pairings: tuple[Pairing, ...]
    known: bool
    sets: int
    games: int
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Plan:
    """An event as it would go. ``over``: why it ends."""

    rounds: tuple[RoundPlan, ...]
    sets: int
    games: int
    duration_s: float
    over: str


def game_length(game: EventGame, control: TimeControl) -> GameLength:
    """Measured on random games with a seed of its own, so that a plan is always the same."""
    rules = engines.get(game.game)
    starts = (rules.new_state(game.players, **game.config) for _ in range(PLAYOUTS))
    decisions = mean(_decisions(start, Random(number)) for number, start in enumerate(starts))  # noqa: S311
    own = decisions / game.players
    clock = (control.bank_ms + own * control.increment_ms) / 1000
    capped = own * control.move_cap_ms / 1000 if control.move_cap_ms else clock
    return GameLength(decisions, game.players * min(clock, capped))


def _decisions(state: engines.State, rng: Random) -> int:
    """Real decisions of a random game: where only one action is legal nobody is asked."""
    count = 0
    while not state.is_terminal:
        count += sum(len(state.legal(seat)) > 1 for seat in state.actors())
        state = advance(state, random_step(state, rng))
    return count


def plan(
    spec: TournamentSpec,
    names: tuple[str, ...],
    *,
    lanes: int,
    seconds: Callable[[int], float],
    level: bool = False,
) -> Plan:
    """The event with this field, by seed. ``seconds(game)``: of a game of the event's games, by index."""
    entrants = tuple(Entrant(name, seed) for seed, name in enumerate(names, 1))
    state = State(spec, Event(entrants, seats=spec.seats))
    known = {pairing.id for pairing in spec.form(len(names)).next_pairings(state.main)}
    ends: list[tuple[float, tuple[str, int], SetOrder]] = []
    waiting: deque[SetOrder] = deque()
    spans: dict[str, tuple[float, float, int]] = {}
    now, over = 0.0, ""
    while not over:
        while waiting and len(ends) < lanes:
            order = waiting.popleft()
            end = now + OVERHEAD_S + spec.seats * seconds(order.game)
            heapq.heappush(ends, (end, order.key, order))
            start, _, sets = spans.get(order.pairing.id, (now, end, 0))
            spans[order.pairing.id] = (start, end, sets + 1)
        if not waiting:
            running = frozenset(key for _, key, _ in ends)
            step = next_step(replace(state, minutes=now / 60), running)
            if step.writes:
                state = apply(state, step)
                continue
            waiting.extend(order for order in step.orders if order.key not in running)
            if waiting and len(ends) < lanes:
                continue
            over = step.over if not ends else ""
        if ends:
            now, _, order = heapq.heappop(ends)
            state = _played(state, order, level=level)
    return _plan(state, spans, known, now, over)


def _played(state: State, order: SetOrder, *, level: bool) -> State:
    """The state once this set was played."""
    seeds = {entrant.name: entrant.seed for entrant in state.main.entrants}
    ranked = sorted(order.pairing.players, key=lambda name: seeds[name])
    places = tuple(1 if level else ranked.index(name) + 1 for name in order.pairing.players)
    game = GamePlayed("", places, places, ("NORMAL",) * len(places))
    done = SetPlayed((game,) * len(places))
    of_pairing = {**state.sets.get(order.pairing.id, {}), order.number: done}
    return replace(state, sets={**state.sets, order.pairing.id: of_pairing})


def _plan(state: State, spans: dict[str, tuple[float, float, int]], known: set[str], now: float, over: str) -> Plan:
    rounds = []
    for stage in STAGES:
        event = state.main if stage == "main" else state.final
        for number in sorted({pairing.round for pairing in event.pairings}):
            pairings = tuple(pairing for pairing in event.pairings if pairing.round == number)
            timed = [spans[pairing.id] for pairing in pairings if pairing.id in spans]
            sets = sum(count for _, _, count in timed)
            rounds.append(
                RoundPlan(
                    stage,
                    number,
                    pairings,
                    all(pairing.id in known for pairing in pairings),
                    sets,
                    sets * state.spec.seats,
                    min((start for start, _, _ in timed), default=now),
                    max((end for _, end, _ in timed), default=now),
                )
            )
    sets = sum(one.sets for one in rounds)
    return Plan(tuple(rounds), sets, sets * state.spec.seats, now, over)
