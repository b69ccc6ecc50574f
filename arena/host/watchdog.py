"""A thread that watches an event loop, and ends the process when something in it never returns.

Rules are other people's code and may loop for ever; nothing within the loop can end them then. The set that holds the
loop is told apart from those beside it by the name of its task.
"""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Final

from arena.host.player import TASK_PREFIX

log = logging.getLogger(__name__)

STUCK_S: Final = 20.0
"""A loop that has not turned for so long is taken to be stuck for good."""
EXIT_STATUS: Final = 70


class LoopWatch:
    """``on_stuck(set_id)`` is called in the watching thread with the set that holds the loop, if one does."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, on_stuck: Callable[[str | None], None], *, stuck_s: float = STUCK_S
    ) -> None:
        self._loop = loop
        self._on_stuck = on_stuck
        self._stuck_s = stuck_s
        self._turned = time.monotonic()
        self._asked = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def start(self) -> None:
        """Watches from now on."""
        self._turned = time.monotonic()
        self._thread.start()

    def stop(self) -> None:
        """Watches no more."""
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(self._stuck_s / 10):
            before = self._turned
            self._loop.call_soon_threadsafe(self._turn)
            if time.monotonic() - before > self._stuck_s and not self._really_turns(before):
                self._end()

    def _turn(self) -> None:
        self._turned = time.monotonic()

    def _really_turns(self, before: float) -> bool:
        """A process that was stopped, or had no processor, gets another chance once it runs again."""
        return self._stop.wait(self._stuck_s / 10) or self._turned != before

    def _end(self) -> None:
        task = asyncio.current_task(self._loop)
        name = "" if task is None else task.get_name()
        set_id = name.removeprefix(TASK_PREFIX) if name.startswith(TASK_PREFIX) else None
        log.critical(
            "the event loop has not turned for %g s in %s; this process ends", self._stuck_s, name or "no task"
        )
        faulthandler.dump_traceback()
        try:
            self._on_stuck(set_id)
        finally:
            os._exit(EXIT_STATUS)
