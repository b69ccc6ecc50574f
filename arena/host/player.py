"""The sets of one worker process: claimed, played, written down, fenced. Runs on any event loop.

Threads, Celery and servers are around it, in ``arena.host.worker``; here is nothing but the logic.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import Connection

from arena import logs, metrics
from arena.errors import Fenced, Unavailable
from arena.host.journal import RETRY_S, SqlJournal
from arena.host.play import Voided, Watcher
from arena.host.port import Port
from arena.host.sets import GameJob, NotReady, SetJob, play_set
from arena.host.store import Store
from arena.match.spec import Player, VoidReason
from arena.storage import sets
from arena.storage.plans import SeatPlan, SetPlan, not_ready
from arena.storage.sweeper import overdue_sets, sweep_strays
from arena.storage.workers import HEARTBEAT_S, LEASE_MS, WorkerLease, heartbeat, register_worker, retire_worker
from arena.tracing import TRACES

log = logging.getLogger(__name__)
T = TypeVar("T")

TASK_PREFIX: Final = "set:"
"""The task that plays a set is named by this and the set's id: see :mod:`arena.host.watchdog`."""


class House(Protocol):
    """The house bots of this worker."""

    async def port(self, name: str, version: str) -> Port:
        """The session of a house bot."""
        ...


class Remote(Protocol):
    """The bots at gateways; each acquired session is released once."""

    async def acquire(self, bot_id: int, instance: str, version_id: int | None = None) -> Port:
        """The session of a bot's process of that version. Raises SessionFailed."""
        ...

    def release(self, bot_id: int, instance: str) -> None:
        """A set that acquired it is over."""


Watched: TypeAlias = Callable[[str, int, Coroutine[Any, Any, None]], Awaitable[None]]
"""Runs the work of a set's attempt so that it is known, should the process die of it, which set it was."""
Broadcaster: TypeAlias = Callable[[SetJob], AbstractContextManager[Watcher | None]]
"""Gives what hears of a set's events while it is played."""


def _to_nobody(_job: SetJob) -> AbstractContextManager[Watcher | None]:
    return nullcontext()


async def _unwatched(_set_id: str, _attempt: int, work: Coroutine[Any, Any, None]) -> None:
    await work


