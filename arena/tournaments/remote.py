"""An event on a running arena: its sets are made in SQL and played by the arena's workers, remote and house bots alike."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, select

from arena.errors import ArenaError, Unavailable
from arena.ladder.book import Book, in_flight
from arena.ladder.desk import OnlineBot
from arena.ladder.entry import ensure_ladder
from arena.settings import LadderSpec
from arena.storage import tournaments as store
from arena.storage.accounts import HOUSE
from arena.storage.db import Database, insert_unless_there
from arena.storage.plans import NewSeat, SetState, bots_not_ready, seating
from arena.storage.sets import create_set, ladder_spec
from arena.storage.tables import attempt, game_set, ladder, match, result, tournament_ladder
from arena.tournaments.progress import GamePlayed, SetOrder, SetPlayed, Stage
from arena.tournaments.runner import Absent

POLL_S: Final = 0.3
TRIES: Final = 5
"""Sets made for an order by the arena's fault before the runner gives up; each was tried several times by workers."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Calling:
    """Who sits down: ``seats`` by position, or ``missing`` that are not connected, or some that are only ``busy``."""

    seats: tuple[NewSeat, ...] = ()
    missing: frozenset[str] = frozenset()
    busy: bool = False


class ArenaBackend:
    """Has sets played by workers. ``online`` lists connected bots, ``ring(set_id)`` wakes a worker; both raise Unavailable."""

    def __init__(
        self,
        database: Database,
        event: store.Tournament,
        field: Sequence[store.Participant],
        *,
        online: Callable[[], Awaitable[Sequence[OnlineBot]]],
        ring: Callable[[str], None],
        guard: Callable[[Connection], None],
    ) -> None:
        self._database = database
        self._event = event
        self._field = {one.name: one for one in field}
        self._online = online
        self._ring = ring
        self._guard = guard
        self._ladders: dict[int, int] = {}

    async def open(self) -> None:
        """Makes the event's own ladders: closed ones, on which nothing is rated and nobody else plays."""

        def write(connection: Connection) -> dict[int, int]:
            self._guard(connection)
            return open_ladders(connection, self._event)

        self._ladders = await self._write(write)

    async def play(self, order: SetOrder) -> SetPlayed | Absent:
        """The set's games once it is finished, or who was not there or not ready for as long as the event waits."""
        wait_s = self._event.spec.absence.wait_s
        deadline = time.monotonic() + wait_s
        spoilt = 0
        while True:
            made = await self._read(lambda connection: store.attempt_of(connection, self._event.id, order))
            if made is not None:
                state, reason = await self._finished(made.set_id)
                if state == SetState.FINISHED:
                    return await self._read(partial(games_of, set_id=made.set_id))
                silent = set(bots_not_ready(reason)) & set(order.pairing.players)
                if silent and made.tries > 1 and time.monotonic() > deadline:
                    return Absent(frozenset(silent))
                if not silent:  # what the arena spoilt is nobody's absence
                    deadline = time.monotonic() + wait_s
                    spoilt += 1  # in this run: who resumes it has mended something
                    if spoilt >= TRIES:
                        raise ArenaError(f"{order.pairing.id}: {spoilt} sets came to nothing, the last one: {reason}")
            while not (calling := await self._call(order)).seats:
                if calling.busy:
                    deadline = time.monotonic() + wait_s
                elif time.monotonic() > deadline:
                    return Absent(calling.missing)
                await asyncio.sleep(POLL_S)
            await self._make(order, calling.seats)

    async def _finished(self, set_id: str) -> tuple[SetState, str]:
        """Waits for a set to end; its state and reason."""
        while True:
            state, reason = await self._read(lambda connection: _state(connection, set_id))
            if state in (SetState.FINISHED, SetState.VOID, SetState.ERRORED):
                return state, reason
            await asyncio.sleep(POLL_S)

    async def _call(self, order: SetOrder) -> Calling:
        try:
            online = await self._online()
        except Unavailable:
            return Calling(busy=True)  # the arena's fault, and nobody's absence
        flying = await self._read(in_flight)
        taken = Counter(seat for one in flying for seat in one.seats)
        game = self._event.spec.games[order.game]
        return call([self._field[name] for name in order.pairing.players], online, taken, game.game, game.players)

    async def _make(self, order: SetOrder, seats: tuple[NewSeat, ...]) -> None:
        stage: Stage = "final" if order.pairing.label == "final" and order.pairing.id.startswith("f") else "main"
        house_only = all(self._field[name].owner == HOUSE for name in order.pairing.players)

        def write(connection: Connection) -> str:
            self._guard(connection)
            ladder_id = self._ladders[order.game]
            row = connection.execute(select(ladder).where(ladder.c.id == ladder_id)).one()
            audiences = store.get(connection, self._event.spec.slug).audiences
            set_id = create_set(
                connection,
                ladder_id,
                seats,
                budget_ms=Book(ladder_id, ladder_spec(row), 0).budget_ms(),
                house_only=house_only,
                deal_mode="shared" if house_only and self._event.spec.deals == "shared" else "own",
                rated=False,
                listed=audiences[stage] == "public",
            )
            store.name_set(connection, self._event.id, order, set_id)
            return set_id

        set_id = await self._write(write)
        with contextlib.suppress(Unavailable):  # the sweeper rings again
            await asyncio.to_thread(self._ring, set_id)

    async def _read(self, work: Callable[[Connection], T]) -> T:
        def run() -> T:
            with self._database.read() as connection:
                return work(connection)

        return await asyncio.to_thread(run)

    async def _write(self, work: Callable[[Connection], T]) -> T:
        def run() -> T:
            with self._database.write() as connection:
                return work(connection)

        return await asyncio.to_thread(run)


