"""A short memory for hot pages: whatever many ask for at once is made once."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Final, TypeVar

T = TypeVar("T")

ENTRIES: Final = 512


class Cache:
    """Values by key, each for its time. Failures are not kept. For one event loop."""

    def __init__(self, entries: int = ENTRIES) -> None:
        self._entries = entries
        self._kept: OrderedDict[Hashable, tuple[float, asyncio.Future[Any]]] = OrderedDict()

    async def get(self, key: Hashable, seconds: float, make: Callable[[], Awaitable[T]], *, fresh: bool = False) -> T:
        """The value of ``key``, made by ``make`` unless it is there and younger than ``seconds``.

        ``fresh``: it is made in any case, and kept.
        """
        kept = None if fresh else self._kept.get(key)
        if kept is None or kept[0] <= time.monotonic():
            # A task of its own: the first who asked may go away while others wait.
            task = asyncio.ensure_future(make())
            self._kept[key] = kept = (time.monotonic() + seconds, task)
            task.add_done_callback(lambda done: self._drop_failed(key, done))
            while len(self._kept) > self._entries:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        value: T = await asyncio.shield(kept[1])
        return value

    def _drop_failed(self, key: Hashable, done: asyncio.Future[Any]) -> None:
        if done.cancelled() or done.exception() is not None:
            kept = self._kept.get(key)
            if kept is not None and kept[1] is done:
                del self._kept[key]
