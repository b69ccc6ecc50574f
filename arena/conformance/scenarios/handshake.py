"""Hello, Ready and Pong."""

from __future__ import annotations

from typing import Final

from arena.conformance.scenario import Mismatch, recommended, required
from arena.conformance.stage import Stage, check_hello
from arena.conformance.stream import Stream
from arena.conformance.table import Table
from botarena.v1 import play_pb2 as pb

HELLO_S: Final = 5.0
PONG_S: Final = 4.0
"""A pong may take so long; a gateway gives up a stream that is silent for several ping intervals."""
NONCE_BYTES: Final = 16
LARGEST_NONCE: Final = (1 << 64) - 1


async def _hello(stage: Stage, *, unix: bool) -> None:
    await stage.start(unix=unix)
    stream = await stage.stream()
    await stream.shake_hands(HELLO_S)
    check_hello(stream)
    stream.welcome()
    await stream.quiet()


@required("hello-tcp", "dials ARENA_ADDRESS=host:port, sends the token as metadata and Hello within 5 s")
async def hello_tcp(stage: Stage) -> None:
    await _hello(stage, unix=False)


@required("hello-unix", "dials ARENA_ADDRESS=unix:PATH, sends the token as metadata and Hello within 5 s")
async def hello_unix(stage: Stage) -> None:
    await _hello(stage, unix=True)


async def _offer(stream: Stream, table: Table, offer_id: str) -> pb.Ready:
    stream.send_frame([table.offer(offer_id)])
    ready: pb.Ready = await stream.expect("ready")
    if ready.offer_id != offer_id:
        raise Mismatch(f"sent Ready to {ready.offer_id!r} where {offer_id!r} was offered")
    if len(ready.nonce) not in (0, NONCE_BYTES):
        raise Mismatch(f"sent a nonce of {len(ready.nonce)} bytes; it must have {NONCE_BYTES} or none")
    return ready


@required("ready", "answers each SetOffered with one Ready of the same offer_id")
async def ready(stage: Stage) -> None:
    stream = await stage.connect()
    table = Table(stream.hello)
    for number in range(3):
        await _offer(stream, table, f"o_{number}")
    await stream.quiet()


@recommended("ready-nonce", "puts 16 random bytes of its own into each Ready")
async def ready_nonce(stage: Stage) -> None:
    stream = await stage.connect()
    table = Table(stream.hello)
    nonces = [(await _offer(stream, table, f"o_{number}")).nonce for number in range(3)]
    if not all(nonces):
        raise Mismatch("sent Ready without a nonce")
    if len(set(nonces)) < len(nonces):
        raise Mismatch("sent the same nonce again")


@required("ping", "answers Ping at once with a Pong of the same nonce, whatever 64-bit number it is")
async def ping(stage: Stage) -> None:
    stream = await stage.connect()
    for nonce in (1, 1 << 53 | 1, LARGEST_NONCE):
        stream.send(ping=pb.Ping(nonce=nonce))
        if (pong := await stream.expect("pong", PONG_S)).nonce != nonce:
            raise Mismatch(f"answered Ping({nonce}) with Pong({pong.nonce})")


@recommended("ping-thinking", "answers Ping within 4 s also while a decision is open")
async def ping_thinking(stage: Stage) -> None:
    stream = await stage.connect()
    table = Table(stream.hello)
    for nonce in range(1, 4):
        stream.send_frame([*table.ask(), pb.ArenaEvent(ping=pb.Ping(nonce=nonce))])
        waiting = {"act", "pong"}
        while waiting:
            event = await stream.next(" or ".join(sorted(waiting)), PONG_S if "pong" in waiting else 10.0)
            match event.WhichOneof("event"):
                case "act" if "act" in waiting:
                    table.take(event.act)
                    waiting.discard("act")
                case "pong" if event.pong.nonce == nonce:
                    waiting.discard("pong")
                case kind:
                    raise Mismatch(f"sent {kind} where {' or '.join(sorted(waiting))} was due")
