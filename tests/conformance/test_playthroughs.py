"""The golden playthroughs: one a game, number of players and variant, none missing, none stale, none changed unseen."""

from __future__ import annotations

import pytest

import engines
from engines.playthrough import GOLDEN, golden

REGENERATE = "if the change is meant: python -m engines.playthrough --write, and read the diff"


@pytest.mark.parametrize("name", engines.names())
def test_playthroughs_are_as_recorded(name: str) -> None:
    """A game plays, looks and is scored as in its golden files, and has a file for each number of players and variant."""
    expected = golden(engines.get(name))
    recorded = {path.name: path.read_text(encoding="utf-8") for path in GOLDEN.glob(f"{name}-[0-9]p*.txt")}
    assert sorted(recorded) == sorted(expected), REGENERATE
    for file, text in expected.items():
        assert recorded[file] == text, f"{file} differs; {REGENERATE}"


def test_no_playthrough_without_a_game() -> None:
    """Every golden file belongs to a registered game."""
    owned = {path for name in engines.names() for path in GOLDEN.glob(f"{name}-[0-9]p*.txt")}
    assert owned == set(GOLDEN.glob("*.txt")), REGENERATE
