"""What a scenario works with: the program under test, the network, and the streams that it opens."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from arena.conformance.link import Link, Slowness
from arena.conformance.scenario import Mismatch
from arena.conformance.stream import NAMES, SOON_S, Gateway, Stream
from arena.conformance.table import Table
from arena.gateway.auth import Refused
from arena.gateway.hello import read_hello
from arena.host.processes import bots_environment, dies_with_parent
from botarena.v1 import play_pb2 as pb

CONNECT_S: Final = 30.0
"""How long a program may take to start."""
RECONNECT_S: Final = 15.0
"""How long a program may take to come back after one break."""
OUTPUT_LINES: Final = 12
TOKEN: Final = "conformance-token"  # noqa: S105 - opens nothing


class Stage:
    """One run of the program for one scenario.

    ``async with Stage(command, folder) as stage`` serves; :meth:`start` starts the program. Leaving ends it.
    """

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self.command: Final = tuple(command)
        self.folder: Final = folder
        self.log: Final = folder / "output.log"
        self.gateway: Final = Gateway(str(folder / "gateway.sock"))
        self.link = Link(self.gateway.path)
        self.notes: list[str] = []
        """What the scenario has to say of a program that did right."""
        self._stack = AsyncExitStack()
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Stage:
        await self._stack.enter_async_context(self.gateway)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._stack.aclose()
        if self._process is not None and self._process.returncode is None:
            self.signal(signal.SIGKILL)
            await self._process.wait()

    # -- the program

    async def start(self, *, unix: bool = False, slowness: Slowness | None = None) -> None:
        """Starts the program and tells it where to dial: over TCP, or at a socket file."""
        path = str(self.folder / "play.sock") if unix else ""
        self.link = await self._stack.enter_async_context(Link(self.gateway.path, unix_path=path, slowness=slowness))
        await self.launch(self.link.address, TOKEN)

    async def launch(self, address: str, token: str) -> None:
        """Starts the program with this environment, as `arena match` does."""
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *dies_with_parent(self.command),
                env={**bots_environment(), "ARENA_ADDRESS": address, "ARENA_TOKEN": token},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def signal(self, number: signal.Signals) -> None:
        """Signals the program's process group, as a terminal and `arena match` do."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    @property
    def exit_status(self) -> int | None:
        """None while the program runs; negative if a signal ended it."""
        return self._process.returncode if self._process is not None else None

    async def ended(self, within_s: float = SOON_S) -> int:
        """The exit status of a program that ends by itself. Raises Mismatch if it does not."""
        assert self._process is not None
        try:
            return await asyncio.wait_for(self._process.wait(), within_s)
        except TimeoutError:
            raise Mismatch(f"was still running {within_s:g} s later") from None

    async def ended_within(self, within_s: float) -> bool:
        """Whether the program ends in that time."""
        with contextlib.suppress(Mismatch):
            await self.ended(within_s)
        return self.exit_status is not None

    def output(self) -> str:
        """All that the program has printed."""
        with contextlib.suppress(OSError):
            return self.log.read_text(errors="replace")
        return ""

    # -- its streams

    async def stream(self, within_s: float = CONNECT_S) -> Stream:
        """The next stream that the program opens. Raises Mismatch if it opens none."""
        assert self._process is not None
        opened = asyncio.ensure_future(self.gateway.next_stream())
        ended = asyncio.ensure_future(self._process.wait())
        try:
            await asyncio.wait((opened, ended), timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
            if opened.done():
                return opened.result()
            stream = "new stream" if self.gateway.streams else "stream"
            if ended.done():
                raise Mismatch(f"ended with status {ended.result()} where it should open a {stream}")
            raise Mismatch(f"opened no {stream} within {within_s:g} s")
        finally:
            for future in (opened, ended):
                future.cancel()

    async def connect(self, *, unix: bool = False, slowness: Slowness | None = None) -> Stream:
        """Starts the program and shakes hands."""
        await self.start(unix=unix, slowness=slowness)
        stream = await self.stream()
        await stream.shake_hands()
        stream.welcome()
        return stream

    async def reconnected(self, *, running: Sequence[str] = ()) -> Stream:
        """The stream with which the program comes back, after the handshake. Raises Mismatch."""
        first = self.gateway.streams[0].hello
        stream = await self.stream(RECONNECT_S)
        hello = await stream.shake_hands()
        for name in ("bot", "version", "instance"):
            if (said := getattr(hello, name)) != (before := getattr(first, name)):
                raise Mismatch(f"came back as another: {name} {said!r} instead of {before!r}")
        stream.welcome(running=running)
        return stream

    async def act(self, stream: Stream, table: Table) -> pb.Act:
        """The answer to what ``table`` has asked. Raises Mismatch if it is late or not legal."""
        within_s = table.request.clock.limit_ms / 1000 + SOON_S
        act: pb.Act = await stream.expect("act", within_s)
        table.judge(act)
        return act

    async def play(self, stream: Stream, table: Table, decisions: int = 3) -> None:
        """Plays on: so many decisions more."""
        for _ in range(decisions):
            stream.send_frame(table.ask())
            table.take(await self.act(stream, table))

    # -- the verdict

    def check_manners(self) -> None:
        """What holds on every stream. Raises Mismatch."""
        for stream in self.gateway.streams:
            for fault in stream.faults:
                raise Mismatch(fault, "frames of at most 64 KiB, and Hello once, as the first event of a stream")

    def summary(self) -> str:
        """What the program did, in a line."""
        streams = self.gateway.streams
        counts: Counter[str] = sum((stream.sent for stream in streams), Counter())
        parts = [*self.notes]
        if streams:
            parts.append(f"{len(streams)} stream{'s' if len(streams) != 1 else ''}")
        parts += [f"{NAMES[kind]} ×{number}" for kind, number in counts.items() if kind in NAMES]
        if self.exit_status is not None:
            parts.append(f"exit status {self.exit_status}")
        return ", ".join(parts)

    def tail(self) -> str:
        """The end of what the program printed."""
        return "\n".join(self.output().splitlines()[-OUTPUT_LINES:])


def check_hello(stream: Stream) -> None:
    """What a real gateway asks of a first frame. Raises Mismatch."""
    if (given := stream.metadata.get("authorization", "")) != f"Bearer {TOKEN}":
        raise Mismatch(f"sent {given!r} as authorization", "the metadata `authorization: Bearer TOKEN`")
    try:
        read_hello(pb.PlayRequest(events=[pb.BotEvent(hello=stream.hello)]).SerializeToString())
    except Refused as refusal:
        raise Mismatch(f"sent a Hello that the arena refuses: {refusal.failure.message}") from None
