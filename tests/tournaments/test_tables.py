"""Tables for games of more than two: who sits together, who rests; and finals that stop when they know."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from arena.ratings.simulation import play
from arena.tournaments.formats.event import Entrant, Event, Pairing, Result, over
from arena.tournaments.formats.final import FinalCycles, order_of
from arena.tournaments.formats.rehearsal import field, rehearse
from arena.tournaments.formats.standings import standings
from arena.tournaments.formats.tables import Tables, separate


def better(pairing: Pairing) -> Result:
    """Everybody beats those with greater numbers."""
    order = sorted(pairing.players, key=int)
    return Result(tuple(1 - order.index(name) / (len(order) - 1) for name in pairing.players), 1)


def meetings(event: Event) -> Counter[frozenset[str]]:
    return Counter(frozenset(pair) for one in event.pairings for pair in combinations(one.players, 2))


def test_first_tables_are_cut_from_the_top_and_the_best_win() -> None:
    """Round 1 seats seeds together, later rounds by points; the best of the field is first at the end."""
    form = Tables(4, 3)
    event = rehearse(form, field(9, 3), better)
    assert [one.players for one in event.pairings[:3]] == [("1", "2", "3"), ("4", "5", "6"), ("7", "8", "9")]
    assert len(event.pairings) == 12
    assert standings(form, event)[0].name == "1"
    assert over(form, event)


def test_swaps_lessen_repeats() -> None:
    """Over six rounds of 16 at tables of 4 there are fewer repeats than by cutting the order alone."""
    event = rehearse(Tables(5, 4), field(16, 4), better)
    repeats = sum(count - 1 for count in meetings(event).values())

    def cut(event: Event) -> int:
        met: Counter[frozenset[str]] = Counter()
        points: Counter[str] = Counter()
        names = [one.name for one in event.entrants]
        for _ in range(5):
            names.sort(key=lambda name: (-points[name], int(name)))
            for k in range(0, 16, 4):
                table = names[k : k + 4]
                met.update(frozenset(pair) for pair in combinations(table, 2))
                for name, score in zip(table, better(Pairing("", 1, tuple(table))).scores, strict=True):
                    points[name] += score  # type: ignore[assignment]
        return sum(count - 1 for count in met.values())

    assert repeats < cut(field(16, 4)) / 2


def test_a_swap_moves_the_closest() -> None:
    """Of swaps that help alike, the one between the closest in points is made."""
    tables = [["a", "b"], ["c", "d"]]
    met = Counter({frozenset("ab"): 1})
    separate(tables, met, {"a": 3.0, "b": 2.0, "c": 1.5, "d": 0.0})
    assert tables == [["a", "c"], ["b", "d"]]


def test_byes_go_round() -> None:
    """With 8 at tables of 3 two rest each round, and nobody rests again before everybody has."""
    form = Tables(4, 3)
    event = rehearse(form, field(8, 3), better)
    byes = [one.players[0] for one in event.pairings if one.bye]
    assert sorted(byes) == sorted(str(k + 1) for k in range(8))


def test_withdrawn_leave_tables_and_late_ones_join() -> None:
    """A withdrawn entrant sits nowhere any more; a late one sits from its round on."""

    def between(event: Event) -> Event:
        if event.last_round == 1 and not event.open and len(event.entrants) == 6:
            gone = tuple(replace(one, withdrawn=one.name == "2") for one in event.entrants)
            return replace(event, entrants=(*gone, Entrant("7", 7, enters=2)))
        return event

    event = rehearse(Tables(3, 3), field(6, 3), better, between)
    rounds = {name: [one.round for one in event.pairings if name in one.players] for name in ("2", "7")}
    assert rounds == {"2": [1], "7": [2, 3]}


def test_a_table_needs_enough_entrants() -> None:
    """Two do not fill a table of three."""
    with pytest.raises(ValueError, match="do not fill"):
        Tables(1, 3).rounds(2)


def sets_of(finalists: list[str], points: list[float], cycles: int, seed: int) -> list:
    """Simulated sets of two, every pair once a cycle."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(cycles):
        for a, b in combinations(range(len(finalists)), 2):
            places = play(np.array([[points[a], points[b]]]), 2, rng, shared=False)[0]
            found.append(((finalists[a], finalists[b]), tuple(tuple(int(p) for p in game) for game in places)))
    return found


def test_order_becomes_certain() -> None:
    """P(A above B) is a half without sets, grows with them, and names the better first."""
    assert order_of(["a", "b"], []).above == (0.5,)
    early = order_of(["a", "b", "c"], sets_of(["a", "b", "c"], [0, 300, 150], 3, 1))
    late = order_of(["a", "b", "c"], sets_of(["a", "b", "c"], [0, 300, 150], 60, 1))
    assert late.names == ("b", "c", "a")
    assert min(late.above) > max(0.95, min(early.above))
    assert late.certain(2, 0.95)
    assert not order_of(["a", "b"], []).certain(1, 0.95)


def test_final_plays_whole_cycles_within_its_sets() -> None:
    """Three finalists play cycles of three; a fourth cycle that would break the budget of ten sets is not begun."""
    event = rehearse(FinalCycles(2, 10), field(3), better)
    assert len(event.pairings) == 9
    assert set(meetings(event).values()) == {3}
    tables = rehearse(FinalCycles(3, 5), field(3, 3), better)
    assert [one.players for one in tables.pairings] == [("1", "2", "3")] * 5
