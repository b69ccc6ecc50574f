"""The arena's side of a bot's streams, at the command of a scenario."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, Final, TypeAlias

import grpc

from arena.conformance.scenario import HungUp, Mismatch
from arena.gateway.session.model import PROTOCOL
from botarena.v1 import play_pb2 as pb
from botarena.v1.play_pb2_grpc import PlayServiceServicer, add_PlayServiceServicer_to_server

PING_INTERVAL_MS: Final = 2000
MAX_FRAME_BYTES: Final = 64 * 1024
SOON_S: Final = 10.0
"""How long a program may take for what it should do at once, on a machine that is busy with other things."""

Ending: TypeAlias = tuple[grpc.StatusCode, str]


class Stream:
    """One stream of a bot. ``opened_at`` and the events' times are of the event loop."""

    def __init__(self, number: int, metadata: dict[str, str], opened_at: float) -> None:
        self.number: Final = number
        self.metadata: Final = metadata
        self.opened_at: Final = opened_at
        self.hello = pb.Hello()
        """What the bot said first; set by :meth:`shake_hands`."""
        self.sent: Counter[str] = Counter()
        """How many events of each kind the bot has sent."""
        self.faults: list[str] = []
        """What is wrong on any stream, whatever the scenario is about."""
        self._inbox: asyncio.Queue[pb.BotEvent | None] = asyncio.Queue()
        self._outbox: asyncio.Queue[pb.PlayResponse | Ending] = asyncio.Queue()

    # -- what the scenario says

    def send(self, **event: Any) -> None:
        """Sends one event, named by its field."""
        self.send_frame([pb.ArenaEvent(**event)])

    def send_frame(self, events: Iterable[pb.ArenaEvent]) -> None:
        """Sends events as one frame."""
        self._outbox.put_nowait(pb.PlayResponse(events=events))

    def end(self, code: grpc.StatusCode = grpc.StatusCode.OK, details: str = "") -> None:
        """Ends the stream after what was sent."""
        self._outbox.put_nowait((code, details))

    def welcome(self, *, session: str = "s_1", running: Sequence[str] = ()) -> None:
        """Answers the Hello."""
        self.send(
            welcome=pb.Welcome(
                session=session,
                protocol=PROTOCOL,
                bot=self.hello.bot or "conformance",
                version=self.hello.version or "1",
                limits=pb.Limits(max_frame_bytes=MAX_FRAME_BYTES, max_credit=64, ping_interval_ms=PING_INTERVAL_MS),
                running_games=running,
                arena_key=bytes(range(32)),
            )
        )

    # -- what the bot says

    async def next(self, what: str, within_s: float = SOON_S) -> pb.BotEvent:
        """The bot's next event but SetCredit, which may come at any time. Raises Mismatch if none comes."""
        while True:
            event = await self._take(what, within_s)
            if event.WhichOneof("event") != "set_credit":
                return event

    async def expect(self, kind: str, within_s: float = SOON_S) -> Any:
        """The next event, which must be of this kind. Raises Mismatch."""
        name = NAMES[kind]
        take = self._take if kind == "set_credit" else self.next
        event = await take(name, within_s)
        if event.WhichOneof("event") != kind:
            raise Mismatch(f"sent {shown(event)} where {name} was due")
        return getattr(event, kind)

    async def shake_hands(self, within_s: float = SOON_S) -> pb.Hello:
        """The Hello, which comes first. Raises Mismatch."""
        hello: pb.Hello = await self.expect("hello", within_s)
        self.hello = hello
        return hello

    async def quiet(self) -> None:
        """Raises Mismatch if the bot has sent anything but what was taken: a Pong comes next."""
        self.send(ping=pb.Ping(nonce=77))
        await self.expect("pong")

    async def _take(self, what: str, within_s: float) -> pb.BotEvent:
        try:
            event = await asyncio.wait_for(self._inbox.get(), within_s)
        except TimeoutError:
            raise Mismatch(f"sent no {what} within {within_s:g} s") from None
        if event is None:
            self._inbox.put_nowait(None)
            raise HungUp(f"closed the stream where {what} was due")
        return event

    # -- what the server does

    def received(self, frame: pb.PlayRequest) -> None:
        """Takes in a frame of the bot."""
        if (size := frame.ByteSize()) > MAX_FRAME_BYTES:
            self.faults.append(f"sent a frame of {size} bytes; at most {MAX_FRAME_BYTES} are allowed")
        for event in frame.events:
            kind = event.WhichOneof("event") or "an event of no kind"
            if kind == "hello" and self.sent:
                self.faults.append("sent Hello again in the middle of a stream")
            self.sent[kind] += 1
            self._inbox.put_nowait(event)

    def closed(self) -> None:
        """The bot's side is over."""
        self._inbox.put_nowait(None)

    async def frames(self) -> AsyncIterator[pb.PlayResponse | Ending]:
        """What to write; the status comes last."""
        while True:
            item = await self._outbox.get()
            yield item
            if isinstance(item, tuple):
                return


