"""A position as a JSON object and back: what records and tests are written in."""

from __future__ import annotations

from engines.balloon_race.board import OFF, bits, token
from engines.balloon_race.data import MAIL
from engines.balloon_race.position import Position, turns_of
from engines.game import Json


def to_doc(state: Position) -> Json:
    """The whole position; members are named as in the view, squares are ints."""
    return {
        "players": state.players,
        "dice_timer_ms": state.dice_timer_ms,
        "phase": state.phase,
        "round": state.round,
        "pad": state.pad,
        "zone": state.zone,
        "balloons": list(state.balloons),
        "cards": list(state.cards),
        "order": list(state.order),
        "turn": state.turn,
        "obstacles": [[token >> 2, (token & 3) + 1] for token in state.obstacles],
        "moved": [token >> 2 for token in state.moved],
        "drawn": state.drawn,
        "mail": [square for square in MAIL if state.mail >> square & 1],
        "dice": list(state.dice),
        "waiting": list(state.waiting),
        "penalties": list(state.penalties),
        "letters": list(state.letters),
    }


def restore(state: Position, doc: Json) -> None:
    """Makes a position just constructed, for as many players, into that of :func:`to_doc`. Other members are ignored."""
    state.phase = doc["phase"]
    state.round = doc["round"]
    state.pad = doc["pad"]
    state.zone = doc["zone"]
    state.balloons = tuple(doc["balloons"])
    state.cards = tuple(doc["cards"])
    state.order = tuple(doc["order"])
    state.turns = turns_of(state.players, state.order)
    state.turn = doc["turn"]
    state.obstacles = tuple(sorted(token(square, value) for square, value in doc["obstacles"]))
    state.moved = tuple(placed for placed in state.obstacles if placed >> 2 in doc["moved"])
    state.drawn = doc["drawn"]
    state.mail = bits(doc["mail"])
    placed_balloons = [square for square in state.balloons if square != OFF]
    state.tokens = bits(placed_balloons) | bits(placed >> 2 for placed in state.obstacles)
    state.dice = tuple(doc["dice"])
    state.waiting = tuple(doc["waiting"])
    state.penalties = tuple(doc["penalties"])
    state.letters = tuple(doc["letters"])
