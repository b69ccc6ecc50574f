"""Processes that share a long computation."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess


@contextmanager
def process_pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """``jobs`` fresh processes, which end with the block: at once if that ends with an error or Ctrl-C, and with this process.

    Spawned, never forked: a child of a process that has used gRPC waits for ever for threads that it does not have, at
    whatever moment its garbage is collected.
    """
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_end_with_parent)
    processes, threads = _start(pool, jobs)
    try:
        yield pool
    except BaseException:
        # First what has not begun: the pool trips over work that is cancelled if it learns of a dead process before that.
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()
        for thread in threads:
            thread.join()
        raise
    pool.shutdown()


def _start(pool: ProcessPoolExecutor, jobs: int) -> tuple[list[BaseProcess], list[threading.Thread]]:
    """The processes of ``pool``, each of which is started by a piece of work that finds no idle one, and what looks after them.

    They inherit that Ctrl-C is not for them, from their first moment on; their owner hears of it when they are there.
    """
    others, threads = multiprocessing.active_children(), threading.enumerate()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        for _ in range(jobs):
            pool.submit(os.getpid)
        return (
            [child for child in multiprocessing.active_children() if child not in others],
            [thread for thread in threading.enumerate() if thread not in threads],
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """A pool whose owner was killed would wait for work for ever: its processes hold each other's pipes open."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="ends-with-parent", daemon=True).start()
