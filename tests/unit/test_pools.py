"""Processes that share a long computation, and how they end."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time

from arena.pools import process_pool

WITHIN_S = 10.0


def test_they_end_with_a_parent_that_is_killed() -> None:
    """They would wait for work for ever, with all their memory."""
    with subprocess.Popen([sys.executable, "-m", __name__], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        workers = [int(word) for word in owner.stdout.readline().split()]
        assert len(workers) == 2
        assert all(map(lives, workers))
        owner.send_signal(signal.SIGKILL)
    until = time.monotonic() + WITHIN_S
    while any(map(lives, workers)):
        assert time.monotonic() < until, "they live on"
        time.sleep(0.05)


def test_ctrl_c_ends_them_at_once_and_they_have_nothing_to_say() -> None:
    """A terminal interrupts the whole group: only the owner is to answer, and nobody waits for what was begun."""
    with subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as owner:
        assert owner.stdout is not None
        workers = [int(word) for word in owner.stdout.readline().split()]
        os.killpg(owner.pid, signal.SIGINT)
        _, said = owner.communicate(timeout=WITHIN_S)
    assert said == "stopped\n"
    assert not any(map(lives, workers))


def lives(pid: int) -> bool:
    """Whether there is such a process, one that nobody has waited for not counting."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def own() -> None:
    """Keeps two processes at work."""
    with process_pool(2) as pool:
        waiting = [pool.submit(time.sleep, 600) for _ in range(2)]
        print(*(child.pid for child in multiprocessing.active_children()), flush=True)
        waiting[0].result()


if __name__ == "__main__":
    try:
        own()
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
