"""The SDK for bots that play on a Bot Arena.

import random
import botarena

@botarena.bot("balloon-challenge")
def act(view, legal, clock):
    return random.choice(legal)

if __name__ == "__main__":
    botarena.run(act)
"""

import os

# gRPC's newer way to wait for sockets has a thread more to be woken for each message, which makes a move later by a quarter.
# It looks at this once, when it is imported.
os.environ.setdefault("GRPC_EXPERIMENTS", "-event_engine_client")

from botarena.errors import BotArenaError, Misconfigured, Refused, Replaced, Unreachable, VersionSkew
from botarena.model import (
    Action,
    Annotation,
    Answer,
    Choice,
    Clock,
    Event,
    Legal,
    Match,
    PlayedForYou,
    Player,
    Receipts,
    Result,
    TimeControl,
    View,
)
from botarena.program import Bot, bot
from botarena.runner import play, run
from botarena.version import __version__

__all__ = [
    "Action",
    "Annotation",
    "Answer",
    "Bot",
    "BotArenaError",
    "Choice",
    "Clock",
    "Event",
    "Legal",
    "Match",
    "Misconfigured",
    "PlayedForYou",
    "Player",
    "Receipts",
    "Refused",
    "Replaced",
    "Result",
    "TimeControl",
    "Unreachable",
    "VersionSkew",
    "View",
    "__version__",
    "bot",
    "play",
    "run",
]
