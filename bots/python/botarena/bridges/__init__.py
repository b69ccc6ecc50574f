"""Bridges: programs that were written for something else play on an arena.

    python -m botarena.bridges.kaggle agent.py
    python -m botarena.bridges.jsonlines -- COMMAND...

``--game NAME``, which may be repeated, says what the program plays; without it, every game of the arena. Other flags are
those of every bot. ``bots.bridges`` has those that need the engines: OpenSpiel bots and PettingZoo policies.
"""

from botarena.bridges.command_line import Arguments, arguments, from_file

__all__ = ["Arguments", "arguments", "from_file"]
