"""What openskill makes of the same games: another method beside the official table, for n players a game."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from arena.ratings.entries import SetResult


def second_opinion(results: Iterable[SetResult]) -> dict[int, float]:
    """Ordinals of openskill's BradleyTerryFull after the same games in the same order. Raises ImportError without it."""
    from openskill.models import BradleyTerryFull  # noqa: PLC0415 - an extra

    model = BradleyTerryFull()
    known: dict[int, Any] = {}
    for result in results:
        for places in result.places:
            teams = [[known.setdefault(version, model.rating())] for version in result.versions]
            for version, [after] in zip(result.versions, model.rate(teams, ranks=list(places)), strict=True):
                known[version] = after
    return {version: float(rating.ordinal()) for version, rating in known.items()}
