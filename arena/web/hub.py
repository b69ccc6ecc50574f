"""Live pages: for each page that somebody watches one task makes its parts, and sends each viewer what changed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from arena.endless import again_and_again
from arena.errors import ArenaError
from arena.web.parts import Parts

log = logging.getLogger(__name__)

PACE_S: Final = 0.8
"""No page changes more often: eyes, not machines, are the bottleneck."""
FALLBACK_S: Final = 4.0
"""How often a page is made anew when no hint comes."""
PING_S: Final = 15.0
QUEUE: Final = 16
MAX_VIEWERS: Final = 10_000


class Full(ArenaError):
    """As many viewers as this process takes."""

    retryable = True


@dataclass(eq=False, slots=True)
class _Topic:
    viewers: set[asyncio.Queue[str | None]] = field(default_factory=set)
    dirty: asyncio.Event = field(default_factory=asyncio.Event)
    parts: Parts | None = None
    task: asyncio.Task[None] | None = None


class Maker(Protocol):
    """Makes the parts of pages."""

    async def __call__(self, topic: str, *, fresh: bool = False) -> Parts:
        """A topic's parts as they were a moment ago, or ``fresh``. ArenaError: they cannot be had now."""
        ...


class Hub:
    """Viewers by topic. For one event loop."""

    def __init__(self, make: Maker) -> None:
        self._make = make
        self._topics: dict[str, _Topic] = {}
        self._closed = False

    @property
    def viewers(self) -> int:
        """Open streams."""
        return sum(len(topic.viewers) for topic in self._topics.values())

    def hint(self) -> None:
        """Something has happened: every watched page is made again, soon."""
        for topic in self._topics.values():
            topic.dirty.set()

    def close(self) -> None:
        """Ends all streams."""
        self._closed = True
        for topic in self._topics.values():
            if topic.task is not None:
                topic.task.cancel()
            for queue in topic.viewers:
                _put(queue, None)

    async def stream(self, name: str, version: str) -> AsyncIterator[str]:
        """Server-sent events for a viewer whose page shows ``version``. Raises Full, and ArenaError of a bad topic."""
        if self.viewers >= MAX_VIEWERS or self._closed:
            raise Full("too many viewers")
        parts = await self._make(name)
        queue: asyncio.Queue[str | None] = asyncio.Queue(QUEUE)
        topic = self._topics.setdefault(name, _Topic())
        topic.viewers.add(queue)
        if topic.task is None:
            topic.parts = parts
            topic.dirty.set()  # what happened just before was told to nobody
            topic.task = asyncio.create_task(self._follow(name, topic))
        return self._events(name, topic, queue, version)

    async def _events(
        self, name: str, topic: _Topic, queue: asyncio.Queue[str | None], version: str
    ) -> AsyncIterator[str]:
        try:
            yield "retry: 2000\n\n"
            if topic.parts is not None and topic.parts.version != version:
                yield _event(topic.parts.everything())
            while True:
                try:
                    async with asyncio.timeout(PING_S):
                        message = await queue.get()
                except TimeoutError:
                    message = ": still here\n\n"
                if message is None:
                    return
                yield message
        finally:
            topic.viewers.discard(queue)
            if not topic.viewers and self._topics.get(name) is topic:
                del self._topics[name]
                if topic.task is not None:
                    topic.task.cancel()

    async def _follow(self, name: str, topic: _Topic) -> None:
        await asyncio.sleep(PACE_S)
        await again_and_again(lambda: self._make_anew(name, topic), pause_s=PACE_S, what=f"the page {name}", log=log)

    async def _make_anew(self, name: str, topic: _Topic) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FALLBACK_S):
                await topic.dirty.wait()
        topic.dirty.clear()
        try:
            parts = await self._make(name, fresh=True)
        except ArenaError as error:
            log.warning("the page %s cannot be made: %s", name, error)
            return
        message = parts.since(topic.parts) if topic.parts is not None else parts.everything()
        topic.parts = parts
        if message is not None:
            event = _event(message)
            for queue in topic.viewers:
                _put(queue, event)


def _event(message: dict[str, Any]) -> str:
    return f"data: {json.dumps(message, separators=(',', ':'))}\n\n"


def _put(queue: asyncio.Queue[str | None], message: str | None) -> None:
    """A viewer who does not keep up is cut off: the browser comes back and gets the whole page."""
    if queue.full():
        while not queue.empty():
            queue.get_nowait()
        message = None
    queue.put_nowait(message)
