"""The internal stream between a worker, which dials, and a gateway: frames of events both ways.

A broken stream is not repaired here. The gateway lets the worker's games stand still; the worker is told by
``on_down`` and decides what to do, which may be to dial again with the same name and epoch.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, Final, NoReturn, Protocol, TypeAlias

import grpc
from google.protobuf.message import DecodeError, Message

from arena.errors import Unavailable
from arena.gateway.clock import LoopClock
from arena.gateway.core import GatewayCore
from arena.gateway.server import start
from arena.gateway.session import encode_element
from botarena.internal.v1 import relay_pb2 as rpb

log = logging.getLogger(__name__)

RELAY_SERVICE: Final = "botarena.internal.v1.RelayService"
HEARTBEAT_S: Final = 1.0
SILENCE_US: Final = 5_000_000
"""A peer from which nothing comes for so long is taken to be gone."""
GATHER_S: Final = 0.002
"""Between two frames, so that under load a frame carries many events; a bot far away waits longer for its packets."""
FRAME_BYTES: Final = 512 * 1024
MAX_FRAME_BYTES: Final = 16 * 1024 * 1024
MAX_QUEUE_BYTES: Final = 64 * 1024 * 1024

Context: TypeAlias = grpc.aio.ServicerContext[bytes, bytes]


class FrameQueue:
    """Events that wait to be written, encoded; whatever waits goes out as one frame."""

    def __init__(self) -> None:
        self._elements: deque[bytes] = deque()
        self._bytes = 0
        self._wakeup: asyncio.Future[None] | None = None
        self._closed = False

    def push(self, event: Message) -> None:
        """Add an event, at once. A peer that lets far too much wait is as good as gone: the queue closes itself."""
        if self._closed:
            return
        element = encode_element(event.SerializeToString())
        self._elements.append(element)
        self._bytes += len(element)
        if self._bytes > MAX_QUEUE_BYTES:
            self._elements.clear()
            self._closed = True
        self._wake()

    def close(self) -> None:
        """Take nothing more."""
        self._closed = True
        self._wake()

    async def frame(self) -> bytes:
        """The next frame, as soon as there is one; empty once the queue is closed and all was taken. For one writer."""
        if not self._elements and not self._closed:
            self._wakeup = asyncio.get_running_loop().create_future()
            await self._wakeup
        parts = []
        size = 0
        while self._elements and size < FRAME_BYTES:
            parts.append(self._elements.popleft())
            size += len(parts[-1])
        self._bytes -= size
        return b"".join(parts)

    def _wake(self) -> None:
        if self._wakeup is not None and not self._wakeup.done():
            self._wakeup.set_result(None)


class Pulse:
    """Heartbeats out, and how long nothing has come in. The time in which this process itself was late does not count."""

    def __init__(self, clock: LoopClock, beat: Callable[[rpb.Heartbeat], None]) -> None:
        self._clock = clock
        self._beat = beat
        self._late_us = clock.late_us
        self.heard_us = clock.now_us()

    def heard(self) -> None:
        """Something came."""
        self.heard_us = self._clock.now_us()

    async def until_silence(self) -> None:
        """Beat until the peer is taken to be gone."""
        while self._clock.now_us() - self.heard_us < SILENCE_US:
            late_us, self._late_us = self._clock.late_us - self._late_us, self._clock.late_us
            self._beat(rpb.Heartbeat(lateness_us=min(late_us, 2**32 - 1)))
            await asyncio.sleep(HEARTBEAT_S)


class RelayServicer:
    """The gateway's side: feeds the events of workers to the core, and the core's to them.

    A worker's key in the core is its name and epoch. A newer epoch of a name ends the older: its games are void.
    """

    def __init__(self, core: GatewayCore) -> None:
        self._core = core
        self._epochs: dict[str, int] = {}
        self._queues: dict[str, FrameQueue] = {}

    async def relay(self, _requests: object, context: Context) -> None:
        """One stream of a worker."""
        worker, events = await self._attach(context)
        if (older := self._queues.get(worker)) is not None:
            older.close()
            self._core.detach(worker)  # What the worker does not claim anew on this stream is not to run for ever.
        queue = self._queues[worker] = FrameQueue()
        queue.push(rpb.GatewayEvent(attached=rpb.Attached(gateway=self._core.name)))
        self._core.attach(worker, queue.push)
        try:
            for event in events:
                self._core.handle_worker_event(worker, event)
            await self._carry(worker, queue, context)
        finally:
            if self._queues.get(worker) is queue:
                del self._queues[worker]
                self._core.detach(worker)

    def close(self) -> None:
        """End all streams once what waits is written."""
        for queue in self._queues.values():
            queue.close()

    async def _attach(self, context: Context) -> tuple[str, list[rpb.WorkerEvent]]:
        data = await context.read()
        events = list(rpb.RelayRequest.FromString(data).events) if isinstance(data, bytes) else []
        if not events or events[0].WhichOneof("event") != "attach":
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "The first event must be Attach.")
        attach = events[0].attach
        known = self._epochs.get(attach.worker)
        if known is not None and attach.epoch < known:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"Epoch {known} of this worker was here.")
        if known is not None and attach.epoch > known:
            key = f"{attach.worker}/{known}"
            if (older := self._queues.pop(key, None)) is not None:
                older.close()
            self._core.retire(key)
        self._epochs[attach.worker] = attach.epoch
        return f"{attach.worker}/{attach.epoch}", events[1:]

    async def _carry(self, worker: str, queue: FrameQueue, context: Context) -> None:
        """Carry frames both ways until either side ends or falls silent."""
        pulse = Pulse(self._core.clock, lambda beat: queue.push(rpb.GatewayEvent(heartbeat=beat)))

        async def read() -> None:
            while isinstance(data := await context.read(), bytes):
                pulse.heard()
                for event in rpb.RelayRequest.FromString(data).events:
                    if event.WhichOneof("event") != "heartbeat":
                        self._core.handle_worker_event(worker, event)

        async def write() -> None:
            while frame := await queue.frame():
                await context.write(frame)
                await asyncio.sleep(GATHER_S)

        await first_of(read(), write(), pulse.until_silence())


class Wire(Protocol):
    """One stream to a gateway. ``write`` and ``read`` raise AioRpcError when it breaks; ``read`` gives EOF at its end."""

    async def write(self, frame: bytes) -> None:
        """Sends a frame."""

    async def read(self) -> object:
        """The next frame as bytes."""

    def cancel(self) -> None:
        """Ends the stream at once."""

    async def close(self) -> None:
        """Lets go of everything."""


Dial: TypeAlias = Callable[[str], Wire]
"""Begins a stream to the gateway at an address; whether anybody is there shows when it is used."""


def dial_grpc(address: str, credentials: grpc.ChannelCredentials | None = None) -> Wire:
    """A stream over a connection of its own."""
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", MAX_FRAME_BYTES)]
    if credentials is None or address.startswith("unix:"):
        channel = grpc.aio.insecure_channel(address, options=options)
    else:
        channel = grpc.aio.secure_channel(address, credentials, options=options)
    return _GrpcWire(channel)


class _GrpcWire:
    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel = channel
        call: Any = channel.stream_stream(f"/{RELAY_SERVICE}/Relay")()
        self.write = call.write
        self.read = call.read
        self.cancel = call.cancel

    async def close(self) -> None:
        await self._channel.close()


class RelayClient:
    """The worker's side of one stream.

    client = RelayClient(address, worker="w1", epoch=3, on_event=handle, on_down=down)
    await client.start()
    client.send(event)
    await client.close()

    ``on_event`` gets every event but heartbeats. ``on_down`` is called once if the stream breaks after
    :meth:`start`, and not because of :meth:`close`; both are called on the event loop and must not wait.
    """

    def __init__(
        self,
        address: str,
        *,
        worker: str,
        epoch: int,
        on_event: Callable[[rpb.GatewayEvent], None],
        on_down: Callable[[str], None],
        clock: LoopClock | None = None,
        dial: Dial = dial_grpc,
    ) -> None:
        self.address: Final = address
        self.gateway = ""
        """The gateway's name, once started."""
        self._attach = rpb.Attach(worker=worker, epoch=epoch)
        self._on_event = on_event
        self._on_down = on_down
        self._clock = clock or LoopClock()
        self._owns_clock = clock is None
        self._dial = dial
        self._queue = FrameQueue()
        self._pulse: Pulse | None = None
        self._wire: Wire | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def silent_us(self) -> int:
        """How long ago the gateway was last heard."""
        return 0 if self._pulse is None else self._clock.now_us() - self._pulse.heard_us

    def send(self, event: rpb.WorkerEvent) -> None:
        """Queue an event; it is lost if the stream breaks before it is through."""
        self._queue.push(event)

    async def start(self, timeout_s: float = 5.0) -> None:
        """Dial and attach. Raises Unavailable; the client is of no more use then."""
        wire = self._wire = self._dial(self.address)
        try:
            async with asyncio.timeout(timeout_s):
                self.gateway = await self._attached(wire)
        except TimeoutError:
            await self._fail(wire, "no answer")
        except grpc.aio.AioRpcError as error:
            await self._fail(wire, error.details() or error.code().name)
        if self._owns_clock:
            self._clock.start()
        self._pulse = Pulse(self._clock, lambda beat: self.send(rpb.WorkerEvent(heartbeat=beat)))
        self._task = asyncio.create_task(self._run(wire, self._pulse))

    async def close(self) -> None:
        """End the stream."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._let_go()

    async def _let_go(self) -> None:
        if self._owns_clock:
            self._clock.stop()
        if self._wire is not None:
            await self._wire.close()

    async def _attached(self, wire: Wire) -> str:
        """Say who dials; the name of the gateway that answers. Nothing else is written before."""
        attach = rpb.RelayRequest(events=[rpb.WorkerEvent(attach=self._attach)])
        await wire.write(attach.SerializeToString())
        data = await wire.read()
        events = rpb.RelayResponse.FromString(data).events if isinstance(data, bytes) else []
        if not events or not events[0].HasField("attached"):
            raise TimeoutError
        for event in events[1:]:
            self._take(event)
        return events[0].attached.gateway

    async def _fail(self, wire: Wire, why: str) -> NoReturn:
        wire.cancel()
        await self.close()
        raise Unavailable(f"no gateway attaches this worker at {self.address}: {why}")

    async def _run(self, wire: Wire, pulse: Pulse) -> None:
        async def read() -> None:
            while isinstance(data := await wire.read(), bytes):
                pulse.heard()
                for event in rpb.RelayResponse.FromString(data).events:
                    self._take(event)

        async def write() -> None:
            while frame := await self._queue.frame():
                await wire.write(frame)
                await asyncio.sleep(GATHER_S)

        reason = "the gateway ended the stream"
        try:
            await first_of(read(), write(), pulse.until_silence())
        except grpc.aio.AioRpcError as error:
            reason = error.details() or error.code().name
        except (
            Exception
        ) as error:  # whatever it is: nobody looks elsewhere for bots of a link that is not known to be down
            reason = str(error) or repr(error)
            if not isinstance(error, (grpc.aio.BaseError, asyncio.InvalidStateError, DecodeError)):
                log.exception("the link to the gateway at %s", self.address)
        finally:
            wire.cancel()
        self._on_down(reason)
        await self._let_go()

    def _take(self, event: rpb.GatewayEvent) -> None:
        if event.WhichOneof("event") != "heartbeat":
            self._on_event(event)


async def first_of(*coroutines: Any) -> None:
    """Run them together until one ends, end the others, and raise what that one raised."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            if task in done:
                task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class RelayServer:
    """A running relay server. ``address`` is where workers dial."""

    def __init__(self, server: grpc.aio.Server, servicer: RelayServicer, address: str) -> None:
        self.address: Final = address
        self._server = server
        self._servicer = servicer

    async def stop(self) -> None:
        """End it, after what waits is written."""
        self._servicer.close()
        await self._server.stop(1.0)


async def start_relay_server(
    core: GatewayCore,
    address: str,
    *,
    credentials: grpc.ServerCredentials | None = None,
    trusted_network: bool = False,
) -> RelayServer:
    """Serve workers at ``address``: ``unix:path``, a loopback ``host:port``, any with mutual TLS or among ourselves."""
    servicer = RelayServicer(core)
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", MAX_FRAME_BYTES), ("grpc.so_reuseport", 0)])
    relay: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_stream_rpc_method_handler(servicer.relay)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(RELAY_SERVICE, {"Relay": relay}),))
    bound = await start(server, address, credentials, trusted_network=trusted_network)
    return RelayServer(server, servicer, bound)
