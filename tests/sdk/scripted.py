"""A PlayService that does what a test tells it to: the arena's side of the SDK's tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc

from botarena.address import Target
from botarena.connection import Connection, Settings
from botarena.program import load
from botarena.v1 import play_pb2 as pb
from botarena.v1.play_pb2_grpc import PlayServiceServicer, add_PlayServiceServicer_to_server

PATIENCE_S = 10.0
"""How long a test waits for what must come."""


class Stream:
    """One stream as the arena sees it."""

    def __init__(self, metadata: dict[str, str]) -> None:
        self.metadata = metadata
        self.opened = False
        self.inbox: asyncio.Queue[pb.BotEvent] = asyncio.Queue()
        self.outbox: asyncio.Queue[pb.PlayResponse | tuple[grpc.StatusCode, str]] = asyncio.Queue()
        self.gone = asyncio.Event()
        """Set once the bot's side is over."""

    async def expect(self, kind: str) -> Any:
        """The next event, which must be of this kind."""
        event = await asyncio.wait_for(self.inbox.get(), PATIENCE_S)
        assert event.WhichOneof("event") == kind, event
        return getattr(event, kind)

    async def quiet(self) -> None:
        """Asserts that the bot has sent nothing more: a ping comes back first."""
        self.send(ping=pb.Ping(nonce=99))
        assert (await self.expect("pong")).nonce == 99

    def send(self, **event: Any) -> None:
        """Sends one event, named by its field."""
        self.send_frame([pb.ArenaEvent(**event)])

    def send_frame(self, events: Iterable[pb.ArenaEvent]) -> None:
        self.outbox.put_nowait(pb.PlayResponse(events=events))

    def end(self, code: grpc.StatusCode = grpc.StatusCode.OK, details: str = "") -> None:
        """Ends the stream after what was sent."""
        self.outbox.put_nowait((code, details))

    async def welcome(
        self, *, running: Sequence[str] = (), ping_interval_ms: int = 5000, max_frame_bytes: int = 65536
    ) -> pb.Hello:
        """Shakes hands."""
        hello = await self.expect("hello")
        limits = pb.Limits(max_frame_bytes=max_frame_bytes, max_credit=100, ping_interval_ms=ping_interval_ms)
        self.send(
            welcome=pb.Welcome(
                session="s1",
                protocol=1000,
                bot=hello.bot or "tester",
                version=hello.version,
                limits=limits,
                running_games=running,
                arena_key=b"k" * 32,
            )
        )
        return hello  # type: ignore[no-any-return]

    def start(self, game_id: str, *, game: str = "echo", **fields: Any) -> None:
        """Starts a game of two players, ours at seat 1."""
        self.send(
            match_started=pb.MatchStarted(
                game_id=game_id,
                game=game,
                players=2,
                seat=1,
                config_json='{"long": true}',
                seats=[pb.Player(bot="them"), pb.Player(bot="us")],
                commitment=b"c" * 32,
                receipt=b"r" * 64,
                **fields,
            )
        )

    def ask(self, game_id: str, decision_id: int, *, texts: Sequence[str] = ("a", "b"), **fields: Any) -> None:
        """Asks for a decision with the ids 10, 11, ..."""
        legal = [pb.Action(id=10 + index, text=text) for index, text in enumerate(texts)]
        fields.setdefault("view", pb.View(seat=1, seq=decision_id, json='{"n": 7}'))
        fields.setdefault("clock", pb.Clock(bank_ms=10_000, limit_ms=3000))
        self.send(
            decision_requested=pb.DecisionRequested(
                game_id=game_id, decision_id=decision_id, legal=legal, default_action=11, **fields
            )
        )

    def finish(self, game_id: str, **fields: Any) -> None:
        """Ends a game that ours has won."""
        fields.setdefault("end", pb.MatchEnded.END_FINISHED)
        self.send(match_ended=pb.MatchEnded(game_id=game_id, **fields))

    def done(self) -> None:
        """Says goodbye to a drained bot."""
        self.send(draining=pb.Draining(reason=pb.Draining.REASON_DONE))
        self.end()


class ScriptedArena(PlayServiceServicer):
    """Hands each stream that a bot opens to the test."""

    def __init__(self) -> None:
        self.streams: asyncio.Queue[Stream] = asyncio.Queue()
        self.address = ""

    async def stream(self) -> Stream:
        """The next stream."""
        return await asyncio.wait_for(self.streams.get(), PATIENCE_S)

    async def Play(self, request_iterator: Any, context: Any) -> AsyncIterator[pb.PlayResponse]:
        stream = Stream(dict(context.invocation_metadata()))

        async def read() -> None:
            try:
                async for frame in request_iterator:
                    for event in frame.events:
                        stream.inbox.put_nowait(event)
                    if not stream.opened:
                        # As the arena does: a client whose Hello is still on its way may never hear why a stream ended.
                        stream.opened = True
                        self.streams.put_nowait(stream)
            finally:
                stream.gone.set()

        reader = asyncio.create_task(read())
        try:
            while True:
                item = await stream.outbox.get()
                if isinstance(item, tuple):
                    code, details = item
                    if code is not grpc.StatusCode.OK:
                        await context.abort(code, details)
                    return
                yield item
        finally:
            stream.gone.set()
            reader.cancel()


@asynccontextmanager
async def scripted_arena(address: str = "127.0.0.1:0") -> AsyncIterator[ScriptedArena]:
    """Serves on ``address``."""
    arena = ScriptedArena()
    server = grpc.aio.server()
    add_PlayServiceServicer_to_server(arena, server)
    port = server.add_insecure_port(address)
    arena.address = address if address.startswith("unix:") else f"127.0.0.1:{port}"
    await server.start()
    try:
        yield arena
    finally:
        await server.stop(0)


def playing(bot: Any, arena: ScriptedArena, **settings: Any) -> asyncio.Task[None]:
    """The SDK playing ``bot`` on ``arena``, as a task."""
    settings.setdefault("token", "secret")
    connection = Connection(load(bot), Settings(Target.parse(arena.address), **settings))
    return asyncio.create_task(connection.run())
