"""A view as text for a terminal: the boards side by side, then the groups and what is due."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from engines.balloon_pop.board import Board
from engines.balloon_pop.data import CARD_RULES, COLUMNS, KINDS, ROUNDS, ROWS, Counts
from engines.balloon_pop.view import View

_WIDTH = 27
_DUE = {
    "first": "chance says who is first",
    "draw": "cubes are drawn",
    "card": "plays a card",
    "group": "takes a group",
    "place": "places its group",
    "pop": "pops a set",
    "over": "the game is over",
}


def render(view: View, actors: Sequence[int]) -> str:
    """The lines of the view; ``actors`` are the seats that decide."""
    lines = [_headline(view), ""]
    panels = [_panel(view, seat) for seat in range(len(view.boards))]
    lines += ["".join(part.ljust(_WIDTH) for part in row).rstrip() for row in zip_longest(*panels, fillvalue="")]
    lines += ["", f"groups   {_groups(view)}", f"bag      {_cubes(view.bag)}", f"discard  {_cubes(view.discarded)}"]
    return "\n".join([*lines, f"next     {_next(view, actors)}"])


def _headline(view: View) -> str:
    parts = ["Balloon Pop", f"round {view.round} of {ROUNDS}"]
    if view.simultaneous_cards:
        parts.append("cards all at once")
    if view.bonus:
        parts.append("bonus for further sets")
    if view.phase != "first":
        parts.append(f"seat {view.first} is first")
    if view.seat is not None:
        parts.append(f"you are seat {view.seat}")
    return " · ".join(parts)


def _panel(view: View, seat: int) -> list[str]:
    """One seat's part of the table."""
    you = " (you)" if seat == view.seat else ""
    hand = " ".join(map(str, view.hands[seat]))
    return [
        f"seat {seat}{you}: {view.points[seat]}",
        "  " + "".join(f" {column}" for column in range(COLUMNS)),
        *(f"{row} |{_row(view.boards[seat], row)}|" for row in range(ROWS)),
        f"hand {hand}",
        *_played(view, seat),
    ]


def _row(own: Board, row: int) -> str:
    return " ".join(column[row] if row < len(column) else "·" for column in own)


def _played(view: View, seat: int) -> list[str]:
    card, number = view.cards[seat], view.taken[seat]
    played = [f"card {card}  {_marks(card)}"] if card else []
    return [*played, f"group {number}"] if number else played


def _marks(card: int) -> str:
    """The rule of a card as it is printed on it: directions, and what may be dropped."""
    rule = CARD_RULES[card]
    ways = ("V" if rule.vertical else "") + ("H" if rule.horizontal else "")
    drops = "/".join("last" if position == -1 else str(position) for position in rule.may_drop)
    return f"{ways}, drop {drops}" if drops else ways


def _groups(view: View) -> str:
    owners = {number: seat for seat, number in enumerate(view.taken) if number}
    parts = []
    for number, cubes in enumerate(view.groups, 1):
        owner = f" (seat {owners[number]})" if number in owners else ""
        parts.append(f"{number}: {cubes or '-'}{owner}")
    return "   ".join(parts)


def _cubes(counts: Counts) -> str:
    kinds = " ".join(f"{kind}{count}" for kind, count in zip(KINDS, counts, strict=True) if count)
    return f"{sum(counts)}  {kinds}".rstrip()


def _next(view: View, actors: Sequence[int]) -> str:
    due = _DUE[view.phase]
    if not actors:
        return due
    if len(actors) > 1:
        return "every seat " + due
    return f"seat {actors[0]} {due}"
