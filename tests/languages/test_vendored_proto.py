"""Kits that generate their types when they are built carry copies of the protocol."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.languages import kit

KITS = ("rust", "cpp", "java/botarena")
PROTO = kit.ROOT / "proto"


def _files(folder: Path, *patterns: str) -> dict[str, str]:
    found = (path for pattern in patterns for path in folder.glob(pattern))
    return {str(path.relative_to(folder)): path.read_text() for path in found}


@pytest.mark.parametrize("language", KITS)
def test_copies_are_up_to_date(language: str) -> None:
    """`proto/vendor.sh` would change nothing."""
    originals = _files(PROTO, "botarena/v1/play.proto", "botarena/games/**/*.proto")
    assert len(originals) > 1
    assert _files(kit.ROOT / "bots" / language / "proto", "**/*.proto") == originals
