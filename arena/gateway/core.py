"""All sessions of a process, their timers and the workers attached: the shell around the pure session."""

from __future__ import annotations

import asyncio
import heapq
import secrets
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Final, TypeAlias

from google.protobuf.message import DecodeError

from arena.gateway.auth import Refused
from arena.gateway.clock import LoopClock
from arena.gateway.follower import Follower
from arena.gateway.session import (
    Changed,
    CloseStream,
    Conduct,
    Effect,
    Failure,
    Identity,
    Reason,
    Session,
    SessionLimits,
    Timer,
    ToWorker,
    Wake,
)
from arena.gateway.tallies import Tallies
from botarena.internal.v1 import relay_pb2 as rpb
from botarena.v1 import play_pb2 as pb

Sink: TypeAlias = Callable[[rpb.GatewayEvent], None]
"""Takes what a worker is told, at once and without waiting."""

CONDUCTS_KEPT: Final = 4096
GATHER_S: Final = 0.0005
"""Between two frames to a bot, for each game that it plays besides the first."""
MOST_GATHERING: Final = 32
REPLACEMENT_COST: Final = 10
"""A stream that replaces another counts as so many messages, lest two copies of a bot evict each other for ever."""


class Connection:
    """A bot's stream as the server sees it: frames to write, and how it ends."""

    __slots__ = ("_clock", "_ended", "_next_at_s", "_wakeup", "ending", "principal_id", "session", "stream")

    def __init__(self, session: Session, stream: int, principal_id: str, clock: LoopClock) -> None:
        self.session: Final = session
        self.stream: Final = stream
        self.principal_id: Final = principal_id
        self.ending: CloseStream | None = None
        self._clock = clock
        self._wakeup: asyncio.Future[None] | None = None
        self._next_at_s = 0.0
        self._ended = asyncio.get_running_loop().create_future()

    @property
    def is_current(self) -> bool:
        """Whether it is still its session's stream."""
        return self.ending is None and self.session.stream == self.stream

    def take(self) -> bytes:
        """What to write now, as an encoded PlayResponse; empty if nothing waits."""
        return self.session.take(self._clock.now_us()) if self.is_current else b""

    async def ready(self) -> None:
        """Return when there is something to write, and it is time, or the stream is to end. For one writer.

        The more games a bot plays at once, the longer events gather: few large frames cost both sides much less than
        many small ones, and nobody with twenty games waits for any one of them. With one game there is no delay.
        """
        loop = asyncio.get_running_loop()
        if self.ending is None and not self.session.waiting:
            self._wakeup = loop.create_future()
            await self._wakeup
        if self._next_at_s and (delay_s := self._next_at_s - loop.time()) > 0 and self.ending is None:
            await asyncio.wait([self._ended], timeout=delay_s)
        others = min(self.session.games - 1, MOST_GATHERING)
        self._next_at_s = loop.time() + GATHER_S * others if others > 0 else 0.0

    async def ended(self) -> CloseStream:
        """Return how the stream is to end, once it is."""
        return await asyncio.shield(self._ended)

    def wake(self) -> None:
        """There may be something to write."""
        if self._wakeup is not None and not self._wakeup.done():
            self._wakeup.set_result(None)

    def end(self, ending: CloseStream) -> None:
        """Nothing is taken from or for this stream any more, but what ``ending`` says."""
        if self.ending is None:
            self.ending = ending
            self._ended.set_result(ending)
            self.wake()


