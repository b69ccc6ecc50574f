"""gRPC's own ideas about fork stay out of our processes."""

from __future__ import annotations

import os
import subprocess
import sys


def test_grpc_leaves_forked_children_alone() -> None:
    """Importing arena, before or after grpc, turns it off: it crashed about one program in a hundred that a process with
    a server started, before the program had begun."""
    script = "import grpc, arena, os; print(os.environ['GRPC_ENABLE_FORK_SUPPORT'])"
    clean = {name: value for name, value in os.environ.items() if name != "GRPC_ENABLE_FORK_SUPPORT"}
    shown = subprocess.run([sys.executable, "-c", script], env=clean, capture_output=True, text=True, check=True)
    assert shown.stdout == "0\n"
