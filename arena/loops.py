"""The event loop of the arena's processes: uvloop where there is one."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def new_event_loop() -> asyncio.AbstractEventLoop:
    """A loop for a process or thread of its own, which holds many objects for long and makes few cycles of them.

    By default the collector would walk through all running matches again and again: a third of a worker's time.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    try:
        import uvloop  # noqa: PLC0415 - absent on some platforms
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def run(main: Coroutine[Any, Any, T]) -> T:
    """As ``asyncio.run``, on that loop."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)
