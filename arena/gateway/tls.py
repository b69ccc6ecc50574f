"""Certificates: what bots and workers see of a gateway, and what a gateway sees of workers.

Bots are known by their tokens, so TLS shows them the gateway and hides what is said. Workers are known by nothing but
their certificate: the relay between hosts is mutual, both ends' certificates from one private CA.
"""

from __future__ import annotations

from pathlib import Path

import grpc

from arena.errors import UserError
from arena.settings import GatewaySettings, RelaySettings


def play_credentials(settings: GatewaySettings) -> grpc.ServerCredentials | None:
    """What bots are served with; None: plaintext. Raises UserError."""
    if not settings.tls_certificate and not settings.tls_key:
        return None
    certificate = _read(settings.tls_certificate, "gateway.tls_certificate")
    key = _read(settings.tls_key, "gateway.tls_key")
    return grpc.ssl_server_credentials([(key, certificate)])


def relay_server_credentials(settings: RelaySettings) -> grpc.ServerCredentials | None:
    """What workers are served with, who must show a certificate of the CA; None: plaintext. Raises UserError."""
    files = _mutual(settings)
    if files is None:
        return None
    ca, certificate, key = files
    return grpc.ssl_server_credentials([(key, certificate)], root_certificates=ca, require_client_auth=True)


def relay_channel_credentials(settings: RelaySettings) -> grpc.ChannelCredentials | None:
    """What a worker dials gateways with; None: plaintext. Raises UserError."""
    files = _mutual(settings)
    if files is None:
        return None
    ca, certificate, key = files
    return grpc.ssl_channel_credentials(ca, key, certificate)


def _mutual(settings: RelaySettings) -> tuple[bytes, bytes, bytes] | None:
    """CA, certificate and key: all three or none."""
    given = {
        "relay.tls_ca": settings.tls_ca,
        "relay.tls_certificate": settings.tls_certificate,
        "relay.tls_key": settings.tls_key,
    }
    if not any(given.values()):
        return None
    ca, certificate, key = (_read(path, name) for name, path in given.items())
    return ca, certificate, key


def _read(path: str, name: str) -> bytes:
    if not path:
        raise UserError(f"TLS needs {name} as well: the path of a PEM file")
    try:
        return Path(path).expanduser().read_bytes()
    except OSError as error:
        raise UserError(f"{name}: cannot read {path}: {error.strerror}") from None
