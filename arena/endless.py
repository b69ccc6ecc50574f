"""Work that goes on beside everything else: one round after another, whatever a round comes to."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable


async def again_and_again(
    work: Callable[[], Awaitable[object]],
    *,
    pause_s: float,
    what: str,
    log: logging.Logger,
    over: Callable[[], bool] = lambda: False,
) -> None:
    """Does ``work``, waits ``pause_s`` and begins again, until it is ``over`` or cancelled.

    What the work expects it handles itself. An error that nobody thought of must not end such a task: nobody awaits it before
    the process ends, so it would be missed and never heard of. It is logged with its traceback, as ``what`` that failed.
    """
    while not over():
        try:
            await work()
        except Exception:
            log.exception("%s failed; it is tried again", what)
        await asyncio.sleep(pause_s)
