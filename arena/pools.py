"""Processes that share a long computation."""

from __future__ import annotations

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import wait


def process_pool(jobs: int) -> ProcessPoolExecutor:
    """``jobs`` fresh processes, which end with this one, however that ends.

    Spawned, never forked: a child of a process that has used gRPC waits for ever for threads that it does not have, at
    whatever moment its garbage is collected.
    """
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """A pool whose owner was killed would wait for work for ever: its processes hold each other's pipes open."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="ends-with-parent", daemon=True).start()
