"""Round robin: Berger's tables as published, byes, withdrawals, tie-breaks."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from arena.tournaments.formats.event import Entrant, Event, Result, over, to_withdraw, walkover
from arena.tournaments.formats.gauntlet import Gauntlet
from arena.tournaments.formats.rehearsal import field, rehearse
from arena.tournaments.formats.round_robin import RoundRobin, berger
from arena.tournaments.formats.standings import cross_table, standings

# FIDE Handbook C.05, annex 1: Berger tables. A line a round.
PUBLISHED = {
    4: """1-4 2-3
          4-3 1-2
          2-4 3-1""",
    6: """1-6 2-5 3-4
          6-4 5-3 1-2
          2-6 3-1 4-5
          6-5 1-4 2-3
          3-6 4-2 5-1""",
    8: """1-8 2-7 3-6 4-5
          8-5 6-4 7-3 1-2
          2-8 3-1 4-7 5-6
          8-6 7-5 1-4 2-3
          3-8 4-2 5-1 6-7
          8-7 1-6 2-5 3-4
          4-8 5-3 6-2 7-1""",
    10: """1-10 2-9 3-8 4-7 5-6
           10-6 7-5 8-4 9-3 1-2
           2-10 3-1 4-9 5-8 6-7
           10-7 8-6 9-5 1-4 2-3
           3-10 4-2 5-1 6-9 7-8
           10-8 9-7 1-6 2-5 3-4
           4-10 5-3 6-2 7-1 8-9
           10-9 1-8 2-7 3-6 4-5
           5-10 6-4 7-3 8-2 9-1""",
    12: """1-12 2-11 3-10 4-9 5-8 6-7
           12-7 8-6 9-5 10-4 11-3 1-2
           2-12 3-1 4-11 5-10 6-9 7-8
           12-8 9-7 10-6 11-5 1-4 2-3
           3-12 4-2 5-1 6-11 7-10 8-9
           12-9 10-8 11-7 1-6 2-5 3-4
           4-12 5-3 6-2 7-1 8-11 9-10
           12-10 11-9 1-8 2-7 3-6 4-5
           5-12 6-4 7-3 8-2 9-1 10-11
           12-11 1-10 2-9 3-8 4-7 5-6
           6-12 7-5 8-4 9-3 10-2 11-1""",
    14: """1-14 2-13 3-12 4-11 5-10 6-9 7-8
           14-8 9-7 10-6 11-5 12-4 13-3 1-2
           2-14 3-1 4-13 5-12 6-11 7-10 8-9
           14-9 10-8 11-7 12-6 13-5 1-4 2-3
           3-14 4-2 5-1 6-13 7-12 8-11 9-10
           14-10 11-9 12-8 13-7 1-6 2-5 3-4
           4-14 5-3 6-2 7-1 8-13 9-12 10-11
           14-11 12-10 13-9 1-8 2-7 3-6 4-5
           5-14 6-4 7-3 8-2 9-1 10-13 11-12
           14-12 13-11 1-10 2-9 3-8 4-7 5-6
           6-14 7-5 8-4 9-3 10-2 11-1 12-13
           14-13 1-12 2-11 3-10 4-9 5-8 6-7
           7-14 8-6 9-5 10-4 11-3 12-2 13-1""",
    16: """1-16 2-15 3-14 4-13 5-12 6-11 7-10 8-9
           16-9 10-8 11-7 12-6 13-5 14-4 15-3 1-2
           2-16 3-1 4-15 5-14 6-13 7-12 8-11 9-10
           16-10 11-9 12-8 13-7 14-6 15-5 1-4 2-3
           3-16 4-2 5-1 6-15 7-14 8-13 9-12 10-11
           16-11 12-10 13-9 14-8 15-7 1-6 2-5 3-4
           4-16 5-3 6-2 7-1 8-15 9-14 10-13 11-12
           16-12 13-11 14-10 15-9 1-8 2-7 3-6 4-5
           5-16 6-4 7-3 8-2 9-1 10-15 11-14 12-13
           16-13 14-12 15-11 1-10 2-9 3-8 4-7 5-6
           6-16 7-5 8-4 9-3 10-2 11-1 12-15 13-14
           16-14 15-13 1-12 2-11 3-10 4-9 5-8 6-7
           7-16 8-6 9-5 10-4 11-3 12-2 13-1 14-15
           16-15 1-14 2-13 3-12 4-11 5-10 6-9 7-8
           8-16 9-7 10-6 11-5 12-4 13-3 14-2 15-1""",
}


@pytest.mark.parametrize("players", sorted(PUBLISHED))
def test_berger_tables_are_the_published_ones(players: int) -> None:
    """Every pair of every round, and who begins, is as in the published tables for 3 to 16 players."""
    ours = "\n".join(" ".join(f"{a}-{b}" for a, b in pairs) for pairs in berger(players))
    assert ours.split() == PUBLISHED[players].split()
    assert len(berger(players)) == players - 1


@pytest.mark.parametrize("players", [2, 3, 5, 9, 30, 31])
@pytest.mark.parametrize("cycles", [1, 2])
def test_everybody_meets_everybody(players: int, cycles: int) -> None:
    """Each pair meets once a cycle, in turn with the other beginning, nobody twice in a round, odd fields rest one."""
    form = RoundRobin(cycles)
    event = rehearse(form, field(players), lambda pairing: Result((1.0, 0.0), 1))
    meetings = [tuple(sorted(pairing.players)) for pairing in event.pairings]
    wanted = [tuple(sorted(pair)) for pair in combinations([str(k + 1) for k in range(players)], 2)]
    assert sorted(meetings) == sorted(wanted * cycles)
    assert event.last_round == form.rounds(players)
    for number in range(1, event.last_round + 1):
        names = [name for pairing in event.pairings if pairing.round == number for name in pairing.players]
        assert len(names) == len(set(names)) == players - players % 2
    if cycles == 2:
        assert len({pairing.players for pairing in event.pairings}) == len(event.pairings)


def better(event: Event) -> Event:
    """The round robin in which the better seed wins everything."""
    return rehearse(RoundRobin(), event, lambda pairing: Result(scores(pairing.players), 1))


def scores(players: tuple[str, ...]) -> tuple[float, ...]:
    return (1.0, 0.0) if int(players[0]) < int(players[1]) else (0.0, 1.0)


def test_standings_by_points() -> None:
    """Where the better always wins, the table is the order of seeds, with its wins and cross table."""
    event = better(field(5))
    rows = standings(RoundRobin(), event, ["sonneborn-berger"])
    assert [(row.rank, row.name, row.points, row.won, row.lost) for row in rows] == [
        (k + 1, str(k + 1), 4.0 - k, 4 - k, k) for k in range(5)
    ]
    assert rows[0].tie_breaks["sonneborn-berger"] == 3 + 2 + 1 + 0
    assert cross_table(event)["1", "2"] == 1.0
    assert cross_table(event)["2", "1"] == 0.0


def test_tie_breaks_decide_in_their_order() -> None:
    """Two on equal points are ordered by what they scored against each other, or against strong ones, as asked."""
    won = {("1", "2"): 0, ("1", "3"): 1, ("1", "4"): 1, ("2", "3"): 0, ("2", "4"): 1, ("3", "4"): 1}

    def decide(players: tuple[str, ...]) -> tuple[float, ...]:
        first = float(won[players]) if players in won else 1.0 - won[players[1], players[0]]
        return (first, 1 - first)

    event = rehearse(RoundRobin(), field(4), lambda pairing: Result(decide(pairing.players), 1))
    # 1, 2 and 3 have two points each, and beat each other in a circle: only the seed is left.
    rows = standings(RoundRobin(), event, ["head-to-head"])
    assert [(row.rank, row.name) for row in rows] == [(1, "1"), (1, "2"), (1, "3"), (4, "4")]
    won["1", "2"] = 1
    event = rehearse(RoundRobin(), field(4), lambda pairing: Result(decide(pairing.players), 1))
    won["1", "3"] = 0
    event = rehearse(RoundRobin(), field(4), lambda pairing: Result(decide(pairing.players), 1))
    rows = standings(RoundRobin(), event, ["head-to-head"])
    assert [(row.rank, row.name, row.points) for row in rows] == [
        (1, "3", 3.0),
        (2, "1", 2.0),
        (3, "2", 1.0),
        (4, "4", 0.0),
    ]


def test_scoring_by_sets_sees_narrow_wins() -> None:
    """With scoring by score a 3:1 counts as less than a 4:0; by match both are one point."""
    narrow = {"1": 0.75, "2": 1.0, "3": 0.0}

    def decide(players: tuple[str, ...]) -> tuple[float, ...]:
        a, b = players
        first = narrow[a] if "3" in players and a != "3" else 1 - narrow[b] if "3" in players else 0.5
        return (first, 1 - first)

    event = rehearse(RoundRobin(), field(3), lambda pairing: Result(decide(pairing.players), 1))
    assert [row.name for row in standings(RoundRobin(), event, (), "score")] == ["2", "1", "3"]
    assert [row.rank for row in standings(RoundRobin(), event)] == [1, 1, 3]


def test_early_withdrawal_strikes_results_and_late_one_gives_walkovers() -> None:
    """Who leaves before half of its pairings never was; who leaves later loses the rest."""
    names = field(6)
    everything = RoundRobin().next_pairings(names)
    for rounds_played, struck in ((2, True), (3, False)):
        event = replace(names, pairings=everything)
        played = {one.id: Result(scores(one.players), 1) for one in everything if one.round <= rounds_played}
        gone = tuple(replace(one, withdrawn=one.name == "1") for one in names.entrants)
        event = rehearse(
            RoundRobin(), replace(event, entrants=gone, results=played), lambda one: Result(scores(one.players), 1)
        )
        rows = {row.name: row for row in standings(RoundRobin(), event)}
        assert rows["1"].struck is struck
        assert rows["1"].withdrawn
        assert rows["2"].pairings == (4 if struck else 5)
        if not struck:
            assert rows["1"].points == 3
            assert sum(row.points for row in rows.values()) == 15
    assert over(RoundRobin(), event)


def test_who_never_shows_up_is_taken_out() -> None:
    """A bot that misses two pairings in a row is withdrawn; one that misses, plays and misses is not."""
    pairings = RoundRobin().next_pairings(field(4))
    mine = [one for one in pairings if "4" in one.players]
    absent = frozenset({"4"})
    results = {mine[0].id: walkover(mine[0], absent), mine[1].id: walkover(mine[1], absent)}
    event = Event(field(4).entrants, pairings, results)
    assert to_withdraw(event, 2) == {"4"}
    assert to_withdraw(event, 3) == frozenset()
    came = {mine[0].id: walkover(mine[0], absent), mine[1].id: Result((0, 1), 1), mine[2].id: walkover(mine[2], absent)}
    assert to_withdraw(replace(event, results=came), 2) == frozenset()


def test_both_absent_score_nothing() -> None:
    """A pairing to which nobody comes gives nobody a point."""
    pairing = RoundRobin().next_pairings(field(2))[0]
    event = Event(field(2).entrants, (pairing,), {pairing.id: walkover(pairing, frozenset({"1", "2"}))})
    assert [row.points for row in standings(RoundRobin(), event)] == [0.0, 0.0]


def test_gauntlet_meets_everybody_once_and_late_ones_too() -> None:
    """The challenger meets each other entrant once, whoever enters late as well; if it withdraws, that was it."""
    form = Gauntlet("2")
    event = rehearse(form, field(4), lambda pairing: Result((1.0, 0.0), 1))
    assert [one.players for one in event.pairings] == [("2", "1"), ("2", "3"), ("2", "4")]
    event = replace(event, entrants=(*event.entrants, Entrant("5", 5, enters=4)))
    event = rehearse(form, event, lambda pairing: Result((0.0, 1.0), 1))
    assert event.pairings[-1].players == ("2", "5")
    assert event.pairings[-1].round == 4
    assert len(event.pairings) == 4
    gone = replace(event, entrants=tuple(replace(one, withdrawn=one.name == "2") for one in event.entrants))
    assert over(form, replace(gone, entrants=(*gone.entrants, Entrant("6", 6))))
