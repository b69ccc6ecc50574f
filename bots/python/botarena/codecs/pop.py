"""POP!: views and actions as protobuf messages, and back."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from botarena.games.pop.v1 import pop_pb2 as pb

_PHASES: Final = {
    "row": pb.View.PHASE_ROW,
    "deal": pb.View.PHASE_DEAL,
    "draw": pb.View.PHASE_DRAW,
    "chief": pb.View.PHASE_CHIEF,
    "choose": pb.View.PHASE_CHOOSE,
    "over": pb.View.PHASE_OVER,
}
_PHASE_NAMES: Final = {number: name for name, number in _PHASES.items()}


def encode_view(view: Any, into: pb.View) -> None:
    """Fills in the message of an engine's ``PopView``."""
    if view.seat is not None:
        into.seat = view.seat
    into.players = view.players
    into.two_player_variant = view.two_player_variant
    into.rounds = view.rounds
    into.round = view.round
    into.turn = view.turn
    into.step = view.step
    into.phase = _PHASES[view.phase]
    into.columns.extend(map(_cards, view.columns))
    into.hand.extend(view.hand)
    into.hand_sizes.extend(view.hand_sizes)
    into.chief.extend(view.chief)
    into.chosen.extend(map(_cards, view.chosen))
    into.taken.extend(map(_cards, view.taken))
    into.pile.extend(view.pile)
    into.points.extend(view.points)
    into.left.extend(view.left)


@lru_cache(maxsize=4096)
def _cards(cards: tuple[int, ...]) -> pb.Cards:
    """The message of some cards, which mostly stay where they are. Not to be changed."""
    return pb.Cards(cards=cards)


def view_to_json(msg: pb.View) -> dict[str, Any]:
    """The JSON object of the view that ``msg`` encodes."""
    return {
        "seat": msg.seat if msg.HasField("seat") else None,
        "players": msg.players,
        "two_player_variant": msg.two_player_variant,
        "rounds": msg.rounds,
        "round": msg.round,
        "turn": msg.turn,
        "step": msg.step,
        "phase": _PHASE_NAMES[msg.phase],
        "columns": _lists(msg.columns),
        "hand": list(msg.hand),
        "hand_sizes": list(msg.hand_sizes),
        "chief": list(msg.chief),
        "chosen": _lists(msg.chosen),
        "taken": _lists(msg.taken),
        "pile": list(msg.pile),
        "points": list(msg.points),
        "left": list(msg.left),
    }


def encode_action(action: Any) -> pb.Action:
    """The message of an engine's ``Play`` or ``PlayPair``."""
    match type(action).__name__:
        case "Play":
            return pb.Action(play=pb.Play(card=action.card))
        case "PlayPair":
            return pb.Action(play_pair=pb.PlayPair(low=action.low, high=action.high))
        case other:
            raise ValueError(f"{other} is no action of pop")


def decode_action(msg: pb.Action) -> str:
    """The canonical text of an action. Raises ValueError for one that cannot be."""
    match msg.WhichOneof("action"):
        case "play":
            if not 1 <= msg.play.card <= 50:
                raise ValueError(f"play.card is 1 to 50, not {msg.play.card}")
            return f"play {msg.play.card}"
        case "play_pair":
            low, high = msg.play_pair.low, msg.play_pair.high
            if not 1 <= low < high <= 50:
                raise ValueError(f"play_pair has 1 <= low < high <= 50, not {low} and {high}")
            return f"play {low}+{high}"
        case _:
            raise ValueError("an action of pop is play or play_pair; neither is set")


def _lists(groups: Iterable[pb.Cards]) -> list[list[int]]:
    return [list(group.cards) for group in groups]
