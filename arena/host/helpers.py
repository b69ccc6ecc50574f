"""Processes that play sets of a local match beside each other: one interpreter is busy with two bots that answer at once.

A helper has lanes, which ask for the next set and tell of each game. It ends when its match does, however that is: the end of
the pipe is all that it waits for.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import socket
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, Final, TypeAlias

from arena import loops
from arena.errors import ArenaError
from arena.host.processes import dies_with_parent, processors

END_S: Final = 10.0
"""Longer than a helper needs to end its bots."""

Take: TypeAlias = Callable[[], Awaitable[Any]]
"""The next thing to do; None if nothing is left."""
Tell: TypeAlias = Callable[[Any], None]
Lanes: TypeAlias = Callable[[int, Take, Tell], Coroutine[Any, Any, None]]
"""So many lanes in one process, until there is nothing left to do. Crosses to another process, as tasks and results do."""

_NEXT: Final = "next"
"""What a lane says that wants something to do; everything else that a helper says is a result or an error."""


async def together(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Runs all of them; the first that fails, or the end of the caller, ends the others. Returns when all have ended.

    Each is cancelled once at most: what it does at its end may be cancelled by a second time, as ``gather`` would do it.
    """
    tasks = [asyncio.ensure_future(one) for one in work]
    if not tasks:
        return
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    for failure in ended:
        if isinstance(failure, Exception):
            raise failure


async def play_beside(lanes: Lanes, count: int, take: Take, tell: Tell) -> None:
    """Runs ``count`` lanes in as many processes as there are processors for.

    Raises what a lane raised, and ArenaError if a process is lost.
    """
    processes = min(count, processors())
    shares = [count // processes + (number < count % processes) for number in range(processes)]
    await together(_one(lanes, share, take, tell) for share in shares)


async def _one(lanes: Lanes, count: int, take: Take, tell: Tell) -> None:
    """One process, from its start to its end."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = await asyncio.create_subprocess_exec(
            *dies_with_parent((sys.executable, "-m", __name__, str(theirs.fileno()))),
            pass_fds=(theirs.fileno(),),
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us, who end it
        )
    link = await _Link.on(ours)
    try:
        link.send((lanes, count))
        with contextlib.suppress(EOFError):
            while True:
                message = await link.receive()
                if message == _NEXT:
                    link.send(await take())
                elif isinstance(message, ArenaError):
                    raise message
                else:
                    tell(message)
    finally:
        await asyncio.shield(_end(link, process))
    if process.returncode != 0:
        raise ArenaError(f"a process that played games ended with status {process.returncode}")


async def _end(link: _Link, process: asyncio.subprocess.Process) -> None:
    """Waits until it has ended its bots."""
    await link.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(END_S):
            await process.wait()
            return
    process.kill()
    await process.wait()


class _Link:
    """Python objects to and from a process of our own: the length in four bytes, then the pickle."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def on(cls, end: socket.socket) -> _Link:
        """Over one end of a pair of sockets."""
        return cls(*await asyncio.open_unix_connection(sock=end))

    def send(self, message: object) -> None:
        """Never waits; nothing is heard of an end that is gone."""
        data = pickle.dumps(message)
        self._writer.write(len(data).to_bytes(4) + data)

    async def receive(self) -> Any:
        """The next message. Raises EOFError after the last."""
        try:
            size = int.from_bytes(await self._reader.readexactly(4))
            return pickle.loads(await self._reader.readexactly(size))  # noqa: S301 - from our own process
        except ConnectionError:
            raise EOFError from None

    async def close(self) -> None:
        """Returns once all is on its way; then the other end hears of it."""
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()


async def _help(end: socket.socket) -> None:
    """What a helper does."""
    link = await _Link.on(end)
    lanes, count = await link.receive()
    asked: deque[asyncio.Future[Any]] = deque()

    async def take() -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        asked.append(answer)
        link.send(_NEXT)
        return await answer

    async def hear() -> None:
        with contextlib.suppress(EOFError):
            while True:
                message = await link.receive()
                asked.popleft().set_result(message)

    playing = asyncio.ensure_future(lanes(count, take, link.send))
    hearing = asyncio.ensure_future(hear())
    # The end of the link is the end of the match, whether it was won, interrupted or killed.
    await asyncio.wait((playing, hearing), return_when=asyncio.FIRST_COMPLETED)
    for task in (playing, hearing):
        task.cancel()
    await asyncio.gather(playing, hearing, return_exceptions=True)
    if not playing.cancelled() and (failure := playing.exception()) is not None:
        link.send(failure if isinstance(failure, ArenaError) else ArenaError(repr(failure)))
    await link.close()


if __name__ == "__main__":
    loops.run(_help(socket.socket(fileno=int(sys.argv[1]))))
