"""What happens next in an event: a pure function over everything that has happened so far.

A runner that was killed asks again and is told the same, so that it goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from arena.tournaments.formats.event import (
    Entrant,
    Event,
    Format,
    Pairing,
    Result,
    automatic_results,
    over,
    to_withdraw,
)
from arena.tournaments.formats.final import CYCLES_FIRST, FinalCycles, Order, order_of
from arena.tournaments.formats.pairing_sets import result_of, sets_wanted
from arena.tournaments.formats.standings import Row, standings
from arena.tournaments.spec import TournamentSpec

Stage: TypeAlias = Literal["main", "final"]
STAGES: Final[tuple[Stage, ...]] = ("main", "final")

PLAYED_OUT: Final = "everything was played"
OUT_OF_SETS: Final = "the budget of sets is used up"
OUT_OF_TIME: Final = "the time is up"
CERTAIN: Final = "the order is certain enough"


@dataclass(frozen=True, slots=True)
class GamePlayed:
    """A game of a set; places, scores and reasons by position. ``record``: digest of its record, "" if none is kept."""

    match_id: str
    places: tuple[int, ...]
    scores: tuple[int, ...]
    reasons: tuple[str, ...]
    record: str = ""
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class SetPlayed:
    """A whole set, in the order of its games."""

    games: tuple[GamePlayed, ...]

    @property
    def places(self) -> tuple[tuple[int, ...], ...]:
        return tuple(game.places for game in self.games)


@dataclass(frozen=True, slots=True)
class SetOrder:
    """A set to be played: the ``number``-th of a pairing, from 0, at the event's game ``game``."""

    pairing: Pairing
    number: int
    game: int

    @property
    def key(self) -> tuple[str, int]:
        return self.pairing.id, self.number


@dataclass(frozen=True)
class State:
    """Everything that has happened. ``final`` has no entrants before the main stage is over.

    ``sets``: by pairing and number, of both stages. ``minutes`` since the start.
    """

    spec: TournamentSpec
    main: Event
    final: Event = field(default_factory=lambda: Event(()))
    sets: Mapping[str, Mapping[int, SetPlayed]] = field(default_factory=dict)
    minutes: float = 0.0

    @property
    def form(self) -> Format:
        return self.spec.form(len(self.main.entrants))

    @property
    def played(self) -> int:
        """Sets, in all."""
        return sum(len(sets) for sets in self.sets.values())

    def table(self) -> tuple[Row, ...]:
        """The main stage's standings."""
        return standings(self.form, self.main, self.spec.tie_breaks, self.spec.scoring)

    def final_order(self) -> Order | None:
        """What the final says so far; None if there is none yet."""
        if not self.final.pairings:
            return None
        names = [entrant.name for entrant in self.final.entrants]
        done = [
            (pairing.players, self.sets[pairing.id][number].places)
            for pairing, result in self.final.finished()
            if result.played
            for number in sorted(self.sets.get(pairing.id, ()))
        ]
        return order_of(names, done)

    def final_table(self) -> tuple[str, ...]:
        """Everybody, best first: the final's order, then the others as the main stage left them."""
        order = self.final_order()
        first = order.names if order else ()
        return (*first, *(row.name for row in self.table() if row.name not in first))


@dataclass(frozen=True, slots=True)
class Step:
    """What to write down, or else what to play. ``over``: why the event has ended, "" if it has not."""

    withdrawn: frozenset[str] = frozenset()
    results: Mapping[str, Result] = field(default_factory=dict)
    pairings: tuple[tuple[Stage, Pairing], ...] = ()
    orders: tuple[SetOrder, ...] = ()
    over: str = ""

    @property
    def writes(self) -> bool:
        return bool(self.withdrawn or self.results or self.pairings)


def next_step(state: State, running: Set[tuple[str, int]] = frozenset()) -> Step:
    """What happens next while the sets of the keys ``running`` are being played."""
    for stage, event, form in _stages(state):
        if gone := to_withdraw(event, state.spec.absence.missed):
            return Step(withdrawn=gone)
        if results := {**automatic_results(event), **_complete(state, stage, event)}:
            return Step(results=results)
        if event.open:
            return _orders(state, stage, event, running)
        if stage == "final" and _decided(state):
            return Step(over=CERTAIN)
        if pairings := form.next_pairings(event):
            if event.pairings and (stop := _too_much(state, len(pairings))):
                return Step(over=stop)
            return Step(pairings=tuple((stage, pairing) for pairing in pairings))
    return Step(over=OUT_OF_SETS if state.final.pairings else PLAYED_OUT)


