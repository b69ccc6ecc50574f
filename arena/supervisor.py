"""Runs the processes of an arena on one machine: starts them, starts them again when they die, and leaves no orphan."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from arena.errors import UserError
from arena.host.processes import dies_with_parent
from arena.settings import split_address

log = logging.getLogger(__name__)

BACKOFF_S = 0.5
BACKOFF_MAX_S = 10.0
STABLE_S = 10.0
"""A process that ran so long is started again without delay."""


MISCONFIGURED: Final = 2
"""The status of a command that was told something that cannot be."""


@dataclass(frozen=True, slots=True)
class Service:
    """A process to keep running. ``grace_s``: how long it may take to end when it is asked to."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    grace_s: float = 10.0


class Supervisor:
    """Keeps services running. Ends them in reverse order of their start."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._services: list[tuple[Service, asyncio.Task[None]]] = []
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._ending: set[str] = set()
        self.restarts = 0
        self.refusals: asyncio.Queue[str] = asyncio.Queue()
        """Names of services that ended as what is set wrongly ends (status 2): starting them again does not help."""

    def start(self, service: Service) -> None:
        """Starts a service and keeps it running until :meth:`stop`."""
        self._logs.mkdir(parents=True, exist_ok=True)
        self._services.append((service, asyncio.create_task(self._keep(service))))

    def pid(self, name: str) -> int | None:
        """The process id of a service that runs now."""
        process = self._processes.get(name)
        return process.pid if process and process.returncode is None else None

    def log_of(self, name: str) -> Path:
        """Where a service's output goes."""
        return self._logs / f"{name}.log"

    async def stop(self) -> None:
        """Asks each service to end, the newest first, and kills what does not."""
        for service, task in reversed(self._services):
            self._ending.add(service.name)
            await self._end(service)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        self._services.clear()

    def kill(self) -> None:
        """Ends everything at once."""
        for process in self._processes.values():
            _signal(process, signal.SIGKILL)

    async def _keep(self, service: Service) -> None:
        delay_s = BACKOFF_S
        while service.name not in self._ending:
            began = time.monotonic()
            with self.log_of(service.name).open("ab") as output:
                process = await asyncio.create_subprocess_exec(
                    *dies_with_parent(service.command),
                    env={**os.environ, **service.environment},
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            self._processes[service.name] = process
            status = await process.wait()
            if service.name in self._ending:
                return
            self.restarts += 1
            if status == MISCONFIGURED:
                self.refusals.put_nowait(service.name)
            delay_s = BACKOFF_S if time.monotonic() - began > STABLE_S else min(2 * delay_s, BACKOFF_MAX_S)
            log.warning("%s ended with status %s; its log is %s", service.name, status, self.log_of(service.name))
            await asyncio.sleep(delay_s)

    async def _end(self, service: Service) -> None:
        process = self._processes.get(service.name)
        if process is None or process.returncode is not None:
            return
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(service.grace_s):
                await process.wait()
                return
        log.warning("%s did not end within %s s", service.name, service.grace_s)
        _signal(process, signal.SIGKILL)
        await process.wait()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)


@contextlib.contextmanager
def only_one(data_dir: Path) -> Iterator[None]:
    """Holds the data folder for this process. Raises UserError if another arena runs on it."""
    data_dir.mkdir(parents=True, exist_ok=True)
    with (data_dir / "arena.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(
                f"an arena already runs on {data_dir}; end it first, or choose another --data-dir"
            ) from None
        yield


def python(*words: str) -> tuple[str, ...]:
    """A command of this Python."""
    return (sys.executable, *words)


async def wait_for(address: str, timeout_s: float) -> bool:
    """Whether something listens at ``host:port`` or ``unix:path`` within the time."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        try:
            if address.startswith("unix:"):
                _, writer = await asyncio.open_unix_connection(address.removeprefix("unix:"))
            else:
                _, writer = await asyncio.open_connection(*split_address(address))
        except OSError:
            await asyncio.sleep(0.05)
            continue
        writer.close()
        return True
    return False
