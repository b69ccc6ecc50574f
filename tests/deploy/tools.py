"""Programs that these tests need and that not everybody has."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2] / "deploy"


def program(name: str, package: str) -> str:
    """Where a program is. Without it a test is skipped, and fails where CI must have installed it."""
    found = shutil.which(name)
    if found is None:
        message = f"needs {name}, from Debian's package {package}"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return found
