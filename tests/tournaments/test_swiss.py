"""Swiss: pairings as the Dutch system's reference programs make them, and what life does to a field."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from arena.tournaments.formats.event import Entrant, Event, Pairing, Result, over, walkover
from arena.tournaments.formats.rehearsal import field, rehearse
from arena.tournaments.formats.standings import standings
from arena.tournaments.formats.swiss import Player, Round, Swiss, dutch, history

DATA = Path(__file__).parent / "data"
POINTS = {"1": 1.0, "=": 0.5, "0": 0.0}


def read_trf(path: Path) -> list[Player]:
    """Players with their rounds from a tournament report file (FIDE's TRF)."""
    players = []
    for line in path.read_text().splitlines():
        rounds = [
            Round("bye", 1.0)
            if token == "U"
            else Round("played", POINTS[token], int(other), "white" if colour == "w" else "black")
            for other, colour, token in re.findall(r"(\d+) ([wb-]) ([10=U])", line[89:])
        ]
        players.append(Player(int(line[4:8]), tuple(rounds)))
    return players


@pytest.mark.parametrize("name", ["dutch-10-players.trf", "dutch-11-players-byes.trf"])
def test_dutch_pairings_are_the_published_ones(name: str) -> None:
    """Each of five rounds is paired, colours and byes too, as bbpPairings did (first round: the file's own colours)."""
    players = read_trf(DATA / name)
    rounds = len(players[0].rounds)
    for number in range(1, rounds):
        before = [Player(one.number, one.rounds[:number]) for one in players]
        published = {
            (one.number, one.rounds[number].opponent or None) for one in players if one.rounds[number].colour != "black"
        }
        assert set(dutch(before, rounds)) == published, f"round {number + 1}"


def better(pairing: Pairing) -> Result:
    """Whoever has the smaller number wins."""
    first = 1.0 if int(pairing.players[0]) < int(pairing.players[1]) else 0.0
    return Result((first, 1 - first), 1)


@pytest.mark.parametrize("players", [2, 5, 8, 21])
def test_nobody_meets_twice_or_rests_twice(players: int) -> None:
    """No pair meets twice, nobody has two byes, everybody is in every round, and the best win."""
    form = Swiss(min(4, players - 1 + players % 2))
    event = rehearse(form, field(players), better)
    met = [frozenset(pairing.players) for pairing in event.pairings]
    assert len(met) == len(set(met))
    for number in range(1, form.length + 1):
        names = [name for one in event.pairings if one.round == number for name in one.players]
        assert sorted(names) == sorted(entrant.name for entrant in event.entrants)
    assert standings(form, event, ["buchholz"])[0].name == "1"
    assert over(form, event)


def test_a_round_waits_for_the_one_before() -> None:
    """Nothing is paired while a pairing is open."""
    form = Swiss(3)
    event = field(6)
    event = replace(event, pairings=form.next_pairings(event))
    assert form.next_pairings(event) == ()
    event = replace(event, results={one.id: better(one) for one in event.pairings[:-1]})
    assert form.next_pairings(event) == ()


def test_withdrawn_is_paired_no_more_and_late_entry_joins_without_points() -> None:
    """Who withdraws after round 1 is in no later round; who enters before round 3 plays from there, from zero."""
    form = Swiss(4)

    def between(event: Event) -> Event:
        if event.last_round == 1:
            event = replace(event, entrants=tuple(replace(one, withdrawn=one.name == "3") for one in event.entrants))
        if event.last_round == 2 and not event.open and len(event.entrants) == 7:
            event = replace(event, entrants=(*event.entrants, Entrant("8", 8, enters=3)))
        return event

    event = rehearse(form, field(7), better, between)
    rounds = {name: [one.round for one in event.pairings if name in one.players] for name in ("3", "8")}
    assert rounds == {"3": [1], "8": [3, 4]}
    assert event.last_round == 4
    assert [one.kind for one in history(event)[7].rounds[:2]] == ["absent", "absent"]


def test_absent_pairings_may_be_paired_again() -> None:
    """A walkover is a point, but no meeting, and whoever got it gets no bye later."""
    form = Swiss(3)
    absent: list[str] = []

    def decide(pairing: Pairing) -> Result:
        if pairing.round == 1 and "1" in pairing.players:
            absent.append(next(name for name in pairing.players if name != "1"))
            return walkover(pairing, frozenset(absent))
        return better(pairing)

    event = rehearse(form, field(4), decide)
    players = history(event)
    assert players[0].rounds[0].kind == "forfeit"
    assert players[0].rounds[0].points == 1.0
    assert event.last_round == 3


def test_too_many_rounds_are_refused() -> None:
    """Six entrants cannot play six rounds without meeting twice."""
    assert Swiss(5).rounds(6) == 5
    with pytest.raises(ValueError, match="without meeting twice"):
        Swiss(6).rounds(6)


def test_ends_early_when_everybody_has_met() -> None:
    """When withdrawals leave only repeats, the event ends with what was played."""
    form = Swiss(3)

    def between(event: Event) -> Event:
        if event.last_round == 1 and not event.open:
            pair = event.pairings[0].players
            event = replace(
                event, entrants=tuple(replace(one, withdrawn=one.name not in pair) for one in event.entrants)
            )
        return event

    event = rehearse(form, field(4), better, between)
    assert event.last_round == 1
    assert over(form, event)
