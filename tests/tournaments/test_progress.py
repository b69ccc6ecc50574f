"""What happens next in an event: budgets, absences, several games, finals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.tournaments.formats.event import Entrant, Event, walkover
from arena.tournaments.plan import plan
from arena.tournaments.progress import (
    CERTAIN,
    OUT_OF_SETS,
    OUT_OF_TIME,
    PLAYED_OUT,
    GamePlayed,
    SetPlayed,
    State,
    Step,
    apply,
    next_step,
)
from arena.tournaments.spec import TournamentSpec, parse
from tests.tournaments.support import ROUND_ROBIN


def spec_of(**changes: Any) -> TournamentSpec:
    """A round robin with some keys replaced."""
    return replace(parse(ROUND_ROBIN, Path("cup.toml")), **changes)


def start(spec: TournamentSpec, entrants: int = 4) -> State:
    return State(spec, Event(tuple(Entrant(str(k), k) for k in range(1, entrants + 1)), seats=spec.seats))


def played(state: State, order: Any, places: tuple[int, ...] | None = None) -> State:
    """With one more set, which by default the better seed wins."""
    names = order.pairing.players
    by_seed = places or tuple(sorted(names, key=int).index(name) + 1 for name in names)
    done = SetPlayed((GamePlayed("", by_seed, by_seed, ("NORMAL",) * len(names)),) * len(names))
    of_pairing = {**state.sets.get(order.pairing.id, {}), order.number: done}
    return replace(state, sets={**state.sets, order.pairing.id: of_pairing})


def play(state: State, places: tuple[int, ...] | None = None) -> tuple[State, str]:
    """To its end, one set at a time; the state, and why it ended."""
    while not (step := next_step(state)).over:
        state = apply(state, step) if step.writes else played(state, step.orders[0], places)
    return state, step.over


def test_each_pairing_plays_its_sets_at_each_game() -> None:
    """Two sets of each of two games are four sets a pairing, games in turn."""
    spec = spec_of(sets=2)
    spec = replace(spec, games=(spec.games[0], replace(spec.games[0], game="pop")))
    state = start(spec, 2)
    state = apply(state, next_step(state))
    assert [(order.number, order.game) for order in next_step(state).orders] == [(0, 0), (1, 1), (2, 0), (3, 1)]
    state, why = play(state)
    assert (state.played, why) == (4, PLAYED_OUT)
    assert state.main.results["r1.1"].sets == 4


def test_the_same_state_gives_the_same_step() -> None:
    """Asked again, as by a runner that was killed, the same is to be done."""
    state = start(spec_of())
    assert next_step(state) == next_step(state)
    state = apply(state, next_step(state))
    first = next_step(state)
    assert next_step(state) == first
    # A step that was written down already changes nothing when it is applied to the state that has it.
    assert next_step(played(state, first.orders[0])).results.keys() == {first.orders[0].pairing.id}


def test_budget_of_sets_ends_the_event_within_it() -> None:
    """A round robin stops after exactly its sets; a Swiss does not begin a round that it cannot finish."""
    budget = replace(spec_of().budget, sets=4)
    state, why = play(start(spec_of(budget=budget)))
    assert (state.played, why) == (4, OUT_OF_SETS)
    state, why = play(start(spec_of(format="swiss", rounds=3, budget=replace(budget, sets=5)), 4))
    assert (state.played, why) == (4, OUT_OF_SETS)


def test_budget_of_time_lets_running_sets_end() -> None:
    """When the time is up nothing new is begun, what is played is waited for, and then it is over."""
    spec = spec_of(budget=replace(spec_of().budget, minutes=10))
    state = start(spec)
    state = apply(state, next_step(state))
    key = next_step(state).orders[0].key
    late = replace(state, minutes=10.0)
    assert [order.key for order in next_step(late, frozenset({key})).orders] == [key]
    assert next_step(late).over == OUT_OF_TIME


def test_absence_and_withdrawal() -> None:
    """A bot that misses two pairings running is withdrawn, and its open pairings go to the others unplayed."""
    state = start(spec_of())
    state = apply(state, next_step(state))
    mine = [pairing for pairing in state.main.pairings if "4" in pairing.players]
    for pairing in mine[:2]:
        state = apply(state, Step(results={pairing.id: walkover(pairing, frozenset({"4"}))}))
    step = next_step(state)
    assert step.withdrawn == {"4"}
    state = apply(state, step)
    assert next_step(state).results.keys() == {mine[2].id}
    state, why = play(state)
    assert (state.played, why) == (3, PLAYED_OUT)


def test_level_elimination_pairings_are_played_on_and_then_decided_by_seed() -> None:
    """One set, two more while it is level, then the better seed advances."""
    spec = spec_of(format="single-elimination", sets=1, extra_sets=2)
    state, why = play(start(spec), (1, 1))
    assert (state.played, why) == (9, PLAYED_OUT)
    assert state.table()[0].name == "1"
    assert play(start(spec))[0].played == 3


FINAL = ROUND_ROBIN + "[final]\ntop = 2\nmax_sets = 20\n"


def test_final_ends_when_it_is_certain() -> None:
    """The best two play on; five clear sets are enough, and P(first above second) is shown."""
    spec = parse(FINAL, Path("cup.toml"))
    state, why = play(start(spec))
    assert why == CERTAIN
    order = state.final_order()
    assert order is not None
    assert order.names == ("1", "2")
    assert order.above[0] > 0.95
    assert (order.sets, state.played) == (5, 11)
    assert state.final_table() == ("1", "2", "3", "4")


def test_final_ends_with_its_sets_when_it_is_never_certain() -> None:
    """Level sets decide nothing: the final takes all of its sets and says one half."""
    state, why = play(start(parse(FINAL, Path("cup.toml"))), (1, 1))
    order = state.final_order()
    assert why == OUT_OF_SETS
    assert order is not None
    assert (order.sets, round(order.above[0], 6)) == (20, 0.5)


def test_withdrawn_finalist_ends_the_final() -> None:
    """A finalist who withdraws leaves nobody to play against."""
    spec = parse(FINAL, Path("cup.toml"))
    state = start(spec)
    while not state.final.pairings:
        step = next_step(state)
        state = apply(state, step) if step.writes else played(state, step.orders[0])
    state = apply(state, Step(withdrawn=frozenset({"2"})))
    state, why = play(state)
    assert why == OUT_OF_SETS
    assert state.main.by_name["2"].withdrawn


@pytest.mark.parametrize("format_", ["round-robin", "swiss", "double-elimination", "gauntlet"])
def test_plan_is_what_is_played(format_: str) -> None:
    """The dry run's sets are those of the event in which the better seed always wins, and its rounds follow in time."""
    spec = spec_of(format=format_, rounds=2 if format_ == "swiss" else 0)
    names = tuple(str(k) for k in range(1, 6))
    made = plan(spec, names, lanes=2, seconds=lambda game: 1.0)
    state, why = play(start(spec, 5))
    assert (made.sets, made.over) == (state.played, why)
    assert made.games == 2 * made.sets
    alone = plan(spec, names, lanes=1, seconds=lambda game: 1.0)
    assert made.duration_s <= alone.duration_s == pytest.approx(made.sets * 2.3)
    assert made.rounds[0].known
    assert all(one.start_s <= one.end_s for one in made.rounds)
    longest = plan(spec, names, lanes=1, seconds=lambda game: 1.0, level=True)
    assert longest.sets >= made.sets
