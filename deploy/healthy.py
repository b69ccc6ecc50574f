"""``python deploy/healthy.py http://… | grpc://…``: exits 0 if a process says that it is well. For health checks."""

from __future__ import annotations

import sys
import urllib.request
from pathlib import Path

TIMEOUT_S = 5.0


def main(url: str, ca: str = "") -> bool:
    """Whether the process at the URL is well. ``ca``: the gateway speaks TLS, with a certificate of this authority."""
    if url.startswith("http://"):
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as response:  # noqa: S310 - http alone gets here
            return bool(response.status == 200)
    import grpc  # noqa: PLC0415 - slow to import, and of no use to most
    from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse  # noqa: PLC0415

    address = url.removeprefix("grpc://")
    if ca:
        channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(Path(ca).read_bytes()))
    else:
        channel = grpc.insecure_channel(address)
    with channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check", HealthCheckRequest.SerializeToString, HealthCheckResponse.FromString
        )
        return bool(check(HealthCheckRequest(), timeout=TIMEOUT_S).status == HealthCheckResponse.SERVING)


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else 1)
