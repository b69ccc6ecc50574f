"""Balloon Pop: views and actions as protobuf messages, and back."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from botarena.games.balloon_pop.v1 import balloon_pop_pb2 as pb

_PHASES: Final = {
    "first": pb.View.PHASE_FIRST,
    "draw": pb.View.PHASE_DRAW,
    "card": pb.View.PHASE_CARD,
    "group": pb.View.PHASE_GROUP,
    "place": pb.View.PHASE_PLACE,
    "pop": pb.View.PHASE_POP,
    "over": pb.View.PHASE_OVER,
}
_PHASE_NAMES: Final = {number: name for name, number in _PHASES.items()}
_ORIENTATIONS: Final = {"V": pb.Place.ORIENTATION_VERTICAL, "H": pb.Place.ORIENTATION_HORIZONTAL}
_ORIENTATION_NAMES: Final = {number: name for name, number in _ORIENTATIONS.items()}
_KINDS: Final = {
    "r": pb.Pop.KIND_RED,
    "g": pb.Pop.KIND_GREEN,
    "b": pb.Pop.KIND_BLUE,
    "y": pb.Pop.KIND_YELLOW,
    "w": pb.Pop.KIND_NEUTRAL,
    "*": pb.Pop.KIND_SYMBOLS,
}
_KIND_NAMES: Final = {number: name for name, number in _KINDS.items()}


def encode_view(view: Any, into: pb.View) -> None:
    """Fills in the message of an engine's ``View``."""
    if view.seat is not None:
        into.seat = view.seat
    into.simultaneous_cards = view.simultaneous_cards
    into.bonus = view.bonus
    into.round = view.round
    into.first = view.first
    into.phase = _PHASES[view.phase]
    into.step = view.step
    into.bag.extend(view.bag)
    into.discarded.extend(view.discarded)
    into.groups.extend(view.groups)
    into.popped = view.popped
    into.players.extend(map(_player, view.boards, view.hands, view.points, view.cards, view.taken))


@lru_cache(maxsize=4096)
def _player(board: tuple[str, ...], hand: tuple[int, ...], points: int, card: int, taken: int) -> pb.Player:
    """The message of a seat, which stays the same while others move. Not to be changed."""
    return pb.Player(board=board, hand=hand, points=points, card=card, taken=taken)


def view_to_json(msg: pb.View) -> dict[str, Any]:
    """The JSON object of the view that ``msg`` encodes."""
    return {
        "seat": msg.seat if msg.HasField("seat") else None,
        "simultaneous_cards": msg.simultaneous_cards,
        "bonus": msg.bonus,
        "round": msg.round,
        "first": msg.first,
        "phase": _PHASE_NAMES[msg.phase],
        "step": msg.step,
        "bag": list(msg.bag),
        "discarded": list(msg.discarded),
        "boards": [list(player.board) for player in msg.players],
        "hands": [list(player.hand) for player in msg.players],
        "points": [player.points for player in msg.players],
        "cards": [player.card for player in msg.players],
        "groups": list(msg.groups),
        "taken": [player.taken for player in msg.players],
        "popped": msg.popped,
    }


def encode_action(action: Any) -> pb.Action:
    """The message of one of the engine's action types."""
    match type(action).__name__:
        case "PlayCard":
            return pb.Action(play_card=pb.PlayCard(value=action.value))
        case "TakeGroup":
            return pb.Action(take_group=pb.TakeGroup(number=action.number))
        case "Place":
            return pb.Action(
                place=pb.Place(
                    orientation=_ORIENTATIONS[action.orientation],
                    column=action.column,
                    reversed=action.reversed,
                    drop=action.drop,
                )
            )
        case "Discard":
            return pb.Action(discard=pb.Discard())
        case "Pop":
            return pb.Action(pop=pb.Pop(kind=_KINDS[action.kind], column=action.column, row=action.row))
        case other:
            raise ValueError(f"{other} is no action of balloon-pop")


def decode_action(msg: pb.Action) -> str:
    """The canonical text of an action. Raises ValueError for one that cannot be."""
    match msg.WhichOneof("action"):
        case "play_card":
            return f"card {_within('play_card.value', msg.play_card.value, 1, 10)}"
        case "take_group":
            return f"group {_within('take_group.number', msg.take_group.number, 1, 4)}"
        case "place":
            return _placement(msg.place)
        case "discard":
            return "discard"
        case "pop":
            return _pop(msg.pop)
        case _:
            raise ValueError("an action of balloon-pop is play_card, take_group, place, discard or pop; none is set")


def _placement(place: pb.Place) -> str:
    orientation = _ORIENTATION_NAMES.get(place.orientation)
    if orientation is None:
        raise ValueError(f"place.orientation is vertical or horizontal, not {place.orientation}")
    column = _within("place.column", place.column, 0, 5)
    drop = _within("place.drop", place.drop, 0, 4)
    return f"{orientation}{column}{'r' if place.reversed else ''}{f'-{drop}' if drop else ''}"


def _pop(pop: pb.Pop) -> str:
    kind = _KIND_NAMES.get(pop.kind)
    if kind is None:
        raise ValueError(f"pop.kind is a colour, neutral or symbols, not {pop.kind}")
    return f"pop {kind}@{_within('pop.column', pop.column, 0, 5)},{_within('pop.row', pop.row, 0, 7)}"


def _within(field: str, value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise ValueError(f"{field} is {low} to {high}, not {value}")
    return value
