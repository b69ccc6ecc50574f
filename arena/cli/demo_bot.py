"""The bot of ``arena demo``: what a visitor's first bot looks like."""

from __future__ import annotations

from collections.abc import Sequence

import botarena


@botarena.bot("balloon-challenge", name="demo", version="1")
def act(view: botarena.View, legal: Sequence[botarena.Action], clock: botarena.Clock) -> botarena.Choice:
    """Plays its highest card while its hand is worth more than the balloon holds, and drops out then."""
    cards = [action for action in legal if action.text.startswith("play")]
    volume = sum(int(card.text[-1]) for card in cards)
    if volume <= view.typed.size:
        return "drop"
    return max(cards, key=lambda card: card.text[-1])


if __name__ == "__main__":
    botarena.run(act)
