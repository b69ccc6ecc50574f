"""The arena's signing key: made on first start, kept in the data folder, readable by its owner alone."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena.errors import ArenaError

KEY_FILE = "arena.ed25519"
RAW_BYTES = 32


def load(data_dir: Path) -> Ed25519PrivateKey:
    """The key of the arena with this data folder. Raises ArenaError if it is damaged or not there."""
    path = data_dir / KEY_FILE
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise ArenaError(f"{path}, the arena's key, is not there: receipts were signed with it") from None
    if len(raw) != RAW_BYTES:
        raise ArenaError(f"{path} is damaged: put the arena's key back from a backup; receipts were signed with it")
    return Ed25519PrivateKey.from_private_bytes(raw)


def load_or_create(data_dir: Path) -> Ed25519PrivateKey:
    """As :func:`load`, of an arena that may begin now. Safe where several processes start at once."""
    path = data_dir / KEY_FILE
    data_dir.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        scratch = data_dir / f".{KEY_FILE}.{os.getpid()}"
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(Ed25519PrivateKey.generate().private_bytes_raw())
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(scratch, path)
        except FileExistsError:
            pass  # another process was first: its key is the arena's
        finally:
            scratch.unlink()
    return load(data_dir)
