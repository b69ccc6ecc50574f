"""An ordinary bot of the SDK, which plays any legal action."""

from __future__ import annotations

import random
from collections.abc import Sequence

import botarena


@botarena.bot()
def act(view: botarena.View, legal: Sequence[botarena.Action], clock: botarena.Clock) -> botarena.Choice:
    """Takes one at random."""
    return random.choice(legal)


if __name__ == "__main__":
    botarena.run(act)
