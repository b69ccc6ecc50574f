"""Records of games that people have played here, on disk: the newest so many, to be looked at again and taken away."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from arena.storage.records import write_synced

KEPT: Final = 2_000
_ID: Final = re.compile(r"t_[0-9a-f]{16}")


class Shelf:
    """A folder with a file a table."""

    def __init__(self, folder: Path, kept: int = KEPT) -> None:
        self._folder = folder
        self._kept = kept

    def put(self, table_id: str, record: bytes) -> None:
        """Keeps a record, and lets the oldest go. Raises Unavailable."""
        write_synced(self._path(table_id), record)
        there = sorted(self._folder.glob("t_*.jsonl.gz"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for path in there[self._kept :]:
            path.unlink(missing_ok=True)

    def get(self, table_id: str) -> bytes | None:
        """The record of a table, or None."""
        if not _ID.fullmatch(table_id):
            return None
        try:
            return self._path(table_id).read_bytes()
        except OSError:
            return None

    def _path(self, table_id: str) -> Path:
        return self._folder / f"{table_id}.jsonl.gz"
