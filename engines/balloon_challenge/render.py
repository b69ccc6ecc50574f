"""A view as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engines.balloon_challenge.data import CARD_NAMES, CARD_VALUE, CHIP_POINTS, EARLY_BONUS, ROUNDS
from engines.balloon_challenge.view import Cards, View

WIDTH = 8


def render(view: View) -> str:
    """What is due, the table with a column for each seat, and the seat's own hand."""
    return "\n".join(line.rstrip() for line in (*_head(view), "", *_table(view), *_hand(view), *_past(view)))


def _head(view: View) -> Iterator[str]:
    if len(view.past) == ROUNDS:
        yield "Balloon Challenge · the end"
        return
    due = "dealing" if view.turn is None else f"lap {view.lap} · {_who(view, view.turn)} to move"
    yield f"Balloon Challenge · round {view.round} of {ROUNDS} · {due}"
    chips = f"pot {view.pot}{' + 1 aside' if view.aside else ''} (a chip is {CHIP_POINTS[view.round]} points)"
    line = f"size {view.size} · {chips}"
    if view.turn is not None:
        line += f" · dropping takes {min(view.pot, max(0, EARLY_BONUS - view.lap))}{' + 1' if view.aside else ''}"
    yield line


def _who(view: View, seat: int) -> str:
    return "you" if seat == view.seat else f"seat {seat}"


def _table(view: View) -> Iterator[str]:
    if view.row0:
        yield f"row 0    {_names(view.row0)}"
    yield _line("", (f"{'>' if seat == view.turn else ''}{_who(view, seat)}" for seat in range(view.players)))
    for lap in range(max(map(len, view.rows))):
        yield _line(f"row {lap + 1}", (CARD_NAMES[row[lap]] if lap < len(row) else "·" for row in view.rows))
    cells = (f"{size} out" if out else str(size) for size, out in zip(view.hand_sizes, view.out, strict=True))
    yield _line("hand", cells)
    yield _line("chips", map(str, view.chips))
    yield _line("total", map(str, view.totals))


def _line(title: str, cells: Iterable[str]) -> str:
    return f"{title:<9}" + "".join(f"{cell:<{WIDTH}}" for cell in cells)


def _hand(view: View) -> Iterator[str]:
    if view.seat is not None and len(view.past) < ROUNDS:
        yield ""
        yield f"your hand {_names(view.hand)} · volume {_volume(view.hand)}"


def _past(view: View) -> Iterator[str]:
    if not view.past:
        return
    yield ""
    yield "scored   " + "size  " + "volume, chips and points by seat"
    for number, scored in enumerate(view.past, 1):
        cells = (
            f"{_volume(hand)}{_verdict(hand, scored.size)} {chips}c {points}"
            for hand, chips, points in zip(scored.hands, scored.chips, scored.points, strict=True)
        )
        yield f"round {number}  {scored.size:<6}" + "".join(f"{cell:<{WIDTH + 5}}" for cell in cells)
    if len(view.past) == ROUNDS or view.turn is None:
        yield "hands    " + " | ".join(map(_names, view.past[-1].hands))


def _verdict(hand: Cards, size: int) -> str:
    volume = _volume(hand)
    return "!" if volume > size else "=" if volume == size else ""


def _names(cards: Cards) -> str:
    return " ".join(CARD_NAMES[card] for card in cards) or "-"


def _volume(cards: Cards) -> int:
    return sum(CARD_VALUE[card] for card in cards)
