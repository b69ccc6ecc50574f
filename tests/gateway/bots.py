"""A bare client of the protocol for tests: no SDK, nothing answered by itself unless asked to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Self

import grpc

from botarena.v1 import play_pb2 as pb
from tests.gateway.harness import PATIENCE_S

METHOD = "/botarena.v1.PlayService/Play"


class BareBot:
    """One stream. ``pong``: whether pings are answered."""

    def __init__(
        self,
        address: str,
        token: str = "",
        *,
        pong: bool = True,
        options: Sequence[tuple[str, int]] = (),
        **hello: Any,
    ) -> None:
        self.hello = pb.Hello(**{"credit": 4, **hello})
        self.events: asyncio.Queue[pb.ArenaEvent] = asyncio.Queue()
        self.error: grpc.aio.AioRpcError | None = None
        self.welcome: pb.Welcome | None = None
        self.frames = 0
        self._pong = pong
        self._writing = asyncio.Lock()
        self._channel = grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1), *options])
        metadata = [("authorization", f"Bearer {token}")] if token else []
        self.call = self._channel.stream_stream(METHOD)(metadata=metadata)
        self._pump: asyncio.Task[None] | None = None

    async def write(self, *events: pb.BotEvent) -> None:
        """Send one frame."""
        await self.send(pb.PlayRequest(events=events).SerializeToString())

    async def send(self, data: bytes) -> None:
        """Send bytes as a frame. grpc.aio takes one write at a time, and the pump writes too."""
        async with self._writing:
            await self.call.write(data)

    async def act(self, game_id: str, decision_id: int, action_id: int = 0) -> None:
        """Answer a decision."""
        await self.write(pb.BotEvent(act=pb.Act(game_id=game_id, decision_id=decision_id, action_id=action_id)))

    async def expect(self, kind: str) -> Any:
        """The next event of this kind; others before it are dropped."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                event = await self.events.get()
                if event.WhichOneof("event") == kind:
                    return getattr(event, kind)

    async def ended(self) -> grpc.StatusCode:
        """How the stream ended, once it has."""
        async with asyncio.timeout(PATIENCE_S):
            return await self.call.code()

    def pump(self) -> None:
        """Read the stream from now on."""
        self._pump = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            while isinstance(data := await self.call.read(), bytes):
                self.frames += 1
                for event in pb.PlayResponse.FromString(data).events:
                    if event.WhichOneof("event") == "ping" and self._pong:
                        await self.write(pb.BotEvent(pong=pb.Pong(nonce=event.ping.nonce)))
                    self.events.put_nowait(event)
        except grpc.aio.AioRpcError as error:
            self.error = error
        except (asyncio.InvalidStateError, asyncio.CancelledError):
            pass  # The stream ended while a Pong was on its way, or the test is over.

    async def __aenter__(self) -> Self:
        self.pump()
        await self.write(pb.BotEvent(hello=self.hello))
        self.welcome = await self.expect("welcome")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Vanish."""
        self.call.cancel()
        if self._pump is not None:
            await asyncio.gather(self._pump, return_exceptions=True)
        await self._channel.close()
