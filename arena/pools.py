"""Processes that share a long computation."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor


def process_pool(jobs: int) -> ProcessPoolExecutor:
    """``jobs`` fresh processes.

    Spawned, never forked: a child of a process that has used gRPC waits for ever for threads that it does not have, at
    whatever moment its garbage is collected.
    """
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"))
