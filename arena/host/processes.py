"""Bots as processes of this machine, each behind the gateway core of this process at a unix socket.

The same program plays here and remotely: it reads ARENA_ADDRESS and ARENA_TOKEN and opens PlayService.Play.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shlex
import shutil
import signal
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena import GRPC_SETTINGS
from arena.errors import ArenaError
from arena.gateway.local import LocalGateway
from arena.gateway.session import Identity
from arena.host.port import Port
from arena.match.spec import SeatReason
from botarena.internal.v1 import relay_pb2 as relay

CONNECT_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 2.0
"""How long a program that is asked to end may take for its last words: a hung one takes all of it at the end of a match."""
HOST = "host"
"""The key under which this process's host is attached to its own gateway core."""


class BotDidNotConnect(ArenaError):
    """A bot's program ended, or took too long, before it opened its session. The message holds the end of its output."""


@dataclass(frozen=True, slots=True)
class Program:
    """How to start a bot. ``log`` takes its standard output and error."""

    name: str
    version: str
    command: tuple[str, ...]
    log: Path
    owner: str = "local"


class LocalBots:
    """Starts bots and hands out their ports. Use as ``async with LocalBots(folder) as bots``; leaving ends them all.

    ``crowded``: every processor has a game of its own. Then bots, and gRPC's threads here, push nobody off a processor when
    they are woken: each question wakes both, and they would take it from the referee in the middle of its work and give it
    back for the rest. Where processors are idle that would cost latency; where none is, it gives a tenth more moves.

    ``alone``: nothing else is played. Then this process keeps to one processor, whichever: woken now here, now there, beside the bot
    that wakes it, it would find nothing of its own in the processor's cache, and answer a third later. Bots run where they like.
    """

    def __init__(self, folder: Path, *, crowded: bool = False, alone: bool = False) -> None:
        self._crowded = crowded and hasattr(os, "SCHED_BATCH") and os.sched_getscheduler(0) == os.SCHED_OTHER
        self._allowed = _allowed()
        self._alone = alone and len(self._allowed) > 1
        self._gateway = LocalGateway(str(folder / "play.sock"))
        self._next_id = 0
        self._ports: dict[str, Port] = {}
        self._running: dict[str, asyncio.subprocess.Process] = {}
        self._watchers: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> LocalBots:
        if self._alone:
            _keep_to(random.sample(sorted(self._allowed), 1))  # of several that think so not all to the same
        with _giving_way() if self._crowded else contextlib.nullcontext():
            await self._gateway.__aenter__()
        self._gateway.core.attach(HOST, self._on_event)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.stop(*self._ports.values())
        for watcher in self._watchers:
            watcher.cancel()
        self._gateway.core.detach(HOST)
        await self._gateway.__aexit__(None, None, None)
        if self._alone:
            _keep_to(self._allowed)

    async def start(self, program: Program) -> Port:
        """Starts ``program`` and waits for its session. Raises BotDidNotConnect."""
        self._next_id += 1  # each process is a bot of its own here: two of one program must not replace each other
        token = self._gateway.issue(
            Identity(
                bot_id=self._next_id,
                version_id=self._next_id,
                bot=program.name,
                version=program.version,
                owner=program.owner,
            )
        )
        process = await _spawn(program, {"ARENA_ADDRESS": self._gateway.address, "ARENA_TOKEN": token})
        if self._crowded:
            _give_way(process.pid)
        if self._alone:
            with contextlib.suppress(OSError):  # it may have ended
                os.sched_setaffinity(process.pid, self._allowed)
        session = asyncio.ensure_future(self._gateway.wait_session(token, CONNECT_TIMEOUT_S))
        ended = asyncio.ensure_future(process.wait())
        connected = False
        try:
            await asyncio.wait((session, ended), return_when=asyncio.FIRST_COMPLETED)
            connected = session.done() and session.exception() is None
        finally:
            if not connected:  # or nobody waits for it any more
                status = process.returncode  # before we end it
                session.cancel()
                await _stop(process)
                await asyncio.gather(session, ended, return_exceptions=True)
        if not connected:
            raise BotDidNotConnect(_did_not_connect(program, status))
        port = Port(session.result(), self._send)
        self._ports[port.session] = port
        self._running[port.session] = process
        watcher = asyncio.create_task(self._watch(port, ended))
        self._watchers.add(watcher)
        watcher.add_done_callback(self._watchers.discard)
        return port

    async def stop(self, *ports: Port) -> None:
        """Ends bots' programs, all at once, so that several that hang take no longer than one: asks first, then kills."""
        running = [self._running.pop(port.session, None) for port in ports]
        await asyncio.gather(*(_stop(process) for process in running if process is not None))
        for port in ports:
            self._ports.pop(port.session, None)

    def _send(self, event: relay.WorkerEvent) -> None:
        self._gateway.core.handle_worker_event(HOST, event)

    def _on_event(self, event: relay.GatewayEvent) -> None:
        port = self._ports.get(event.session)
        if port is not None:
            port.handle(event)

    async def _watch(self, port: Port, ended: asyncio.Future[int]) -> None:
        await ended
        self._running.pop(port.session, None)
        port.bot_ended(SeatReason.BOT_CRASH)


async def _spawn(program: Program, environment: dict[str, str]) -> asyncio.subprocess.Process:
    """Starts the program in a process group of its own, which the kernel ends with this process where it can."""
    with program.log.open("ab") as log:
        return await asyncio.create_subprocess_exec(
            *dies_with_parent(program.command),
            env={**bots_environment(), **environment},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _give_way(pid: int) -> None:
    """From now on ``pid``, 0 for this thread, and what it begins push nobody off a processor, where the system lets us."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0))


@contextlib.contextmanager
def _giving_way() -> Iterator[None]:
    """Threads that begin within give way; this one does so until the end of it."""
    _give_way(0)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def processors() -> int:
    """How many this process may use."""
    return len(_allowed()) or os.cpu_count() or 1


def _allowed() -> frozenset[int]:
    """The processors that this process may use; none where the system has no such sets."""
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()


def _keep_to(chosen: Collection[int]) -> None:
    """All threads of this process, and those to come, run on these processors only."""
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):  # it may have ended
            os.sched_setaffinity(int(thread), chosen)


def bots_environment() -> dict[str, str]:
    """Our environment without what this process has set for itself."""
    return {name: value for name, value in os.environ.items() if GRPC_SETTINGS.get(name) != value}


def dies_with_parent(command: Sequence[str]) -> tuple[str, ...]:
    """``command`` so that a killed arena leaves no orphan: by setpriv where the system has it."""
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    return (setpriv, "--pdeathsig", "KILL", *command) if setpriv else tuple(command)


async def _stop(process: asyncio.subprocess.Process) -> None:
    for number, timeout_s in ((signal.SIGTERM, STOP_TIMEOUT_S), (signal.SIGKILL, None)):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await process.wait()


def _did_not_connect(program: Program, status: int | None) -> str:
    """What is said of a program that ended with ``status``, or of one that runs on, without having connected."""
    did = (
        f"did not connect within {CONNECT_TIMEOUT_S:g} s"
        if status is None
        else f"ended with status {status} unconnected"
    )
    tail = _tail(program.log)
    said = f"Its log, {program.log}, ends:\n{tail}" if tail else "It printed nothing."
    return (
        f"{program.name} {did}: a bot is a program that connects to the address in ARENA_ADDRESS with the token in "
        f"ARENA_TOKEN, as those of the SDK do. It was started by: {shlex.join(program.command)}\n{said}"
    )


def _tail(log: Path, lines: int = 15) -> str:
    try:
        return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""
