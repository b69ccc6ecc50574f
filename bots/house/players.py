"""House bots as SDK functions: from what the arena sends to what a game's own functions take.

:func:`chooser` is for measuring them without an arena around them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from random import Random
from typing import Any, TypeAlias

import engines
from botarena import Clock, Legal, View
from bots.house.catalogue import HouseBot
from bots.house.flatmc import flatmc
from bots.house.uniform import uniform

Act: TypeAlias = Callable[[View, Legal, Clock], int]
Choose: TypeAlias = Callable[[engines.Game, Any, Sequence[int], Random], int]
"""From the game, a seat's view, its legal ids and a generator to one of the ids."""


def chooser(bot: HouseBot, game: str) -> Choose:
    """How a bot plays a game, without a clock."""
    if bot.name == "random":
        return lambda _game, _view, legal, rng: uniform(legal, rng)
    return partial(flatmc, playouts=bot.playouts) if bot.playouts else _own(game, bot.name)


def _own(game: str, name: str) -> Choose:
    """The function of that name in ``bots.house.<game>``'s BOTS."""
    choose: Choose = import_module(f"bots.house.{game.replace('-', '_')}").BOTS[name]
    return choose


def by_game(name: str) -> Act:
    """Plays each game by the function of this name in ``bots.house.<game>``'s BOTS."""

    def act(view: View, legal: Legal, clock: Clock) -> int:
        game = engines.get(view.game)
        return _own(view.game, name)(game, game.view_from_json(view.json), legal.ids, view.rng)

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
