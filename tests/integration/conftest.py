"""A running arena for each test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.harness import Arena


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    running = Arena(tmp_path)
    running.start()
    yield running
    running.stop()