def call(
    field: Sequence[store.Participant],
    online: Sequence[OnlineBot],
    taken: Mapping[tuple[int, str], int],
    game: str,
    players: int,
) -> Calling:
    """Seats for a table, each remote bot at its process with the most seats free. Only the pinned version counts."""
    seats: list[NewSeat] = []
    missing: set[str] = set()
    busy = False
    for one in field:
        assert one.version_id is not None
        assert one.bot_id is not None
        if one.owner == HOUSE:
            seats.append(NewSeat(one.version_id, one.bot_id))
            continue
        free = {
            bot.instance: bot.credit - taken.get((bot.version_id, bot.instance), 0)
            for bot in online
            if bot.version_id == one.version_id and bot.plays(game, players)
        }
        if not free:
            missing.add(one.name)
        elif max(free.values()) <= 0:
            busy = True
        else:
            seats.append(NewSeat(one.version_id, one.bot_id, max(free, key=lambda name: free[name])))
    whole = not missing and not busy
    return Calling(tuple(seats) if whole else (), frozenset(missing), busy and not missing)


def open_ladders(connection: Connection, event: store.Tournament) -> dict[int, int]:
    """The ids of the event's ladders by number of the game, made where they are missing."""
    found = dict(
        connection.execute(
            select(tournament_ladder.c.game, tournament_ladder.c.ladder_id).where(
                tournament_ladder.c.tournament_id == event.id
            )
        ).all()
    )
    for number, game in enumerate(event.spec.games):
        if number not in found:
            slug = f"event-{event.spec.slug}-{number + 1}-{game.game}"[:80]
            spec = LadderSpec(slug, game.game, game.players, game.config, event.spec.time_control)
            found[number] = ensure_ladder(connection, spec, active=False)
            insert_unless_there(
                connection, tournament_ladder, tournament_id=event.id, game=number, ladder_id=found[number]
            )
    return found


def games_of(connection: Connection, set_id: str) -> SetPlayed:
    """What a finished set amounts to, turned from seats to positions."""
    rows = connection.execute(
        select(match.c.game_index, result, attempt.c.started_at, attempt.c.ended_at)
        .join(result, result.c.match_id == match.c.id)
        .join(attempt, (attempt.c.match_id == match.c.id) & (attempt.c.attempt == result.c.attempt))
        .where(match.c.set_id == set_id)
        .order_by(match.c.game_index)
    ).all()
    return SetPlayed(tuple(_game(row) for row in rows))


def _game(row: Any) -> GamePlayed:
    order = seating(len(row.places), row.game_index)
    seats = [order.index(position) for position in range(len(order))]
    return GamePlayed(
        match_id=row.match_id,
        places=tuple(row.places[seat] for seat in seats),
        scores=tuple(row.scores[seat] for seat in seats),
        reasons=tuple(row.reasons[seat] for seat in seats),
        record=row.record_digest,
        duration_ms=(row.ended_at or row.started_at) - row.started_at,
    )


def _state(connection: Connection, set_id: str) -> tuple[SetState, str]:
    row = connection.execute(select(game_set.c.state, game_set.c.reason).where(game_set.c.id == set_id)).one()
    return SetState(row.state), row.reason or ""
