"""The network between a bot and the scripted gateway: bytes pass, and can be made slow, lost, or cut off."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import Final

CHUNK_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Slowness:
    """``latency_s`` before each read is passed on, which has at most ``chunk_bytes``."""

    latency_s: float = 0.0
    chunk_bytes: int = CHUNK_BYTES


class Link:
    """Listens where the bot dials, and passes bytes on to ``target``, a socket's path.

    async with Link(target, unix_path="") as link:   # empty: a free port of the loopback
        link.address                                # for ARENA_ADDRESS
    """

    def __init__(self, target: str, *, unix_path: str = "", slowness: Slowness | None = None) -> None:
        self.address = ""
        self._target = target
        self._unix_path = unix_path
        self._slowness = slowness or Slowness()
        self._silent = asyncio.Event()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._passing: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Link:
        if self._unix_path:
            self._server = await asyncio.start_unix_server(self._accept, self._unix_path)
            self.address = f"unix:{self._unix_path}"
        else:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
            self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        for task in self._passing:
            task.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)

    def cut(self) -> None:
        """Resets every connection, as a network does that fails; new ones are taken."""
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()
        self._silent.clear()

    def silence(self) -> None:
        """Passes nothing on any more and tells nobody, until the next :meth:`cut` or connection."""
        self._silent.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._silent.clear()
        try:
            inner_reader, inner_writer = await asyncio.open_unix_connection(self._target)
        except OSError:
            writer.transport.abort()
            return
        pair = {writer, inner_writer}
        self._writers |= pair
        for source, sink in ((reader, inner_writer), (inner_reader, writer)):
            task = asyncio.create_task(self._pass(source, sink, pair))
            self._passing.add(task)
            task.add_done_callback(self._passing.discard)

    async def _pass(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, pair: set[asyncio.StreamWriter]
    ) -> None:
        slow = self._slowness
        with contextlib.suppress(OSError):
            while data := await source.read(slow.chunk_bytes):
                if slow.latency_s:
                    await asyncio.sleep(slow.latency_s)
                if self._silent.is_set():
                    await asyncio.Event().wait()  # until the link is closed
                sink.write(data)
                await sink.drain()
        for writer in pair & self._writers:
            writer.close()
        self._writers -= pair