def apply(state: State, step: Step) -> State:
    """The state once a step is written down."""
    final = state.final
    if any(stage == "final" for stage, _ in step.pairings) and not final.pairings:
        final = _final_event(state)
    return replace(state, main=_applied("main", state.main, step), final=_applied("final", final, step))


def final_of(state: State, names: Sequence[str]) -> Event:
    """A final between these, seeded in this order, about to begin."""
    gone = {entrant.name for entrant in state.main.entrants if entrant.withdrawn}
    entrants = tuple(Entrant(name, seed, withdrawn=name in gone) for seed, name in enumerate(names, 1))
    return Event(entrants, seats=state.spec.seats)


def _applied(stage: Stage, event: Event, step: Step) -> Event:
    pairings = (*event.pairings, *(pairing for of, pairing in step.pairings if of == stage))
    mine = {pairing.id for pairing in pairings}
    return replace(
        event,
        entrants=tuple(replace(one, withdrawn=one.withdrawn or one.name in step.withdrawn) for one in event.entrants),
        pairings=pairings,
        results={**event.results, **{key: result for key, result in step.results.items() if key in mine}},
    )


def _stages(state: State) -> list[tuple[Stage, Event, Format]]:
    """The main stage, and once that is over the final."""
    form = state.form
    found: list[tuple[Stage, Event, Format]] = [("main", state.main, form)]
    if state.spec.final is not None and over(form, state.main):
        found.append(("final", _final_event(state), FinalCycles(state.spec.seats, state.spec.final.max_sets)))
    return found


def _final_event(state: State) -> Event:
    """The final with its field: once it has begun whoever is in its pairings, before that the best of the table."""
    assert state.spec.final is not None
    if state.final.pairings:
        return state.final
    best = [row.name for row in state.table() if not row.withdrawn and not row.struck]
    return final_of(state, best[: state.spec.final.top])


def _decided(state: State) -> bool:
    final, order = state.spec.final, state.final_order()
    if final is None or order is None or state.final.last_round < CYCLES_FIRST:
        return False
    return order.certain(final.places, final.certainty)


def _wanted(state: State, stage: Stage, pairing: Pairing) -> int:
    """How many sets a pairing takes; in the final one of each game, since cycles go on as long as need be."""
    places = {number: one.places for number, one in state.sets.get(pairing.id, {}).items()}
    sets = state.spec.sets_a_pairing if stage == "main" else len(state.spec.games)
    return sets_wanted(pairing, places, sets, state.spec.extra_sets)


def _complete(state: State, stage: Stage, event: Event) -> dict[str, Result]:
    """Results of open pairings all of whose sets are played."""
    found = {}
    for pairing in event.open:
        sets = state.sets.get(pairing.id, {})
        if sets and len(sets) >= _wanted(state, stage, pairing):
            found[pairing.id] = result_of([sets[number].places for number in sorted(sets)])
    return found


def _orders(state: State, stage: Stage, event: Event, running: Set[tuple[str, int]]) -> Step:
    games = len(state.spec.games)
    orders = [
        SetOrder(pairing, number, number % games)
        for pairing in event.open
        for number in range(_wanted(state, stage, pairing))
        if number not in state.sets.get(pairing.id, {})
    ]
    budget = state.spec.budget
    if budget.sets:
        orders = orders[: max(0, budget.sets - state.played)]
        if not orders:
            return Step(over=OUT_OF_SETS)
    if budget.minutes and state.minutes >= budget.minutes:
        orders = [order for order in orders if order.key in running]
        if not orders:
            return Step(over=OUT_OF_TIME)
    return Step(orders=tuple(orders))


def _too_much(state: State, pairings: int) -> str:
    """Why another round is not begun, "" if it is: one that the budget does not cover would favour whoever plays first."""
    budget = state.spec.budget
    if budget.minutes and state.minutes >= budget.minutes:
        return OUT_OF_TIME
    if budget.sets and state.played + pairings * state.spec.sets_a_pairing > budget.sets:
        return OUT_OF_SETS
    return ""
