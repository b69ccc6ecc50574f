"""The processes of a simulated arena: real code between simulated edges."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING, Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena.gateway.auth import Principal
from arena.gateway.core import GatewayCore
from arena.gateway.registry import RegistryPublisher
from arena.gateway.relay import RelayServicer
from arena.gateway.server import Admission, PlayServicer
from arena.gateway.session import Identity
from arena.host.journal import write_spooled
from arena.host.player import SetPlayer
from arena.host.port import Port
from arena.host.remote import Gateways
from botarena.v1 import play_pb2 as pb
from tests.simulation.edges import SimStore
from tests.simulation.loop import Process
from tests.simulation.network import ClientWire, Stream

if TYPE_CHECKING:
    from tests.simulation.world import World

GAMES: Final = {"pop": range(2, 6), "balloon-challenge": range(2, 6)}
KEY: Final = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"a key for simulations").digest())


class Gateway:
    """A gateway process: the real core, servers and publisher."""

    def __init__(self, world: World, address: str, name: str) -> None:
        self.process = Process(name)
        self.core = GatewayCore(name, games=GAMES)
        self.relay = RelayServicer(self.core)
        self.play = PlayServicer(self.core, world, Admission(), outs=world.registry)  # type: ignore[arg-type]
        self.publisher = RegistryPublisher(self.core, world.registry, address)  # type: ignore[arg-type]
        self.bots: list[Stream] = []
        self.workers: list[Stream] = []
        self.process.at_death.append(self._die)
        self.process.context.run(self.core.start)
        self.process.context.run(self.publisher.start)

    def _die(self) -> None:
        self.core.close()
        for stream in (*self.bots, *self.workers):
            stream.cut(0.003, 0.0)

    async def drain(self) -> None:
        """As on SIGTERM."""
        await self.play.drain(5_000)
        await self.publisher.close()
        self.relay.close()
        await asyncio.sleep(0.1)


class House:
    """A worker's house bots, in a core of its own."""

    def __init__(self, world: World, process: Process) -> None:
        self._world = world
        self._process = process
        self._core = GatewayCore("local", games=GAMES)
        self._play = PlayServicer(self._core, self, Admission())  # type: ignore[arg-type]
        self._core.attach("host", self._on_event)
        self._ports: dict[str, Port] = {}
        self._numbers: dict[str, int] = {}
        self._lock = asyncio.Lock()
        process.at_death.append(self._core.close)
        self._core.start()

    async def authenticate(self, token: str) -> Principal:
        return Principal(token)

    async def identify(self, principal: Principal, hello: pb.Hello) -> Identity:
        number = self._number(principal.token_id)
        return Identity(number, number, principal.token_id, "1", "house")

    async def port(self, name: str, version: str) -> Port:
        async with self._lock:
            return await self._port(name)

    async def _port(self, name: str) -> Port:
        if name not in self._ports:
            if name not in self._numbers:  # else whoever waited for it before was cancelled
                program = self._world.program(name, "house", 64, self._dial)
                self._process.spawn(program.run())
                self._number(name)
            while (session := self._core.newest(self._number(name), "0")) is None:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            self._ports[name] = Port(session.id, lambda event: self._core.handle_worker_event("host", event))
        return self._ports[name]

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers) + 1)

    def _dial(self, name: str) -> ClientWire:
        stream = Stream(lambda: 0.0001, (("authorization", f"Bearer {name}"),))
        stream.serve(self._process, lambda context: self._play.play(None, context))
        return ClientWire(stream)

    def _on_event(self, event: Any) -> None:
        for port in self._ports.values():
            if port.session == event.session:
                port.handle(event)


class WorkerProcess:
    """A worker process: the real player and relay, a simulated store and Celery."""

    def __init__(self, world: World, name: str) -> None:
        self.process = Process(name)
        self.store = SimStore(self.process, world.database, world.disk, world.fork("store"))
        self.player = SetPlayer(name, self.store, KEY, max_sets=world.concurrency)
        self._world = world
        self._stop = asyncio.Event()

    async def run(self) -> None:
        """Until it is killed."""
        write_spooled(self._world.database, self.store.spooled)
        await self.player.register()
        house = House(self._world, self.process)
        async with Gateways(
            self._world.registry, self.process.name, lambda: self.player.lease.epoch, dial=self._world.dial_relay
        ) as gateways:
            takers = [asyncio.ensure_future(self._take()) for _ in range(self._world.concurrency)]
            await self.player.run(house, gateways, self._stop, self._pulse)
            for taker in takers:
                taker.cancel()

    async def _take(self) -> None:
        while True:
            set_id = await self._world.queue.take()
            self._world.trace.add("doorbell", self.process.name, set_id)
            await self.player.play(set_id)

    async def _pulse(self) -> None:
        pass
