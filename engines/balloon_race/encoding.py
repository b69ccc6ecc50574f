"""Views of Wyścig balonów as numbers: the board as planes of 15 x 15 squares, and who has what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engines.balloon_race.data import (
    CARDS_DEALT,
    COLOURS,
    DICE,
    FLIGHT,
    FREE_DIE,
    MAIL,
    OBSTACLES,
    ORDER_CARDS,
    ORDER_DEAL,
    PAD_OFFSETS,
    ROUNDS,
    SIZE,
    SQUARES,
    TIMEOUT_PENALTIES,
)
from engines.balloon_race.view import RaceView
from engines.encoding import Block, Encoding, by_seat, distance, members, members_by_seat, number, one_of

PHASES = ("pad", "zone", "balloon", "card", "order", "obstacle", "roll", "put", "assign", "to", "move", "over")


def encoding(players: int) -> Encoding:
    """The encoding for a number of players."""
    seats, colours = range(players), range(len(COLOURS))
    turns = len(ORDER_DEAL[players])
    penalties = ROUNDS * turns * (TIMEOUT_PENALTIES + FLIGHT * len(COLOURS))
    return Encoding(
        (
            one_of("phase", PHASES, lambda view: view.phase),
            one_of("actor", seats, lambda view: _from_own(view, view.actor)),
            one_of("round", range(1, ROUNDS + 1), lambda view: view.round),
            number("turn", 0, turns, lambda view: view.turn),
            one_of("pad", range(PAD_OFFSETS), lambda view: view.pad),
            one_of("zone", range(SIZE), lambda view: view.zone),
            Block("balloons", len(COLOURS) * SQUARES, 0, 1, _balloons),
            Block("obstacles", max(OBSTACLES) * SQUARES, 0, 1, _obstacles),
            members("moved", SQUARES, lambda view: view.moved),
            one_of("drawn", range(1, max(OBSTACLES) + 1), lambda view: view.drawn),
            members("mail", len(MAIL), lambda view: [MAIL.index(square) for square in view.mail]),
            members_by_seat("order", players, len(ORDER_CARDS), _order, first=1),
            Block("dice", DICE * FREE_DIE, 0, 1, _dice),
            members("waiting", len(COLOURS), lambda view: view.waiting),
            one_of("next", colours, lambda view: view.waiting[0] if view.waiting else None),
            by_seat("penalties", players, 0, penalties, lambda view: view.penalties),
            by_seat("letters", players, 0, len(MAIL), lambda view: view.letters),
            members_by_seat("cards", players, len(COLOURS), lambda view: view.cards),
            number("cards_dealt", 0, CARDS_DEALT[players], lambda view: view.cards_dealt),
        )
    )


def _from_own(view: RaceView, seat: int | None) -> int | None:
    return None if seat is None else distance(seat, view.seat, view.players)


def _balloons(view: RaceView) -> Sequence[int]:
    """A plane a colour with its balloon."""
    found = [0] * (len(COLOURS) * SQUARES)
    for colour, square in enumerate(view.balloons):
        if square >= 0:
            found[colour * SQUARES + square] = 1
    return found


def _obstacles(view: RaceView) -> Sequence[int]:
    """A plane a value with the obstacles of that value."""
    found = [0] * (max(OBSTACLES) * SQUARES)
    for square, value in view.obstacles:
        found[(value - 1) * SQUARES + square] = 1
    return found


def _order(view: RaceView) -> Sequence[Iterable[int]]:
    """By seat the order cards."""
    return [view.order[seat :: view.players] for seat in range(view.players)]


def _dice(view: RaceView) -> Sequence[int]:
    """For each die of the throw, or of each balloon once they are assigned, which number it shows."""
    found = [0] * (DICE * FREE_DIE)
    for index, die in enumerate(view.dice):
        found[index * FREE_DIE + die - 1] = 1
    return found
