"""What must be true of the first frame of a stream."""

from __future__ import annotations

from typing import Final

from google.protobuf.message import DecodeError

from arena.gateway.auth import Refused
from arena.gateway.session import Failure, Reason
from arena.gateway.session.model import PROTOCOL, PROTOCOL_MIN
from botarena.v1 import play_pb2 as pb

NAME_CHARS: Final = 64
MAX_GAMES: Final = 64
MAX_LADDERS: Final = 64


def read_hello(data: bytes) -> tuple[pb.Hello, pb.PlayRequest]:
    """The Hello of a first frame, and what came with it. Raises Refused."""
    try:
        frame = pb.PlayRequest.FromString(data)
    except DecodeError:
        raise Refused(Failure(Reason.MALFORMED_FRAME, "Not a PlayRequest of botarena.v1.")) from None
    if not frame.events or frame.events[0].WhichOneof("event") != "hello":
        raise Refused(Failure(Reason.BAD_HELLO, "The first event of a stream must be Hello.", field="events[0]"))
    hello = pb.Hello()
    hello.CopyFrom(frame.events[0].hello)
    del frame.events[0]
    _check(hello)
    return hello, frame


def _check(hello: pb.Hello) -> None:
    if hello.protocol and not PROTOCOL_MIN <= hello.protocol <= PROTOCOL:
        message = (
            f"The bot speaks protocol {_version(hello.protocol)}, this arena "
            f"{_version(PROTOCOL_MIN)} to {_version(PROTOCOL)}."
        )
        raise Refused(Failure(Reason.VERSION_SKEW, message, field="hello.protocol"))
    for name in ("bot", "version", "instance", "sdk"):
        value = getattr(hello, name)
        if len(value) > NAME_CHARS or not value.isprintable():
            message = f"Hello.{name} must be at most {NAME_CHARS} printable characters."
            raise Refused(Failure(Reason.BAD_HELLO, message, field=f"hello.{name}"))
    if len(hello.games) > MAX_GAMES:
        raise Refused(Failure(Reason.BAD_HELLO, f"At most {MAX_GAMES} games.", field="hello.games"))
    if len(hello.ladders) > MAX_LADDERS or not all(map(str.isprintable, hello.ladders)):
        raise Refused(Failure(Reason.BAD_HELLO, f"At most {MAX_LADDERS} names of ladders.", field="hello.ladders"))


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000}"
