"""Runs the author's code: a thread for each game, so that a slow ``act`` delays neither pings nor other games."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import cached_property
from queue import SimpleQueue
from threading import Thread
from typing import Any

from botarena import wire
from botarena.model import Answer, Event, Match, Result
from botarena.program import Bot, Program
from botarena.v1 import play_pb2 as pb

log = logging.getLogger("botarena")


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a decision. ``error`` is what the author's code raised, if it did."""

    game_id: str
    act: pb.Act
    error: BaseException | None = None


class AsyncThread:
    """An event loop of the author's own for ``async`` acts, shared by all games: a client session that they open is
    good in every game, and one that blocks does not block the connection."""

    @cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.new_event_loop()
        Thread(target=loop.run_forever, name="botarena-async", daemon=True).start()
        return loop

    def run(self, awaitable: Awaitable[Answer]) -> Answer:
        """Waits for ``awaitable`` from a game's thread."""
        return asyncio.run_coroutine_threadsafe(_coroutine(awaitable), self._loop).result()


def _coroutine(awaitable: Awaitable[Answer]) -> Coroutine[Any, Any, Answer]:
    async def wait() -> Answer:
        return await awaitable

    return wait()


class GameWorker:
    """One game's bot on a thread of its own. Calls are queued and run in order; ``report`` gets what ``act`` decided
    and is called on that thread. After the author's code has raised, every decision is answered as failed."""

    def __init__(self, program: Program, match: Match, asyncs: AsyncThread, report: Callable[[Decided], None]) -> None:
        self.match = match
        self._program = program
        self._asyncs = asyncs
        self._report = report
        self._bot: Bot | None = None
        self._error: Exception | None = None
        self._newest = -1
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        # A daemon: the second Ctrl-C ends the process even where an act never returns.
        self._thread = Thread(target=self._run, name=f"game-{match.game_id[:8]}", daemon=True)
        self._jobs.put(self._start)
        self._thread.start()

    def observe(self, events: list[Event]) -> None:
        """Tells the bot what happened."""
        self._jobs.put(lambda: self._observe(events))

    def decide(self, request: pb.DecisionRequested) -> None:
        """Asks the bot; a request that is still waiting when a newer one comes is dropped."""
        arrived = time.monotonic()
        self._newest = request.decision_id
        self._jobs.put(lambda: self._decide(request, arrived))

    def end(self, result: Result) -> None:
        """Tells the bot the result and ends the thread once that is done."""
        self._newest = -1
        self._jobs.put(lambda: self._end(result))
        self._jobs.put(None)

    @property
    def alive(self) -> bool:
        """False once the thread has ended."""
        return self._thread.is_alive()

    def join(self, timeout_s: float) -> None:
        """Waits for the thread after :meth:`end`."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

    def _start(self) -> None:
        try:
            self._bot = self._program.make()
            self._bot.on_match_start(self.match)
        except Exception as error:
            self._failed("on_match_start", error)

    def _observe(self, events: list[Event]) -> None:
        if self._bot is None or self._error is not None:
            return
        try:
            for event in events:
                self._bot.on_event(event)
        except Exception as error:
            self._failed("on_event", error)

    def _decide(self, request: pb.DecisionRequested, arrived: float) -> None:
        if request.decision_id != self._newest:
            return
        if self._error is None:
            try:
                act = self._act(request, arrived)
            except Exception as error:
                self._failed("act", error)
            else:
                self._report(Decided(self.match.game_id, act))
                return
        assert self._error is not None
        self._report(Decided(self.match.game_id, wire.failure_act(request, self._error), self._error))

    def _act(self, request: pb.DecisionRequested, arrived: float) -> pb.Act:
        assert self._bot is not None
        view, legal = wire.view_from(self.match, request), wire.legal_from(request)
        answer = self._bot.act(view, legal, wire.clock_from(request.clock, arrived))
        if inspect.isawaitable(answer):
            answer = self._asyncs.run(answer)
        return wire.act_from(request, answer)

    def _end(self, result: Result) -> None:
        if self._bot is None:
            return
        try:
            self._bot.on_end(result)
        except Exception:
            log.exception("on_end raised; the game is over anyway")

    def _failed(self, where: str, error: Exception) -> None:
        self._error = error
        log.error(
            "%s raised in a game of %s: this game is given up, others go on", where, self.match.game, exc_info=error
        )
