"""Raw gRPC as the measure of what a bot's stream can do: the same library, message sizes and streams, and no arena.

The server asks with so many bytes and waits for the answer; the client (``python -m arena.bench.echo``) answers with as many
as a bot's Act has. Nothing is parsed on either side.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

import grpc

REQUEST_BYTES = 420
"""A frame with one decision of Balloon Challenge for two, in mid-game."""
ANSWER_BYTES = 36

METHOD = "/botarena.bench.Echo/Echo"


@dataclass(slots=True)
class Echo:
    """A server whose every stream has one question out at a time."""

    round_trips_us: list[float] = field(default_factory=list)
    count: int = 0
    running: bool = True
    _server: grpc.aio.Server | None = None

    async def start(self, address: str) -> None:
        """Listens at ``address``."""
        self._server = grpc.aio.server()
        handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_stream_rpc_method_handler(self._echo)
        service, _, method = METHOD[1:].partition("/")
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: handler}),))
        self._server.add_insecure_port(address)
        await self._server.start()

    async def stop(self) -> None:
        """Ends the streams after their present round trip."""
        self.running = False
        assert self._server is not None
        await self._server.stop(1.0)

    async def _echo(self, _requests: Any, context: grpc.aio.ServicerContext[bytes, bytes]) -> None:
        question = bytes(REQUEST_BYTES)
        await context.read()
        while self.running:
            began = time.perf_counter()
            await context.write(question)
            if not isinstance(await context.read(), bytes):
                return
            self.round_trips_us.append((time.perf_counter() - began) * 1e6)
            self.count += 1


def main() -> None:
    """Answers until the server has enough."""
    answers: SimpleQueue[bytes] = SimpleQueue()
    answers.put(bytes(ANSWER_BYTES))
    with grpc.insecure_channel(os.environ["ARENA_ADDRESS"]) as channel:
        echo: grpc.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(METHOD)
        for _ in echo(iter(answers.get, None)):
            answers.put(bytes(ANSWER_BYTES))


async def wait_streams(echo: Echo, streams: int, timeout_s: float = 60.0) -> None:
    """Until so many round trips show that all clients are there."""
    await until(lambda: echo.count >= 20 * streams, timeout_s)


async def until(condition: Callable[[], bool], timeout_s: float, *, every_s: float = 0.02) -> None:
    """Looks now and then whether something is true. Raises TimeoutError."""
    async with asyncio.timeout(timeout_s):
        while not condition():  # noqa: ASYNC110 - other processes give no event to wait for
            await asyncio.sleep(every_s)


if __name__ == "__main__":
    main()
