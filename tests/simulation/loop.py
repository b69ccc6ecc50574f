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


class Call(asyncio.TimerHandle):
    """A callback that waits for its turn: asyncio's own handle, without what that does for debuggers."""

    __slots__ = ()

    def __init__(
        self, when: float, callback: Callable[..., object], args: tuple[Any, ...], context: Context | None
    ) -> None:
        self._when = when
        self._callback: Callable[..., object] | None = callback
        self._args = args
        self._context = copy_context() if context is None else context
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True
        self._callback, self._args = None, ()


class VirtualLoop(asyncio.BaseEventLoop):
    """Deterministic: no files, no threads, no signals. Executors run what they are given at once.

    A history has thousands of callbacks, so they are kept and run here: asyncio's own loop looks for files each time, and
    compares timers in Python.
    """

    _stopping: bool

    def __init__(self) -> None:
        super().__init__()
        self.processes: list[Process] = []
        self._now = 0.0
        self._ready: deque[Call] = deque()
        self._timers: list[tuple[float, int, Call]] = []
        self._order = count()

    def time(self) -> float:
        return self._now

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> Call:
        call = Call(self._now, callback, args, context)
        self._ready.append(call)
        return call

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> Call:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None) -> Call:
        call = Call(when, callback, args, context)
        heappush(self._timers, (when, next(self._order), call))
        return call

    def _run_once(self) -> None:
        """Until it is told to stop: what is ready runs, and when nothing is, time goes on to the next timer.

        Timers of one moment are ready together, in the order in which they were set.
        """
        ready, timers = self._ready, self._timers
        while not self._stopping:
            if not ready:
                if not timers:
                    raise Deadlock
                self._now = max(self._now, timers[0][0])
                while timers and timers[0][0] <= self._now:
                    ready.append(heappop(timers)[2])
            call = ready.popleft()
            if call._callback is not None:
                try:
                    call._context.run(call._callback, *call._args)
                except (SystemExit, KeyboardInterrupt):
                    raise
                except BaseException as error:
                    self.call_exception_handler({"message": f"a callback raised {error!r}", "exception": error})

    def create_task(  # type: ignore[override]
        self, coroutine: Any, *, name: str | None = None, context: Context | None = None
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(coroutine, loop=self, name=name, context=context)
        process = PROCESS.get() if context is None else context.get(PROCESS)
        if process is not None:
            process.tasks[task] = None
        return task

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
    """What would be a process of its own, made while a loop runs: its tasks die with it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive = True
        self.context: Context = copy_context()
        self.context.run(PROCESS.set, self)
        self.tasks: WeakKeyDictionary[asyncio.Task[Any], None] = WeakKeyDictionary()
        self.at_death: list[Callable[[], None]] = []
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        loop.processes.append(self)

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
