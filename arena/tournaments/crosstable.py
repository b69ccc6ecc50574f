"""How everybody fared against everybody, or round by round, as a grid: for the arena's pages and the archive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.tournaments.formats.event import Event, Format, Pairing, Result
from arena.tournaments.formats.round_robin import RoundRobin
from arena.tournaments.formats.standings import Row, cross_table
from arena.tournaments.formats.swiss import Swiss
from arena.tournaments.formats.tables import Tables

MOST_ACROSS: Final = 40
"""Columns that somebody still reads."""


@dataclass(frozen=True, slots=True)
class Cell:
    """``kind``: won, drawn, lost, open, self or none. ``title`` says in words what ``text`` says in signs."""

    text: str = ""
    kind: str = "none"
    title: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells by row of the table. ``by_round``: a column is a round; else it is an opponent, named by place."""

    by_round: bool
    heads: tuple[str, ...]
    lines: tuple[tuple[Row, tuple[Cell, ...]], ...]


def grid(form: Format, event: Event, table: Sequence[Row]) -> Grid | None:
    """The grid that suits the format; None where there is none, or it would be too wide, or nothing was paired."""
    if isinstance(form, RoundRobin) and event.pairings and len(table) <= MOST_ACROSS:
        return _against(event, table)
    if isinstance(form, Swiss | Tables) and 0 < event.last_round <= MOST_ACROSS:
        return _by_round(event, table)
    return None


def _against(event: Event, table: Sequence[Row]) -> Grid:
    scores = cross_table(event)

    def cell(one: str, other: str) -> Cell:
        if one == other:
            return Cell("×", "self")
        if (one, other) not in scores:
            return Cell()
        mine, theirs = scores[one, other], scores[other, one]
        return Cell(number(mine), _kind(mine, theirs), f"{one} {number(mine)}, {other} {number(theirs)}")

    lines = tuple((row, tuple(cell(row.name, other.name) for other in table)) for row in table)
    return Grid(False, tuple(str(place) for place in range(1, len(table) + 1)), lines)


def _by_round(event: Event, table: Sequence[Row]) -> Grid:
    places = {row.name: place for place, row in enumerate(table, 1)}
    cells: dict[tuple[str, int], Cell] = {}
    for pairing in event.pairings:
        for name in pairing.players:
            cells[name, pairing.round] = _in_round(name, pairing, event.results.get(pairing.id), places)
    rounds = range(1, event.last_round + 1)
    lines = tuple((row, tuple(cells.get((row.name, k), Cell()) for k in rounds)) for row in table)
    return Grid(True, tuple(map(str, rounds)), lines)


def _in_round(name: str, pairing: Pairing, result: Result | None, places: dict[str, int]) -> Cell:
    others = [one for one in pairing.players if one != name]
    against = f"against {', '.join(others)}"
    shown = str(places[others[0]]) if len(others) == 1 else ""
    if pairing.bye:
        return Cell("bye", "open", "had a bye")
    if result is None:
        return Cell(f"·{shown}", "open", f"plays {against}")
    if name in result.absent:
        return Cell("–", "lost", "did not come")
    mine = result.scores[pairing.players.index(name)]
    best = max(result.scores[pairing.players.index(one)] for one in others)
    kind = _kind(mine, best)
    if len(others) > 1:
        return Cell(number(mine), kind, f"scored {number(mine)} {against}")
    sign = {"won": "+", "drawn": "=", "lost": "−"}[kind]
    said = f"{kind}, {number(mine)} {against}" if result.played else f"{kind} without play {against}"
    return Cell(f"{sign}{shown}", kind, said)


def _kind(mine: float, theirs: float) -> str:
    return "won" if mine > theirs else "drawn" if mine == theirs else "lost"


def number(value: float) -> str:
    """12, 12.5, 12.33: no more digits than it takes."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
