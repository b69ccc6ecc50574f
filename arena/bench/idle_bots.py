"""Many bots of the bare protocol in one process, which do nothing until they are asked.

``idle_bots.py ADDRESS BOTS_A_CONNECTION FILE``, the file with a token a line.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc

from arena import loops
from arena.bench.bare_bot import answers
from botarena.v1 import play_pb2 as pb

CONNECTING = 32
"""Bots that say Hello at once: a herd would only wait for one another."""
RETRY_S = 1.0
HELLO = pb.PlayRequest(
    events=[pb.BotEvent(hello=pb.Hello(credit=1, wants=pb.Wants(history=pb.Wants.HISTORY_NONE)))]
).SerializeToString()


async def main(address: str, bots_a_connection: int, tokens: Sequence[str]) -> None:
    """Plays until all streams end."""
    gate = asyncio.Semaphore(CONNECTING)
    parts = [tokens[first : first + bots_a_connection] for first in range(0, len(tokens), bots_a_connection)]
    await asyncio.gather(*(_connection(address, part, gate) for part in parts))


async def _connection(address: str, tokens: Sequence[str], gate: asyncio.Semaphore) -> None:
    """One connection with a stream for each token."""
    async with grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        play: Any = channel.stream_stream("/botarena.v1.PlayService/Play")
        await asyncio.gather(*(_bot(play, token, gate) for token in tokens))


async def _bot(play: Any, token: str, gate: asyncio.Semaphore) -> None:
    stream = await _connected(play, token, gate)
    while isinstance(frame := await stream.read(), bytes):
        await _reply(stream, frame)


async def _connected(play: Any, token: str, gate: asyncio.Semaphore) -> Any:
    """A stream with its Welcome, however often that takes: a swamped machine may be too late for Hello."""
    while True:
        async with gate:
            stream = play(metadata=(("authorization", f"Bearer {token}"),))
            try:
                await stream.write(HELLO)
                await _reply(stream, await stream.read())
            except grpc.aio.AioRpcError as error:
                print(error.code(), error.details(), file=sys.stderr)
                await asyncio.sleep(RETRY_S)
            else:
                return stream


async def _reply(stream: Any, frame: bytes) -> None:
    if (reply := answers(pb.PlayResponse.FromString(frame))).events:
        await stream.write(reply.SerializeToString())


if __name__ == "__main__":
    loops.run(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]).read_text().split()))
