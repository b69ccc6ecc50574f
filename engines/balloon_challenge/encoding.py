"""Views of Balloon Challenge as numbers. Of scored rounds only the totals are there: nothing else of them matters any more."""

from __future__ import annotations

from collections.abc import Sequence

from engines.balloon_challenge.data import CARD_VALUE, CARDS, CHIP_POINTS, CHIPS, HAND_SIZE, ROUNDS
from engines.balloon_challenge.view import View
from engines.encoding import Block, Encoding, around, by_seat, distance, members, number, one_of


def encoding(players: int) -> Encoding:
    """The encoding for a number of players."""
    seats, chips, most = range(players), CHIPS[players], _most_points(players)
    return Encoding(
        (
            one_of("round", range(1, ROUNDS + 1), lambda view: view.round),
            one_of("start", seats, lambda view: _from_own(view, view.start)),
            one_of("turn", seats, lambda view: _from_own(view, view.turn)),
            number("lap", 0, max(HAND_SIZE) + 1, lambda view: view.lap),
            number("size", 0, CARDS, lambda view: view.size),
            number("pot", 0, chips, lambda view: view.pot),
            number("aside", 0, 1, lambda view: int(view.aside)),
            members("hand", CARDS, lambda view: view.hand),
            members("row0", CARDS, lambda view: view.row0),
            Block("rows", players * CARDS, 0, max(HAND_SIZE), _rows),
            by_seat("out", players, 0, 1, lambda view: tuple(map(int, view.out))),
            by_seat("hand_sizes", players, 0, max(HAND_SIZE), lambda view: view.hand_sizes),
            by_seat("chips", players, 0, chips, lambda view: view.chips),
            by_seat("totals", players, 0, most, lambda view: view.totals),
        )
    )


def _from_own(view: View, seat: int | None) -> int | None:
    return None if seat is None else distance(seat, view.seat, view.players)


def _rows(view: View) -> Sequence[int]:
    """For each seat in turn by card the row in which it lies, from 1; 0 for those that it has not played."""
    found = [0] * (view.players * CARDS)
    for place, cards in enumerate(around(view.rows, view.seat)):
        for row, card in enumerate(cards, 1):
            found[place * CARDS + card] = row
    return found


def _most_points(players: int) -> int:
    """More than anybody can get in all rounds: the greatest cards, and all chips."""
    values = sorted(CARD_VALUE, reverse=True)
    return sum(
        sum(values[: HAND_SIZE[round_]]) + CHIP_POINTS[round_] * CHIPS[players] for round_ in range(1, ROUNDS + 1)
    )
