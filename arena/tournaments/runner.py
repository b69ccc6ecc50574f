"""Plays an event to its end: asks what happens next, writes it down, has sets played, and writes down what became of them.

Everything that it must remember is in SQL, each set in a transaction of its own: killed at any moment and run again it
goes on with the set that was being played, and plays none twice.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol

from sqlalchemy import Connection

from arena.errors import ArenaError
from arena.storage import tournaments as store
from arena.storage.db import Database
from arena.tournaments.formats.event import Entrant, walkover
from arena.tournaments.progress import SetOrder, SetPlayed, State, Step, apply, next_step

BEAT_S: Final = 5.0
"""The guard is asked at least so often, so that a lease does not lapse while long sets are played."""
LOOK_S: Final = 1.0
"""How often the runner looks for withdrawals, late entries and the end of its time while sets are played."""


@dataclass(frozen=True, slots=True)
class Absent:
    """A set was not played, because these did not come."""

    names: frozenset[str]


class Backend(Protocol):
    """Where sets are played."""

    async def play(self, order: SetOrder) -> SetPlayed | Absent:
        """Plays a set to its end; after a crash of the runner it may be asked for the same again. Raises ArenaError."""


@dataclass(frozen=True)
class Moment:
    """What those who watch are shown. ``running``: keys of the sets that are being played."""

    state: State
    running: frozenset[tuple[str, int]]


class Runner:
    """One event. ``guard`` is called first in every writing transaction and raises Fenced if another runner has taken over."""

    def __init__(
        self,
        database: Database,
        event: store.Tournament,
        backend: Backend,
        *,
        concurrency: int,
        on_change: Callable[[Moment], None] = lambda moment: None,
        guard: Callable[[Connection], None] = lambda connection: None,
    ) -> None:
        self._database = database
        self._event = event
        self._backend = backend
        self._concurrency = concurrency
        self._on_change = on_change
        self._guard = guard
        self._written = time.monotonic()
        self._playing: dict[tuple[str, int], tuple[SetOrder, asyncio.Task[SetPlayed | Absent]]] = {}

    async def run(self) -> State:
        """Plays the started event until it is over. Raises ArenaError where the machine or the arena fails; run again."""
        try:
            state = await asyncio.to_thread(self._load)
            while True:
                state = await self._refreshed(state)
                # In a thread: pairing a large Swiss takes seconds, and bots are to be heard meanwhile.
                step = await asyncio.to_thread(next_step, state, frozenset(self._playing))
                if step.writes:
                    await self._write(partial(store.write, tournament_id=self._event.id, step=step))
                    state = apply(state, step)
                elif step.over and not self._playing:
                    await self._write(partial(store.finish, tournament_id=self._event.id, reason=step.over))
                    self._on_change(Moment(state, frozenset()))
                    return state
                else:
                    self._begin(step)
                    self._on_change(Moment(state, frozenset(self._playing)))
                    state = await self._settle(state)
        finally:
            tasks = [task for _, task in self._playing.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, step: Step) -> None:
        for order in step.orders:
            if len(self._playing) >= self._concurrency:
                return
            if order.key not in self._playing:
                self._playing[order.key] = (order, asyncio.create_task(self._backend.play(order)))

    async def _settle(self, state: State) -> State:
        """Waits for sets to end, and writes them down."""
        if not self._playing:
            raise ArenaError("nothing is left to be played and nothing has been decided: this is a fault of the arena")
        tasks = [task for _, task in self._playing.values()]
        await asyncio.wait(tasks, timeout=LOOK_S, return_when=asyncio.FIRST_COMPLETED)
        if time.monotonic() - self._written > BEAT_S:
            await self._write(lambda connection: None)
        for key, (order, task) in tuple(self._playing.items()):
            if key not in self._playing or not task.done():  # an absence may have ended the pairing's other sets
                continue
            del self._playing[key]
            played = task.result()
            if isinstance(played, Absent):
                state = await self._missed(state, order, played)
            else:
                await self._write(partial(store.record_set, tournament_id=self._event.id, order=order, played=played))
                of_pairing = {**state.sets.get(order.pairing.id, {}), order.number: played}
                state = replace(state, sets={**state.sets, order.pairing.id: of_pairing})
        return state

    async def _missed(self, state: State, order: SetOrder, absent: Absent) -> State:
        """Who does not come loses the pairing. Its other sets, if some are being played, come to nothing."""
        settled = {**state.main.results, **state.final.results}
        if order.pairing.id in settled:
            return state
        step = Step(results={order.pairing.id: walkover(order.pairing, absent.names)})
        await self._write(partial(store.write, tournament_id=self._event.id, step=step))
        for key, (_, task) in tuple(self._playing.items()):
            if key[0] == order.pairing.id:
                task.cancel()
                del self._playing[key]
        return apply(state, step)

    def _load(self) -> State:
        with self._database.read() as connection:
            return store.load(connection, self._event)

    async def _refreshed(self, state: State) -> State:
        """With those who have withdrawn or entered since, and the time that has gone by."""

        def read() -> tuple[tuple[Entrant, ...], float]:
            with self._database.read() as connection:
                return store.entrants(connection, self._event.id), store.minutes(connection, self._event)

        entrants, minutes = await asyncio.to_thread(read)
        gone: Mapping[str, bool] = {one.name: one.withdrawn for one in entrants}
        finalists = tuple(replace(one, withdrawn=gone[one.name]) for one in state.final.entrants)
        return replace(
            state,
            main=replace(state.main, entrants=entrants),
            final=replace(state.final, entrants=finalists),
            minutes=minutes,
        )

    async def _write(self, work: Callable[[Connection], object]) -> None:
        def run() -> None:
            with self._database.write() as connection:
                self._guard(connection)
                work(connection)

        await asyncio.to_thread(run)
        self._written = time.monotonic()
