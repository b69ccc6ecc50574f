"""The gRPC server that bots dial, around a :class:`~arena.gateway.core.GatewayCore`."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio

from arena.errors import Unavailable, UserError
from arena.gateway.auth import Authenticator, Principal, Refused
from arena.gateway.core import Connection, GatewayCore
from arena.gateway.hello import read_hello
from arena.gateway.limits import BAD_TOKENS, Buckets, Guesses, address_of, bearer_of
from arena.gateway.session import Failure, Reason, TokenBucket
from arena.gateway.status import CODES, trailers
from arena.settings import is_loopback

FAREWELL_S: Final = 5.0
"""A stream that is to end gets so long to take its last frame."""
REFUSED_HELLO_S: Final = 1.0
CONNECTION_STREAMS: Final = 1024
OUTS_S: Final = 0.5
"""Redis that does not answer in that time keeps no bot waiting."""
READ_FRAMES: Final = 16
"""A message of so many times the largest frame is read at all."""
RECONNECT_WITHIN_MS: Final = 5_000
PLAY_SERVICE: Final = "botarena.v1.PlayService"

log = logging.getLogger(__name__)

Context: TypeAlias = grpc.aio.ServicerContext[bytes, bytes]
AddServices: TypeAlias = Callable[[grpc.aio.Server], None]


@dataclass(frozen=True, slots=True)
class Admission:
    """Who gets as far as a session. ``starts_per_s`` bounds the herd after a restart, ``bad_tokens`` guessing.

    An address opens twice as many streams at once as it may have, and ``starts_per_s`` after that, whatever becomes of them.
    ``bot_starts_per_s`` and ``bot_start_burst`` are for each bot, so that one bot never uses up what all have: all its instances
    may come back at once after a restart.
    """

    hello_s: float = 5.0
    streams_per_address: int = 256
    bad_tokens: int = BAD_TOKENS
    starts_per_s: int = 200
    start_burst: int = 400
    bot_starts_per_s: int = 2
    bot_start_burst: int = 100


class Outs(Protocol):
    """Who is out, as all gateways know it together. Both raise Unavailable."""

    async def out_ms(self, bot_id: int) -> int:
        """How long a bot is out; 0: it is not."""
        ...

    async def put_out(self, bot_id: int, out_ms: int) -> None:
        """A bot is out for so long."""
        ...


class PlayServer:
    """A running server. ``address`` is where to dial it."""

    def __init__(self, server: grpc.aio.Server, servicer: PlayServicer, address: str) -> None:
        self.address: Final = address
        self._server = server
        self._servicer = servicer

    async def stop(self, *, reconnect_within_ms: int = RECONNECT_WITHIN_MS) -> None:
        """Send all bots away, let them take their last frames, and end."""
        await self._servicer.drain(reconnect_within_ms)
        await self._server.stop(1.0)


async def start_play_server(
    core: GatewayCore,
    authenticator: Authenticator,
    address: str,
    *,
    admission: Admission = Admission(),
    credentials: grpc.ServerCredentials | None = None,
    trusted_network: bool = False,
    services: Iterable[AddServices] = (),
    interceptors: Sequence[grpc.aio.ServerInterceptor] = (),
    guesses: Guesses | None = None,
    outs: Outs | None = None,
) -> PlayServer:
    """Serve bots at ``address``, ``host:port`` (port 0: any) or ``unix:path``.

    Without ``credentials`` (TLS) only loopback addresses and unix sockets are served, unless in a ``trusted_network``.
    ``services`` add themselves to the same server, behind ``interceptors``, and may count ``guesses`` together with it. With ``outs``
    a bot that is out at one gateway is out at all. Raises UserError if the address cannot be had.
    """
    servicer = PlayServicer(core, authenticator, admission, guesses, outs)
    server = grpc.aio.server(
        interceptors=interceptors,
        options=[
            # What is too large is read, so that its sender is told what is wrong and gets a strike, up to a bound: beyond
            # it gRPC ends the stream unread, and of that we see no more than if the bot had hung up.
            ("grpc.max_receive_message_length", core.limits.frame_bytes * READ_FRAMES),
            # A stream that its client has reset counts until it is done with here; gRPC refuses what comes beyond that.
            ("grpc.max_concurrent_streams", min(CONNECTION_STREAMS, admission.streams_per_address)),
            ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
            ("grpc.so_reuseport", 0),
        ],
    )
    play: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_stream_rpc_method_handler(servicer.play)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(PLAY_SERVICE, {"Play": play}),))
    health = health_aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    for name in ("", PLAY_SERVICE):
        await health.set(name, health_pb2.HealthCheckResponse.SERVING)
    for add in services:
        add(server)
    bound = await start(server, address, credentials, trusted_network=trusted_network)
    return PlayServer(server, servicer, bound)


async def start(
    server: grpc.aio.Server,
    address: str,
    credentials: grpc.ServerCredentials | None = None,
    *,
    trusted_network: bool = False,
) -> str:
    """Serves at :func:`listen`'s address; a server that cannot is ended, for gRPC minds one that is only forgotten."""
    try:
        bound = listen(server, address, credentials, trusted_network=trusted_network)
    except UserError:
        await server.stop(None)
        raise
    await server.start()
    return bound


