"""Brackets and grids: everybody is in them, where they belong, and nothing lies on anything else."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import pytest

from arena.tournaments.bracket import LINE, ROW, WIDTH, bracket
from arena.tournaments.crosstable import MOST_ACROSS, grid
from arena.tournaments.formats.elimination import Elimination
from arena.tournaments.formats.event import Event, Format, Pairing, Result
from arena.tournaments.formats.rehearsal import field, rehearse
from arena.tournaments.formats.round_robin import RoundRobin
from arena.tournaments.formats.standings import standings
from arena.tournaments.formats.swiss import Swiss
from arena.tournaments.formats.tables import Tables

BOX = re.compile(r'<rect x="(\d+)" y="(\d+)"')


def lower_seed_wins(pairing: Pairing) -> Result:
    """Upsets all the way, so that a double elimination's final is played twice."""
    numbers = [int(name) for name in pairing.players]
    return Result(tuple(float(number == max(numbers)) for number in numbers), 1)


def played(form: Format, entrants: int, seats: int = 2) -> Event:
    """A whole event."""
    return rehearse(form, field(entrants, seats), lower_seed_wins)


@pytest.mark.parametrize("losses", [1, 2])
@pytest.mark.parametrize("entrants", [2, 3, 5, 8, 11, 33])
@pytest.mark.parametrize("last_rounds", [0, 3])
def test_a_bracket_holds_each_pairing_once_and_no_box_lies_on_another(
    losses: int, entrants: int, last_rounds: int
) -> None:
    """Every pairing of the shown rounds is a box that leads to it, with its winner marked; boxes keep their distance."""
    form = Elimination(losses, third_place=losses == 1)
    event = played(form, entrants)
    svg = str(bracket(form, event, lambda name: f"#{name}", last_rounds))
    first = max(one.round for one in event.pairings) - last_rounds + 1 if last_rounds else 1
    wanted = [one.id for one in event.pairings if one.round >= first]
    assert sorted(re.findall(r'href="#([\w.]+)"', svg)) == sorted(wanted)
    assert svg.count('class="winner"') == len(wanted)
    boxes = [(int(x), int(y)) for x, y in BOX.findall(svg)]
    assert len(boxes) == len(wanted)
    for (x, y), (other_x, other_y) in combinations(boxes, 2):
        assert abs(x - other_x) > WIDTH or abs(y - other_y) >= min(ROW, 2 * LINE + 4)


def test_a_bracket_shows_what_is_not_known_yet() -> None:
    """Before the first result later places are open and lead nowhere; a walkover has no score; names are escaped."""
    form = Elimination()
    start = Event(field(["<b>", "two", "three", "a-name-that-is-far-too-long-for-a-box"]).entrants)
    event = replace(start, pairings=form.next_pairings(start))
    svg = str(bracket(form, event, lambda name: f"#{name}"))
    assert svg.count("href=") == 2
    assert 'class="node waits"' in svg
    assert "&lt;b&gt;" in svg
    assert "<b>" not in svg
    assert "a-name-that-is-…" in svg
    gone = Result((0.0, 1.0), 0, frozenset({event.pairings[0].players[0]}))
    svg = str(bracket(form, replace(event, results={event.pairings[0].id: gone})))
    assert svg.count(">–<") == 2


def test_a_round_robins_grid_is_a_cross_table() -> None:
    """Each cell and its mirror image share the pairings; nobody meets itself; too many make no grid."""
    form = RoundRobin(2)
    event = played(form, 5)
    found = grid(form, event, standings(form, event))
    assert found is not None
    assert not found.by_round
    texts = [[cell.text for cell in cells] for _, cells in found.lines]
    assert [texts[k][k] for k in range(5)] == ["×"] * 5
    assert all(float(texts[i][j]) + float(texts[j][i]) == 2 for i, j in combinations(range(5), 2))
    many = field(MOST_ACROSS + 1)
    many = replace(many, pairings=form.next_pairings(many))
    assert grid(form, many, standings(form, many)) is None


@pytest.mark.parametrize(("form", "seats"), [(Swiss(3), 2), (Tables(3, 3), 3)])
def test_other_formats_have_a_grid_by_round(form: Format, seats: int) -> None:
    """Everybody has a cell each round that says how it went and, at tables of two, against which place."""
    event = played(form, 7, seats)
    table = standings(form, event)
    found = grid(form, event, table)
    assert found is not None
    assert found.by_round
    assert len(found.heads) == 3
    for row, cells in found.lines:
        for number, cell in enumerate(cells, 1):
            pairing = next(one for one in event.pairings if one.round == number and row.name in one.players)
            if pairing.bye:
                assert cell.text == "bye"
            elif seats > 2:
                assert float(cell.text) == pytest.approx(
                    event.results[pairing.id].scores[pairing.players.index(row.name)], abs=0.01
                )
            else:
                other = next(name for name in pairing.players if name != row.name)
                assert table[int(cell.text[1:]) - 1].name == other
