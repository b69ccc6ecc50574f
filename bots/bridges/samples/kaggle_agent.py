"""A Kaggle-style agent for Balloon Challenge: plays its highest card, until what it holds fits into the balloon.

arena match "python -m botarena.bridges.kaggle bots/bridges/samples/kaggle_agent.py" random
"""

from typing import Any


def value(action: str) -> int:
    """What a card adds to a hand: `play K7` is worth 7."""
    return int(action[-1])


def agent(observation: Any, configuration: Any) -> int | str:
    """Called with what a decision is about; the answer is a legal action's id or its text."""
    plays = [action for action in observation.actions if action.startswith("play")]
    if sum(map(value, plays)) <= observation.view.size:
        return "drop"
    return str(max(plays, key=value))
