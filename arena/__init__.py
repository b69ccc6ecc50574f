"""The arena: gateway, workers' host, ladder, web and command line."""

import os

# Before anything imports grpc. By default it starts its threads again in every child that a process forks, although we
# fork only to start programs, and crashes about one child in a hundred before the program has begun.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
