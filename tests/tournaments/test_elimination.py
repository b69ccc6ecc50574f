"""Elimination: brackets as they are published, byes, the grand final's reset, absences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from arena.tournaments.formats.elimination import Elimination, double_bracket, seed_order, single_bracket
from arena.tournaments.formats.event import Event, Pairing, Result, over, walkover
from arena.tournaments.formats.rehearsal import field, rehearse
from arena.tournaments.formats.standings import standings


def better(pairing: Pairing) -> Result:
    """The better seed wins."""
    first = 1.0 if int(pairing.players[0]) < int(pairing.players[1]) else 0.0
    return Result((first, 1 - first), 1)


def beats(*upsets: tuple[str, str]) -> Callable[[Pairing], Result]:
    """As ``better``, but for these (winner, loser), each used once and in order of play."""
    left = list(upsets)

    def decide(pairing: Pairing) -> Result:
        for winner, loser in left:
            if {winner, loser} == set(pairing.players):
                left.remove((winner, loser))
                first = 1.0 if pairing.players[0] == winner else 0.0
                return Result((first, 1 - first), 1)
        return better(pairing)

    return decide


def test_seeds_stand_where_brackets_have_them() -> None:
    """The usual brackets of 8 and 16: first-round pairs add up, 1 meets 2 only in the final, 1 and 4 in one half."""
    assert seed_order(8) == (1, 8, 4, 5, 2, 7, 3, 6)
    assert seed_order(16) == (1, 16, 8, 9, 4, 13, 5, 12, 2, 15, 7, 10, 3, 14, 6, 11)


def test_single_elimination_of_eight() -> None:
    """Seven pairings in three rounds; with the better always winning the table is 1, 2, then 3 and 4, then 5 to 8 level."""
    form = Elimination()
    event = rehearse(form, field(8), better)
    assert [set(one.players) for one in event.pairings] == [
        *({"1", "8"}, {"4", "5"}, {"2", "7"}, {"3", "6"}),
        *({"1", "4"}, {"2", "3"}),
        {"1", "2"},
    ]
    assert [one.label for one in event.pairings][3:] == ["quarter-final", "semi-final", "semi-final", "final"]
    assert [(row.rank, row.name) for row in standings(form, event)] == [
        (1, "1"),
        (2, "2"),
        (3, "3"),
        (3, "4"),
        *((5, str(k)) for k in (5, 6, 7, 8)),
    ]


def test_third_place_is_played_for() -> None:
    """The semi-finals' losers meet, and the table tells third from fourth."""
    form = Elimination(third_place=True)
    event = rehearse(form, field(8), beats(("4", "3")))
    assert {"3", "4"} == set(event.issued["third"].players)
    assert [row.name for row in standings(form, event)][:4] == ["1", "2", "4", "3"]


@pytest.mark.parametrize("entrants", [2, 3, 5, 6, 7, 9, 13, 33])
@pytest.mark.parametrize("losses", [1, 2])
def test_every_size(entrants: int, losses: int) -> None:
    """Whatever the size: everybody but the winner is out after its losses, byes go to the best, no pairing is left."""
    form = Elimination(losses)
    event = rehearse(form, field(entrants), better)
    lost = dict.fromkeys(event.by_name, 0)
    for pairing, result in event.finished():
        assert not pairing.bye
        for name, score in zip(pairing.players, result.scores, strict=True):
            lost[name] += score == 0.0
    assert lost.pop("1") == 0
    assert set(lost.values()) == {losses}
    assert len(event.pairings) == losses * (entrants - 1)
    assert [row.name for row in standings(form, event)][:2] == ["1", "2"]
    first = {name for one in event.pairings if one.id.startswith("w1.") for name in one.players}
    byes = sorted(set(event.by_name) - first, key=int)
    assert byes == [str(k + 1) for k in range(len(byes))]
    assert over(form, event)


def test_double_elimination_of_eight_is_the_published_bracket() -> None:
    """Losers' rounds of the usual bracket of 8: dropped semi-finalists meet the other half's survivors."""
    nodes = {node.id: node for node in double_bracket(8)}
    feeds = {
        node.id: [f"{'L' if source.outcome == 'loser' else 'W'} {source.node}" for source in node.sources]
        for node in nodes.values()
        if node.id[0] in "lf"
    }
    assert feeds == {
        "l1.1": ["L w1.1", "L w1.2"],
        "l1.2": ["L w1.3", "L w1.4"],
        "l2.1": ["L w2.2", "W l1.1"],
        "l2.2": ["L w2.1", "W l1.2"],
        "l3.1": ["W l2.1", "W l2.2"],
        "l4.1": ["L w3.1", "W l3.1"],
        "final1": ["W w3.1", "W l4.1"],
    }
    assert [node.round for node in nodes.values()] == sorted(node.round for node in nodes.values())


@pytest.mark.parametrize("size", [4, 8, 16, 32, 64])
def test_no_rematch_before_the_losers_last_rounds(size: int) -> None:
    """Where the better always wins, nobody meets twice before four are left."""
    event = rehearse(Elimination(2), field(size), better)
    early = [frozenset(one.players) for one in event.pairings if one.round < Elimination(2).rounds(size) - 4]
    assert len(early) == len(set(early))
    assert len(single_bracket(size, third_place=False)) == size - 1


def test_grand_final_is_played_again_only_if_the_winners_side_loses_it() -> None:
    """One more match if the unbeaten one loses the grand final, and its winner is the champion; else none."""
    form = Elimination(2)
    once = rehearse(form, field(4), better)
    assert "final2" not in once.issued
    upset = rehearse(form, field(4), beats(("2", "1"), ("1", "2"), ("1", "2")))
    # 2 wins the winners' final, 1 comes back through the losers' and beats 2 twice.
    assert set(upset.issued["final2"].players) == {"1", "2"}
    assert [row.name for row in standings(form, upset)][:2] == ["1", "2"]
    kept = rehearse(form, field(4), beats(("2", "1"), ("1", "2"), ("2", "1")))
    assert [row.name for row in standings(form, kept)][:2] == ["2", "1"]


def test_level_pairing_goes_to_the_better_seed() -> None:
    """If tie-break sets leave a pairing level, the better seed advances."""
    event = rehearse(Elimination(), field(4), lambda pairing: Result((0.5, 0.5), 3))
    assert standings(Elimination(), event)[0].name == "1"
    assert all(one.decisive for one in event.pairings)


def test_withdrawn_loses_and_two_absent_let_the_next_through() -> None:
    """A withdrawn semi-finalist gives a walkover; where nobody comes, whoever would have met the winner goes on unplayed."""
    form = Elimination()

    def between(event: Event) -> Event:
        if event.last_round == 1:
            return replace(event, entrants=tuple(replace(one, withdrawn=one.name == "1") for one in event.entrants))
        return event

    event = rehearse(form, field(4), better, between)
    assert standings(form, event)[0].name == "2"

    def nobody(pairing: Pairing) -> Result:
        return walkover(pairing, frozenset(pairing.players)) if "1" in pairing.players else better(pairing)

    event = rehearse(form, field(4), nobody)
    assert [one.id for one in event.pairings] == ["w1.1", "w1.2"]
    assert standings(form, event)[0].name == "2"
