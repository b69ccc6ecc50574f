"""A bot that thinks for as many seconds a move as ARENA_TEST_THINKS says: a language model, as far as an arena can see."""

from __future__ import annotations

import os
import time

import botarena

THINKS_S = float(os.environ["ARENA_TEST_THINKS"])


@botarena.bot("balloon-challenge")
def act(_view: botarena.View, legal: botarena.Legal, _clock: botarena.Clock) -> botarena.Action:
    time.sleep(THINKS_S)
    return legal[0]


if __name__ == "__main__":
    botarena.run(act)
