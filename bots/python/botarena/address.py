"""Where the arena is: ``host:port`` or ``unix:path``."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import grpc

from botarena.errors import Misconfigured

FIRST_PATIENCE_S = 30.0
SOCKET_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Target:
    """An address, and whether TLS is spoken there. ``ca``: whom to trust, in PEM, instead of the system's list."""

    text: str
    tls: bool
    ca: bytes | None = None

    @classmethod
    def parse(cls, text: str, *, insecure: bool = False, ca: str = "") -> Target:
        """TLS everywhere but on this machine, unless ``insecure``; with a ``ca`` (the path of a PEM file), there too.

        Raises Misconfigured, saying what would be right.
        """
        text = text.strip()
        if insecure and ca:
            raise Misconfigured("--insecure means no TLS and --ca means TLS: choose one")
        if text.startswith("unix:"):
            if not text.removeprefix("unix:"):
                raise Misconfigured("unix: needs the path of a socket, e.g. unix:/run/arena.sock")
            return cls(text, tls=False)
        host, _, port = text.rpartition(":")
        if not host or "/" in text or not port.isdecimal() or not 0 < int(port) < 65536:
            raise Misconfigured(f"{text!r} is no address: write host:port, e.g. localhost:7700, or unix:/path")
        if ca:
            return cls(text, tls=True, ca=_read_ca(ca))
        return cls(text, tls=not (insecure or _is_loopback(host)))

    @property
    def needs_token(self) -> bool:
        """Who can open a socket file has been let in by the file system."""
        return not self.text.startswith("unix:")

    def patience_s(self, *, connected_before: bool) -> float:
        """How long nothing may answer before the process gives up. A socket file belongs to a server on this machine:
        where that is gone, its bots must not stay behind for ever."""
        if not connected_before:
            return FIRST_PATIENCE_S
        return SOCKET_PATIENCE_S if self.text.startswith("unix:") else math.inf

    def channel(self, options: Sequence[tuple[str, int]]) -> grpc.aio.Channel:
        """A new channel; to be made on the loop that uses it."""
        if self.tls:
            return grpc.aio.secure_channel(self.text, grpc.ssl_channel_credentials(self.ca), options=options)
        return grpc.aio.insecure_channel(self.text, options=options)


def _read_ca(path: str) -> bytes:
    try:
        data = Path(path).expanduser().read_bytes()
    except OSError as error:
        raise Misconfigured(f"ca: cannot read {path}: {error.strerror}") from None
    if b"-----BEGIN CERTIFICATE-----" not in data:
        raise Misconfigured(f"ca: {path} holds no certificate in PEM")
    return data


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
