"""Plays a policy for PettingZoo's environments. Needs the extra ``pettingzoo``.

    python -m bots.bridges.pettingzoo my_policy.py [--game NAME]

The file defines ``policy(observation, agent)``, which takes what ``last()`` gives an agent in our environments (see
``engines.adapters.pettingzoo``): a dict of ``observation`` and ``action_mask``; and the agent's name, as ``player_0``. It
returns an action's id.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any, SupportsIndex

import numpy as np

import botarena
import engines
from botarena.bridges import arguments, from_file
from botarena.errors import BotArenaError
from engines.adapters.pettingzoo_table import Observation, Tally

Policy = Callable[[Observation, str], SupportsIndex]


def bot_of(policy: Policy) -> type[botarena.Bot]:
    """Makes bots that ask ``policy``."""

    class PolicyBot(botarena.Bot):
        """Hears events for games that declare no encoding, whose observation is how often each has been seen."""

        def on_match_start(self, match: botarena.Match) -> None:
            self._match = match
            self._rules = engines.get(match.game)
            own = self._rules.encoding(match.players, match.config)
            self._encoding = own or Tally.encoding(self._rules, match.players, match.config)
            self._counts = None if own else [0] * self._encoding.size
            self._columns = self._encoding.size // (match.players + 1)

        def on_event(self, event: botarena.Event) -> None:
            if self._counts is None:
                return
            players = self._match.players
            row = players if event.seat is None else (event.seat - self._match.seat) % players
            column = self._columns - 1 if event.id is None else event.id
            self._counts[row * self._columns + column] += 1

        def act(self, view: botarena.View, legal: botarena.Legal, clock: botarena.Clock) -> botarena.Answer:
            seen: Any = self._counts or self._rules.view_from_json(view.json)
            mask = np.zeros(self._rules.num_actions, np.int8)
            mask[list(legal.ids)] = 1
            numbers = np.fromiter(self._encoding.encode(seen), np.int32, self._encoding.size)
            return policy({"observation": numbers, "action_mask": mask}, f"player_{view.seat}").__index__()

    return PolicyBot


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bots.bridges.pettingzoo", description=__doc__.partition("\n")[0])
    parser.add_argument("file", help="a Python file that defines policy(observation, agent)")
    parsed = arguments(parser, sys.argv[1:])
    try:
        bot = bot_of(from_file(parsed.given.file, "policy"))
    except BotArenaError as error:
        sys.exit(f"botarena: {error}")
    botarena.run(botarena.bot(*parsed.games)(bot), parsed.rest)


if __name__ == "__main__":
    main()
