"""The arena: gateway, workers' host, ladder, web and command line."""

import os
from collections.abc import Mapping
from typing import Final

GRPC_SETTINGS: Final[Mapping[str, str]] = {
    # By default it starts its threads again in every child that a process forks, although we fork only to start programs,
    # and crashes about one child in a hundred before the program has begun.
    "GRPC_ENABLE_FORK_SUPPORT": "0",
    # Its newer way to wait for sockets has threads of its own, one more to be woken for each message: half of what a
    # message costs a server, and 50 to 80 us of a round trip's 170 here. See docs/play-speed.md.
    "GRPC_EXPERIMENTS": "-event_engine_listener,-event_engine_client",
}
"""Environment of our own processes, not of bots. gRPC looks at it once, when it is imported."""

for _name, _value in GRPC_SETTINGS.items():
    os.environ.setdefault(_name, _value)