def listen(
    server: grpc.aio.Server,
    address: str,
    credentials: grpc.ServerCredentials | None = None,
    *,
    trusted_network: bool = False,
) -> str:
    """Bind ``server`` and return the address to dial. A unix socket is plaintext always. Raises UserError."""
    socket_file = address.startswith("unix:")
    if credentials is None and not (socket_file or trusted_network or is_loopback(address)):
        raise UserError(
            f"{address} is not a loopback address: serving there needs TLS, or gateway.trusted_network if nobody but us "
            "can reach it; see deploy/README.md"
        )
    try:
        if credentials is None or socket_file:
            port = server.add_insecure_port(address)
        else:
            port = server.add_secure_port(address, credentials)
    except RuntimeError as error:
        raise UserError(f"Cannot listen on {address}: {error}") from None
    return address if address.startswith("unix:") else f"{address.rpartition(':')[0]}:{port}"


class PlayServicer:
    """PlayService on raw bytes: what does not parse is the core's to judge, and what goes out is encoded already."""

    def __init__(
        self,
        core: GatewayCore,
        authenticator: Authenticator,
        admission: Admission,
        guesses: Guesses | None = None,
        outs: Outs | None = None,
    ) -> None:
        self._core = core
        self._authenticator = authenticator
        self._admission = admission
        self._outs = outs
        self._starts = TokenBucket(admission.starts_per_s, admission.start_burst)
        self._bot_starts = Buckets(admission.bot_starts_per_s, admission.bot_start_burst)
        self._opened = Buckets(admission.starts_per_s, 2 * admission.streams_per_address)
        self._addresses: Counter[str] = Counter()
        self._guesses = guesses or Guesses(admission.bad_tokens)
        self._streams: set[asyncio.Task[Any]] = set()
        self._telling: set[asyncio.Task[None]] = set()

    async def play(self, _requests: object, context: Context) -> None:
        """One stream, from its first byte to its status."""
        task = asyncio.current_task()
        assert task is not None
        self._streams.add(task)
        try:
            address = address_of(context)
            with self._counted(address):
                connection = await self._admit(context, address)
                failure = await self._serve(connection, context)
        except Refused as refusal:
            failure = refusal.failure
        finally:
            self._streams.discard(task)
        if failure is not None:
            self._core.tallies.own.counts[f"refused_{failure.reason.lower()}"] += 1
            await context.abort(CODES[failure.reason], failure.message, trailers(failure))

    async def drain(self, reconnect_within_ms: int) -> None:
        """Send all bots away and wait until they are gone."""
        self._core.drain(reconnect_within_ms)
        if self._streams:
            await asyncio.wait(set(self._streams), timeout=FAREWELL_S)

    @contextmanager
    def _counted(self, address: str) -> Iterator[None]:
        """Hold a place of the address. Raises Refused if all are taken."""
        if not address:
            yield
            return
        # First of all: who resets streams as fast as he opens them never has many.
        if not self._opened.of(address).take(self._core.clock.now_us()):
            raise Refused(Failure(Reason.TOO_MANY_STARTS, "This address opens streams too fast.", 1_000))
        if self._addresses[address] >= self._admission.streams_per_address:
            raise Refused(Failure(Reason.TOO_MANY_STREAMS, "Too many streams from this address.", 5_000))
        self._addresses[address] += 1
        try:
            yield
        finally:
            self._addresses[address] -= 1
            if not self._addresses[address]:
                del self._addresses[address]

    async def _admit(self, context: Context, address: str) -> Connection:
        """The session of a new stream. Raises Refused."""
        try:
            principal = await self._authenticate(context, address)
            now_us = self._core.clock.now_us()
            if not self._starts_of(principal).take(now_us):
                raise Refused(Failure(Reason.TOO_MANY_STARTS, "This bot connects too often.", 1_000))
            if not self._starts.take(now_us):
                raise Refused(Failure(Reason.TOO_MANY_STARTS, "Too many bots connect at once.", 1_000))
        except Refused:
            # Its Hello is on the way. A grpc.aio client whose write fails says INTERNAL, and not what it was refused for.
            ignored = asyncio.ensure_future(context.read())
            ignored.add_done_callback(lambda read: read.cancelled() or read.exception())
            await asyncio.wait([ignored], timeout=REFUSED_HELLO_S)
            raise
        try:
            data = await asyncio.wait_for(context.read(), self._admission.hello_s)
        except TimeoutError:
            raise Refused(Failure(Reason.HELLO_TIMEOUT, f"No Hello within {self._admission.hello_s:g} s.")) from None
        if not isinstance(data, bytes):
            raise Refused(Failure(Reason.BAD_HELLO, "The stream ended before Hello."))
        if (failure := self._core.too_large(data)) is not None:
            # The token of a whole account has not said yet which of its bots this is.
            if principal.bot_id is not None:
                failure = self._core.strike(principal.bot_id, failure)
                self._tell_out(principal.bot_id)
            raise Refused(failure)
        hello, rest = read_hello(data)
        identity = await self._authenticator.identify(principal, hello)
        await self._ask_out(identity.bot_id)
        try:
            connection = self._core.connect(identity, hello, principal_id=principal.token_id)
        finally:
            self._tell_out(identity.bot_id)  # who evicts himself for ever is struck here
        if rest.events:
            self._core.receive(connection, rest.SerializeToString())
        return connection

    async def _ask_out(self, bot_id: int) -> None:
        """Hears from the other gateways whether a bot is out. Without them what is known here counts."""
        if self._outs is not None and not self._core.out_ms(bot_id):
            with suppress(Unavailable, TimeoutError):
                async with asyncio.timeout(OUTS_S):
                    self._core.put_out(bot_id, await self._outs.out_ms(bot_id))

    def _tell_out(self, bot_id: int) -> None:
        """Tells the other gateways if a bot is out. Not in the stream's own task, which ends when the bot hangs up."""
        if self._outs is None or not (out_ms := self._core.out_ms(bot_id)):
            return

        async def tell(outs: Outs) -> None:
            with suppress(Unavailable, TimeoutError):
                async with asyncio.timeout(OUTS_S):
                    await outs.put_out(bot_id, out_ms)

        telling = asyncio.create_task(tell(self._outs))
        self._telling.add(telling)
        telling.add_done_callback(self._telling.discard)

    def _starts_of(self, principal: Principal) -> TokenBucket:
        """The bucket of the token's bot; of the token, where its account has not said for which bot it is."""
        known = principal.bot_id is not None
        return self._bot_starts.of(f"bot {principal.bot_id}" if known else f"token {principal.token_id}")

    async def _authenticate(self, context: Context, address: str) -> Principal:
        token = bearer_of(context)
        if not token:
            message = "The token belongs into the metadata: authorization: Bearer TOKEN."
            raise Refused(Failure(Reason.BAD_TOKEN, message))
        if not self._guesses.may_look(address, token, self._core.clock.now_us()):
            raise Refused(Failure(Reason.TOO_MANY_STREAMS, "Too many bad tokens from this address.", 5_000))
        principal = await self._authenticator.authenticate(token)
        if principal is None:
            self._guesses.wrong(address, token, self._core.clock.now_us())
            raise Refused(Failure(Reason.BAD_TOKEN, "The token is not valid, or not valid any more."))
        self._guesses.right(token)
        return principal

    async def _serve(self, connection: Connection, context: Context) -> Failure | None:
        """Carry frames both ways until the stream is to end, and return what it is to end with."""
        reader = asyncio.create_task(self._read(connection, context))
        writer = asyncio.create_task(self._write(connection, context))
        try:
            ending = await connection.ended()
            await asyncio.wait({writer}, timeout=FAREWELL_S)
            return ending.failure
        finally:
            self._tell_out(connection.session.identity.bot_id)
            self._core.disconnect(connection)
            for task in (reader, writer):
                task.cancel()
            await asyncio.gather(reader, writer, return_exceptions=True)

    async def _read(self, connection: Connection, context: Context) -> None:
        try:
            while isinstance(data := await context.read(), bytes):
                self._core.receive(connection, data)
        except grpc.aio.BaseError:
            raise
        except Exception:
            log.exception("what %s sent is not read any more", connection.session.identity.bot)
        finally:  # a bot that nobody reads is not there: its clock is not to stand still
            self._core.disconnect(connection)

    async def _write(self, connection: Connection, context: Context) -> None:
        # Whatever waits goes out as one frame, and while it is written the next one gathers.
        with suppress(grpc.aio.BaseError):
            while connection.ending is None:
                await connection.ready()
                if frame := connection.take():
                    await context.write(frame)
            if connection.ending.last:
                await context.write(connection.ending.last)
