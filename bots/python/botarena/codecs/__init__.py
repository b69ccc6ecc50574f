"""Typed views and actions of the built-in games, to and from what the engines and JSON know.

A codec is a module with four pure functions. It knows an engine's dataclasses by their attributes alone, so that the SDK
needs no engine. Codecs are imported when first used: a bot pays for the games that it plays.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from typing import Any, Final, Protocol, cast

from google.protobuf.message import Message

from botarena.v1.play_pb2 import TypedAction, View


class Codec(Protocol):
    """What each module of this package has, for its own ``View`` and ``Action`` messages."""

    def encode_view(self, view: Any, into: Any) -> None:
        """Fills in the message of an engine's view."""

    def view_to_json(self, msg: Any) -> dict[str, Any]:
        """The message as the engine's ``View.to_json`` gives it."""

    def encode_action(self, action: Any) -> Any:
        """The message of an engine's typed action."""

    def decode_action(self, msg: Any) -> str:
        """The canonical text. Raises ValueError for an action that the game does not have."""


GAMES: Final = {
    "balloon-challenge": "balloon_challenge",
    "balloon-pop": "balloon_pop",
    "balloon-race": "balloon_race",
    "pop": "pop",
}
"""Games with typed messages: the name, and that of the codec module and of the field in View and TypedAction."""


@cache
def get(game: str) -> Codec | None:
    """The codec of ``game``; None if the game has no typed messages."""
    field = GAMES.get(game)
    return None if field is None else cast(Codec, import_module(f"{__name__}.{field}"))


def encode_view(game: str, view: Any, into: View) -> None:
    """Puts an engine's view into ``into``: typed where the game has messages, else as JSON."""
    codec = get(game)
    if codec is None:
        into.json = json.dumps(view.to_json(), separators=(",", ":"))
    else:
        codec.encode_view(view, getattr(into, GAMES[game]))


def view_to_json(game: str, msg: View) -> Any:
    """The view as JSON, whichever way it was sent. Raises ValueError if ``msg`` holds no view of ``game``."""
    if msg.WhichOneof("view") == "json":
        return json.loads(msg.json)
    codec = get(game)
    if codec is None or msg.WhichOneof("view") != GAMES[game]:
        raise ValueError(f"not a view of {game}: {msg.WhichOneof('view') or 'empty'}")
    return codec.view_to_json(_part(msg, game))


def encode_action(game: str, action: Any, into: TypedAction) -> None:
    """Puts an engine's typed action into ``into``, which stays empty if the game has no typed messages."""
    codec = get(game)
    if codec is not None:
        _part(into, game).CopyFrom(codec.encode_action(action))


def decode_action(game: str, msg: TypedAction) -> str:
    """The canonical text of a typed action. Raises ValueError if it is none of ``game``."""
    codec = get(game)
    if codec is None or msg.WhichOneof("action") != GAMES[game]:
        raise ValueError(f"not an action of {game}: {msg.WhichOneof('action') or 'empty'}")
    return codec.decode_action(_part(msg, game))


def _part(msg: Message, game: str) -> Message:
    return cast(Message, getattr(msg, GAMES[game]))
