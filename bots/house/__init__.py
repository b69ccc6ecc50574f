"""House bots: reference opponents of rising strength. Ordinary SDK programs that also import the engines.

`python -m bots.house NAME` plays as one of them. This package and :mod:`bots.house.catalogue` hold only names; the
arena imports nothing else of it, but for `arena rungs`, which measures the bots without an arena around them.
"""

from bots.house.catalogue import NAMES, HouseBot, UnknownBot, find, games_of, is_house

__all__ = ["NAMES", "HouseBot", "UnknownBot", "find", "games_of", "is_house"]