NAMES: Final = {
    "hello": "Hello",
    "ready": "Ready",
    "act": "Act",
    "set_credit": "SetCredit",
    "pong": "Pong",
}


def shown(event: pb.BotEvent) -> str:
    """An event in a few words."""
    match event.WhichOneof("event"):
        case "act":
            return f"Act({choice(event.act)}) to decision {event.act.decision_id}"
        case "pong":
            return f"Pong({event.pong.nonce})"
        case "ready":
            return f"Ready to {event.ready.offer_id!r}"
        case "set_credit":
            return f"SetCredit(credit={event.set_credit.credit}, drain={event.set_credit.drain})"
        case kind:
            return NAMES.get(kind or "", "an event of no known kind")


def choice(act: pb.Act) -> str:
    """What an act chooses, for comparison and to read."""
    match act.WhichOneof("choice"):
        case "action_id":
            return f"id {act.action_id}"
        case "text":
            return repr(act.text)
        case "typed":
            return f"typed {act.typed.SerializeToString(deterministic=True).hex()}"
    return "nothing"


class Gateway(PlayServiceServicer):
    """Hands each stream to the scenario, at a socket of its own."""

    def __init__(self, path: str) -> None:
        self.path: Final = path
        self.streams: list[Stream] = []
        """All streams so far, the oldest first."""
        self.refusal: Ending | None = None
        """Ends every new stream at once, if set."""
        self._new: asyncio.Queue[Stream] = asyncio.Queue()
        self._server: grpc.aio.Server | None = None

    async def __aenter__(self) -> Gateway:
        self._server = grpc.aio.server(options=[("grpc.max_receive_message_length", 16 << 20)])
        add_PlayServiceServicer_to_server(self, self._server)
        self._server.add_insecure_port(f"unix:{self.path}")
        await self._server.start()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        assert self._server is not None
        await self._server.stop(0)

    async def next_stream(self) -> Stream:
        """The next stream that a bot opens."""
        return await self._new.get()

    async def Play(self, request_iterator: Any, context: Any) -> AsyncIterator[pb.PlayResponse]:  # noqa: N802 - gRPC's
        metadata = {str(key): str(value) for key, value in context.invocation_metadata()}
        stream = Stream(len(self.streams) + 1, metadata, asyncio.get_running_loop().time())
        self.streams.append(stream)
        self._new.put_nowait(stream)
        if self.refusal is not None:
            await context.abort(*self.refusal)
        reader = asyncio.create_task(_read(stream, request_iterator))
        try:
            async for item in stream.frames():
                if isinstance(item, pb.PlayResponse):
                    yield item
                elif item[0] is not grpc.StatusCode.OK:
                    await context.abort(*item)
        finally:
            reader.cancel()
            stream.closed()


async def _read(stream: Stream, requests: AsyncIterator[pb.PlayRequest]) -> None:
    try:
        async for frame in requests:
            stream.received(frame)
    finally:
        stream.closed()
