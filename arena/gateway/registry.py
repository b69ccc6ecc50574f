"""Which session is where: in Redis, as leases that the gateways renew.

The registry is a switchboard. It may lose everything: within seconds the gateways have filled it again, and no match
that runs depends on it. A session of a bot's instance that connects elsewhere takes its entry over; the gateway that
had it learns so when it renews.

What it does not know it may have lost. So it remembers since when it knows everything: the first gateway that renews after
a loss writes that down, and once each gateway has had the time to renew, a bot that is not there is nowhere.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, NamedTuple

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from arena.endless import again_and_again
from arena.errors import Unavailable
from arena.gateway.core import GatewayCore
from arena.gateway.session import Session

log = logging.getLogger(__name__)

LEASE_MS: Final = 15_000
RENEW_S: Final = 5.0
RETRY_S: Final = 1.0
"""Redis that comes back knows nothing, or what was: the sooner it is told the better."""
GATHER_S: Final = 0.02
"""Changes of this time go out together."""
BATCH: Final = 500
MAX_CONNECTIONS: Final = 16
PREFIX: Final = "arena:session:"
INDEX: Final = "arena:sessions"
CHANNEL: Final = "arena:sessions:changed"
SINCE: Final = "arena:sessions:since"
FILLED_MS: Final = int(RENEW_S * 1000) + 1000
"""So long after a loss the registry may not know bots that are there: gateways that have not noticed renew in time."""
OUT: Final = "arena:out:"

_RENEW: Final = """
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local until_ms = now_ms + ARGV[1]
if not redis.call('SET', KEYS[2], now_ms, 'PX', ARGV[1], 'NX') then
  redis.call('PEXPIRE', KEYS[2], ARGV[1])
end
local lost = {}
for i = 3, #KEYS do
  local session, newly, entry = ARGV[3 * i - 7], ARGV[3 * i - 6], ARGV[3 * i - 5]
  local held = redis.call('GET', KEYS[i])
  if held and newly == '0' and cjson.decode(held).session ~= session then
    lost[#lost + 1] = session
  else
    redis.call('SET', KEYS[i], entry, 'PX', ARGV[1])
    redis.call('ZADD', KEYS[1], until_ms, KEYS[i])
  end
end
return lost
"""
_FIND: Final = """
local entry = redis.call('GET', KEYS[1])
if entry then
  return entry
end
local time = redis.call('TIME')
local since = redis.call('GET', KEYS[2])
return (since and time[1] * 1000 + math.floor(time[2] / 1000) - since >= tonumber(ARGV[1])) and 1 or 0
"""
"""The entry; or 1 if there is none, 0 if that is not to be relied on."""
_REMOVE: Final = """
for i = 2, #KEYS do
  local held = redis.call('GET', KEYS[i])
  if held and cjson.decode(held).session == ARGV[i - 1] then
    redis.call('DEL', KEYS[i])
    redis.call('ZREM', KEYS[1], KEYS[i])
  end
end
"""
_ONLINE: Final = """
local time = redis.call('TIME')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. (time[1] * 1000 + math.floor(time[2] / 1000)))
return redis.call('ZRANGE', KEYS[1], 0, -1)
"""


@dataclass(frozen=True, slots=True)
class OnlineSession:
    """A connected bot process. ``relay`` is where a worker dials its gateway; empty ``games``: it plays every game, and
    empty ``ladders``: all but those that want to be named.

    ``resumes`` is the session that it says it had before; ``running`` how many games it had when last renewed.
    """

    bot_id: int
    instance: str
    session: str
    gateway: str
    relay: str
    version_id: int
    bot: str
    version: str
    owner: str
    credit: int
    running: int
    games: Mapping[str, tuple[int, ...]]
    resumes: str = ""
    ladders: tuple[str, ...] = ()

    def plays(self, game: str, players: int) -> bool:
        """Whether the bot takes this game with so many players."""
        if not self.games:
            return True
        numbers = self.games.get(game)
        return numbers is not None and (not numbers or players in numbers)

    @property
    def key(self) -> str:
        """Its key in Redis."""
        return _key(self.bot_id, self.instance)


class _Cancellable(AbstractConnection):
    """A connection whose user ends when it is cancelled.

    ``asyncio.wait_for``, with which redis-py sends, forgets a cancellation that comes when the sending is just done
    (until Python 3.12): an endless loop around a command then goes on for ever, and its process with it.
    """

    async def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        task = asyncio.current_task()
        before = 0 if task is None else task.cancelling()
        await super().send_packed_command(command, check_health)
        if task is not None and task.cancelling() > before:
            await self.disconnect(nowait=True)  # nobody reads the answer
            raise asyncio.CancelledError


def connect_redis(url: str) -> Redis:
    """A client for ``redis://``, ``unix://`` or Celery's ``redis+socket://``, which fails fast: callers retry."""
    # Who asks while all connections are busy waits for one, instead of being told that there are too many.
    pool = BlockingConnectionPool.from_url(
        url.replace("redis+socket://", "unix://", 1),
        decode_responses=True,
        socket_timeout=2.0,
        socket_connect_timeout=2.0,
        retry=Retry(NoBackoff(), 1),
        max_connections=MAX_CONNECTIONS,
        timeout=5,
    )
    kind = pool.connection_class
    pool.connection_class = type(f"Cancellable{kind.__name__}", (_Cancellable, kind), {})
    return Redis.from_pool(pool)


