"""One stream to the arena after another, until there is nothing left to play.

A stream is three tasks: one reads and handles, one writes what the outbox holds as one frame, one watches that the
arena is still heard. Cancelling a read or write of gRPC cancels the whole call, so nothing here times out around
either: the watchdog cancels the call, and the reader learns of it as of any other end.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import grpc

from botarena import wire
from botarena.address import Target
from botarena.errors import BotArenaError, Misconfigured, Refused, Unreachable, VersionSkew
from botarena.program import Program
from botarena.session import Session
from botarena.v1 import play_pb2 as pb
from botarena.v1.play_pb2_grpc import PlayServiceStub
from botarena.version import __version__
from botarena.worker import Decided

if TYPE_CHECKING:
    from botarena.v1.play_pb2_grpc import PlayServiceAsyncStub

Call: TypeAlias = "grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]"

log = logging.getLogger("botarena")

FIRST_DELAY_S = 0.5
MAX_DELAY_S = 30.0
STEADY_S = 5.0
"""A stream that lived so long was a good one: the next failure starts again from FIRST_DELAY_S."""
WELCOME_S = 10.0
"""How long the arena may take to answer Hello."""
SILENT_PINGS = 3
"""So many missing pings mean that the connection is dead, whatever TCP believes."""
FRAME_BYTES = 60_000
"""Most that goes into one frame; the arena refuses 64 KiB."""
EVENT_OVERHEAD = 8
"""Tag and length of an event in a frame, generously, in bytes."""
GOODBYE_S = 30.0
"""How long the last ``on_end`` may take after the arena has closed the stream."""

_CHANNEL_OPTIONS = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.max_receive_message_length", 16 << 20),
    # Channels of one process share connections and their back-off; ours is its own.
    ("grpc.use_local_subchannel_pool", 1),
)

_REFUSALS: dict[grpc.StatusCode, tuple[type[BotArenaError], str]] = {
    grpc.StatusCode.UNAUTHENTICATED: (
        Refused,
        "check ARENA_TOKEN: all of what `arena register` or `arena token create` printed",
    ),
    grpc.StatusCode.PERMISSION_DENIED: (Refused, "the token must be of the account that owns the bot"),
    grpc.StatusCode.FAILED_PRECONDITION: (VersionSkew, "update the SDK: pip install -U botarena"),
    grpc.StatusCode.NOT_FOUND: (Misconfigured, "check the names of the bot and its games; `arena games` lists them"),
    grpc.StatusCode.INVALID_ARGUMENT: (Misconfigured, "check the bot's name, version and games"),
    grpc.StatusCode.UNIMPLEMENTED: (Misconfigured, "what answers at this address is no arena"),
}
"""Statuses with which trying again would change nothing, and what the author can do."""


class Interrupted(Exception):
    """The second signal: end at once. (A KeyboardInterrupt raised inside a task would tear down the loop.)"""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a process connects; see :func:`botarena.play`."""

    target: Target
    token: str
    instance: str = "0"
    credit: int = 1
    strict: bool = False
    patience_s: float | None = None
    ladders: tuple[str, ...] = ()


