"""A bot of the SDK for load: answers every decision with the first legal action."""

from __future__ import annotations

import botarena


@botarena.bot("balloon-challenge")
def act(view: botarena.View, legal: botarena.Legal, clock: botarena.Clock) -> botarena.Action:
    """The first legal action."""
    return legal[0]


if __name__ == "__main__":
    botarena.run(act)
