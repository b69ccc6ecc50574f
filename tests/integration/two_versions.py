"""A bot in two versions: 1 does what comes first, 2 plays its strongest balloon for as long as it has one."""

from __future__ import annotations

import sys

import botarena

VERSION = sys.argv.pop(1)


@botarena.bot("balloon-challenge", version=VERSION)
def act(view: botarena.View, legal: botarena.Legal, _clock: botarena.Clock) -> botarena.Action | str:
    if VERSION == "1":
        return legal[0]
    cards = [action for action in legal if action.text.startswith("play")]
    volume = sum(int(card.text[-1]) for card in cards)
    if volume <= view.typed.size:
        return "drop"
    return max(cards, key=lambda card: card.text[-1])


if __name__ == "__main__":
    botarena.run(act)
