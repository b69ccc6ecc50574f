"""What gRPC is told by the environment, and who is told."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from arena import GRPC_SETTINGS
from arena.host.processes import bots_environment


@pytest.mark.parametrize(("name", "value"), GRPC_SETTINGS.items())
def test_importing_arena_settles_it(name: str, value: str) -> None:
    """Unless somebody has said otherwise. Fork support crashed about one in a hundred programs that a process with a
    server started, before the program had begun."""
    script = f"import arena, os; print(os.environ[{name!r}])"
    clean = {one: other for one, other in os.environ.items() if one != name}
    for environment, expected in ((clean, value), ({**clean, name: "none"}, "none")):
        shown = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        assert shown.stdout == f"{expected}\n"


def test_bots_do_not_inherit_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot's gRPC may be of another language and age; what its author has set is left."""
    monkeypatch.setenv("GRPC_EXPERIMENTS", GRPC_SETTINGS["GRPC_EXPERIMENTS"])
    assert "GRPC_EXPERIMENTS" not in bots_environment()
    assert "PATH" in bots_environment()
    monkeypatch.setenv("GRPC_EXPERIMENTS", "all")
    assert bots_environment()["GRPC_EXPERIMENTS"] == "all"


def test_it_is_settled_before_grpc_is_there() -> None:
    """gRPC looks at it once, when it is imported."""
    script = "import sys, arena; print('grpc' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout == "False\n"
