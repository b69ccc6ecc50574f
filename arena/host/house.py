"""The house bots of one worker: a process each, started when first needed, shared by all sets of the worker.

Their programs are the arena's own and keep nothing from one game to another, so sharing them is sound even where the games
of a set share a deal.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from arena.host.port import Port
from arena.host.processes import LocalBots, Program

HOUSE = "house"
"""The owner of the house bots."""


def house_program(name: str, version: str, log: Path, niceness: int = 0) -> Program:
    """How a house bot is started."""
    nicely = ("nice", "-n", str(niceness)) if niceness else ()
    return Program(name, version, (*nicely, sys.executable, "-m", "bots.house", f"{name}@{version}"), log, HOUSE)


class HouseBots:
    """``async with HouseBots(logs) as house``; leaving ends the processes. ``logs``: folder for what they print.

    ``niceness``: how far they stand back behind the other processes of this machine.
    """

    def __init__(self, logs: Path, niceness: int = 0) -> None:
        self._niceness = niceness
        self._logs = logs
        self._folder = tempfile.TemporaryDirectory(prefix="arena-house-")
        self._bots = LocalBots(Path(self._folder.name))
        self._ports: dict[str, Port] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def __aenter__(self) -> HouseBots:
        self._logs.mkdir(parents=True, exist_ok=True)
        await self._bots.__aenter__()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._bots.__aexit__(*exc_info)
        self._folder.cleanup()

    async def port(self, name: str, version: str) -> Port:
        """The session of a house bot; its process is started, or started again, if need be. Raises BotDidNotConnect."""
        key = f"{name}@{version}"
        async with self._locks.setdefault(key, asyncio.Lock()):
            port = self._ports.get(key)
            if port is None or port.gone:
                port = self._ports[key] = await self.own_port(name, version)
            return port

    async def own_port(self, name: str, version: str) -> Port:
        """The session of a process that nobody else has, till :meth:`stop`. Raises BotDidNotConnect."""
        log = self._logs / f"house-{name}@{version}.log"
        return await self._bots.start(house_program(name, version, log, self._niceness))

    async def stop(self, port: Port) -> None:
        """Ends the process of :meth:`own_port`."""
        await self._bots.stop(port)
