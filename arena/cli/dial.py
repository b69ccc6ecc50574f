"""Calling a running arena: TLS where bots would speak it too."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Annotated, TypeVar

import grpc
import typer

from arena.cli.common import NOT_KNOWN
from arena.errors import UserError
from botarena.address import Target
from botarena.errors import Misconfigured

Address = Annotated[
    str, typer.Option("--address", envvar="ARENA_ADDRESS", help="The arena's gateway, host:port or unix:path.")
]
DEFAULT_ADDRESS = "127.0.0.1:7700"
CALL_TIMEOUT_S = 10.0

Answer = TypeVar("Answer")


def dial(address: str) -> grpc.Channel:
    """A channel to the gateway at ``address``; ARENA_CA names a private CA. Raises UserError."""
    try:
        target = Target.parse(address, ca=os.environ.get("ARENA_CA", ""))
    except Misconfigured as error:
        raise UserError(str(error)) from None
    if target.tls:
        return grpc.secure_channel(target.text, grpc.ssl_channel_credentials(target.ca))
    return grpc.insecure_channel(target.text)


def bearer() -> tuple[tuple[str, str | bytes], ...]:
    """The metadata of a call for the account whose token is in ARENA_TOKEN. Raises UserError."""
    token = os.environ.get("ARENA_TOKEN")
    if not token:
        raise UserError("set ARENA_TOKEN to a token of your account; `arena register` makes one")
    return (("authorization", f"Bearer {token}"),)


def maybe_bearer() -> tuple[tuple[str, str | bytes], ...]:
    """As :func:`bearer`; empty without a token, for calls that tell some more than others."""
    return bearer() if os.environ.get("ARENA_TOKEN") else ()


def call(ask: Callable[[], Answer], address: str) -> Answer:
    """An answer; or what the arena said against it in one line, as UserError."""
    try:
        return ask()
    except grpc.RpcError as error:
        if error.code() == grpc.StatusCode.UNAUTHENTICATED:
            raise UserError(NOT_KNOWN) from None
        if error.code() == grpc.StatusCode.UNAVAILABLE:
            raise UserError(f"no arena answers at {address}; is `arena up` running there?") from None
        raise UserError(error.details()) from None
