"""The event loop of the arena's processes: uvloop where there is one."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def new_event_loop() -> asyncio.AbstractEventLoop:
    """A loop for a process or thread of its own."""
    try:
        import uvloop  # noqa: PLC0415 - absent on some platforms
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def run(main: Coroutine[Any, Any, T]) -> T:
    """As ``asyncio.run``, on that loop."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)
