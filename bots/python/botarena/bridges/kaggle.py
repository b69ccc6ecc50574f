"""Plays a function ``agent(observation, configuration)``, as written for Kaggle's competitions.

    python -m botarena.bridges.kaggle agent.py [--game NAME]

Both arguments are dicts that may also be read by attribute. The observation has ``view`` (the position), ``legal`` (ids),
``actions`` (their texts, in the same order), ``player``, ``step`` and ``remainingOverageTime`` in seconds; the
configuration ``game``, ``players``, ``actTimeout`` in seconds, and the game's options. The answer is an id or a text.
Python keeps one function for all games that a process plays; ``step`` is 0 at the first decision of each.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable
from typing import Any

import botarena
from botarena.bridges.command_line import arguments, from_file
from botarena.errors import BotArenaError


class Struct(dict[str, Any]):
    """A dict whose members are attributes as well."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def bot_of(agent: Callable[..., Any]) -> type[botarena.Bot]:
    """Makes bots that ask ``agent``, which takes an observation and, if it wants, a configuration."""
    takes_both = _takes_two(agent)

    class KaggleBot(botarena.Bot):
        """Counts the steps of a game."""

        def __init__(self) -> None:
            self._step = 0

        def act(self, view: botarena.View, legal: botarena.Legal, clock: botarena.Clock) -> botarena.Answer:
            seen = observation(view, legal, clock, self._step)
            self._step += 1
            return agent(seen, configuration(view, clock)) if takes_both else agent(seen)  # type: ignore[no-any-return]

    return KaggleBot


def observation(view: botarena.View, legal: botarena.Legal, clock: botarena.Clock, step: int) -> Struct:
    """A decision as an agent sees it."""
    return Struct(
        view=_structs(view.json),
        legal=list(legal.ids),
        actions=list(legal.texts),
        player=view.seat,
        step=step,
        remainingOverageTime=clock.bank_ms / 1000,
    )


def configuration(view: botarena.View, clock: botarena.Clock) -> Struct:
    """What holds for the whole game, and the time for one decision."""
    return Struct(view.match.config, game=view.game, players=view.match.players, actTimeout=clock.limit_ms / 1000)


def _structs(value: Any) -> Any:
    if isinstance(value, dict):
        return Struct({name: _structs(part) for name, part in value.items()})
    return [_structs(part) for part in value] if isinstance(value, list) else value


def _takes_two(agent: Callable[..., Any]) -> bool:
    kinds = [parameter.kind for parameter in inspect.signature(agent).parameters.values()]
    return len(kinds) > 1 or inspect.Parameter.VAR_POSITIONAL in kinds


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m botarena.bridges.kaggle", description=__doc__.partition("\n")[0])
    parser.add_argument("file", help="a Python file that defines agent(observation, configuration)")
    parsed = arguments(parser, sys.argv[1:])
    try:
        bot = bot_of(from_file(parsed.given.file, "agent"))
    except BotArenaError as error:
        sys.exit(f"botarena: {error}")
    botarena.run(botarena.bot(*parsed.games)(bot), parsed.rest)


if __name__ == "__main__":
    main()