class SetPlayer:
    """Claims sets and plays them under a lease that :meth:`run` keeps up."""

    def __init__(
        self,
        name: str,
        store: Store,
        key: Ed25519PrivateKey,
        *,
        max_sets: int,
        broadcast: Broadcaster = _to_nobody,
        watched: Watched = _unwatched,
    ) -> None:
        self._name = name
        self._broadcast = broadcast
        self._watched = watched
        self._store = store
        self._key = key
        self._max_sets = max_sets
        self._playing: dict[str, asyncio.Task[None]] = {}
        self._slow: dict[str, asyncio.Event] = {}
        self._lease: WorkerLease | None = None
        self._house: House | None = None
        self._remote: Remote | None = None

    @property
    def lease(self) -> WorkerLease:
        """The present one."""
        assert self._lease is not None, "register() comes first"
        return self._lease

    async def register(self) -> None:
        """Takes a lease. Raises ArenaError if the database does not answer."""
        self._lease = await self._store.in_transaction(lambda connection: register_worker(connection, self._name))

    async def run(
        self, house: House, remote: Remote, stop: asyncio.Event, pulse: Callable[[], Awaitable[None]]
    ) -> None:
        """Keeps the lease until ``stop``, then ends what still runs without a result.

        ``pulse`` is awaited with each heartbeat. Raises what ended the heartbeat, if anything ever does.
        """
        beat = asyncio.create_task(self._beat(pulse))
        self._house, self._remote = house, remote
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait((beat, stopped), return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if beat.done():
            await beat
        beat.cancel()
        self._drop_sets()
        await asyncio.gather(beat, *self._playing.values(), return_exceptions=True)
        await self._give_up(lambda connection: retire_worker(connection, self.lease))

    async def play(self, set_id: str) -> None:
        """Plays a set to its end, or returns at once if it is not to be had. Never raises but when cancelled.

        A set with a slow clock plays on after the return: it would hold one of few places for hours.
        """
        if set_id in self._playing:
            return
        if not self._store.has_room():
            log.error("the disk is full: set %s stays in the queue", set_id)
            return
        playing = asyncio.create_task(self._play(set_id), name=TASK_PREFIX + set_id)
        self._playing[set_id] = playing
        self._slow[set_id] = asyncio.Event()
        playing.add_done_callback(partial(self._ended, set_id))
        slow = asyncio.create_task(self._slow[set_id].wait())
        try:
            await asyncio.wait((playing, slow), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            playing.cancel()
            raise
        finally:
            slow.cancel()

    def _ended(self, set_id: str, playing: asyncio.Task[None]) -> None:
        del self._playing[set_id]
        del self._slow[set_id]
        if not playing.cancelled() and (error := playing.exception()) is not None:
            log.warning("set %s was not begun: %s", set_id, error)

    @property
    def _places(self) -> int:
        """How many more sets may be played here; slow ones do not count, the scheduler bounds them."""
        return self._max_sets - sum(not slow.is_set() for slow in self._slow.values())

    # -- the lease

    async def _beat(self, pulse: Callable[[], Awaitable[None]]) -> None:
        """Renews the lease. Whatever goes wrong for as long as the lease holds ends every set of this worker."""
        loop = asyncio.get_running_loop()
        renewed = loop.time()
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            try:
                await pulse()
                asked = loop.time()
                # Counted here: in the database's thread the sets would begin and end meanwhile.
                waiting = await self._store.in_transaction(partial(self._heartbeat, self._places))
                renewed = asked
                self._help_out(waiting)
            except Fenced:
                log.error("the lease has lapsed; all sets of this worker end here")
                await self._register_again()
                renewed = loop.time()
            except Exception as error:  # whatever it is: without its lease a worker takes doorbells and plays nothing
                log.warning("no heartbeat: %s", error, exc_info=not isinstance(error, Unavailable))
                if loop.time() - renewed > LEASE_MS / 1000:
                    self._drop_sets()

    def _heartbeat(self, places: int, connection: Connection) -> Sequence[str]:
        """Renews the lease, gives back claims that nobody plays here, and finds sets whose doorbell nobody heard."""
        heartbeat(connection, self.lease)
        for set_id in sweep_strays(connection, self.lease, lambda: self._playing):
            log.warning("set %s was claimed here and is not played: given back", set_id)
        return overdue_sets(connection, places)

    def _help_out(self, waiting: Sequence[str]) -> None:
        for set_id in waiting:
            log.warning("set %s waits in SQL and no doorbell rang here: is the queue's consumer silent?", set_id)
            asyncio.ensure_future(self.play(set_id))  # noqa: RUF006 - `_playing` holds what matters

    def _drop_sets(self) -> None:
        for playing in self._playing.values():
            playing.cancel()

    async def _register_again(self) -> None:
        self._drop_sets()
        while True:
            try:
                await self.register()
                return
            except Exception as error:  # as above
                log.warning("no lease: %s", error, exc_info=not isinstance(error, Unavailable))
                await asyncio.sleep(RETRY_S)

    # -- a set

    async def _play(self, set_id: str) -> None:
        """One set under one claim. A bot's fault is in its result; whatever else goes wrong voids it."""
        lease = self.lease
        with TRACES.span("claim", set_id, worker=self._name):
            plan = await self._store.in_transaction(lambda connection: sets.claim(connection, set_id, lease))
        if plan is None:
            return
        about: dict[str, Any] = {"attempt": plan.set_attempt, "ladder": plan.ladder.slug, "worker": self._name}
        with logs.bound(set_id=set_id, **about), TRACES.span("set", set_id, **about):
            logs.event(log, "set.claimed", bots=[seat.bot for seat in plan.seats])
            await self._watched(set_id, plan.set_attempt, self._play_claimed(plan, lease))

    async def _play_claimed(self, plan: SetPlan, lease: WorkerLease) -> None:
        set_id = plan.set_id
        if plan.ladder.time_control.slow:
            self._slow[set_id].set()
        assert self._house is not None
        assert self._remote is not None
        ports = _SetPorts(plan.seats, self._house, self._remote)
        try:
            job = _job(plan)
            with self._broadcast(job) as watch:
                await play_set(job, ports, SqlJournal(self._store, plan, lease), self._key, watch)
        except NotReady as error:
            why = not_ready([plan.seats[position].bot for position in error.positions])
            await self._give_up(lambda c: sets.release_set(c, lease, set_id, why))
        except Voided as error:
            log.warning("set %s is void: %s", set_id, error)
            await self._void(lease, set_id, error.reason)
        except Fenced as error:
            log.warning("set %s is not ours any more: %s", set_id, error)
        except asyncio.CancelledError:
            await asyncio.shield(self._void(lease, set_id, VoidReason.INFRA_VOID))
            raise
        except (Exception, SystemExit):  # a task that exits would end the loop, and all that it plays
            log.exception("set %s failed in the arena itself", set_id)
            await self._void(lease, set_id, VoidReason.INFRA_VOID)
        finally:
            ports.release()

    async def _void(self, lease: WorkerLease, set_id: str, reason: VoidReason) -> None:
        metrics.VOIDS.labels(str(reason)).inc()
        await self._give_up(lambda connection: sets.void_attempts(connection, lease, set_id, reason))

    async def _give_up(self, write: Callable[[Connection], object]) -> None:
        """Says that something ends without a result; if that cannot be written, the next heartbeat or the sweeper does."""
        try:
            await self._store.in_transaction(write)
        except (Fenced, Unavailable) as error:
            log.warning("cannot give up: %s", error)


class _SetPorts:
    """The sessions of a set's bots: house bots are processes of this worker, the others are at gateways."""

    def __init__(self, seats: Sequence[SeatPlan], house: House, remote: Remote) -> None:
        self._seats = seats
        self._house = house
        self._remote = remote
        self._acquired: dict[int, Port] = {}

    async def open(self, position: int) -> Port:
        seat = self._seats[position]
        if seat.kind == "house":
            return await self._house.port(seat.bot, seat.version)
        if position not in self._acquired:
            self._acquired[position] = await self._remote.acquire(seat.bot_id, seat.instance, seat.version_id)
        return self._acquired[position]

    async def close_game(self) -> None:
        pass

    def release(self) -> None:
        """The set is over."""
        for position in self._acquired:
            self._remote.release(self._seats[position].bot_id, self._seats[position].instance)


def _job(plan: SetPlan) -> SetJob:
    return SetJob(
        set_id=plan.set_id,
        attempt=plan.set_attempt,
        game=plan.ladder.game,
        config=plan.ladder.config,
        players=tuple(Player(seat.bot, seat.version, seat.owner) for seat in plan.seats),
        games=tuple(GameJob(game.match_id, game.index, game.attempt, game.order) for game in plan.games),
        time_control=plan.ladder.time_control,
        deal_mode=plan.deal_mode,
        rated=plan.rated,
        seed=plan.seed,
    )
