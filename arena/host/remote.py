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
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
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
LOOK_RARELY_S = 1.0
"""Between two looks for a bot that has been away by its own doing for long, and for a gateway that only has to hear of ends."""
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


@dataclass(slots=True)
class _Bot:
    """A process of a bot that sets of this worker play with; ``users``: how many.

    ``away``: its gateway, the relay ``where``, says that it left. ``doubted``: and the registry could not say where to, so that its
    clocks stand still until it can.
    """

    key: BotKey
    version: int | None
    port: Port | None = None
    where: str = ""
    users: int = 0
    away: bool = False
    doubted: bool = False
    search: asyncio.Task[None] | None = None


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
        self._attached_as: int | None = None
        self._links: dict[str, _Link] = {}
        self._bots: dict[BotKey, _Bot] = {}
        self._sessions: dict[str, _Bot] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._last_words: dict[str, deque[tuple[float, relay.WorkerEvent]]] = {}
        self._down_at: dict[str, float] = {}
        self._sure_at = 0.0
        self._locks: WeakValueDictionary[BotKey, asyncio.Lock] = WeakValueDictionary()

    async def __aenter__(self) -> Gateways:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        tasks = [*self._background, *(bot.search for bot in self._bots.values() if bot.search is not None)]
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
            if (bot := self._bots.get(key)) is None:
                return await self._enter(_Bot(key, version_id))
            if bot.version != version_id:
                raise SessionFailed(f"bot {bot_id}, instance {instance!r}, plays as another version")
            assert bot.port is not None
            if bot.port.failed:
                raise Unavailable(f"bot {bot_id}, instance {instance!r}, was out of reach for too long")
            bot.users += 1
            return bot.port

    def release(self, bot_id: int, instance: str) -> None:
        """A set that acquired the session is over. With the last one all that is known of the bot is forgotten."""
        bot = self._bots[bot_id, instance]
        bot.users -= 1
        if not bot.users:
            self._leave(bot)

    async def _enter(self, bot: _Bot) -> Port:
        """The port of a bot with which nobody plays yet; as :meth:`acquire`."""
        self._bots[bot.key] = bot
        trouble: Unavailable | None = None
        try:
            for _ in range(LOOKS):
                try:
                    if await self._reach(bot):
                        assert bot.port is not None
                        bot.users = 1
                        return bot.port
                    trouble = None
                except Unavailable as error:
                    trouble = error
                await asyncio.sleep(LOOK_EVERY_S)
        finally:
            if not bot.users:
                self._leave(bot)
        if trouble is not None:
            raise trouble
        raise SessionFailed(f"bot {bot.key[0]}, instance {bot.key[1]!r}, is not connected")

    def _leave(self, bot: _Bot) -> None:
        del self._bots[bot.key]
        self._stop_looking(bot)
        if bot.port is not None:
            self._sessions.pop(bot.port.session, None)

    async def _found(self, bot: _Bot) -> bool:
        """As :meth:`_reach`, for whoever will look again whatever the reason."""
        try:
            return await self._reach(bot)
        except Unavailable as error:
            log.warning("looking for bot %s: %s", bot.key, error)
            return False

    async def _reach(self, bot: _Bot) -> bool:
        """Whether the registry names a session for the bot; its gateway answers, and the port is there. Raises Unavailable."""
        location = await self._find(bot.key)
        if location is None or bot.version not in (None, location.version_id):
            if self._sure:
                self._run_on(bot)
            return False
        if bot.away and self._is_old(bot, location):
            return False  # its own gateway says that it is not there, and will say when it is
        await self._client(location.relay)
        send = self._sender(location.relay)
        if bot.port is None:
            bot.port = Port(location.session, send)
        elif bot.port.session != location.session:
            self._forget(bot)
            self._sessions.pop(bot.port.session, None)
        bot.where, bot.away, bot.doubted = location.relay, False, False
        self._sessions[location.session] = bot
        bot.port.thaw(location.session, send)
        return True

    def _run_on(self, bot: _Bot) -> None:
        """A bot in doubt is nowhere after all: it left by its own doing, and its time runs on where it did."""
        if bot.doubted and bot.port is not None and bot.where in self._links:
            bot.doubted = False
            bot.port.thaw(bot.port.session, self._sender(bot.where))

    async def _find(self, key: BotKey) -> OnlineSession | None:
        """What the registry says. Raises Unavailable, whatever is wrong with it: nobody else looks for the bot."""
        try:
            return await self._registry.find(*key)
        except Exception as error:
            self._sure_at = time.monotonic() + REGISTERED_S
            if isinstance(error, Unavailable):
                raise
            log.exception("what the registry says of bot %s", key)
            raise Unavailable(f"what the registry says of bot {key[0]} makes no sense: {error!r}") from error

    @property
    def _sure(self) -> bool:
        """Whether a bot that the registry does not know is nowhere."""
        return time.monotonic() >= self._sure_at

    def _is_old(self, bot: _Bot, location: OnlineSession) -> bool:
        """Whether that is the session that is known already."""
        return bot.port is not None and (location.session, location.relay) == (bot.port.session, bot.where)

    def _forget(self, bot: _Bot) -> None:
        """Games go on elsewhere: a bot that comes back to the session that it left must not find them there."""
        assert bot.port is not None
        send = self._sender(bot.where)
        for game_id in bot.port.running:
            send(relay.WorkerEvent(session=bot.port.session, forget_game=game_id))

    async def _client(self, address: str) -> RelayClient:
        """A live stream to the gateway at ``address``, dialled once by whoever comes first. Raises Unavailable."""
        link = self._links.get(address)
        if link is None:
            if self._attached_as is None:
                # And so for the life of this process, whatever it registers as later: a newer epoch ends the games of an older one.
                self._attached_as = self._epoch()
            client = RelayClient(
                address,
                worker=self._worker,
                epoch=self._attached_as,
                on_event=self._on_event,
                on_down=lambda why: self._on_down(address, why),
                dial=self._dial,
            )
            link = self._links[address] = _Link(client, asyncio.create_task(self._start(address, client)))
        try:
            await asyncio.shield(link.started)
        except Exception as error:
            if self._links.get(address) is link:
                del self._links[address]
            if isinstance(error, Unavailable):
                raise
            log.exception("dialling the gateway at %s", address)
            raise Unavailable(f"the gateway at {address} cannot be dialled: {error!r}") from error
        return link.client

    async def _start(self, address: str, client: RelayClient) -> None:
        """Dials, and first repeats the ends that the link before may have lost: nobody else would ever tell them."""
        await client.start()
        since = self._down_at.pop(address, time.monotonic()) - LAST_WORDS_S
        send = self._sender(address)
        for at, event in self._last_words.pop(address, ()):
            if at > since:
                send(event)

    def _sender(self, address: str) -> SendWorkerEvent:
        def send(event: relay.WorkerEvent) -> None:
            if event.WhichOneof("event") in ("end", "release_offer", "forget_game"):
                self._last_words.setdefault(address, deque(maxlen=256)).append((time.monotonic(), event))
            if (link := self._links.get(address)) is not None:
                link.client.send(event)

        return send

    def _on_event(self, event: relay.GatewayEvent) -> None:
        bot = self._sessions.get(event.session)
        if bot is None or bot.port is None:
            return
        port = bot.port
        match event.WhichOneof("event"):
            case "session_unknown":
                port.account(())
                port.freeze(None)
                self._search(bot)
            case "session_released":
                port.account(event.session_released.open)
                port.freeze(None)
                self._search(bot)
            case "session_lost":
                bot.away = True
                port.account(event.session_lost.open)
                self._search(bot)
            case "session_live":
                self._is_back(bot, port)
            case "game_unknown":
                if not port.frozen:
                    port.tell_again()
            case "expired" if event.expired.disconnected:
                self._while_away(bot, port, event)
            case _:
                port.handle(event)

    def _is_back(self, bot: _Bot, port: Port) -> None:
        """A bot has opened a stream where it was."""
        bot.away = bot.doubted = False
        self._stop_looking(bot)
        if port.frozen:
            port.thaw(port.session, self._sender(bot.where))

    def _while_away(self, bot: _Bot, port: Port, event: relay.GatewayEvent) -> None:
        """A gateway reports that a bot's time ran out in its absence. It does not know whether the bot is elsewhere."""
        port.tell(event.expired)

        async def report() -> None:
            session = port.session
            if port.frozen or await self._elsewhere(bot, session) or port.frozen:
                self._search(bot)
            elif port.session == session and port.is_told(event.expired):
                port.handle(event)

        self._in_background(report())

    async def _repeat_last_words(self, address: str) -> None:
        """Dials a gateway once more, though perhaps no set needs it. One that does not come back has no games to be ended."""
        until = time.monotonic() + LOST_AFTER_S + LAST_WORDS_S
        while time.monotonic() < until:
            with contextlib.suppress(Unavailable):
                await self._client(address)
                return
            await asyncio.sleep(LOOK_RARELY_S)
        self._last_words.pop(address, None)
        self._down_at.pop(address, None)

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
        now = time.monotonic()
        words = self._last_words.get(address)
        if words and words[-1][0] > now - LAST_WORDS_S:
            self._down_at[address] = now
            self._in_background(self._repeat_last_words(address))
        else:
            self._last_words.pop(address, None)
        since = now - link.client.silent_us / 1e6
        for bot in self._bots.values():
            if bot.where == address and bot.port is not None:
                bot.port.freeze(since if bot.away else None)
                # It may come back there unheard; whoever asks there again is told if it has not.
                bot.away = bot.doubted = False
                self._search(bot)

    def _search(self, bot: _Bot) -> None:
        """Looks for a bot with which somebody plays. Its clocks are frozen by now, unless the bot itself went away."""
        if self._bots.get(bot.key) is bot and bot.port is not None and (bot.search is None or bot.search.done()):
            bot.search = asyncio.create_task(self._look(bot, bot.port))

    def _stop_looking(self, bot: _Bot) -> None:
        if bot.search is not None:
            bot.search.cancel()
            bot.search = None

    async def _look(self, bot: _Bot, port: Port) -> None:
        """Until it is found, or has been out of reach for too long. One that left by itself may come back as long as it plays."""
        old, rarely_at = port.session, time.monotonic() + LOST_AFTER_S
        while port.frozen_s < LOST_AFTER_S:
            await asyncio.sleep(LOOK_EVERY_S if time.monotonic() < rarely_at else LOOK_RARELY_S)
            if (port.frozen or await self._elsewhere(bot, old)) and await self._found(bot):
                return
        port.fail(f"bot {bot.key[0]} did not come back within {LOST_AFTER_S:g} s of the arena's own failure")

    async def _elsewhere(self, bot: _Bot, session: str) -> bool:
        """Whether a bot whose clocks run has a session at another place than the one it left.

        If that cannot be told, its clocks stand still: it may be there and find nobody who asks it. A registry that names the
        place that it left, of which that gateway took it out at once, is behind.
        """
        assert bot.port is not None
        asked = time.monotonic()
        try:
            location = await self._find(bot.key)
            known = location is not None or self._sure
        except Unavailable:
            location, known = None, False
        if bot.port.session != session:
            return False  # found meanwhile
        behind = location is not None and self._is_old(bot, location)
        if behind or not known:
            self._forget(bot)
            bot.port.freeze(asked)
            bot.doubted = True
            return False
        if location is None or bot.version not in (None, location.version_id):
            return False  # nowhere, or as another version, which plays none of its games
        bot.port.freeze(asked)  # It is back; what passes until it is asked there is the arena's.
        return True
