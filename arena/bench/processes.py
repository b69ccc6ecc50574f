"""Processes that a bench starts, and what they cost."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arena.errors import UserError
from arena.host.processes import dies_with_parent

Say = Callable[[str], None]
"""Hears what comes next."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run, with what it has in its environment beside ours."""

    words: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


@contextlib.contextmanager
def running(commands: Sequence[Command], log: Path | None = None) -> Iterator[list[int]]:
    """Runs the programs while the block does; gives their process ids. ``log`` takes what they print."""
    with contextlib.ExitStack() as stack:
        output = subprocess.DEVNULL if log is None else stack.enter_context(log.open("ab"))
        started = [
            subprocess.Popen(
                dies_with_parent(command.words),
                env={**os.environ, **command.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
            for command in commands
        ]
        try:
            yield [process.pid for process in started]
        finally:
            for process in started:
                process.send_signal(signal.SIGTERM)
            for process in started:
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


async def measure(
    count: Callable[[], int], parts: Mapping[str, Sequence[int]], seconds: float
) -> tuple[float, dict[str, float]]:
    """Events a second, and processor time an event in us for each part, over ``seconds``."""
    before, spending, began = count(), Spending(parts), time.monotonic()
    await asyncio.sleep(seconds)
    counted, elapsed_s = max(1, count() - before), time.monotonic() - began
    return counted / elapsed_s, {part: spent_s / counted * 1e6 for part, spent_s in spending.read_s().items()}


class Spending:
    """Processor time that parts of an arena use from when it was made. ``parts``: process ids by name."""

    def __init__(self, parts: Mapping[str, Sequence[int]]) -> None:
        self._parts = parts
        self._before = self._now_s()

    def read_s(self) -> dict[str, float]:
        """Seconds by part."""
        return {part: now_s - self._before[part] for part, now_s in self._now_s().items()}

    def _now_s(self) -> dict[str, float]:
        return {part: sum(map(cpu_s, pids)) for part, pids in self._parts.items()}


def cpu_s(pid: int) -> float:
    """Processor time of a process so far; 0 if it is gone."""
    try:
        values = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")


def alive(pid: int) -> bool:
    """Whether a process runs: one that has ended, and that nobody has waited for yet, does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def memory_kib(pid: int, name: str = "VmRSS") -> int:
    """Resident memory of a process, or with ``VmHWM`` the most it has had; 0 if it is gone."""
    try:
        found = re.search(rf"^{name}:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) if found else 0


def raise_file_limit(files: int) -> None:
    """Lets this process, and those that it starts from now on, open so many files. Raises UserError."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= files:
        return
    if hard != resource.RLIM_INFINITY and hard < files:
        raise UserError(
            f"{files} open files are needed and at most {hard} allowed here: say `ulimit -Hn {files}` as root, or raise "
            "nofile in /etc/security/limits.conf, or LimitNOFILE of the service"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))


def load() -> float:
    """Processes that wanted a processor in the last minute, on average; above the number of cores, rates are too low."""
    return round(os.getloadavg()[0], 1)


def free_port() -> int:
    """A port of the loopback interface that nobody has.

    It lies below those that the system gives to outgoing connections: one of them could have it before a server that was
    told of it listens.
    """
    above = 32_768
    with contextlib.suppress(OSError):  # that is Linux's own default, and other systems begin higher
        above = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(10_000, max(above, 20_000))  # noqa: S311 - not a secret
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