@dataclass(slots=True)
class Connection:
    """Plays until drained; :meth:`run` raises a BotArenaError where the process cannot go on."""

    program: Program
    settings: Settings
    _session: Session = field(init=False)
    _outbox: deque[pb.BotEvent] = field(default_factory=deque)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _failure: BaseException | None = None
    _call: Call | None = None
    _heard: float = 0.0
    _frame_bytes: int = FRAME_BYTES

    async def run(self) -> None:
        """Connects, plays, reconnects. Returns when the arena has nothing left for a drained bot."""
        loop = asyncio.get_running_loop()

        def report(outcome: Decided) -> None:
            with suppress(RuntimeError):  # the loop is closed: the process is ending anyway
                loop.call_soon_threadsafe(self._decided, outcome)

        self._session = Session(self.program, report, self._send)
        with _signals(loop, self.interrupt):
            await self._streams()
            await self._goodbye()

    def interrupt(self) -> None:
        """What SIGINT and SIGTERM do, on the loop's thread: the first finishes what runs, the second ends at once."""
        if self._session.draining:
            self._failure = Interrupted()
            self._hang_up()
            return
        if running := len(self._session.games):
            log.info("finishing %d running game%s; once more to stop at once", running, "s" if running > 1 else "")
        self._session.drain()
        if self._over():
            self._hang_up()

    def cut(self) -> None:
        """Breaks the stream, as a network would; :meth:`run` connects again."""
        if self._call is not None:
            self._call.cancel()

    async def _streams(self) -> None:
        failures, silent_since = 0, time.monotonic()
        while not self._over():
            started = time.monotonic()
            problem = await self._stream()
            if self._failure is not None:
                raise self._failure
            if self._over():
                return
            if self._session.welcome is not None:
                silent_since = time.monotonic()
                failures = 0 if silent_since - started >= STEADY_S else failures
            if (spread_ms := self._session.reconnect_within_ms) is not None:
                delay_s = random.uniform(0, spread_ms / 1000)
            else:
                delay_s = retry_delay_s(failures)
            self._complain(problem, failures, silent_since)
            failures += 1
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), delay_s)

    def _over(self) -> bool:
        session = self._session
        connected = self._call is not None and session.welcome is not None
        return session.done or (session.draining and not connected and not session.games)

    def _complain(self, problem: str, failures: int, silent_since: float) -> None:
        """Says once what is wrong. Raises Unreachable when patience is over."""
        target, patience_s = self.settings.target, self.settings.patience_s
        if patience_s is None:
            patience_s = target.patience_s(connected_before=bool(self._session.id))
        if time.monotonic() - silent_since > patience_s:
            raise Unreachable(f"no arena answers at {target.text} ({problem}): is it up, and is ARENA_ADDRESS right?")
        if self._session.reconnect_within_ms is None:
            log.log(
                logging.DEBUG if failures else logging.WARNING, "%s: %s; trying again", target.text, problem or "closed"
            )

    async def _stream(self) -> str:
        """Plays over one stream until it ends; returns what ended it. Raises where coming back is of no use."""
        self._outbox.clear()
        self._session.stream_opened()
        settings = self.settings
        self._send(
            pb.BotEvent(
                hello=wire.hello(
                    self.program,
                    sdk=f"botarena-python/{__version__}",
                    instance=settings.instance,
                    ladders=settings.ladders,
                    credit=settings.credit,
                    resume=self._session.id,
                )
            )
        )
        async with settings.target.channel(_CHANNEL_OPTIONS) as channel:
            metadata = (("authorization", f"Bearer {settings.token}"),) if settings.token else ()
            stub = cast("PlayServiceAsyncStub", PlayServiceStub(channel))
            call: Call = stub.Play(metadata=metadata)
            self._call = call
            self._heard = time.monotonic()
            helpers = [asyncio.create_task(self._write(call)), asyncio.create_task(self._watch(call))]
            try:
                await self._read(call)
                return ""
            except grpc.aio.AioRpcError as error:
                return self._judge(error)
            except asyncio.CancelledError:
                if not call.cancelled() or _cancelling():
                    raise
                return "the arena went silent"
            finally:
                self._call = None
                call.cancel()
                for helper in helpers:
                    helper.cancel()
                await asyncio.gather(*helpers, return_exceptions=True)

    async def _read(self, call: Call) -> None:
        """Handles what comes. Raises AioRpcError unless the stream ends well."""
        async for frame in call:
            self._heard = time.monotonic()
            for event in frame.events:
                self._session.handle(event)
            if self._session.welcome is not None:
                self._frame_bytes = min(FRAME_BYTES, self._session.welcome.limits.max_frame_bytes or FRAME_BYTES)

    async def _write(self, call: Call) -> None:
        """Whatever has gathered while the last frame was written goes out as one."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._outbox:
                await call.write(next_frame(self._outbox, self._frame_bytes))

    async def _watch(self, call: Call) -> None:
        """Cancels a call on which nothing is heard any more."""
        while time.monotonic() - self._heard <= self._silence_s():
            await asyncio.sleep(min(1.0, self._silence_s() / 4))
            self._session.settle()
        call.cancel()

    def _silence_s(self) -> float:
        """How long nothing may be heard."""
        welcome = self._session.welcome
        if welcome is None:
            return WELCOME_S
        ping_ms = welcome.limits.ping_interval_ms
        return max(WELCOME_S, SILENT_PINGS * ping_ms / 1000) if ping_ms else math.inf

    def _judge(self, error: grpc.aio.AioRpcError) -> str:
        """What to call this end of a stream. Raises the error that stops the process, if it should."""
        code, details = error.code(), error.details() or ""
        kind, advice = _REFUSALS.get(code, (None, ""))
        settled = self._session.welcome is not None  # a session that was good may be interrupted by anything
        if kind is not None and (not settled or kind is Refused):
            raise kind(f"the arena refused the bot: {details.rstrip('.') or code.name}; {advice}")
        return details.splitlines()[0][:200] if details else code.name.lower()

    def _send(self, event: pb.BotEvent) -> None:
        self._outbox.append(event)
        self._wake.set()

    def _decided(self, outcome: Decided) -> None:
        if outcome.error is not None and self.settings.strict:
            self._failure = outcome.error
            self._hang_up()
        else:
            self._session.decided(outcome)

    def _hang_up(self) -> None:
        self._stop.set()
        self.cut()

    async def _goodbye(self) -> None:
        deadline = time.monotonic() + GOODBYE_S
        for worker in self._session.ending:
            await asyncio.to_thread(worker.join, max(0.0, deadline - time.monotonic()))


def next_frame(outbox: deque[pb.BotEvent], most_bytes: int) -> pb.PlayRequest:
    """Takes as many events off ``outbox`` as fit into one frame, at least one; an annotation that fits into none is
    left out."""
    frame, size = pb.PlayRequest(), 0
    while outbox:
        event = outbox[0]
        event_bytes = event.ByteSize() + EVENT_OVERHEAD
        if event_bytes > most_bytes and event.WhichOneof("event") == "act":
            log.warning("an annotation of %d bytes is too long and was left out", event_bytes)
            event.act.ClearField("annotation")
            event_bytes = event.ByteSize() + EVENT_OVERHEAD
        if frame.events and size + event_bytes > most_bytes:
            break
        frame.events.append(outbox.popleft())
        size += event_bytes
    return frame


def retry_delay_s(failures: int) -> float:
    """A random part of 0.5 s, doubling with each failure in a row up to 30 s, so that a herd of bots comes back
    spread out (full jitter)."""
    return random.uniform(0, min(MAX_DELAY_S, FIRST_DELAY_S * 2 ** min(failures, 10)))


def _cancelling() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


_interested: list[tuple[asyncio.AbstractEventLoop, Callable[[], None]]] = []
_handlers_before: dict[signal.Signals, Any] = {}


@contextmanager
def _signals(loop: asyncio.AbstractEventLoop, interrupted: Callable[[], None]) -> Iterator[None]:
    """Calls ``interrupted`` on the loop for SIGINT and SIGTERM while it lasts; only a main thread may.

    Several may last at once and end in any order: the first one in takes the signals, the last one out gives them back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handler(_signum: int, _frame: FrameType | None) -> None:
        for one, call in tuple(_interested):
            if not one.is_closed():
                one.call_soon_threadsafe(call)

    if not _interested:
        for signum in (signal.SIGINT, signal.SIGTERM):
            _handlers_before[signum] = signal.signal(signum, handler)
    entry = (loop, interrupted)
    _interested.append(entry)
    try:
        yield
    finally:
        _interested.remove(entry)
        if not _interested:
            for signum, old in _handlers_before.items():
                signal.signal(signum, old)
