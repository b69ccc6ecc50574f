"""An event loop whose time passes only when nothing is left to do, and a world in which nothing is left to chance."""

from __future__ import annotations

import asyncio
import hashlib
import random
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from heapq import heappop, heappush
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

PROCESS: ContextVar[Process | None] = ContextVar("process", default=None)


class Deadlock(Exception):
    """Nothing is scheduled: whatever is awaited will never come."""


class VirtualLoop(asyncio.BaseEventLoop):
    """Deterministic: no files, no threads, no signals. Executors run what they are given at once.

    Timers of one moment run in the order in which they were set. A history has thousands, so they and what is ready are kept
    here: asyncio's own loop looks for files each time, and compares timers in Python.
    """

    _ready: deque[asyncio.Handle]

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._order = count()
        self.set_task_factory(_task)

    def time(self) -> float:
        return self._now

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        heappush(self._timers, (when, next(self._order), timer))
        return timer

    def _run_once(self) -> None:
        """What is ready runs; if nothing is, time goes on to the next timer first."""
        ready, timers = self._ready, self._timers
        while timers and timers[0][2].cancelled():
            heappop(timers)
        if not ready:
            if not timers:
                raise Deadlock
            self._now = max(self._now, timers[0][0])
        while timers and timers[0][0] <= self._now:
            ready.append(heappop(timers)[2])
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle.cancelled():
                handle._run()

    def _write_to_self(self) -> None:
        pass

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future


class Process:
    """What would be a process of its own: its tasks die with it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive = True
        self.context: Context = copy_context()
        self.context.run(PROCESS.set, self)
        self.tasks: dict[asyncio.Task[Any], None] = {}
        self.at_death: list[Callable[[], None]] = []

    def spawn(self, coroutine: Any, name: str | None = None) -> asyncio.Task[Any]:
        """Runs a coroutine in this process."""
        return asyncio.get_running_loop().create_task(coroutine, name=name, context=self.context)

    def kill(self) -> None:
        """SIGKILL: first nothing gets out any more, then everything stops."""
        self.alive = False
        for act in self.at_death:
            act()
        for task in list(self.tasks):
            task.cancel()


_OWNERS: WeakKeyDictionary[asyncio.Task[Any], Process] = WeakKeyDictionary()


def process_of(task: asyncio.Task[Any]) -> Process | None:
    """Whose task it is."""
    return _OWNERS.get(task)


def forget_processes() -> None:
    """A history is over. Each process holds its world and so its tasks: weak keys alone would keep them all."""
    _OWNERS.clear()


def _task(loop: asyncio.AbstractEventLoop, coroutine: Any, context: Context | None = None) -> asyncio.Task[Any]:
    task = asyncio.Task(coroutine, loop=loop, context=context)
    process = context.get(PROCESS) if context is not None else PROCESS.get()
    if process is not None:
        process.tasks[task] = None
        _OWNERS[task] = process
        task.add_done_callback(lambda done: process.tasks.pop(done, None))
    return task


@contextmanager
def determinism(loop: VirtualLoop, seed: int) -> Iterator[None]:
    """Time is the loop's, and what the system gives as random comes from the seed."""
    stream = random.Random(hashlib.sha256(f"entropy {seed}".encode()).digest())
    kept = (time.monotonic, time.monotonic_ns, random._urandom)  # type: ignore[attr-defined]
    time.monotonic = loop.time
    time.monotonic_ns = lambda: round(loop.time() * 1e9)
    random._urandom = stream.randbytes  # type: ignore[attr-defined]
    try:
        yield
    finally:
        time.monotonic, time.monotonic_ns, random._urandom = kept  # type: ignore[attr-defined]


class Trace:
    """Everything that happens, in order, as a hash; and as lines where somebody wants to read them."""

    def __init__(self, clock: Callable[[], float], *, keep: bool = False) -> None:
        self._clock = clock
        self._hash = hashlib.sha256()
        self._keep = keep
        self.lines: list[str] = []
        self.length = 0

    def add(self, *words: object) -> None:
        line = f"{self._clock():.6f} " + " ".join(map(str, words))
        self._hash.update(line.encode() + b"\n")
        self.length += 1
        if self._keep:
            self.lines.append(line)

    def digest(self) -> str:
        return self._hash.hexdigest()
