"""Balloon Challenge: views and actions to and from their messages."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from botarena.games.balloon_challenge.v1 import balloon_challenge_pb2 as pb

CARD_NAMES: Final = tuple(f"{colour}{value}" for colour in "RBWYGK" for value in range(10 if colour == "K" else 8))
"""Texts of cards 0..49."""


def encode_view(view: Any) -> pb.View:
    """The message of an engine's view."""
    msg = pb.View(
        seat=view.seat,
        players=view.players,
        round=view.round,
        start=view.start,
        turn=view.turn,
        lap=view.lap,
        pot=view.pot,
        aside=view.aside,
        row0=view.row0,
        size=view.size,
        hand=view.hand,
    )
    add = msg.seats.add
    for row, out, hand_size, chips, total in zip(
        view.rows, view.out, view.hand_sizes, view.chips, view.totals, strict=True
    ):
        add(row=row, out=out, hand_size=hand_size, chips=chips, total=total)
    if view.past:
        msg.past.extend(map(_past, view.past))
    return msg


@lru_cache(maxsize=1024)
def _past(scored: Any) -> pb.PastRound:
    """The message of a scored round, which comes again with every view of the rounds after it. Not to be changed."""
    rows = zip(scored.hands, scored.chips, scored.points, strict=True)
    seats = [pb.SeatResult(hand=hand, chips=chips, points=points) for hand, chips, points in rows]
    return pb.PastRound(size=scored.size, seats=seats)


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
