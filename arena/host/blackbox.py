"""What a worker leaves behind when its own code kills it: whose rules ran.

Rules may be native code, and native code may crash. Nothing in the process can act any more then; its next life reads what it
left, and blames the set. A crash raises a signal that faulthandler writes down; a kill from outside does not, and blames nobody.
"""

from __future__ import annotations

import faulthandler
import mmap
import os
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

PAGE_BYTES: Final = 64
NOBODY: Final = bytes(PAGE_BYTES)
TOLD_CHARS: Final = 4_000


class Crash(NamedTuple):
    """A set and its attempt, whose code ran when a signal ended the process; ``trace`` is where."""

    set_id: str
    attempt: int
    trace: str


class BlackBox:
    """Of the worker ``name``, in two files: a page of memory with who is at it, and what faulthandler writes."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._page_path = folder / f"{name}.page"
        self._trace_path = folder / f"{name}.trace"
        self._page: mmap.mmap | None = None
        self._trace: IO[bytes] | None = None

    def read(self) -> Crash | None:
        """How the life before this one ended, if a signal of its own ended it in a set's code."""
        try:
            trace = self._trace_path.read_text(errors="replace")
            set_id, attempt = self._page_path.read_bytes().rstrip(b"\0").decode().split()
        except (OSError, ValueError):
            return None
        return Crash(set_id, int(attempt), trace[:TOLD_CHARS]) if trace else None

    def open(self) -> None:
        """Begins anew."""
        self._page_path.write_bytes(NOBODY)
        descriptor = os.open(self._page_path, os.O_RDWR)
        self._page = mmap.mmap(descriptor, PAGE_BYTES)
        os.close(descriptor)
        self._trace = self._trace_path.open("wb")
        faulthandler.enable(self._trace, all_threads=False)

    def close(self) -> None:
        """Nobody is watched any more."""
        faulthandler.disable()
        if self._page is not None and self._trace is not None:
            self._page.close()
            self._trace.close()

    async def watch(self, set_id: str, attempt: int, work: Coroutine[Any, Any, T]) -> T:
        """Runs ``work`` as the set's, and what :func:`beside` starts in it."""
        if self._page is None:
            return await work
        whose = _Set(self._page, f"{set_id} {attempt}".encode().ljust(PAGE_BYTES, b"\0"))
        token = _PRESENT.set(whose)
        try:
            return await _Steps(whose, work)
        finally:
            _PRESENT.reset(token)


async def beside(work: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """What ``work(*args)`` gives, for a task of its own, as part of the set that starts it.

    Called only as the task starts: one that is cancelled before would leave a coroutine that nobody awaits.
    """
    whose = _PRESENT.get()
    return await (work(*args, **kwargs) if whose is None else _Steps(whose, work(*args, **kwargs)))


class _Set(NamedTuple):
    page: mmap.mmap
    name: bytes


_PRESENT: ContextVar[_Set | None] = ContextVar("present", default=None)


class _Steps(Awaitable[T]):
    """A coroutine whose set is on the page while it runs, and not while it waits."""

    def __init__(self, whose: _Set, work: Coroutine[Any, Any, T]) -> None:
        self._whose = whose
        self._work = work

    def __await__(self) -> Generator[Any, Any, T]:
        page, name = self._whose
        step, given = self._work.send, None
        while True:
            page[:] = name
            try:
                waited = step(given)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            finally:
                page[:] = NOBODY
            try:
                step, given = self._work.send, (yield waited)
            except BaseException as error:
                step, given = self._work.throw, error
