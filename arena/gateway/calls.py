"""What the unary services share: who calls, how failures are told, and how a call runs off the event loop."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

import grpc
from google.protobuf import duration_pb2
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from sqlalchemy import Connection
from sqlalchemy.exc import DataError

from arena.errors import ArenaError, Unavailable, UserError
from arena.gateway.limits import Buckets, Guesses, address_of, bearer_of
from arena.gateway.status import DOMAIN, packed
from arena.storage import accounts
from arena.storage.db import Database

log = logging.getLogger(__name__)
T = TypeVar("T")

Context: TypeAlias = Any
"""A grpc.aio.ServicerContext; the generated stubs type it as the synchronous one as well, which it is not."""

RETRY_MS: Final = 2_000
GUESSED_MS: Final = 5_000
PACKAGE: Final = "/botarena."


class CallFailed(ArenaError):
    """A call that cannot be answered. ``reason`` is for programs, ``field`` names what in the request was wrong."""

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: str,
        message: str,
        *,
        field: str = "",
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.field = field
        self.retry_after_ms = retry_after_ms

    def details(self) -> list[Message]:
        """The google.rpc messages that say the same to a program."""
        found: list[Message] = [ErrorInfo(reason=self.reason, domain=DOMAIN)]
        if self.retry_after_ms is not None:
            delay = duration_pb2.Duration()
            delay.FromMilliseconds(self.retry_after_ms)
            found.append(RetryInfo(retry_delay=delay))
        if self.field:
            violation = BadRequest.FieldViolation(field=self.field, description=str(self))
            found.append(BadRequest(field_violations=[violation]))
        return found


def not_found(message: str, field: str) -> CallFailed:
    """What was named does not exist."""
    return CallFailed(grpc.StatusCode.NOT_FOUND, "NOT_FOUND", message, field=field)


def invalid(message: str, field: str) -> CallFailed:
    """A field is not what it must be."""
    return CallFailed(grpc.StatusCode.INVALID_ARGUMENT, "INVALID_ARGUMENT", message, field=field)


def too_many(message: str, retry_after_ms: int) -> CallFailed:
    """Something was done too often."""
    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    return CallFailed(code, "TOO_MANY_REQUESTS", message, retry_after_ms=retry_after_ms)


def named(find: Callable[[Connection, str], T], connection: Connection, name: str, field: str) -> T:
    """What has that name. Raises CallFailed."""
    try:
        return find(connection, name)
    except UserError as error:
        raise not_found(str(error), field) from None


def page_size(asked: int, default: int, most: int) -> int:
    """How many a page of a list holds."""
    return min(asked or default, most)


def page_offset(token: str) -> int:
    """Where a page of a list begins. Raises CallFailed on a token from elsewhere."""
    if not token:
        return 0
    if not token.isascii() or not token.isdecimal() or len(token) > 9:
        raise invalid("this page token is not one that a list gave", "page_token")
    return int(token)


async def answer(context: Context, work: Callable[[], Awaitable[T]]) -> T:
    """What ``work`` returns; its failures end the call, and of an unexpected one the caller learns nothing."""
    try:
        return await work()
    except CallFailed as error:
        await _end(context, error)
    except DataError as error:
        log.warning("a call was refused: the database takes no such value: %s", error.orig)
        await _end(
            context, invalid("a text of this call has a character, or a number a size, that nothing here has", "")
        )
    except Unavailable as error:
        log.warning("a call was refused: %s", error)
        busy = "The arena cannot answer that now; try again."
        await _end(context, CallFailed(grpc.StatusCode.UNAVAILABLE, "UNAVAILABLE", busy, retry_after_ms=RETRY_MS))
    except (asyncio.CancelledError, grpc.aio.AbortError):
        raise
    except Exception:
        log.exception("a call failed in the arena itself")
        await _end(context, CallFailed(grpc.StatusCode.INTERNAL, "INTERNAL", "The arena failed; it is in its log."))


async def _end(context: Context, error: CallFailed) -> NoReturn:
    await context.abort(error.code, str(error), packed(error.code, str(error), error.details()))
    raise AssertionError("abort raises")


def has_token(context: Context) -> bool:
    """Whether the caller says who it is."""
    return any(key == "authorization" for key, _ in context.invocation_metadata() or ())


class Stored:
    """A service over the database, which it asks off the event loop."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def _read(self, query: Callable[[Connection], T]) -> T:
        def run() -> T:
            with self._database.read() as connection:
                return query(connection)

        return await asyncio.to_thread(run)

    async def _write(self, work: Callable[[Connection], T]) -> T:
        def run() -> T:
            with self._database.write() as connection:
                return work(connection)

        return await asyncio.to_thread(run)


class Asking(Stored):
    """A service that wants to know who calls. Who shows too many bad tokens is told to wait, see :class:`Guesses`."""

    def __init__(self, database: Database, guesses: Guesses) -> None:
        super().__init__(database)
        self._guesses = guesses

    async def _caller(self, context: Context) -> accounts.Principal:
        """Who calls, by the token in the metadata. Raises CallFailed."""
        address, token = address_of(context), bearer_of(context)
        unknown = CallFailed(
            grpc.StatusCode.UNAUTHENTICATED,
            "BAD_TOKEN",
            "This call needs a valid token in its metadata: authorization: Bearer TOKEN.",
        )
        if not token:
            raise unknown
        if not self._guesses.may_look(address, token, time.monotonic_ns() // 1000):
            raise too_many("Too many bad tokens; wait a moment.", GUESSED_MS)
        found = await self._read(lambda connection: accounts.authenticate(connection, token))
        if found is None:
            self._guesses.wrong(address, token, time.monotonic_ns() // 1000)
            raise unknown
        self._guesses.right(token)
        return found


class PerAddress:
    """How often one address may do something; a class may sit behind one address."""

    def __init__(self, rate: int, burst: int) -> None:
        self._rate = rate
        self._buckets = Buckets(rate, burst)

    def check(self, context: Context, now_us: int) -> None:
        """Raises CallFailed if the caller's address has done it too often."""
        if not self._buckets.of(address_of(context)).take(now_us):
            raise too_many("Too many from this address; wait a moment.", 1000 // self._rate)


class Paced(grpc.aio.ServerInterceptor):
    """How fast an address may call the services, before anything is done for it: a call that is reset at once costs the same."""

    def __init__(self, rate: int, burst: int) -> None:
        self._calls = PerAddress(rate, burst)

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], details: grpc.HandlerCallDetails
    ) -> Any:
        """As gRPC wants it. Streams from bots are admitted by their servicer, and the health service asks for nothing."""
        handler = await continuation(details)
        if handler is None or handler.request_streaming or not details.method.startswith(PACKAGE):
            return handler

        async def check(context: Context) -> None:
            try:
                self._calls.check(context, time.monotonic_ns() // 1000)
            except CallFailed as error:
                await _end(context, error)

        async def call(request: Any, context: Context) -> Any:
            await check(context)
            return await handler.unary_unary(request, context)

        async def stream(request: Any, context: Context) -> AsyncIterator[Any]:
            await check(context)
            async for one in handler.unary_stream(request, context):
                yield one

        coders = handler.request_deserializer, handler.response_serializer
        if handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(stream, *coders)
        return grpc.unary_unary_rpc_method_handler(call, *coders)
