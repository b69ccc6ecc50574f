"""Plays an OpenSpiel bot. Needs the extra ``openspiel``.

    python -m bots.bridges.openspiel my_bot.py [--game NAME]

The file defines ``make_bot(game, player_id)``, which makes a ``pyspiel.Bot`` for the sequential form of one of our games
(see ``engines.adapters.openspiel``). The bot is stepped through states that its seat cannot tell from the real one: what is
hidden from the seat is drawn anew for each decision, so even a bot that looks at everything cheats nobody. Information
state strings are true: they hold what the seat has seen.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

import pyspiel  # type: ignore[import-not-found,import-untyped,unused-ignore]

import botarena
import engines
from botarena.bridges import arguments, from_file
from botarena.errors import BotArenaError
from engines.adapters.openspiel import short_name
from engines.adapters.openspiel_position import Position
from engines.playout import choose

MakeBot = Callable[[Any, int], Any]
"""From a ``pyspiel.Game`` and a player to a ``pyspiel.Bot``."""


def bot_of(make_bot: MakeBot) -> type[botarena.Bot]:
    """Makes bots that step what ``make_bot`` makes, one a game."""

    class SpielBot(botarena.Bot):
        """Hears events, since an information state is all that was seen."""

        def on_match_start(self, match: botarena.Match) -> None:
            parameters = {"players": match.players, **match.config}
            self._rules = engines.get(match.game)
            self._game = pyspiel.load_game(short_name(match.game), parameters)
            self._bot = make_bot(self._game, match.seat)
            self._log = ""

        def on_event(self, event: botarena.Event) -> None:
            who = "chance" if event.actor == "chance" else f"seat {event.seat}"
            self._log += f"{who}: {event.text}\n"

        def act(self, view: botarena.View, legal: botarena.Legal, clock: botarena.Clock) -> botarena.Answer:
            state = self._game.new_initial_state()
            state.position = self._position(view)
            return int(self._bot.step(state))

        def _position(self, view: botarena.View) -> Position:
            """Seats that decide at the same time and come before ours have chosen, nobody knows what."""
            seat, rng = view.seat, view.rng
            world = self._rules.determinize(self._rules.view_from_json(view.json), rng)
            pending = {actor: choose(world.legal(actor), rng) for actor in world.actors() if actor < seat}
            return Position(world, pending, None, None, dict.fromkeys((None, *range(world.players)), self._log))

    return SpielBot


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bots.bridges.openspiel", description=__doc__.partition("\n")[0])
    parser.add_argument("file", help="a Python file that defines make_bot(game, player_id)")
    parsed = arguments(parser, sys.argv[1:])
    try:
        bot = bot_of(from_file(parsed.given.file, "make_bot"))
    except BotArenaError as error:
        sys.exit(f"botarena: {error}")
    botarena.run(botarena.bot(*parsed.games)(bot), parsed.rest)


if __name__ == "__main__":
    main()
