"""Failures as gRPC statuses with google.rpc details."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from arena.gateway.session import Failure, Reason

DOMAIN: Final = "botarena"
DETAILS_KEY: Final = "grpc-status-details-bin"

CODES: Final = {
    Reason.BAD_TOKEN: grpc.StatusCode.UNAUTHENTICATED,
    Reason.TOKEN_REVOKED: grpc.StatusCode.UNAUTHENTICATED,
    Reason.NOT_YOUR_BOT: grpc.StatusCode.PERMISSION_DENIED,
    Reason.UNKNOWN_BOT: grpc.StatusCode.NOT_FOUND,
    Reason.UNKNOWN_GAME: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.BAD_HELLO: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.HELLO_TIMEOUT: grpc.StatusCode.DEADLINE_EXCEEDED,
    Reason.VERSION_SKEW: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.MALFORMED_FRAME: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.FRAME_TOO_LARGE: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.FLOOD: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.TOO_MANY_STREAMS: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.TOO_MANY_STARTS: grpc.StatusCode.UNAVAILABLE,
    Reason.SLOW_READER: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.DEAD_PEER: grpc.StatusCode.UNAVAILABLE,
    Reason.SERVER_DRAINING: grpc.StatusCode.UNAVAILABLE,
    Reason.UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
}
"""The status code of each reason."""


def trailers(failure: Failure) -> tuple[tuple[str, bytes], ...]:
    """The trailing metadata that carries the details: ErrorInfo, and RetryInfo and BadRequest where they apply."""
    details: list[Message] = [ErrorInfo(reason=failure.reason.value, domain=DOMAIN)]
    if failure.retry_after_ms is not None:
        delay = duration_pb2.Duration()
        delay.FromMilliseconds(failure.retry_after_ms)
        details.append(RetryInfo(retry_delay=delay))
    if failure.field:
        violation = BadRequest.FieldViolation(field=failure.field, description=failure.message)
        details.append(BadRequest(field_violations=[violation]))
    return packed(CODES[failure.reason], failure.message, details)


def packed(code: grpc.StatusCode, message: str, details: Iterable[Message]) -> tuple[tuple[str, bytes], ...]:
    """The trailing metadata that carries ``details``."""
    status = Status(code=code.value[0], message=message)
    for detail in details:
        wrapped = any_pb2.Any()
        wrapped.Pack(detail)
        status.details.append(wrapped)
    return ((DETAILS_KEY, status.SerializeToString()),)
