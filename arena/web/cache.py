"""A short memory for hot pages: whatever many ask for at once is made once, and nobody waits while it is made again."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

T = TypeVar("T")

ENTRIES: Final = 512


@dataclass(slots=True)
class _Kept:
    """A value that is there or comes. ``until`` on the monotonic clock; ``next`` is on its way to take its place."""

    value: asyncio.Future[Any]
    until: float
    next: asyncio.Future[Any] | None = None


class Cache:
    """Values by key, each for its time. Failures are not kept. For one event loop."""

    def __init__(self, entries: int = ENTRIES) -> None:
        self._entries = entries
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()

    async def get(self, key: Hashable, seconds: float, make: Callable[[], Awaitable[T]], *, fresh: bool = False) -> T:
        """The value of ``key``, made by ``make`` unless there is one.

        A value older than ``seconds`` is made again; until it has twice that age whoever asks gets the old one
        meanwhile. ``fresh``: it is made in any case.
        """
        kept, now = self._kept.get(key), time.monotonic()
        if kept is None or fresh or now >= kept.until + (seconds if kept.value.done() else 0):
            kept = self._start(key, seconds, make)
        elif now >= kept.until and kept.next is None:
            kept.next = asyncio.ensure_future(make())
            kept.next.add_done_callback(partial(self._replace, key, seconds, kept))
        self._kept.move_to_end(key)
        value: T = await asyncio.shield(kept.value)
        return value

    def _start(self, key: Hashable, seconds: float, make: Callable[[], Awaitable[Any]]) -> _Kept:
        # A task of its own: the first who asked may go away while others wait.
        kept = _Kept(asyncio.ensure_future(make()), time.monotonic() + seconds)
        kept.value.add_done_callback(partial(self._drop_failed, key, kept))
        self._kept[key] = kept
        while len(self._kept) > self._entries:
            self._kept.popitem(last=False)
        return kept

    def _replace(self, key: Hashable, seconds: float, old: _Kept, made: asyncio.Future[Any]) -> None:
        old.next = None
        if self._kept.get(key) is old and not _failed(made):
            self._kept[key] = _Kept(made, time.monotonic() + seconds)

    def _drop_failed(self, key: Hashable, kept: _Kept, made: asyncio.Future[Any]) -> None:
        if _failed(made) and self._kept.get(key) is kept:
            del self._kept[key]


def _failed(made: asyncio.Future[Any]) -> bool:
    return made.cancelled() or made.exception() is not None
