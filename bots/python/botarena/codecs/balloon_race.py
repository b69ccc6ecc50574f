"""Balloon Race: views and actions as protobuf messages, and back."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from botarena.games.balloon_race.v1 import balloon_race_pb2 as pb

_PHASES: Final = {
    "pad": pb.View.PHASE_PAD,
    "zone": pb.View.PHASE_ZONE,
    "balloon": pb.View.PHASE_BALLOON,
    "card": pb.View.PHASE_CARD,
    "order": pb.View.PHASE_ORDER,
    "obstacle": pb.View.PHASE_OBSTACLE,
    "roll": pb.View.PHASE_ROLL,
    "put": pb.View.PHASE_PUT,
    "assign": pb.View.PHASE_ASSIGN,
    "to": pb.View.PHASE_TO,
    "move": pb.View.PHASE_MOVE,
    "over": pb.View.PHASE_OVER,
}
_PHASE_NAMES: Final = {number: name for name, number in _PHASES.items()}
_SIGNS: Final = {pb.Assign.DIRECTION_RIGHTWARDS: ">", pb.Assign.DIRECTION_LEFTWARDS: "<"}


def encode_view(view: Any, into: pb.View) -> None:
    """Fills in the message of an engine's ``RaceView``."""
    if view.seat is not None:
        into.seat = view.seat
    into.players = view.players
    into.dice_timer_ms = view.dice_timer_ms
    into.phase = _PHASES[view.phase]
    if view.actor is not None:
        into.actor = view.actor
    into.round = view.round
    into.pad = view.pad
    into.zone = view.zone
    into.balloons.extend(view.balloons)
    into.obstacles.extend(map(_obstacle, view.obstacles))
    into.moved.extend(view.moved)
    into.drawn = view.drawn
    into.mail.extend(view.mail)
    into.order.extend(view.order)
    into.turn = view.turn
    into.dice.extend(view.dice)
    into.waiting.extend(view.waiting)
    into.penalties.extend(view.penalties)
    into.letters.extend(view.letters)
    into.cards.extend(map(_hand, view.cards))
    into.cards_dealt = view.cards_dealt


@lru_cache(maxsize=1024)
def _obstacle(obstacle: tuple[int, int]) -> pb.Obstacle:
    """The message of an obstacle. Not to be changed."""
    return pb.Obstacle(square=obstacle[0], value=obstacle[1])


@lru_cache(maxsize=1024)
def _hand(colours: tuple[int, ...]) -> pb.Hand:
    """The message of a seat's balloon cards. Not to be changed."""
    return pb.Hand(colours=colours)


def view_to_json(msg: pb.View) -> dict[str, Any]:
    """The JSON object of the view that ``msg`` encodes."""
    return {
        "seat": msg.seat if msg.HasField("seat") else None,
        "players": msg.players,
        "dice_timer_ms": msg.dice_timer_ms,
        "phase": _PHASE_NAMES[msg.phase],
        "actor": msg.actor if msg.HasField("actor") else None,
        "round": msg.round,
        "pad": msg.pad,
        "zone": msg.zone,
        "balloons": list(msg.balloons),
        "obstacles": [[obstacle.square, obstacle.value] for obstacle in msg.obstacles],
        "moved": list(msg.moved),
        "drawn": msg.drawn,
        "mail": list(msg.mail),
        "order": list(msg.order),
        "turn": msg.turn,
        "dice": list(msg.dice),
        "waiting": list(msg.waiting),
        "penalties": list(msg.penalties),
        "letters": list(msg.letters),
        "cards": [list(hand.colours) for hand in msg.cards],
        "cards_dealt": msg.cards_dealt,
    }


def encode_action(action: Any) -> pb.Action:
    """The message of one of the engine's action types."""
    match type(action).__name__:
        case "Assign":
            sign = pb.Assign.DIRECTION_RIGHTWARDS if action.rightwards else pb.Assign.DIRECTION_LEFTWARDS
            return pb.Action(assign=pb.Assign(dice=action.dice, direction=sign))
        case "To":
            return pb.Action(to=pb.To(row=action.row, column=action.column))
        case "Put":
            return pb.Action(put=pb.Put(row=action.row, column=action.column))
        case "Move":
            return pb.Action(
                move=pb.Move(row=action.row, column=action.column, to_row=action.to_row, to_column=action.to_column)
            )
        case "Timeout":
            return pb.Action(timeout=pb.Timeout())
        case other:
            raise ValueError(f"{other} is no action of balloon-race")


def decode_action(msg: pb.Action) -> str:
    """The canonical text of an action. Raises ValueError for one that cannot be."""
    match msg.WhichOneof("action"):
        case "assign":
            return _assign(msg.assign)
        case "to":
            return f"to {_square('to', msg.to.row, msg.to.column)}"
        case "put":
            return f"put {_square('put', msg.put.row, msg.put.column)}"
        case "move":
            return _move(msg.move)
        case "timeout":
            return "timeout"
        case _:
            raise ValueError("an action of balloon-race is assign, to, put, move or timeout; none is set")


def _assign(assign: pb.Assign) -> str:
    dice = list(assign.dice)
    if len(dice) != 5 or not all(1 <= die <= 6 for die in dice):
        raise ValueError(f"assign.dice are five numbers from 1 to 6, not {dice[:9]}")
    sign = _SIGNS.get(assign.direction)
    if sign is None:
        raise ValueError(f"assign.direction is rightwards or leftwards, not {assign.direction}")
    return f"assign {''.join(map(str, dice))}{sign}"


def _square(field: str, row: int, column: int) -> str:
    if not (0 <= row <= 14 and 0 <= column <= 14):
        raise ValueError(f"{field}: rows and columns are 0 to 14, not {row}, {column}")
    return f"{row},{column}"


def _move(move: pb.Move) -> str:
    down, right = abs(move.to_row - move.row), abs(move.to_column - move.column)
    if not (1 <= max(down, right) <= 4 and (down in (0, right) or right == 0)):
        raise ValueError(f"move goes 1 to 4 squares in a straight line, not {down} rows and {right} columns")
    return f"move {_square('move', move.row, move.column)}-{move.to_row},{move.to_column}"
