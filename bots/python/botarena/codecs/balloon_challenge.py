"""Balloon Challenge: views and actions to and from their messages."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from botarena.games.balloon_challenge.v1 import balloon_challenge_pb2 as pb

CARD_NAMES: Final = tuple(f"{colour}{value}" for colour in "RBWYGK" for value in range(10 if colour == "K" else 8))
"""Texts of cards 0..49."""


def encode_view(view: Any, into: pb.View) -> None:
    """Fills in the message of an engine's view."""
    if view.seat is not None:
        into.seat = view.seat
    into.players = view.players
    into.round = view.round
    if view.start is not None:
        into.start = view.start
    if view.turn is not None:
        into.turn = view.turn
    into.lap = view.lap
    into.pot = view.pot
    into.aside = view.aside
    into.row0.extend(view.row0)
    into.size = view.size
    into.hand.extend(view.hand)
    for row, out, hand_size, chips, total in zip(
        view.rows, view.out, view.hand_sizes, view.chips, view.totals, strict=True
    ):
        seat = into.seats.add()
        seat.row.extend(row)
        seat.out = out
        seat.hand_size = hand_size
        seat.chips = chips
        seat.total = total
    if view.past:
        into.MergeFromString(_past(view.past))


@lru_cache(maxsize=1024)
def _past(rounds: tuple[Any, ...]) -> bytes:
    """A view with nothing but the scored rounds, which come again with every view of the rounds after them, encoded."""
    past = []
    for scored in rounds:
        rows = zip(scored.hands, scored.chips, scored.points, strict=True)
        seats = [pb.SeatResult(hand=hand, chips=chips, points=points) for hand, chips, points in rows]
        past.append(pb.PastRound(size=scored.size, seats=seats))
    return pb.View(past=past).SerializeToString()


def view_to_json(msg: pb.View) -> dict[str, Any]:
    """The message as the engine's ``View.to_json`` gives it."""
    seats = msg.seats
    return {
        "seat": msg.seat if msg.HasField("seat") else None,
        "players": msg.players,
        "round": msg.round,
        "start": msg.start if msg.HasField("start") else None,
        "turn": msg.turn if msg.HasField("turn") else None,
        "lap": msg.lap,
        "pot": msg.pot,
        "aside": msg.aside,
        "row0": list(msg.row0),
        "rows": [list(seat.row) for seat in seats],
        "size": msg.size,
        "out": [seat.out for seat in seats],
        "hand": list(msg.hand),
        "hand_sizes": [seat.hand_size for seat in seats],
        "chips": [seat.chips for seat in seats],
        "totals": [seat.total for seat in seats],
        "past": [
            {
                "size": scored.size,
                "hands": [list(seat.hand) for seat in scored.seats],
                "chips": [seat.chips for seat in scored.seats],
                "points": [seat.points for seat in scored.seats],
            }
            for scored in msg.past
        ],
    }


def encode_action(action: Any) -> pb.Action:
    """The message of an engine's ``Play`` or ``Drop``."""
    card = getattr(action, "card", None)
    return pb.Action(drop=pb.Drop()) if card is None else pb.Action(play=pb.Play(card=card))


def decode_action(msg: pb.Action) -> str:
    """The canonical text. Raises ValueError for a card that does not exist, and for an empty message."""
    kind = msg.WhichOneof("action")
    if kind == "drop":
        return "drop"
    if kind != "play":
        raise ValueError("an action of Balloon Challenge is play or drop; none is set")
    if msg.play.card >= len(CARD_NAMES):
        raise ValueError(f"cards are 0 to {len(CARD_NAMES) - 1}, not {msg.play.card}")
    return f"play {CARD_NAMES[msg.play.card]}"
