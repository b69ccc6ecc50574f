"""House bots as SDK functions: from what the arena sends to what a game's own functions take."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TypeAlias

import engines
from botarena import Clock, Legal, View
from bots.house.flatmc import flatmc

Act: TypeAlias = Callable[[View, Legal, Clock], int]


def by_game(name: str) -> Act:
    """Plays each game by the function of this name in ``bots.house.<game>``'s BOTS."""

    def act(view: View, legal: Legal, clock: Clock) -> int:
        game = engines.get(view.game)
        choose = import_module(f"bots.house.{view.game.replace('-', '_')}").BOTS[name]
        choice: int = choose(game, game.view_from_json(view.json), legal.ids, view.rng)
        return choice

    return act


def monte_carlo(playouts: int) -> Act:
    """Plays every game by flat Monte Carlo. The budget is in playouts, so that a seeded match repeats; the clock steps
    in only where the game would be lost."""

    def act(view: View, legal: Legal, clock: Clock) -> int:
        game = engines.get(view.game)
        allowed_ms = allowance_ms(clock.bank_ms, clock.limit_ms)
        seen = game.view_from_json(view.json)
        return flatmc(game, seen, legal.ids, view.rng, playouts, lambda: clock.used_ms > allowed_ms)

    return act


def allowance_ms(bank_ms: int, limit_ms: int) -> float:
    """What a search may use: most of the limit while the bank is full, a quarter of the bank as it runs dry."""
    return min(0.8 * limit_ms, 0.25 * bank_ms)
