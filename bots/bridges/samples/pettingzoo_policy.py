"""A policy for PettingZoo's environments: a linear one that nobody has trained, so it plays at random but always alike.

    arena match "python -m bots.bridges.pettingzoo bots/bridges/samples/pettingzoo_policy.py" random --game pop

In its place put a network that was trained with `engines.adapters.pettingzoo`.
"""

from functools import cache
from typing import Any

import numpy as np


@cache
def weights(actions: int, numbers: int) -> Any:
    """Of the scores: a row an action."""
    return np.random.default_rng(0).normal(size=(actions, numbers))


def policy(observation: dict[str, Any], agent: str) -> int:
    """The legal action with the greatest score."""
    numbers, mask = observation["observation"], observation["action_mask"]
    return int(np.where(mask, weights(mask.size, numbers.size) @ numbers, -np.inf).argmax())
