"""Circles and odd pairs."""

from __future__ import annotations

from random import Random

import pytest

from arena.ratings.entries import SetResult
from arena.ratings.residuals import residuals


def games(a: int, b: int, share: float, sets: int, rng: Random) -> list[SetResult]:
    """Sets of two games that ``a`` wins with that probability."""
    return [
        SetResult(f"{a}-{b}-{number}", (a, b), tuple((1, 2) if rng.random() < share else (2, 1) for _ in range(2)))
        for number in range(sets)
    ]


def test_a_planted_circle_is_the_strongest() -> None:
    """Rock, paper and scissors among bots that are otherwise in order are found, in their direction."""
    rng = Random(3)
    played = games(1, 2, 0.8, 40, rng) + games(2, 3, 0.8, 40, rng) + games(3, 1, 0.8, 40, rng)
    for weak in (4, 5, 6):
        for strong in (1, 2, 3):
            played += games(strong, weak, 0.7, 40, rng)
    found = residuals(played)
    circle = found.circles()[0]
    start = circle.versions.index(1)
    assert circle.versions[start:] + circle.versions[:start] == (1, 2, 3)
    assert circle.strength > 3
    assert {(one.first, one.second) for one in found.odd_pairs()} >= {(1, 2), (2, 3), (3, 1)}


def test_without_circles_little_is_odd() -> None:
    """Where ratings explain everything hardly any pair is three errors off."""
    rng = Random(5)
    strength = {version: version * 0.3 for version in range(1, 9)}
    played = [
        one
        for a in strength
        for b in strength
        if a < b
        for one in games(a, b, 1 / (1 + 2.718 ** (strength[b] - strength[a])), 30, rng)
    ]
    found = residuals(played)
    assert len(found.odd_pairs()) <= 1
    assert found.pair(0, 7).score == pytest.approx(found.pair(0, 7).expected, abs=0.1)
    assert found.pair(0, 7).z == -found.pair(7, 0).z


def test_throwing_games_shows() -> None:
    """A pair that always goes against the ratings is the oddest one."""
    rng = Random(8)
    played = [one for a in range(1, 6) for b in range(a + 1, 6) for one in games(a, b, 0.7, 30, rng)]
    played += games(5, 1, 1.0, 30, rng)
    oddest = residuals(played).odd_pairs()[0]
    assert (oddest.first, oddest.second) == (5, 1)
