"""Record files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from arena.errors import ArenaError, Unavailable
from arena.storage.records import RecordStore


def test_a_record_is_found_by_its_digest(tmp_path: Path) -> None:
    """What is written is read back, under the first two digits of its digest; writing it again leaves one file."""
    store = RecordStore(tmp_path)
    content = gzip.compress(b'{"line": 1}\n')
    digest = store.write(content)
    assert store.write(content) == digest
    assert store.read(digest) == content
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files == [tmp_path / "records" / digest[:2] / f"{digest}.jsonl.gz"]


def test_damage_and_loss_are_told_apart_from_a_record(tmp_path: Path) -> None:
    """A changed byte and a missing file are errors that name the record."""
    store = RecordStore(tmp_path)
    digest = store.write(b"content")
    store.path(digest).write_bytes(b"c0ntent")
    with pytest.raises(ArenaError, match="damaged"):
        store.read(digest)
    store.path(digest).unlink()
    with pytest.raises(ArenaError, match="not kept"):
        store.read(digest)


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "A" * 64, "0" * 63, "0" * 64 + "\n"])
def test_nothing_but_a_digest_names_a_file(tmp_path: Path, digest: str) -> None:
    """No path can be smuggled in as a digest."""
    with pytest.raises(ValueError, match="SHA-256"):
        RecordStore(tmp_path).read(digest)


def test_a_disk_that_takes_nothing_is_unavailable(tmp_path: Path) -> None:
    """The worker can keep the record and try again; nothing half-written stays behind."""
    (tmp_path / "records").write_text("a file where a folder should be")
    with pytest.raises(Unavailable) as caught:
        RecordStore(tmp_path).write(b"content")
    assert caught.value.retryable
