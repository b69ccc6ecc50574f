"""`python -m bots.house NAME[@VERSION] [flags]`: plays as a house bot; the flags are those of every SDK program."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final, TypeAlias

import botarena
from bots.house.catalogue import NAMES, HouseBot, UnknownBot, find
from bots.house.uniform import uniform

USAGE: Final = f"usage: python -m bots.house NAME[@VERSION] [flags of the SDK, see --help]\nNAME: {', '.join(NAMES)}"

Act: TypeAlias = Callable[[botarena.View, botarena.Legal, botarena.Clock], int]


def program(bot: HouseBot) -> Act:
    """The SDK program of a house bot."""
    return botarena.bot(*(bot.games or ()), name=bot.name, version=bot.version)(_act(bot))


def _act(bot: HouseBot) -> Act:
    if bot.name == "random":
        return _random
    from bots.house import players  # noqa: PLC0415 - `random`, which most matches start, needs no rules

    return players.monte_carlo(bot.playouts) if bot.playouts else players.by_game(bot.name)


def _random(view: botarena.View, legal: botarena.Legal, clock: botarena.Clock) -> int:
    return uniform(legal.ids, view.rng)


def main(argv: list[str]) -> None:
    """Plays as the bot that the first argument names."""
    if not argv or argv[0].startswith("-"):
        sys.exit(USAGE)
    try:
        bot = find(argv[0])
    except UnknownBot as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    # One process serves many games, and nobody reads its log unless something is wrong.
    botarena.run(program(bot), ["--credit", str(bot.credit), "--log-level", "warning", *argv[1:]])


if __name__ == "__main__":
    main(sys.argv[1:])
