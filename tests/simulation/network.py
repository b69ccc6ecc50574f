"""Streams as gRPC has them: in order, with delays, stalls, and breaks of which each end hears in its own time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any

import grpc

from tests.simulation.loop import PROCESS, Process


def broken(why: str, code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE) -> grpc.aio.AioRpcError:
    """What a client sees of a stream that is no more."""
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), details=why)


class Aborted(Exception):
    """The server ends the stream with a status."""


class End:
    """One end of a stream: what has arrived, and whether it is known to be over."""

    def __init__(self) -> None:
        self.arrived: deque[bytes] = deque()
        self.over: Exception | None = None
        self._reader: asyncio.Future[None] | None = None

    def arrive(self, frame: bytes) -> None:
        if self.over is None:
            self.arrived.append(frame)
            self._wake()

    def finish(self, error: Exception) -> None:
        if self.over is None:
            self.over = error
            self._wake()

    async def take(self) -> bytes:
        """The next frame. Raises what the stream ended with."""
        while not self.arrived:
            if self.over is not None:
                raise self.over
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        return self.arrived.popleft()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)


class Stream:
    """A stream between a client and a server's handler; ``delay()`` gives the time that a frame takes, in seconds."""

    def __init__(self, delay: Callable[[], float], metadata: tuple[tuple[str, str], ...] = ()) -> None:
        self.client = End()
        self.server = End()
        self.handler: asyncio.Task[None] | None = None
        self.stalled_until = 0.0
        self.on_over: Callable[[], None] | None = None
        self._delay = delay
        self._metadata = metadata
        self._due = {id(self.client): 0.0, id(self.server): 0.0}
        self._loop = asyncio.get_running_loop()
        self._cut = False

    def push(self, end: End, frame: bytes) -> None:
        """Sends a frame to an end; in order."""
        if self._cut:
            return
        due = max(self._loop.time() + self._delay(), self._due[id(end)], self.stalled_until)
        self._due[id(end)] = due
        self._loop.call_at(due, self._deliver, end, frame)

    def _deliver(self, end: End, frame: bytes) -> None:
        if not self._cut:
            end.arrive(frame)

    def finish(self, error: Exception) -> None:
        """The server is done: the client hears of it behind all that was written."""
        due = max(self._loop.time() + self._delay(), self._due[id(self.client)], self.stalled_until)
        self._loop.call_at(due, self._end_client, error)

    def _end_client(self, error: Exception) -> None:
        self.client.finish(error)
        self._cut = True
        if self.on_over is not None:
            self.on_over()

    def cut(self, client_s: float, server_s: float) -> None:
        """The connection breaks: what is under way is lost, and each end hears of it after so long."""
        if self._cut:
            return
        self._cut = True
        self._loop.call_later(client_s, self.client.finish, broken("the connection broke"))
        self._loop.call_later(server_s, self._end_server)
        if self.on_over is not None:
            self.on_over()

    def _end_server(self) -> None:
        self.server.finish(broken("the client is gone"))
        if self.handler is not None:
            self.handler.cancel()

    def serve(self, process: Process, handler: Callable[[Any], Any]) -> None:
        """Runs the server's side in its process."""
        self.handler = process.spawn(self._handle(handler))

    async def _handle(self, handler: Callable[[Any], Any]) -> None:
        try:
            await handler(ServerContext(self, self._metadata))
        except Aborted as error:
            self.finish(broken(str(error), grpc.StatusCode.FAILED_PRECONDITION))
        except asyncio.CancelledError:
            self.finish(broken("the server is gone"))
            raise
        else:
            self.finish(broken("the server ended the stream", grpc.StatusCode.OK))


class ServerContext:
    """What a servicer knows of its stream."""

    def __init__(self, stream: Stream, metadata: tuple[tuple[str, str], ...]) -> None:
        self._stream = stream
        self._metadata = metadata

    def peer(self) -> str:
        return "unix:"

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return self._metadata

    async def read(self) -> object:
        try:
            return await self._stream.server.take()
        except grpc.aio.AioRpcError:
            return grpc.aio.EOF

    async def write(self, frame: bytes) -> None:
        self._stream.push(self._stream.client, frame)

    async def abort(self, code: object, message: str, trailers: object = ()) -> None:
        raise Aborted(message)


class ClientWire:
    """A client's side; nobody at the other end if ``stream`` is None."""

    def __init__(self, stream: Stream | None) -> None:
        self._stream = stream
        process = PROCESS.get()
        if process is not None and stream is not None:
            process.at_death.append(lambda: stream.cut(0.0, 0.002))

    def send(self, frame: bytes) -> None:
        if self._stream is None:
            raise broken("nobody listens")
        if self._stream.client.over is not None:
            raise self._stream.client.over
        self._stream.push(self._stream.server, frame)

    async def write(self, frame: bytes) -> None:
        self.send(frame)

    async def read(self) -> bytes:
        if self._stream is None:
            raise broken("nobody listens")
        return await self._stream.client.take()

    def cancel(self) -> None:
        if self._stream is not None:
            self._stream.cut(0.0, 0.002)

    async def close(self) -> None:
        self.cancel()


class Weather:
    """How long things take. ``rough`` is how often something takes much longer."""

    def __init__(self, rng: Random, base_s: float, rough: float) -> None:
        self._rng = rng
        self._base_s = base_s
        self.rough = rough

    def delay(self) -> float:
        if self.rough and self._rng.random() < self.rough:
            return self._rng.uniform(0.02, 0.15)
        return self._base_s * (0.5 + self._rng.random())
