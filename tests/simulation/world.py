"""A whole arena of simulated processes, what befalls it, and what must be true of it."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from random import Random
from typing import Any
from unittest import mock

from sqlalchemy import select

import engines
from arena import audit
from arena.errors import ArenaError, Unavailable
from arena.gateway import clock
from arena.gateway.auth import Principal
from arena.gateway.session import Identity
from arena.ladder.desk import OnlineBot
from arena.ladder.entry import open_ladders
from arena.ladder.scheduler import Scheduler
from arena.match.record import ParsedRecord
from arena.match.referee import ChanceDrawn
from arena.match.replay import Verified, verify
from arena.match.spec import TimeControl
from arena.settings import LadderSpec, SchedulerSettings
from arena.storage import accounts
from arena.storage.outbox import Event
from arena.storage.plans import seating
from arena.storage.tables import bot, match, outbox, result, set_seat
from botarena.v1 import play_pb2 as pb
from tests.simulation.bots import FAULTS, SimBot
from tests.simulation.edges import Disk, MemoryDatabase, Queue, SimRegistry
from tests.simulation.loop import Process, Trace, VirtualLoop, determinism
from tests.simulation.network import ClientWire, Stream, Weather
from tests.simulation.processes import KEY, Gateway, WorkerProcess

LOG_LEVEL = logging.CRITICAL
GATEWAYS = ("gw0", "gw1")
TROUBLE_S = 14.0
"""How long things go wrong."""
STORMS = 0.2
"""How many of the histories are storms, in which something goes wrong again and again before anything has healed."""
STORM_S = 40.0
HEALED_S = 200.0
"""How long the arena may take to be at rest once nothing goes wrong any more."""
TICK_US = 60_000_000
"""How often processes look how late they are, which they never are here."""
TIME = TimeControl(bank_ms=40_000)
LADDERS = (*(("pop", 2, {}),) * 5, ("pop", 3, {}), ("balloon-challenge", 2, {}))
KINDS = ("good", "good", "mover", "twice", "slow", "illegal", "vanishing")


@dataclass(frozen=True)
class History:
    """What came of a seed."""

    seed: int
    digest: str
    problems: tuple[str, ...]
    matches: int
    faults: int
    virtual_s: float
    trace: tuple[str, ...] = ()


@cache
def _database() -> MemoryDatabase:
    """With each ladder once; made outside of any history, so that none of them finds less to do than the first."""
    database, loop = MemoryDatabase(), VirtualLoop()
    with determinism(loop, 0):
        for key, spec in {(spec.game, spec.players): spec for spec in map(_ladder, LADDERS)}.items():
            database.prepare(key, partial(open_ladders, specs=[spec]))
    loop.close()
    return database


def _ladder(choice: tuple[str, int, dict[str, Any]]) -> LadderSpec:
    game, players, config = choice
    return LadderSpec("ladder", game, players, engines.get(game).complete_config(players, config), TIME)


Trouble = Callable[["World"], Coroutine[Any, Any, None]]


def simulate(seed: int, *, keep_trace: bool = False, trouble: Trouble | None = None) -> History:
    """One history, from nothing to rest. ``trouble`` stands in for what the seed would let go wrong."""
    _database()
    loop = VirtualLoop()
    logging.disable(LOG_LEVEL)
    try:
        asyncio.set_event_loop(loop)
        with determinism(loop, seed), mock.patch.object(clock, "TICK_US", TICK_US):
            world = World(loop, seed, keep_trace=keep_trace)
            if trouble is not None:
                world.trouble = lambda: trouble(world)
            loop.set_exception_handler(
                lambda _, about: world.lost.append(str(about.get("exception", about["message"])))
            )
            history = loop.run_until_complete(world.run())
            _end_all(loop)
            return history
    finally:
        logging.disable(logging.NOTSET)
        asyncio.set_event_loop(None)
        loop.close()


def _end_all(loop: VirtualLoop) -> None:
    """Lets every task see that it is cancelled; some have others to wait for."""
    for process in loop.processes:
        if process.alive:
            process.kill()
    for _ in range(100):
        tasks = asyncio.all_tasks(loop)
        if not tasks:
            return
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.wait(tasks, timeout=0.01))


class World:
    """Everything together. ``rng`` decides what befalls it; each part has a stream of its own."""

    def __init__(self, loop: VirtualLoop, seed: int, *, keep_trace: bool) -> None:
        self.loop = loop
        self.seed = seed
        self.trace = Trace(loop.time, keep=keep_trace)
        self.problems: list[str] = []
        self.lost: list[str] = []
        """Errors that nobody was there to see."""
        self.faults = 0
        self.rng = self.fork("world")
        self.weather = Weather(self.fork("weather"), self.rng.choice((0.0003, 0.002, 0.01)), 0.0)
        self.database = _database()
        self.disk = Disk()
        self.registry = SimRegistry(self.fork("registry"))
        self.queue = Queue(self.fork("queue"))
        self.queue.twice = self.rng.choice((0.0, 0.3))
        self.concurrency = self.rng.choice((1, 2, 4))
        self.gateways: dict[str, Gateway] = {}
        self.workers: dict[str, WorkerProcess] = {}
        self.scheduler: Process | None = None
        self.bots: list[SimBot] = []
        self.closing = False
        self.trouble: Callable[[], Coroutine[Any, Any, None]] = self.trouble_of_seed
        self._identities: dict[str, Identity] = {}
        self._dials: dict[str, Random] = {}
        self._names = itertools.count()
        self._told: set[tuple[str, str]] = set()
        self._online: tuple[OnlineBot, ...] | None = None

    def fork(self, name: str) -> Random:
        """A stream of random numbers for one part."""
        return Random(hashlib.sha256(f"{self.seed} {name}".encode()).digest())

    def complain(self, problem: str) -> None:
        """An invariant is broken."""
        self.trace.add("PROBLEM", problem)
        self.problems.append(problem)

    # -- authenticator

    async def authenticate(self, token: str) -> Principal:
        await asyncio.sleep(self.weather.delay())
        return Principal(token)

    async def identify(self, principal: Principal, hello: pb.Hello) -> Identity:
        return self._identities[principal.token_id]

    # -- the history

    async def run(self) -> History:
        self._set_up(_ladder(self.rng.choice(LADDERS)))
        for address in GATEWAYS:
            self.start_gateway(address)
        for number in range(self.rng.choice((1, 2))):
            self.start_worker(f"worker-{number}")
        self.start_scheduler()
        await self.trouble()
        self._heal()
        await self._rest()
        self._check()
        for error in self.lost:
            self.complain(f"nobody saw this error: {error}")
        matches = self._count(result)
        self.trace.add("end", matches, len(self.problems))
        return History(
            self.seed,
            self.trace.digest(),
            tuple(self.problems),
            matches,
            self.faults,
            self.loop.time(),
            tuple(self.trace.lines),
        )

    def _set_up(self, ladder: LadderSpec) -> None:
        kinds = [self.rng.choice(KINDS) for _ in range(self.rng.randint(2, 3))]
        self.trace.add("ladder", ladder.game, ladder.players, "bots", *kinds)
        self.database.reset(self.loop.time, self.fork("database"), (ladder.game, ladder.players))
        with self.database.write() as connection:
            for number, kind in enumerate(kinds):
                name = f"{kind}{number}"
                made, _ = accounts.register(connection, f"owner{number}", name)
                version = accounts.ensure_version(connection, made.id, "1")
                self._identities[name] = Identity(made.id, version.id, name, "1", f"owner{number}")
        for number, kind in enumerate(kinds):
            bot = self.program(f"{kind}{number}", kind, self.rng.choice((1, 2, 3)), self.dial_gateway)
            self.bots.append(bot)
            Process(bot.name).spawn(bot.run())

    def program(self, name: str, kind: str, credit: int, dial: Callable[[str], ClientWire]) -> SimBot:
        """A bot's program."""
        return SimBot(name, kind, credit, dial, self.fork(f"bot {name}"), self.complain, self._finished)

    def _finished(self, bot: SimBot, ended: pb.MatchEnded) -> None:
        """A bot is told of a result: it must be in SQL, and the same, and be told once."""
        self.trace.add("told", bot.name, ended.match_id, list(ended.places))
        row = self.database.raw.execute(
            "SELECT places, record_head FROM result WHERE match_id = ?", (ended.match_id,)
        ).fetchone()
        if row is None or row[1] != ended.record_head.hex():
            self.complain(f"{bot.name} is told that match {ended.match_id} has a result, which it has not")

    # -- processes

    def start_gateway(self, address: str) -> None:
        gateway = self.gateways[address] = Gateway(self, address, f"gateway-{next(self._names)}")
        self.trace.add("start", gateway.process.name, address)

    def start_worker(self, name: str) -> None:
        worker = self.workers[name] = WorkerProcess(self, name)
        self.trace.add("start", name)
        worker.process.spawn(self._supervise_worker(worker))

    async def _supervise_worker(self, worker: WorkerProcess) -> None:
        try:
            await worker.run()
        except Unavailable:
            self.loop.call_later(1.0, self._restart_worker, worker)
        except Exception as error:
            self.complain(f"{worker.process.name} ends with {error!r}")
            raise

    def _restart_worker(self, worker: WorkerProcess) -> None:
        if self.workers[worker.process.name] is worker:
            worker.process.kill()
            self.start_worker(worker.process.name)

    def start_scheduler(self) -> None:
        self.scheduler = Process(f"scheduler-{next(self._names)}")
        self.trace.add("start", self.scheduler.name)
        self.scheduler.spawn(self._schedule())

    async def _schedule(self) -> None:
        settings = SchedulerSettings(backlog=1, house_sets=self.rng.choice((0, 1)))
        scheduler = Scheduler(self.database, settings, self, self.queue.ring, self._publish)
        await asyncio.sleep(0.3)
        while True:
            if self.closing:
                scheduler._settings = replace(settings, house_sets=0)
            try:
                sessions = await self.registry.list_online()
                self._online = tuple(map(OnlineBot.of, sessions))
            except Unavailable:
                self._online = None
            try:
                done = scheduler.round()
                self.trace.add("round", done)
            except ArenaError as error:
                self.trace.add("no round", type(error).__name__)
            await asyncio.sleep(6.0 if self.closing else 3.0)

    def online(self) -> Sequence[OnlineBot]:
        """The scheduler's sessions; once the arena closes nobody is offered new sets."""
        if self._online is None:
            raise Unavailable("the registry of sessions does not answer")
        return () if self.closing else self._online

    def _publish(self, event: Event) -> None:
        if self.registry.down:
            raise Unavailable("cannot publish")
        self.trace.add("event", event.topic, event.payload.get("set_id"))

    # -- connections

    def dial_gateway(self, name: str) -> ClientWire:
        """A bot's stream to some gateway that lives, as what balances the load would choose."""
        there = [gateway for gateway in self.gateways.values() if gateway.process.alive]
        if not there:
            return ClientWire(None)
        gateway = self.rng_of(name).choice(there)
        stream = Stream(self.weather.delay, (("authorization", f"Bearer {name}"),))
        gateway.bots.append(stream)
        stream.serve(gateway.process, lambda context: gateway.play.play(None, context))
        return ClientWire(stream)

    def rng_of(self, name: str) -> Random:
        """A bot's own stream of random numbers for where it dials."""
        if name not in self._dials:
            self._dials[name] = self.fork(f"dial {name}")
        return self._dials[name]

    def dial_relay(self, address: str) -> ClientWire:
        """A worker's stream to a gateway."""
        gateway = self.gateways[address]
        if not gateway.process.alive:
            return ClientWire(None)
        stream = Stream(self.weather.delay)
        gateway.workers.append(stream)
        stream.serve(gateway.process, lambda context: gateway.relay.relay(None, context))
        return ClientWire(stream)

    # -- what goes wrong

    async def trouble_of_seed(self) -> None:
        kinds = (
            self._kill_worker,
            self._kill_gateway,
            self._drain_gateway,
            self._kill_scheduler,
            self._restart_redis,
            self._lose_redis,
            self._lose_database,
            self._lose_acks,
            self._lose_acks,
            self._stall_store,
            self._cut_relay,
            self._stall_relay,
            self._bad_weather,
            self._move_bots,
        )
        if self.rng.random() < STORMS:
            until, times = STORM_S, self._storm()
            kinds = (*kinds, self._stall_relay, self._stall_relay, self._move_bots, self._move_bots)
        else:
            until, times = TROUBLE_S, sorted(self.rng.uniform(2.0, TROUBLE_S) for _ in range(self.rng.randint(1, 6)))
        for at in times:
            await asyncio.sleep(max(0.0, at - self.loop.time()))
            strike = self.rng.choice(kinds)
            self.trace.add("FAULT", strike.__name__)
            self.faults += 1
            strike()
        await asyncio.sleep(until - self.loop.time())

    def _storm(self) -> list[float]:
        times, at = [], 1.0
        while (at := at + self.rng.uniform(0.05, 3.0)) < STORM_S:
            times.append(at)
        return times

    def _kill_worker(self) -> None:
        worker = self.rng.choice(list(self.workers.values()))
        worker.process.kill()
        self.loop.call_later(self.rng.uniform(0.5, 20.0), self._start_worker_again, worker)

    def _start_worker_again(self, worker: WorkerProcess) -> None:
        if self.workers[worker.process.name] is worker:
            self.start_worker(worker.process.name)

    def _kill_gateway(self) -> None:
        address = self.rng.choice(GATEWAYS)
        gateway = self.gateways[address]
        if gateway.process.alive:
            gateway.process.kill()
            self.loop.call_later(self.rng.uniform(0.5, 8.0), self.start_gateway, address)

    def _drain_gateway(self) -> None:
        address = self.rng.choice(GATEWAYS)
        gateway = self.gateways[address]
        if gateway.process.alive:
            gateway.process.spawn(self._drain(address, gateway))

    async def _drain(self, address: str, gateway: Gateway) -> None:
        await gateway.drain()
        if gateway.process.alive:
            self.loop.call_later(1.0, self.start_gateway, address)
            gateway.process.kill()

    def _kill_scheduler(self) -> None:
        assert self.scheduler is not None
        if self.scheduler.alive:
            self.scheduler.kill()
            self.loop.call_later(self.rng.uniform(0.5, 3.0), self.start_scheduler)

    def _restart_redis(self) -> None:
        self.registry.down = self.queue.down = True
        self.registry.clear()
        self.queue.clear()
        self.loop.call_later(self.rng.uniform(0.3, 8.0), self._redis_is_back)

    def _lose_redis(self) -> None:
        """It is away and remembers all, which is old when it is back."""
        self.registry.down = self.queue.down = True
        self.loop.call_later(self.rng.uniform(0.3, 9.0), self._redis_is_back)

    def _redis_is_back(self) -> None:
        self.registry.down = self.queue.down = False

    def _lose_database(self) -> None:
        self.database.down = True
        self.loop.call_later(self.rng.uniform(0.5, 25.0), self._database_is_back)

    def _database_is_back(self) -> None:
        self.database.down = False

    def _lose_acks(self) -> None:
        self.database.acks_lost = 0.4

    def _stall_store(self) -> None:
        worker = self.rng.choice(list(self.workers.values()))
        worker.store.stalled_until = self.loop.time() + self.rng.uniform(2.0, 30.0)

    def _relays(self) -> Iterator[Stream]:
        for gateway in self.gateways.values():
            if gateway.process.alive:
                yield from gateway.workers

    def _cut_relay(self) -> None:
        for stream in self._relays():
            if self.rng.random() < 0.6:
                stream.cut(self.rng.uniform(0, 0.5), self.rng.uniform(0, 0.5))

    def _stall_relay(self) -> None:
        for stream in self._relays():
            stream.stalled_until = self.loop.time() + self.rng.uniform(0.5, 12.0)

    def _move_bots(self) -> None:
        """Most of them at once, as after a hiccup of their network."""
        for one in self.bots:
            if self.rng.random() < 0.6:
                one.move()

    def _bad_weather(self) -> None:
        self.weather.rough = 0.05

    # -- and what must be true

    def _heal(self) -> None:
        self.trace.add("healed")
        self.closing = True
        self._redis_is_back()
        self._database_is_back()
        self.database.acks_lost = 0.0
        self.queue.twice = 0.0
        self.weather.rough = 0.0

    async def _rest(self) -> None:
        """Waits until nothing is queued or played anywhere."""
        healed = self.loop.time()
        while why := self._unrest():
            if self.loop.time() > healed + HEALED_S:
                self.complain(f"not at rest {HEALED_S:g} s after all was healed: {'; '.join(why)}")
                return
            await asyncio.sleep(3.0)

    def _unrest(self) -> list[str]:
        open_sets = self.database.raw.execute("SELECT id, state FROM game_set WHERE state IN ('QUEUED', 'CLAIMED')")
        if why := [f"set {set_id} is {state}" for set_id, state in open_sets]:
            return why
        if events := self._count(outbox):
            return [f"{events} events wait to be published"]
        why = [f"{bot.name} plays {sorted(bot.games)}" for bot in self.bots if bot.games]
        for gateway in self.gateways.values():
            if gateway.process.alive:
                why += [
                    f"{session.identity.bot} at {gateway.core.name}: {session.games} games, {session.taken} taken"
                    for session in gateway.core.sessions
                    if session.games or session.taken
                ]
        return why

    def _check(self) -> None:
        replayed: list[Verified] = []

        def replay(record: ParsedRecord) -> Verified:
            replayed.append(verify(record))
            return replayed[-1]

        with mock.patch.object(audit, "verify", replay):
            report = audit.Auditor(self.database, self.disk.read, KEY.public_key().public_bytes_raw()).run()
        for problem in report.problems:
            self.complain(problem)
        self._check_reasons()
        self._check_views(replayed)

    def _check_reasons(self) -> None:
        """No bot has a fault that is not its own."""
        with self.database.read() as connection:
            rows = connection.execute(
                select(result.c.match_id, bot.c.name, set_seat.c.position, match.c.game_index, result.c.reasons)
                .join(match, match.c.id == result.c.match_id)
                .join(set_seat, set_seat.c.set_id == match.c.set_id)
                .join(bot, bot.c.id == set_seat.c.bot_id)
                .order_by(result.c.match_id, set_seat.c.position)
            ).all()
        for row in rows:
            reason = row.reasons[seating(len(row.reasons), row.game_index).index(row.position)]
            kind = row.name.rstrip("0123456789")
            self.trace.add("result", row.match_id, row.name, reason)
            if reason != "NORMAL" and reason not in FAULTS.get(kind, FAULTS["house"]):
                self.complain(f"{row.name} has {reason} in match {row.match_id} through no fault of its own")

    def _check_views(self, replayed: Iterable[Verified]) -> None:
        """What bots were shown is what their seats may know, by the rules."""
        for played in replayed:
            for one in self.bots:
                if (seen := one.matches.get(played.spec.match_id)) is not None:
                    self._check_seen(one, seen.seat, seen.events, played.events)

    def _check_seen(self, one: SimBot, seat: int, seen: Any, events: Sequence[Any]) -> None:
        for (seq, actor), shown in seen.items():
            event = events[seq] if seq < len(events) else None
            if isinstance(event, ChanceDrawn):
                true, visible = event.outcome, event.before.sees(seat, None, event.outcome)
            elif event is not None and (parts := [part for part in event.parts if part.seat == actor]):
                true = parts[0].action
                visible = actor == seat or event.before.sees(seat, actor, true)
            else:
                self.complain(f"{one.name} was shown event {seq}, of which the record of its match knows nothing")
                return
            if shown != (true if visible else None):
                self.complain(f"{one.name} on seat {seat} was shown {shown} for event {seq}, which is {true}")

    def _count(self, table: Any) -> int:
        return int(self.database.raw.execute(f"SELECT COUNT(*) FROM {table.name}").fetchone()[0])
