"""Bridges that need the engines: an OpenSpiel bot or a PettingZoo policy plays on an arena. ``samples`` has one for each,
and those for the bridges of ``botarena.bridges``."""
