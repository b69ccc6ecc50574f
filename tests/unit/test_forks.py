"""gRPC's own ideas about fork stay out of our processes."""

from __future__ import annotations

import os
import subprocess
import sys


def test_grpc_leaves_forked_children_alone() -> None:
    """Importing arena turns it off: it crashed about one in a hundred programs that a process with a server started,
    before the program had begun."""
    script = "import arena, os; print(os.environ['GRPC_ENABLE_FORK_SUPPORT'])"
    clean = {name: value for name, value in os.environ.items() if name != "GRPC_ENABLE_FORK_SUPPORT"}
    shown = subprocess.run([sys.executable, "-c", script], env=clean, capture_output=True, text=True, check=True)
    assert shown.stdout == "0\n"


def test_it_is_turned_off_before_grpc_is_there() -> None:
    """gRPC looks at it once, when it is imported."""
    script = "import sys, arena; print('grpc' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout == "False\n"
