"""Sessions at gateways: one relay stream to each gateway that holds a bot of this worker's sets.

Whatever takes a session out of reach that is not the bot's own doing (a gateway's death, its shutdown, a cut stream) freezes
the clocks of its games. The bot then has 60 s to turn up at some gateway; the registry in Redis says where it is.
A bot's own disconnect freezes nothing: its time runs on, and it may come back through another gateway. Only while the
registry cannot say where it came back does its time stand still.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Protocol
from weakref import WeakValueDictionary

from arena.errors import Unavailable
from arena.gateway.registry import OnlineSession
from arena.gateway.relay import Dial, RelayClient, dial_grpc
from arena.host.port import Port, SendWorkerEvent, SessionFailed
from botarena.internal.v1 import relay_pb2 as relay

log = logging.getLogger(__name__)

LOST_AFTER_S = 60.0
LOOK_EVERY_S = 0.25
LOOKS = 8
REGISTERED_S = 3.0
"""So long after the registry was away it may not know bots that are there; gateways try it each second then."""
LAST_WORDS_S = 10.0
"""What was sent so long before a link was known to be broken has arrived: silence ends a link in half that time."""

BotKey = tuple[int, str]


@dataclass(slots=True)
class _Link:
    """A relay stream, or the attempt at one."""

    client: RelayClient
    started: asyncio.Task[None]


class Directory(Protocol):
    """Which session is where."""

    async def find(self, bot_id: int, instance: str) -> OnlineSession | None:
        """Where this instance of a bot is connected now. Raises Unavailable."""
        ...


class Gateways:
    """``async with Gateways(registry, worker, epoch) as gateways``. ``epoch()`` gives the worker's present one."""

    def __init__(self, registry: Directory, worker: str, epoch: Callable[[], int], *, dial: Dial = dial_grpc) -> None:
        self._registry = registry
        self._worker = worker
        self._epoch = epoch
        self._dial = dial
        self._links: dict[str, _Link] = {}
        self._ports: dict[BotKey, Port] = {}
        self._where: dict[BotKey, str] = {}
        self._keys: dict[str, BotKey] = {}
        self._searches: dict[BotKey, asyncio.Task[None]] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._users: Counter[BotKey] = Counter()
        self._versions: dict[BotKey, int | None] = {}
        self._last_words: dict[str, deque[tuple[float, relay.WorkerEvent]]] = {}
        self._down_at: dict[str, float] = {}
        self._away: set[BotKey] = set()
        self._doubted: set[BotKey] = set()
        """Away, and the registry could not say where: their clocks stand still until it can."""
        self._sure_at = 0.0
        self._locks: WeakValueDictionary[BotKey, asyncio.Lock] = WeakValueDictionary()

    async def __aenter__(self) -> Gateways:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        tasks = (*self._searches.values(), *self._background)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(link.client.close() for link in self._links.values()))

    async def acquire(self, bot_id: int, instance: str, version_id: int | None = None) -> Port:
        """The session of a bot's process, kept in reach until :meth:`release`.

        Raises SessionFailed if it is not there within a few seconds, or not as that version (None: any): a bot that has come
        back as another one plays sets of its own, and not those of the old one. Raises Unavailable if nobody can tell whether
        it is there, or it is out of reach: that is the arena's failure and none of the bot's.
        """
        key = (bot_id, instance)
        async with self._locks.setdefault(key, asyncio.Lock()):
            port = self._ports.get(key)
            if port is not None and self._users[key] and self._versions.get(key) == version_id:
                self._users[key] += 1
                return port
            if self._users[key]:
                raise SessionFailed(f"bot {bot_id}, instance {instance!r}, plays as another version")
            self._versions[key] = version_id
            trouble: Unavailable | None = None
            for _ in range(LOOKS):
                try:
                    if await self._reach(key):
                        self._users[key] += 1
                        return self._ports[key]
                    trouble = None
                except Unavailable as error:
                    trouble = error
                await asyncio.sleep(LOOK_EVERY_S)
        if trouble is not None:
            raise trouble
        raise SessionFailed(f"bot {bot_id}, instance {instance!r}, is not connected")

    def release(self, bot_id: int, instance: str) -> None:
        """A set that acquired the session is over."""
        self._users[bot_id, instance] -= 1

    async def _found(self, key: BotKey) -> bool:
        """As :meth:`_reach`, for whoever will look again whatever the reason."""
        try:
            return await self._reach(key)
        except Unavailable as error:
            log.warning("looking for bot %s: %s", key, error)
            return False

    async def _reach(self, key: BotKey) -> bool:
        """Whether the registry names a session for the bot; its gateway answers, and the port is there. Raises Unavailable."""
        location = await self._find(key)
        if location is None or self._versions.get(key) not in (None, location.version_id):
            if self._sure:
                self._run_on(key)
            return False
        if key in self._away and self._is_old(key, location):
            return False  # its own gateway says that it is not there, and will say when it is
        await self._client(location.relay)
        send = self._sender(location.relay)
        port = self._ports.get(key)
        if port is None:
            port = self._ports[key] = Port(location.session, send)
        if port.session != location.session:
            self._forget(key, port)
        self._where[key] = location.relay
        self._away.discard(key)
        self._doubted.discard(key)
        self._keys.pop(port.session, None)
        self._keys[location.session] = key
        port.thaw(location.session, send)
        return True

    def _run_on(self, key: BotKey) -> None:
        """A bot in doubt is nowhere after all: it left by its own doing, and its time runs on where it did."""
        where, port = self._where.get(key), self._ports.get(key)
        if key in self._doubted and port is not None and where in self._links:
            self._doubted.discard(key)
            port.thaw(port.session, self._sender(where))

    async def _find(self, key: BotKey) -> OnlineSession | None:
        """What the registry says. Raises Unavailable."""
        try:
            return await self._registry.find(*key)
        except Unavailable:
            self._sure_at = time.monotonic() + REGISTERED_S
            raise

    @property
    def _sure(self) -> bool:
        """Whether a bot that the registry does not know is nowhere."""
        return time.monotonic() >= self._sure_at

    def _is_old(self, key: BotKey, location: OnlineSession) -> bool:
        """Whether that is the session that is known already."""
        port = self._ports.get(key)
        return port is not None and (location.session, location.relay) == (port.session, self._where.get(key))

    def _forget(self, key: BotKey, port: Port) -> None:
        """Games go on elsewhere: a bot that comes back to the session that it left must not find them there."""
        if (where := self._where.get(key)) is not None:
            send = self._sender(where)
            for game_id in port.running:
                send(relay.WorkerEvent(session=port.session, forget_game=game_id))

    async def _client(self, address: str) -> RelayClient:
        """A live stream to the gateway at ``address``, dialled once by whoever comes first. Raises Unavailable."""
        link = self._links.get(address)
        if link is None:
            client = RelayClient(
                address,
                worker=self._worker,
                epoch=self._epoch(),
                on_event=self._on_event,
                on_down=lambda why: self._on_down(address, why),
                dial=self._dial,
            )
            link = self._links[address] = _Link(client, asyncio.create_task(self._start(address, client)))
        try:
            await asyncio.shield(link.started)
        except Unavailable:
            self._links.pop(address, None)
            raise
        return link.client

    async def _start(self, address: str, client: RelayClient) -> None:
        """Dials, and first repeats the ends that the link before may have lost: nobody else would ever tell them."""
        await client.start()
        since = self._down_at.pop(address, time.monotonic()) - LAST_WORDS_S
        for at, event in self._last_words.pop(address, ()):
            if at > since:
                client.send(event)

    def _sender(self, address: str) -> SendWorkerEvent:
        def send(event: relay.WorkerEvent) -> None:
            if event.WhichOneof("event") in ("end", "release_offer", "forget_game"):
                self._last_words.setdefault(address, deque(maxlen=256)).append((time.monotonic(), event))
            if (link := self._links.get(address)) is not None:
                link.client.send(event)

        return send

    def _on_event(self, event: relay.GatewayEvent) -> None:
        key = self._keys.get(event.session)
        port = self._ports.get(key) if key is not None else None
        if key is None or port is None or port.session != event.session:
            return
        match event.WhichOneof("event"):
            case "session_unknown":
                port.account(())
                port.freeze(None)
                self._search(key)
            case "session_released":
                port.account(event.session_released.open)
                port.freeze(None)
                self._search(key)
            case "session_lost":
                self._away.add(key)
                port.account(event.session_lost.open)
                self._search(key)
            case "session_live":
                self._is_back(key, port)
            case "game_unknown":
                if not port.frozen:
                    port.tell_again()
            case "expired" if event.expired.disconnected:
                self._while_away(key, port, event)
            case _:
                port.handle(event)

    def _is_back(self, key: BotKey, port: Port) -> None:
        """A bot has opened a stream where it was."""
        self._away.discard(key)
        self._doubted.discard(key)
        self._stop_looking(key)
        if port.frozen:
            port.thaw(port.session, self._sender(self._where[key]))

    def _while_away(self, key: BotKey, port: Port, event: relay.GatewayEvent) -> None:
        """A gateway reports that a bot's time ran out in its absence. It does not know whether the bot is elsewhere."""

        async def report() -> None:
            session = port.session
            if port.frozen or await self._elsewhere(key, port, session) or port.frozen:
                self._search(key)
            elif port.session == session:
                port.handle(event)

        self._in_background(report())

    async def _repeat_last_words(self, address: str) -> None:
        """Dials a gateway once more, though perhaps no set needs it."""
        for _ in range(LOOKS):
            with contextlib.suppress(Unavailable):
                await self._client(address)
                return
            await asyncio.sleep(LOOK_EVERY_S)

    def _in_background(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _on_down(self, address: str, why: str) -> None:
        """A gateway is gone: its clocks stood still from when it was last heard.

        Nobody is charged for a question that may have been on its way for all that time, only for an absence of its own.
        """
        link = self._links.pop(address, None)
        if link is None:
            return
        log.warning("the gateway at %s is gone: %s", address, why)
        now = self._down_at[address] = time.monotonic()
        words = self._last_words.get(address)
        if words and words[-1][0] > now - LAST_WORDS_S:
            self._in_background(self._repeat_last_words(address))
        since = now - link.client.silent_us / 1e6
        for key, where in self._where.items():
            if where == address and (port := self._ports.get(key)) is not None:
                port.freeze(since if key in self._away else None)
                # It may come back there unheard; whoever asks there again is told if it has not.
                self._away.discard(key)
                self._doubted.discard(key)
                self._search(key)

    def _search(self, key: BotKey) -> None:
        """Looks for a bot. Its clocks are frozen by now, unless the bot itself went away."""
        port = self._ports.get(key)
        if port is None:
            return
        if not self._users[key]:
            self._ports.pop(key)
        elif key not in self._searches:
            search = self._searches[key] = asyncio.create_task(self._look(key, port))
            search.add_done_callback(partial(self._looked, key))

    def _looked(self, key: BotKey, search: asyncio.Task[None]) -> None:
        if self._searches.get(key) is search:
            del self._searches[key]

    def _stop_looking(self, key: BotKey) -> None:
        if (search := self._searches.pop(key, None)) is not None:
            search.cancel()

    async def _look(self, key: BotKey, port: Port) -> None:
        old, deadline = port.session, time.monotonic() + LOST_AFTER_S
        while self._users[key] and time.monotonic() < deadline:
            await asyncio.sleep(LOOK_EVERY_S)
            if (port.frozen or await self._elsewhere(key, port, old)) and await self._found(key):
                return
        if port.frozen:
            self._ports.pop(key, None)
            port.fail(f"bot {key[0]} did not come back within {LOST_AFTER_S:g} s of the arena's own failure")

    async def _elsewhere(self, key: BotKey, port: Port, session: str) -> bool:
        """Whether a bot whose clocks run has a session at another place than the one it left.

        If that cannot be told, its clocks stand still: it may be there and find nobody who asks it. A registry that names the
        place that it left, of which that gateway took it out at once, is behind.
        """
        asked = time.monotonic()
        try:
            location = await self._find(key)
            known = location is not None or self._sure
        except Unavailable:
            location, known = None, False
        behind = location is not None and (location.session, location.relay) == (session, self._where[key])
        if behind or not known:
            self._forget(key, port)
            port.freeze(asked)
            self._doubted.add(key)
            return False
        if location is None or self._versions.get(key) not in (None, location.version_id):
            return False  # nowhere, or as another version, which plays none of its games
        port.freeze(asked)  # It is back; what passes until it is asked there is the arena's.
        return True
