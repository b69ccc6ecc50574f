"""How often each format crowns the best, measured: events of bots whose true strength is known.

A game ranks its bots by strength plus luck (:func:`arena.ratings.simulation.play`), deals are the games' own. Seeds are
drawn by lot, or come from a ladder's table whose ratings are off by :data:`SEED_ERROR`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.random import Generator

from arena.ratings.comparisons import Floats
from arena.ratings.simulation import TRUE_SD, play
from arena.tournaments.formats.elimination import Elimination
from arena.tournaments.formats.event import Entrant, Event, Format, Pairing, Result
from arena.tournaments.formats.final import CYCLES_FIRST, FinalCycles, order_of
from arena.tournaments.formats.pairing_sets import Places, result_of, sets_wanted
from arena.tournaments.formats.rehearsal import rehearse
from arena.tournaments.formats.round_robin import RoundRobin
from arena.tournaments.formats.standings import standings
from arena.tournaments.formats.swiss import Swiss
from arena.tournaments.formats.tables import Tables

SEED_ERROR: Final = 80.0
"""Standard error of the ratings that seeds come from, in rating points."""
EXTRA_SETS: Final = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way of playing an event. ``final``: it is measured a second time with the first so many playing on until they are
    95 % certain of the winner."""

    name: str
    form: Format
    sets: int = 1
    seats: int = 2
    tie_breaks: tuple[str, ...] = ()
    final: int = 0


def candidates(bots: int, seats: int = 4) -> tuple[Candidate, ...]:
    """The formats worth comparing for so many bots."""
    rounds = max(1, (bots - 1).bit_length()) + 1
    swiss = Swiss(min(rounds, bots - 1))
    buchholz = ("buchholz-cut-1", "sonneborn-berger")
    return (
        Candidate("single elimination", Elimination()),
        Candidate("single elimination, 3 sets", Elimination(), sets=3),
        Candidate("double elimination", Elimination(losses=2)),
        Candidate("double elimination, 3 sets", Elimination(losses=2), sets=3),
        Candidate(f"Swiss, {swiss.length} rounds", swiss, tie_breaks=buchholz, final=4),
        Candidate(f"Swiss, {swiss.length} rounds, 3 sets", swiss, sets=3, tie_breaks=buchholz),
        Candidate(f"tables of {seats}, {rounds} rounds", Tables(rounds, seats), seats=seats),
        Candidate(f"tables of {seats}, {3 * rounds} rounds", Tables(3 * rounds, seats), seats=seats),
        Candidate("round robin", RoundRobin(), tie_breaks=("sonneborn-berger",), final=4),
        Candidate("double round robin", RoundRobin(2), tie_breaks=("sonneborn-berger",)),
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """``events`` events of a candidate: how often the truly best won or came in the first three, the mean true rank of the
    winner, the mean number of games, and how many rounds follow each other."""

    candidate: str
    events: int
    best_won: float
    best_in_three: float
    winners_rank: float
    games: float
    rounds: float

    @property
    def error(self) -> float:
        """Standard error of ``best_won``."""
        return float(np.sqrt(max(self.best_won * (1 - self.best_won), 1 / self.events) / self.events))


@dataclass(frozen=True, slots=True)
class _Outcome:
    ranks: tuple[int, ...]
    games: int
    rounds: int


def measure(
    candidate: Candidate,
    *,
    bots: int,
    events: int,
    seed: int,
    seeded: bool,
    on_event: Callable[[], None] = lambda: None,
) -> tuple[Measured, ...]:
    """Plays ``events`` events with bots of normally distributed strength; a second row if the candidate has a final."""
    rng = np.random.default_rng(seed)
    outcomes: list[tuple[_Outcome, ...]] = []
    for _ in range(events):
        truth = -np.sort(-rng.normal(0.0, TRUE_SD, bots))
        outcomes.append(_play(candidate, truth, rng, seeded=seeded))
        on_event()
    names = (candidate.name, f"{candidate.name}, final of {candidate.final}")
    return tuple(_measured(name, same) for name, same in zip(names, zip(*outcomes, strict=True), strict=False))


def _measured(name: str, outcomes: Sequence[_Outcome]) -> Measured:
    return Measured(
        name,
        len(outcomes),
        best_won=float(np.mean([one.ranks[0] == 0 for one in outcomes])),
        best_in_three=float(np.mean([0 in one.ranks[:3] for one in outcomes])),
        winners_rank=float(np.mean([one.ranks[0] + 1 for one in outcomes])),
        games=float(np.mean([one.games for one in outcomes])),
        rounds=float(np.mean([one.rounds for one in outcomes])),
    )


def _play(candidate: Candidate, truth: Floats, rng: Generator, *, seeded: bool) -> tuple[_Outcome, ...]:
    """One event, without and with its final; names are true ranks from 0."""
    shown = truth + rng.normal(0.0, SEED_ERROR, len(truth)) if seeded else rng.random(len(truth))
    names = [str(k) for k in np.argsort(-shown)]
    start = Event(tuple(Entrant(name, k) for k, name in enumerate(names, 1)), seats=candidate.seats)
    table = _Table(truth, rng)
    event = rehearse(candidate.form, start, lambda pairing: table.result(pairing, candidate.sets))
    ranked = [row.name for row in standings(candidate.form, event, candidate.tie_breaks)]
    plain = _Outcome(tuple(int(name) for name in ranked[:3]), table.games, event.last_round)
    if not candidate.final:
        return (plain,)
    finalists, cycles = _final(ranked[: candidate.final], table)
    ranked = [*finalists, *ranked[candidate.final :]]
    return plain, _Outcome(tuple(int(name) for name in ranked[:3]), table.games, event.last_round + cycles)


def _final(
    names: Sequence[str], table: _Table, certainty: float = 0.95, max_sets: int = 600
) -> tuple[tuple[str, ...], int]:
    """A final for the first place alone: its order and its cycles."""
    form, event = FinalCycles(2, max_sets), Event(tuple(Entrant(name, k) for k, name in enumerate(names, 1)))
    sets: list[tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]] = []
    order = order_of(names, sets)
    while pairings := form.next_pairings(event):
        sets += [(pairing.players, table.places(pairing)) for pairing in pairings]
        done = {pairing.id: Result((0.5, 0.5), 1) for pairing in pairings}
        event = replace(event, pairings=(*event.pairings, *pairings), results={**event.results, **done})
        if event.last_round >= CYCLES_FIRST:
            order = order_of(names, sets)
            if order.certain(1, certainty):
                break
    return order.names, event.last_round


class _Table:
    """Where pairings are played; counts games."""

    def __init__(self, truth: Floats, rng: Generator) -> None:
        self._truth = truth
        self._rng = rng
        self.games = 0

    def places(self, pairing: Pairing) -> tuple[tuple[int, ...], ...]:
        """One set."""
        ratings = self._truth[[int(name) for name in pairing.players]][None, :]
        self.games += len(pairing.players)
        played = play(ratings, len(pairing.players), self._rng, shared=False)[0]
        return tuple(tuple(game) for game in played.tolist())

    def result(self, pairing: Pairing, sets: int) -> Result:
        """All sets of a pairing."""
        played: dict[int, Places] = {}
        while len(played) < sets_wanted(pairing, played, sets, EXTRA_SETS):
            played[len(played)] = self.places(pairing)
        return result_of(list(played.values()))