class SessionRegistry:
    """The registry as everybody reads it, and as a gateway writes it. All methods raise Unavailable without Redis."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._find = redis.register_script(_FIND)
        self._renew = redis.register_script(_RENEW)
        self._remove = redis.register_script(_REMOVE)
        self._online = redis.register_script(_ONLINE)

    async def list_online(self) -> list[OnlineSession]:
        """All sessions that are connected, in the order of their keys."""
        try:
            keys = sorted(await self._online(keys=[INDEX]))
            return [_parse(text) for text in await self._redis.mget(keys) if text] if keys else []
        except RedisError as error:
            raise _unavailable(error) from None

    async def find(self, bot_id: int, instance: str) -> OnlineSession | None:
        """Where this instance of a bot is connected now; None if nowhere. Raises Unavailable also while that cannot be known."""
        try:
            found = await self._find(keys=[_key(bot_id, instance), SINCE], args=[FILLED_MS])
        except RedisError as error:
            raise _unavailable(error) from None
        if found == 0:
            raise Unavailable("the registry has lost what it knew, and gateways are about to fill it again")
        return None if found == 1 else _parse(found)

    async def changes(self) -> AsyncIterator[OnlineSession]:
        """Sessions as they connect or change. Only hints: what is missed here is in :meth:`list_online`."""
        try:
            async with self._redis.pubsub(ignore_subscribe_messages=True) as pubsub:
                await pubsub.subscribe(CHANNEL)
                while True:
                    message = await pubsub.get_message(timeout=1.0)
                    if message is not None:
                        yield _parse(message["data"])
        except RedisError as error:
            raise _unavailable(error) from None

    async def renew(
        self, held: Iterable[OnlineSession], new: Iterable[OnlineSession], changed: Iterable[OnlineSession] = ()
    ) -> list[str]:
        """Renew the leases of sessions, ``changed`` ones too, and enter new ones. Both of these are announced.

        A new one takes the entry from whoever has it. Returns the others whose entry a connection to another gateway has. With no
        session at all it still says that a gateway fills the registry.
        """
        entries = [(session, "0", False) for session in held]
        entries += [(session, "0", True) for session in changed]
        entries += [(session, "1", True) for session in new]
        lost: list[str] = []
        try:
            for i in range(0, max(1, len(entries)), BATCH):
                batch = entries[i : i + BATCH]
                args: list[str | int] = [LEASE_MS]
                for session, newly, _ in batch:
                    args += [session.session, newly, json.dumps(asdict(session))]
                lost += await self._renew(keys=[INDEX, SINCE, *(session.key for session, _, _ in batch)], args=args)
                for session, _, announced in batch:
                    if announced:
                        await self._redis.publish(CHANNEL, json.dumps(asdict(session)))
        except RedisError as error:
            raise _unavailable(error) from None
        return lost

    async def put_out(self, bot_id: int, out_ms: int) -> None:
        """A bot is out for so long, at every gateway."""
        try:
            await self._redis.set(f"{OUT}{bot_id}", "", px=out_ms)
        except RedisError as error:
            raise _unavailable(error) from None

    async def out_ms(self, bot_id: int) -> int:
        """How long a bot is out; 0: it is not."""
        try:
            return max(0, int(await self._redis.pttl(f"{OUT}{bot_id}")))
        except RedisError as error:
            raise _unavailable(error) from None

    async def remove(self, gone: Iterable[tuple[int, str, str]]) -> None:
        """Take out (bot id, instance, session) unless another session has the entry."""
        gone = list(gone)
        if not gone:
            return
        try:
            keys = [INDEX, *(_key(bot_id, instance) for bot_id, instance, _ in gone)]
            await self._remove(keys=keys, args=[session for _, _, session in gone])
        except RedisError as error:
            raise _unavailable(error) from None


class _Entered(NamedTuple):
    """A session as the registry last had it from here: its key there, and which of its streams was open."""

    key: tuple[int, str, str]
    stream: int | None


class RegistryPublisher:
    """Keeps the registry told of the sessions of a core. Redis may be away; matches go on."""

    def __init__(self, core: GatewayCore, registry: SessionRegistry, relay_address: str) -> None:
        self._core = core
        self._registry = registry
        self._relay_address = relay_address
        self._entered: dict[str, _Entered] = {}
        self._new: set[str] = set()
        self._wakeup = asyncio.Event()
        self._closing = False
        self._task: asyncio.Task[None] | None = None
        self.up = True
        """Whether Redis answered the last time."""
        core.on_change = self._changed

    def start(self) -> None:
        """Renew in time and enter changes at once from now on."""
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Take all sessions out."""
        # Ended rather than cancelled: a connection to Redis is not to be trusted after a cancelled command.
        self._closing = True
        self._wakeup.set()
        if self._task is not None:
            await self._task
        try:
            await self._registry.remove(entry.key for entry in self._entered.values())
        except Unavailable:
            log.info("registry not reached at the end; its leases lapse")

    async def _run(self) -> None:
        await again_and_again(
            self._publish_in_time, pause_s=0, what="renewing the registry", log=log, over=lambda: self._closing
        )

    async def _publish_in_time(self) -> None:
        renew_all = True
        try:
            async with asyncio.timeout(RENEW_S if self.up else RETRY_S):
                await self._wakeup.wait()
            await asyncio.sleep(GATHER_S)
            renew_all = not self.up
        except TimeoutError:
            pass
        self._wakeup.clear()
        await self._publish(renew_all=renew_all)

    def _changed(self, session: Session) -> None:
        self._new.add(session.id)
        self._wakeup.set()

    async def _publish(self, *, renew_all: bool) -> None:
        connected = {session.id: session for session in self._core.sessions if session.connected}
        new, self._new = self._new, set()
        # Only a stream that has just opened takes the entry: what else changes here may be of a bot that is elsewhere by now.
        streams = {session.id: session.stream for session in connected.values()}
        opened = [id_ for id_ in streams if id_ not in self._entered or self._entered[id_].stream != streams[id_]]
        fresh = [self._entry(connected[id_]) for id_ in opened]
        changed = [self._entry(connected[id_]) for id_ in new if id_ in connected and id_ not in opened]
        held = (
            [self._entry(s) for s in connected.values() if s.id not in new and s.id not in opened] if renew_all else []
        )
        gone = {session_id: entry.key for session_id, entry in self._entered.items() if session_id not in connected}
        try:
            lost = await self._registry.renew(held, fresh, changed)
            await self._registry.remove(gone.values())
        except Unavailable as error:
            self._new |= new
            if self.up:
                log.warning("%s; bots play on, and are entered again once it is back", error)
            self.up = False
            return
        if not self.up:
            log.info("registry is back")
        self.up = True
        for session_id in gone:
            del self._entered[session_id]
        for entry in (*held, *changed, *fresh):
            key = (entry.bot_id, entry.instance, entry.session)
            self._entered[entry.session] = _Entered(key, streams[entry.session])
        for session_id in lost:
            self._core.replace(session_id)

    def _entry(self, session: Session) -> OnlineSession:
        identity, hello = session.identity, session.hello
        return OnlineSession(
            bot_id=identity.bot_id,
            instance=session.instance,
            session=session.id,
            gateway=self._core.name,
            relay=self._relay_address,
            version_id=identity.version_id,
            bot=identity.bot,
            version=identity.version,
            owner=identity.owner,
            credit=0 if session.draining else session.credit,
            running=session.games,
            games={support.game: tuple(support.players) for support in hello.games},
            resumes=hello.resume_session,
            ladders=tuple(hello.ladders),
        )


def _key(bot_id: int, instance: str) -> str:
    return f"{PREFIX}{bot_id}:{instance}"


def _parse(text: str | bytes) -> OnlineSession:
    """Of a newer gateway's entry what is known here."""
    known: dict[str, Any] = json.loads(text)
    data = {field.name: known[field.name] for field in fields(OnlineSession) if field.name in known}
    data["games"] = {game: tuple(players) for game, players in data["games"].items()}
    data["ladders"] = tuple(data["ladders"])
    return OnlineSession(**data)


def _unavailable(error: Exception) -> Unavailable:
    return Unavailable(f"Redis does not answer: {error}")