class GatewayCore:
    """The sessions of one process.

    The server brings streams (:meth:`connect`, :meth:`receive`, :meth:`disconnect`), workers attach themselves with a
    key and a sink. ``games`` maps each game's name to the numbers of players it takes. Not thread-safe: everything
    happens on the loop that called :meth:`start`.
    """

    def __init__(
        self,
        name: str,
        *,
        games: Mapping[str, Iterable[int]],
        limits: SessionLimits = SessionLimits(),  # noqa: B008 (frozen)
        arena_key: bytes = b"",
    ) -> None:
        self.name: Final = name
        self.limits: Final = limits
        self.games: Final = {game: frozenset(players) for game, players in games.items()}
        self.clock: Final = LoopClock()
        self.tallies: Final = Tallies()
        self.on_change: Callable[[Session], None] | None = None
        """Called when a session connects, goes, or takes another number of matches: for the registry."""
        self._arena_key = arena_key
        self._sessions: dict[str, Session] = {}
        self._newest: dict[tuple[int, str], Session] = {}
        self._connections: dict[str, Connection] = {}
        self._conducts: dict[int, Conduct] = {}
        self._most_conducts = CONDUCTS_KEPT
        self._sinks: dict[str, Sink] = {}
        self._timers: list[tuple[int, int, str, Timer]] = []
        self._timer_ids = count()
        self._alarm: asyncio.TimerHandle | None = None
        self._follower = Follower(name)
        self._draining = False

    def start(self) -> None:
        """Begin to keep time on the running loop."""
        self.clock.start()

    def close(self) -> None:
        """Stop keeping time. Streams are the server's to end."""
        self.clock.stop()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self._timers.clear()

    # -- what others may know

    @property
    def sessions(self) -> list[Session]:
        """All sessions, those included whose bot is away while its games go on."""
        return list(self._sessions.values())

    def session(self, session_id: str) -> Session | None:
        """The session of this id."""
        return self._sessions.get(session_id)

    def newest(self, bot_id: int, instance: str) -> Session | None:
        """The session of a bot's instance."""
        return self._newest.get((bot_id, instance))

    @property
    def principals(self) -> set[str]:
        """Token ids of the streams that are open."""
        return {connection.principal_id for connection in self._connections.values()}

    # -- streams

    def connect(self, identity: Identity, hello: pb.Hello, *, principal_id: str = "") -> Connection:
        """A bot has said Hello. Raises Refused."""
        now_us = self.clock.now_us()
        conduct = self._conduct(identity.bot_id, now_us)
        if self._draining:
            raise Refused(Failure(Reason.SERVER_DRAINING, "This gateway shuts down.", retry_after_ms=1000))
        if (wait_ms := self.out_ms(identity.bot_id)) > 0:
            raise Refused(_out(wait_ms))
        self._check_games(hello)
        old = self._newest.get((identity.bot_id, _instance(identity, hello)))
        if old is not None and old.connected and not conduct.unasked(now_us, REPLACEMENT_COST):
            conduct.strike(now_us)
            message = "Two copies of this bot and instance replace each other: give each an instance of its own."
            raise Refused(Failure(Reason.FLOOD, message, retry_after_ms=10_000))
        session = self._session_for(identity, hello, conduct)
        effects = session.connect(hello, pb.Welcome(arena_key=self._arena_key), now_us)
        assert session.stream is not None
        connection = Connection(session, session.stream, principal_id, self.clock)
        self._apply(session, effects)  # Closes the stream that is replaced.
        self._connections[session.id] = connection
        return connection

    def out_ms(self, bot_id: int) -> int:
        """How long a bot is out; 0: it is not."""
        conduct = self._conducts.get(bot_id)
        return 0 if conduct is None else max(0, (conduct.out_until_us - self.clock.now_us() + 999) // 1000)

    def put_out(self, bot_id: int, out_ms: int) -> None:
        """A bot is out for at least so long: another gateway says so."""
        now_us = self.clock.now_us()
        conduct = self._conduct(bot_id, now_us)
        conduct.out_until_us = max(conduct.out_until_us, now_us + 1000 * out_ms)

    def strike(self, bot_id: int, failure: Failure) -> Failure:
        """A strike for what a bot did that has no session yet; what it is told: ``failure``, or that it is out."""
        now_us = self.clock.now_us()
        self.tallies.own.counts["strikes"] += 1
        return _out(self.out_ms(bot_id)) if self._conduct(bot_id, now_us).strike(now_us) else failure

    def too_large(self, data: bytes) -> Failure | None:
        """What a bot is told that sent a frame which is not to be looked at; None if it is."""
        if len(data) <= self.limits.frame_bytes:
            return None
        message = f"A frame of {len(data)} bytes; at most {self.limits.frame_bytes} are allowed."
        return Failure(Reason.FRAME_TOO_LARGE, message)

    def receive(self, connection: Connection, data: bytes) -> None:
        """A frame has come from a bot."""
        session = connection.session
        if not connection.is_current:
            return
        now_us = self.clock.now_us()
        if (failure := self.too_large(data)) is not None:
            self._do(session, session.misconduct(failure, now_us))
            return
        try:
            frame = pb.PlayRequest.FromString(data)
        except DecodeError:
            failure = Failure(Reason.MALFORMED_FRAME, "Not a PlayRequest of botarena.v1.")
            self._do(session, session.misconduct(failure, now_us))
            return
        self._do(session, session.from_bot(frame, now_us))

    def disconnect(self, connection: Connection) -> None:
        """A stream has ended; harmless if it was told to."""
        session = connection.session
        if self._connections.get(session.id) is connection:
            del self._connections[session.id]
        connection.end(CloseStream(connection.stream))
        self._do(session, session.disconnect(connection.stream, self.clock.now_us()))

    def revoke(self, principal_ids: Iterable[str]) -> None:
        """Cut the streams of these tokens."""
        revoked = set(principal_ids)
        failure = Failure(Reason.TOKEN_REVOKED, "The token was revoked.")
        for connection in [c for c in self._connections.values() if c.principal_id in revoked]:
            session = connection.session
            self._do(session, session.evict(pb.Draining.REASON_REVOKED, self.clock.now_us(), failure=failure))

    def replace(self, session_id: str) -> None:
        """A newer connection of the same bot and instance is at another gateway."""
        if session := self._sessions.get(session_id):
            self._do(session, session.evict(pb.Draining.REASON_REPLACED, self.clock.now_us()))

    def drain(self, reconnect_within_ms: int) -> None:
        """Send all bots away: they are to come back within that time, here or elsewhere."""
        self._draining = True
        for session in self.sessions:
            self._do(session, session.drain(reconnect_within_ms, self.clock.now_us()))

    # -- workers

    def attach(self, worker: str, sink: Sink) -> None:
        """A worker is there. A worker that is already attached gets the new sink."""
        self._sinks[worker] = sink

    def detach(self, worker: str) -> None:
        """The stream of a worker has ended: its games stand still until it is back or they are void."""
        if self._sinks.pop(worker, None) is not None:
            for session in self.sessions:
                self._do(session, session.worker_down(worker, self.clock.now_us()))

    def retire(self, worker: str) -> None:
        """A worker is gone for good: its games are void."""
        self._sinks.pop(worker, None)
        for session in self.sessions:
            self._do(session, session.worker_gone(worker, self.clock.now_us()))

    def handle_worker_event(self, worker: str, event: rpb.WorkerEvent) -> None:
        """Something that an attached worker says."""
        session = self._sessions.get(event.session)
        if session is not None:
            if event.WhichOneof("event") != "ask":  # of which there is nothing to tell, and which come most often
                self._follower.hear(session.identity.bot, event)
            self._do(session, session.from_worker(worker, event, self.clock.now_us()))
        elif sink := self._sinks.get(worker):
            sink(rpb.GatewayEvent(session=event.session, session_unknown=rpb.SessionUnknown()))

    # -- inside

    def _session_for(self, identity: Identity, hello: pb.Hello, conduct: Conduct) -> Session:
        instance = _instance(identity, hello)
        old = self._newest.get((identity.bot_id, instance))
        if old is not None and old.identity.version_id == identity.version_id:
            return old
        if old is not None:  # Another version: the old one's games are its own, and lost with it.
            self._do(old, old.evict(pb.Draining.REASON_REPLACED, self.clock.now_us()))
        session_id = secrets.token_urlsafe(12)
        tally = self.tallies.of(identity.bot)
        session = Session(session_id, identity, instance, limits=self.limits, conduct=conduct, tally=tally)
        self._sessions[session.id] = session
        self._newest[identity.bot_id, instance] = session
        return session

    def _check_games(self, hello: pb.Hello) -> None:
        for i, support in enumerate(hello.games):
            if support.game not in self.games:
                there = ", ".join(sorted(self.games)) or "none"
                message = f"There is no game {support.game!r} here; there are: {there}."
                raise Refused(Failure(Reason.UNKNOWN_GAME, message, field=f"hello.games[{i}].game"))
            if wrong := set(support.players) - self.games[support.game]:
                allowed = ", ".join(map(str, sorted(self.games[support.game])))
                message = f"{support.game} is not for {min(wrong)} players, but for: {allowed}."
                raise Refused(Failure(Reason.UNKNOWN_GAME, message, field=f"hello.games[{i}].players"))

    def _conduct(self, bot_id: int, now_us: int) -> Conduct:
        if len(self._conducts) >= self._most_conducts:
            here = {session.identity.bot_id for session in self._sessions.values()}
            self._conducts = {
                bot: conduct
                for bot, conduct in self._conducts.items()
                if bot in here or not conduct.forgettable(now_us)
            }
            # Twice what must be kept: with as many bots connected, each new one would have all of them looked through.
            self._most_conducts = max(CONDUCTS_KEPT, 2 * len(self._conducts))
        return self._conducts.setdefault(bot_id, Conduct(self.limits))

    def _do(self, session: Session, effects: list[Effect]) -> None:
        """Carry out what the session wants, and see what has changed about it."""
        self._apply(session, effects)
        if session.waiting and (connection := self._connections.get(session.id)):
            connection.wake()
        if session.is_over:
            self._sessions.pop(session.id, None)
            key = (session.identity.bot_id, session.instance)
            if self._newest.get(key) is session:
                del self._newest[key]

    def _apply(self, session: Session, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case ToWorker():
                    if sink := self._sinks.get(effect.worker):
                        sink(effect.event)
                case Wake():
                    heapq.heappush(self._timers, (effect.at_us, next(self._timer_ids), session.id, effect.timer))
                    if self._timers[0][0] == effect.at_us:
                        self._set_alarm()
                case Changed():
                    if self.on_change is not None:
                        self.on_change(session)
                case CloseStream():
                    connection = self._connections.get(session.id)
                    if connection is not None and connection.stream == effect.stream:
                        connection.end(effect)
                        del self._connections[session.id]

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        delay_us = self._timers[0][0] - self.clock.now_us()
        self._alarm = asyncio.get_running_loop().call_later(max(0, delay_us) / 1e6, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        now_us = self.clock.now_us()
        while self._timers and self._timers[0][0] <= now_us:
            _, _, session_id, timer = heapq.heappop(self._timers)
            if session := self._sessions.get(session_id):
                self._do(session, session.on_timer(timer, now_us))
        if self._timers and self._alarm is None:
            self._set_alarm()


def _out(wait_ms: int) -> Failure:
    return Failure(Reason.FLOOD, "The bot is out after too many strikes.", wait_ms)


def _instance(identity: Identity, hello: pb.Hello) -> str:
    return identity.instance or hello.instance or "0"
