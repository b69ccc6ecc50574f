"""Positions of Wyścig balonów for tests, written with texts: squares as "4,7", colours as letters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engines.balloon_race import GAME, RaceState
from engines.balloon_race.data import COLOURS, MAIL

HOME = {"R": "0,5", "G": "0,6", "Y": "0,7", "P": "0,8", "B": "0,9"}
AT_THE_EDGE = {"R": "1,14", "G": "3,14", "Y": "5,14", "P": "7,14", "B": "9,14"}
"""Where a 5 moves no balloon and costs nothing."""
CORNERS = {"4,4": 1, "4,10": 2, "10,4": 3, "10,10": 4}


def sq(text: str) -> int:
    """The square "row,column"."""
    row, column = map(int, text.split(","))
    return 15 * row + column


def position(
    *,
    balloons: Mapping[str, str] | None = None,
    obstacles: Mapping[str, int] | None = None,
    mail: list[str] | None = None,
    players: int = 4,
    cards: str = "RGYP",
    **fields: Any,
) -> RaceState:
    """A position in which seat 0 is about to lay the dice 33333, changed by ``fields`` of the JSON form.

    Balloons not named wait AT_THE_EDGE; the pad is columns 5..9, the zone column 7.
    """
    orders = {2: [1, 2, 3, 4], 3: [1, 2, 4], 4: [1, 2, 3, 4]}
    squares = AT_THE_EDGE | dict(balloons or {})
    doc = {
        "players": players,
        "dice_timer_ms": 30000,
        "phase": "assign",
        "round": 1,
        "pad": 5,
        "zone": 7,
        "balloons": [sq(squares[colour]) for colour in COLOURS],
        "cards": [COLOURS.index(colour) for colour in cards[: 3 if players == 3 else 4]],
        "order": orders[players],
        "turn": 0,
        "obstacles": [[sq(square), value] for square, value in (CORNERS if obstacles is None else obstacles).items()],
        "moved": [],
        "drawn": 0,
        "mail": list(MAIL) if mail is None else [sq(square) for square in mail],
        "dice": [3, 3, 3, 3, 3],
        "waiting": [],
        "penalties": [0] * players,
        "letters": [0] * players,
    }
    assert set(fields) <= set(doc)
    return GAME.from_json(doc | fields)


def play(state: RaceState, *texts: str) -> RaceState:
    """The state after these decisions and chance outcomes, in their texts."""
    for text in texts:
        event = GAME.parse(text)
        state = state.apply_chance(event) if state.chance() else state.apply({state.actors()[0]: event})
    return state


def legal(state: RaceState) -> list[str]:
    """Texts of the legal actions of the seat that decides."""
    return [GAME.text(action) for action in state.legal(state.actors()[0])]


def where(state: RaceState, colour: str) -> str:
    """The square of a balloon, as text."""
    row, column = divmod(state.balloons[COLOURS.index(colour)], 15)
    return f"{row},{column}"
