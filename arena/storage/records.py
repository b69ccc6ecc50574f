"""Record files, named by their content: ``records/ab/<sha256 of the file>.jsonl.gz``.

A file is on the disk, its folder entry too, before the row that names it commits; so a row never names a file that a
power cut took.
"""

from __future__ import annotations

import os
import re
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Final

from arena.errors import ArenaError, Unavailable

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class RecordStore:
    """The record files of an arena, under its data folder."""

    def __init__(self, data_dir: Path) -> None:
        self._root = data_dir / "records"

    def path(self, digest: str) -> Path:
        """Where the record of that digest (64 hex digits) is or would be. Raises ValueError."""
        if not _DIGEST.fullmatch(digest):
            raise ValueError(f"{digest!r} is not a SHA-256 in hex")
        return self._root / digest[:2] / f"{digest}.jsonl.gz"

    def write(self, content: bytes) -> str:
        """Keeps a gzipped record; returns its digest. Writing the same again is harmless. Raises Unavailable."""
        digest = sha256(content).hexdigest()
        write_synced(self.path(digest), content)
        return digest

    def read(self, digest: str) -> bytes:
        """The gzipped record. Raises ArenaError if it is not there or was changed, ValueError on no digest."""
        path = self.path(digest)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise ArenaError(f"the record {digest} is not kept here") from None
        if sha256(content).hexdigest() != digest:
            raise ArenaError(f"the record {digest} is damaged: its file does not have that SHA-256")
        return content


def write_synced(path: Path, content: bytes) -> None:
    """Writes a file, its folder made if need be, that is on the disk when this returns. Raises Unavailable."""
    try:
        _make_folder(path.parent)
        _write_whole(path, content)
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}") from error


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    _sync(folder.parent)


def _write_whole(path: Path, content: bytes) -> None:
    """All of it under that name, or nothing."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".record-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync(path.parent)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
