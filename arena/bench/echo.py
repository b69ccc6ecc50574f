"""Raw gRPC as the measure of what a bot's stream can do: the same library, message sizes and streams, and no arena.

The server asks with so many bytes and waits for the answer; the clients, a process each with one stream, answer with as many
as a bot's Act has. Nothing is parsed on either side. Server and clients are processes of their own (``python -m
arena.bench.echo serve|answer``), so that gRPC is there as everybody gets it, with asyncio's loop in the clients, or as the arena sets it.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from statistics import median, quantiles
from typing import Any, Final

import grpc

from arena import GRPC_SETTINGS, loops
from arena.bench.processes import Command, running
from arena.errors import ArenaError
from arena.host.processes import bots_environment, dies_with_parent
from arena.supervisor import python

REQUEST_BYTES: Final = 420
"""A frame with one decision of Balloon Challenge for two, in mid-game."""
ANSWER_BYTES: Final = 36
WARM_UP: Final = 20
"""Round trips of each stream that do not count."""
AS_IT_COMES: Final = dict.fromkeys(GRPC_SETTINGS, "")

METHOD = "/botarena.bench.Echo/Echo"


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """What was measured: so many over all streams, how long one took, and the server's processor time for each."""

    count: int
    rate_per_s: float
    p50_us: float
    p99_us: float
    server_us: float


async def measure(clients: int, seconds: float, *, as_it_comes: bool, pause_us: float = 0.0) -> RoundTrips:
    """Raw round trips of so many clients at once over a unix socket.

    ``as_it_comes``: gRPC without the arena's settings. ``pause_us``: how long the server works before each question.
    """
    own = AS_IT_COMES if as_it_comes else {}
    words = python("-m", "arena.bench.echo", "serve", str(clients), str(seconds), str(pause_us))
    process = await asyncio.create_subprocess_exec(
        *dies_with_parent(words),
        env={**bots_environment(), **own},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    output, errors = await process.communicate()
    if process.returncode != 0:
        raise ArenaError(f"the echo server ended with status {process.returncode}: {errors.decode()[-500:]}")
    return RoundTrips(**json.loads(output))


async def until(condition: Callable[[], bool], timeout_s: float, *, every_s: float = 0.02) -> None:
    """Looks now and then whether something is true. Raises TimeoutError."""
    async with asyncio.timeout(timeout_s):
        while not condition():  # noqa: ASYNC110 - other processes give no event to wait for
            await asyncio.sleep(every_s)


@dataclass(slots=True)
class _Echo:
    """A server whose every stream has one question out at a time."""

    pause_us: float
    round_trips_us: list[float] = field(default_factory=list)
    running: bool = True

    async def stream(self, _requests: Any, context: grpc.aio.ServicerContext[bytes, bytes]) -> None:
        question = bytes(REQUEST_BYTES)
        await context.read()
        while self.running:
            goes_on = time.perf_counter() + self.pause_us / 1e6
            while (began := time.perf_counter()) < goes_on:
                pass
            await context.write(question)
            if not isinstance(await context.read(), bytes):
                return
            self.round_trips_us.append((time.perf_counter() - began) * 1e6)


async def _serve(clients: int, seconds: float, pause_us: float) -> RoundTrips:
    echo, server = _Echo(pause_us), grpc.aio.server()
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_stream_rpc_method_handler(echo.stream)
    service, _, method = METHOD[1:].partition("/")
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: handler}),))
    with tempfile.TemporaryDirectory(prefix="arena-echo-") as folder:
        address = f"unix:{folder}/s"
        server.add_insecure_port(address)
        await server.start()
        client = Command(python("-m", "arena.bench.echo", "answer"), {"ARENA_ADDRESS": address})
        with running([client] * clients):
            await until(lambda: len(echo.round_trips_us) >= WARM_UP * clients, 60)
            echo.round_trips_us.clear()
            began, cpu_s = time.monotonic(), time.process_time()
            await asyncio.sleep(seconds)
            elapsed_s, spent_s = time.monotonic() - began, time.process_time() - cpu_s
            found = list(echo.round_trips_us)
            echo.running = False
            await server.stop(1.0)
    return RoundTrips(
        count=len(found),
        rate_per_s=len(found) / elapsed_s,
        p50_us=median(found),
        p99_us=quantiles(found, n=100)[98],
        server_us=spent_s / len(found) * 1e6,
    )


async def _answer() -> None:
    async with grpc.aio.insecure_channel(os.environ["ARENA_ADDRESS"]) as channel:
        echo: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(METHOD)
        call = echo()
        await call.write(bytes(ANSWER_BYTES))
        async for _ in call:
            await call.write(bytes(ANSWER_BYTES))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        print(json.dumps(asdict(loops.run(_serve(int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))))))
    else:
        as_it_comes = not os.environ["GRPC_EXPERIMENTS"]  # see AS_IT_COMES; else arena has set it
        (asyncio.run if as_it_comes else loops.run)(_answer())
