"""A position of POP! as text for a terminal."""

from __future__ import annotations

from itertools import zip_longest

from engines.pop.data import ARROW, COLOUR, COLUMNS, EXPLOSIONS, FACES, TURNS, Cards, explosions
from engines.pop.plan import CHOOSE, OVER
from engines.pop.view import PopView

_WIDTH = 8


def card_text(card: int) -> str:
    """Number and colour, a star for each explosion, ``^`` for an arrow: ``47Y***^``."""
    return f"{card}{COLOUR[card]}{'*' * EXPLOSIONS[card]}{'^' if ARROW[card] else ''}"


def render(view: PopView) -> str:
    """The view as lines of text: whose turn, the columns above their floors, what each seat has, the own hand."""
    lines = [_heading(view), ""]
    lines += _table(view)
    lines += ["", *(_seat_line(view, seat) for seat in range(view.players))]
    if view.pile:
        lines.append(
            f"  Chief's pile    {explosions(view.pile):3} points for the next to set one off: {_cards(view.pile)}"
        )
    if view.chief:
        lines.append(f"  Chief plays     {_cards(view.chief)}")
    if view.hand and view.phase != OVER:
        lines += ["", f"Your hand: {_cards(view.hand)}"]
    return "\n".join(lines)


def _heading(view: PopView) -> str:
    where = f"round {view.round} of {view.rounds}"
    if view.phase == OVER:
        return f"POP!  {where}, the match is over"
    if not view.turn:
        return f"POP!  {where}, dealing"
    due = "everybody chooses" if view.phase == CHOOSE else f"a {view.phase} card comes"
    return f"POP!  {where}, turn {view.turn} of {TURNS}: {due}"


def _table(view: PopView) -> list[str]:
    rows = list(zip_longest(*view.columns, fillvalue=0))
    lines = ["".join((card_text(card) if card else ".").center(_WIDTH) for card in row) for row in reversed(rows)]
    floor = "".join(f"=={name}==".center(_WIDTH) for name in COLUMNS[:FACES])
    return [f"  {line.rstrip()}" for line in (*lines, floor)]


def _seat_line(view: PopView, seat: int) -> str:
    mark = ">" if seat == view.seat else " "
    parts = [f"{mark} seat {seat}  {view.points[seat]:3} points, {view.hand_sizes[seat]:2} in hand"]
    if view.chosen:
        parts.append(f"plays {_cards(view.chosen[seat])}")
    if view.left:
        parts.append(f"keeps {card_text(view.left[seat])}")
    if view.taken[seat]:
        parts.append(f"collected {_cards(view.taken[seat])}")
    return "; ".join(parts)


def _cards(cards: Cards) -> str:
    return " ".join(card_text(card) for card in cards)
