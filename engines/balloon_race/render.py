"""A view as text for a terminal: the board, and beside it whose turn it is and how everybody stands."""

from __future__ import annotations

from itertools import zip_longest
from typing import Final

from engines.balloon_race.board import distance
from engines.balloon_race.data import COLOURS, MAIL_POINTS, ORDER_CARDS, PAD_ROW, PAD_WIDTH, ROUNDS, SIZE, START_TILE
from engines.balloon_race.view import RaceView

NAMES: Final = ("red", "green", "yellow", "pink", "blue")
LEGEND: Final = ("RGYPB balloons  1-4 obstacles (4' has moved)", "@ mail   = start   _ pad   * landing zone")


def render(view: RaceView) -> str:
    """Lines of plain text without colours, at most 100 columns wide."""
    board, side = _board(view), _side(view)
    return "\n".join(f"{left:<50}  {right}".rstrip() for left, right in zip_longest(board, side, fillvalue=""))


def _board(view: RaceView) -> list[str]:
    cells = [" ." for _ in range(SIZE * SIZE)]
    for square in START_TILE:
        cells[square] = " ="
    if view.pad >= 0:
        first = SIZE * PAD_ROW + view.pad
        cells[first : first + PAD_WIDTH] = [" _"] * PAD_WIDTH
    if view.zone >= 0:
        cells[SIZE * PAD_ROW + view.zone] = " *"
    for square in view.mail:
        cells[square] = " @"
    for square, value in view.obstacles:
        cells[square] = f" {value}"
    for colour, square in zip(COLOURS, view.balloons, strict=True):
        if square >= 0:
            cells[square] = f" {colour}"
    for square in view.moved:
        cells[square] += "'"
    lines = ["   " + "".join(f"{column:>2} " for column in range(SIZE))]
    for row in range(SIZE):
        line = "".join(f"{cell:<3}" for cell in cells[SIZE * row : SIZE * (row + 1)])
        lines.append(f"{row:>2} {line}")
    return lines


def _side(view: RaceView) -> list[str]:
    zone = f" · landing zone {PAD_ROW},{view.zone}" if view.zone >= 0 else ""
    you = f" · you are seat {view.seat}" if view.seat is not None else ""
    lines = [
        f"Round {view.round} of {ROUNDS}{zone}{you}",
        "",
        *(_player(view, seat) for seat in range(view.players)),
        "",
    ]
    if view.phase == "over":
        lines.append("The race is over.")
    elif view.actor is None:
        lines.append(f"Chance: {view.phase}.")
    else:
        lines.append(f"Seat {view.actor}: {_due(view)}.")
    if view.dice:
        lines.append(f"Dice   {_dice(view)}")
    if view.waiting:
        lines.append(f"To fly {' '.join(COLOURS[colour] for colour in view.waiting)}")
    return [*lines, "", *LEGEND]


def _player(view: RaceView, seat: int) -> str:
    cards = [ORDER_CARDS[card - 1] for deal, card in enumerate(view.order) if deal % view.players == seat]
    balloons = "+".join(NAMES[colour] for colour in view.cards[seat])
    mail, penalties = view.letters[seat], view.penalties[seat]
    mine = ">" if seat == view.actor else " "
    line = f"{mine}{seat} {'+'.join(cards):<12} mail {mail}  penalties {penalties:>2}"
    if view.phase != "over":
        return f"{line}  = {MAIL_POINTS * mail - penalties:>3}  {balloons}".rstrip()
    zone = SIZE * PAD_ROW + view.zone
    away = sum(distance(view.balloons[colour], zone) for colour in view.cards[seat])
    return f"{line}  distance {away:>2}  = {MAIL_POINTS * mail - penalties - away:>3}  {balloons}"


def _dice(view: RaceView) -> str:
    if view.phase == "assign":
        return " ".join(map(str, view.dice))
    return " ".join(f"{colour}{die}" for colour, die in zip(COLOURS, view.dice, strict=True))


def _due(view: RaceView) -> str:
    if view.phase == "put":
        return f"put the obstacle {view.drawn} on the ring"
    if view.phase == "assign":
        return "lay a die on each balloon"
    if view.phase == "to":
        return f"fly {NAMES[view.waiting[0]]} two squares anywhere"
    return "move an obstacle"
