"""The arena: gateway, workers' host, ladder, web and command line."""

import os

# Before anything imports grpc, which else remarks on every program that a process with a server starts.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
