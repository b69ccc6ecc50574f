"""Views of POP! as numbers. Only what may differ where somebody chooses, or at the end, is there."""

from __future__ import annotations

from collections.abc import Sequence

from engines.encoding import Block, Encoding, around, by_seat, members, members_by_seat, number
from engines.pop.data import CARDS, COLUMNS, EXPLOSIONS, HAND, TURNS
from engines.pop.view import PopView

_TOTAL = sum(EXPLOSIONS)


def encoding(players: int, rounds: int) -> Encoding:
    """The encoding of a match of ``rounds`` rounds."""
    cards = len(CARDS)
    return Encoding(
        (
            number("round", 1, rounds, lambda view: view.round),
            number("turn", 0, TURNS, lambda view: view.turn),
            members("hand", cards, lambda view: view.hand, first=1),
            Block("columns", len(COLUMNS) * cards, 0, 1, _columns),
            Block("height", cards, 0, cards, _heights),
            members("chief", cards, lambda view: view.chief, first=1),
            members("pile", cards, lambda view: view.pile, first=1),
            members_by_seat("taken", players, cards, lambda view: view.taken, first=1),
            by_seat("hand_sizes", players, 0, HAND + 1, lambda view: view.hand_sizes),
            by_seat("points", players, 0, rounds * _TOTAL, lambda view: view.points),
            members("left", players * cards, _left, first=0),
        )
    )


def _columns(view: PopView) -> Sequence[int]:
    """For each column in turn which of the cards lie there."""
    found = [0] * (len(COLUMNS) * len(CARDS))
    for column, cards in enumerate(view.columns):
        for card in cards:
            found[column * len(CARDS) + card - 1] = 1
    return found


def _heights(view: PopView) -> Sequence[int]:
    """By card how high it lies in its column, the floor being 1; 0 for those that lie in none."""
    found = [0] * len(CARDS)
    for cards in view.columns:
        for height, card in enumerate(cards, 1):
            found[card - 1] = height
    return found


def _left(view: PopView) -> Sequence[int]:
    return [place * len(CARDS) + card - 1 for place, card in enumerate(around(view.left, view.seat))]
