"""Calling a running arena: TLS where bots would speak it too."""

from __future__ import annotations

import os

import grpc

from arena.errors import UserError
from botarena.address import Target
from botarena.errors import Misconfigured


def dial(address: str) -> grpc.Channel:
    """A channel to the gateway at ``address``; ARENA_CA names a private CA. Raises UserError."""
    try:
        target = Target.parse(address, ca=os.environ.get("ARENA_CA", ""))
    except Misconfigured as error:
        raise UserError(str(error)) from None
    if target.tls:
        return grpc.secure_channel(target.text, grpc.ssl_channel_credentials(target.ca))
    return grpc.insecure_channel(target.text)
