"""The anchor of every ladder."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random


def uniform(legal: Sequence[int], rng: Random) -> int:
    """One of ``legal``, all equally likely."""
    return rng.choice(legal)
