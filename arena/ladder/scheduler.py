"""Makes sets, continuously. Many schedulers may run; one leads.

A round sweeps what is past its deadline, enters new versions on their ladders, makes sets for whoever is free, rings for
them, and publishes what has happened. SQL is the only memory that matters: a scheduler that starts afresh goes on.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import SystemRandom
from typing import Any, Final, Protocol

from sqlalchemy import Connection, Row, select

from arena import logs
from arena.errors import ArenaError, Unavailable
from arena.ladder import trials
from arena.ladder.book import Book, InFlight, in_flight, mark_by_name
from arena.ladder.desk import Desk, OnlineBot, Table
from arena.ladder.entry import enter
from arena.ladder.official import make_due
from arena.ladder.patience import Patience, Turns
from arena.match.deal import DealMode
from arena.settings import SchedulerSettings
from arena.storage import challenges, outbox, versions
from arena.storage.db import Database
from arena.storage.leadership import Leadership, keep_lead, resign, take_lead
from arena.storage.plans import bots_not_ready
from arena.storage.sets import create_set, ladder_spec
from arena.storage.sweeper import sweep_claims, sweep_queue
from arena.storage.tables import bot, database_time, ladder, set_seat
from arena.storage.tournaments import busy_bots
from arena.storage.workers import alive_workers
from arena.tracing import TRACES

ROLE: Final = "scheduler"
PAGE: Final = 5_000
"""Ledger entries read before the lead is renewed."""
SEEN_EVERY_MS: Final = 5 * 60 * 1000
_ACTIVE: Final = select(ladder).where(ladder.c.active)

log = logging.getLogger(__name__)


class Sessions(Protocol):
    """Who is connected."""

    def online(self) -> Sequence[OnlineBot]:
        """All bots' processes with a live session. Raises Unavailable."""


@dataclass(frozen=True, slots=True)
class Round:
    """What a round did. ``swept``: sets taken from workers; ``rung``: doorbells rung, ``unrung``: that failed."""

    led: bool
    made: int = 0
    swept: int = 0
    rung: int = 0
    unrung: int = 0


@dataclass(frozen=True, slots=True)
class Now:
    """What a round starts from: the database's time, sets in flight, retired versions, living workers.

    ``busy``: bots that play in a running tournament have no seats for ladders, they are to come when they are called.
    ``challenges``, ``trials``: whether any is open.
    """

    ms: int
    flying: tuple[InFlight, ...]
    retired: frozenset[int]
    workers: int
    busy: frozenset[int]
    challenges: bool
    trials: bool


class Scheduler:
    """``round()`` is to be called again and again, in a thread that may block on SQL."""

    def __init__(
        self,
        database: Database,
        settings: SchedulerSettings,
        sessions: Sessions,
        ring: Callable[[str], None],
        publish: Callable[[outbox.Event], None],
        *,
        slots_a_worker: int = 64,
    ) -> None:
        """``ring(set_id)`` and ``publish(event)`` raise Unavailable when they cannot. ``slots_a_worker``: sets at once."""
        self._database = database
        self._settings = settings
        self._sessions = sessions
        self._ring = ring
        self._publish = publish
        self._holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._leadership: Leadership | None = None
        self._slots_a_worker = slots_a_worker
        self._books: dict[int, Book] = {}
        self._saw_at = 0
        self._patience = Patience()
        self._turns = Turns()
        self._random = SystemRandom()

    def round(self) -> Round:
        """One round. Raises ArenaError if the database or the registry of sessions cannot be reached; try again."""
        with self._database.write() as connection:
            self._leadership = take_lead(connection, ROLE, self._holder)
        if self._leadership is None:
            self._books.clear()  # whoever leads now makes meetings that this process does not count
            return Round(led=False)
        try:
            swept, waiting = self._sweep(self._leadership)
            rung = self._ring_all(waiting)
            self._publish_events()
            began = time.monotonic()
            made = self._make_sets(self._leadership)
        except ArenaError:
            self._books.clear()
            raise
        for set_id in made:
            TRACES.root(set_id, "pairing", time.monotonic() - began)
            logs.event(log, "set.queued", set_id=set_id)
        rung += self._ring_all(made)
        return Round(True, len(made), len(swept), rung, len(waiting) + len(made) - rung)

    def make_official(self) -> int:
        """Makes the official tables that are due, if this scheduler leads; how many. May take long: in a thread of its own.

        Raises ArenaError as :meth:`round` does.
        """
        leadership = self._leadership
        if leadership is None:
            return 0
        made = make_due(self._database, lambda connection: keep_lead(connection, leadership))
        for ladder_id, one in made:
            log.info(
                "official table of ladder %d: %d bots, recentred by %.2f", ladder_id, len(one.table.rows), one.delta
            )
        return len(made)

    def close(self) -> None:
        """Lets another scheduler lead at once."""
        if self._leadership is not None:
            with self._database.write() as connection:
                resign(connection, self._leadership)

    def _sweep(self, leadership: Leadership) -> tuple[tuple[str, ...], tuple[str, ...]]:
        with self._database.write() as connection:
            keep_lead(connection, leadership)
            return sweep_claims(connection), sweep_queue(connection)

    def _ring_all(self, set_ids: Sequence[str]) -> int:
        """Rings for sets; returns for how many it could. The sweeper rings again for the others."""
        for rung, set_id in enumerate(set_ids):
            try:
                with TRACES.span("doorbell", set_id):
                    self._ring(set_id)
            except Unavailable as error:
                log.warning("%d doorbells did not ring: %s", len(set_ids) - rung, error)
                return rung
        return len(set_ids)

    def _publish_events(self) -> None:
        with self._database.read() as connection:
            events = outbox.pending(connection)
        published = []
        for event in events:
            try:
                self._publish(event)
            except Unavailable as error:
                log.warning("events are not published: %s", error)
                break
            published.append(event)
        if published:
            with self._database.write() as connection:
                self._learn(connection, published)
                outbox.discard(connection, published)

    def _learn(self, connection: Connection, events: Sequence[outbox.Event]) -> None:
        """Who let the others wait sits out a while; who has played again does not."""
        now = database_time(connection)
        for event in events:
            if event.topic == "set.finished":
                self._patience.answered([seat.version_id for seat in _seats(connection, event.payload["set_id"])])
            elif event.topic == "set.void" and (silent := bots_not_ready(event.payload["reason"])):
                seats = _seats(connection, event.payload["set_id"])
                self._patience.not_ready([seat.version_id for seat in seats if seat.name in silent], now)

    def _make_sets(self, leadership: Leadership) -> list[str]:
        connected = self._sessions.online()
        now = self._read(self._open_books(leadership))
        online = [bot for bot in connected if bot.bot_id not in now.busy]
        self._saw(leadership, online, now.ms)
        if self._enter(leadership, online):
            now = self._read({})
        self._patience.look(now.flying, now.ms)
        desk = Desk(
            online,
            now.flying,
            self._settings,
            self._patience,
            now.ms,
            slots=max(1, now.workers) * self._slots_a_worker,
            paces={book.pace for book in self._books.values()},
            retired=now.retired,
        )
        made = self._challenges(leadership, desk) if now.challenges else []
        if now.trials:
            made += self._trials(leadership, desk, now.ms)
        for book, tables in self._seat_all(desk):
            made += self._insert(leadership, book, tables)
            self._turns.played({seat.version_id for table in tables for seat in table.seats})
        return made

    def _saw(self, leadership: Leadership, online: Sequence[OnlineBot], now: int) -> None:
        """Says now and then of whoever is connected, and of the house, that it was seen."""
        if now - self._saw_at < SEEN_EVERY_MS:
            return
        self._saw_at = now
        seen = {bot.version_id for bot in online}.union(*(book.house() for book in self._books.values()))
        with self._database.write() as connection:
            keep_lead(connection, leadership)
            versions.saw(connection, seen)

    def _challenges(self, leadership: Leadership, desk: Desk) -> list[str]:
        """The next set of each challenge that has none in flight; before the ladders, which take whatever is free."""
        made: list[str] = []
        with self._database.write() as connection:
            keep_lead(connection, leadership)
            for one in challenges.wanted(connection):
                book = self._books.get(one.ladder_id)
                if book is not None and (table := desk.named(book, one.versions)) is not None:
                    made.append(_create(connection, book, table, book.budget_ms(), rated=False, seed=one.seed))
                    challenges.attach(connection, one.id, made[-1])
        return made

    def _trials(self, leadership: Leadership, desk: Desk, now: int) -> list[str]:
        """The sets that trials want, as far as their bots have seats; what they have played is counted."""
        made: list[str] = []
        with self._database.write() as connection:
            keep_lead(connection, leadership)
            for one in trials.due(connection):
                book = self._books.get(one.ladder_id)
                if book is None or not one.numbers or not self._turns.has(one.id, now):
                    continue
                for number in one.numbers:
                    if (table := desk.named(book, one.versions)) is None:
                        break
                    made.append(_create(connection, book, table, book.budget_ms(), rated=False))
                    trials.attach(connection, one.id, number, made[-1])
                    self._turns.took(one.id, [seat.version_id for seat in table.seats if seat.instance], now)
                if self._turns.has(one.id, now):
                    desk.hold(book, one.versions, one.account_id)
        return made

    def _seat_all(self, desk: Desk) -> list[tuple[Book, list[Table]]]:
        """New sets by ladder. Ladders take turns, so that a bot with few seats plays on all of its own."""
        open_books = list(self._books.values())
        self._random.shuffle(open_books)
        made: dict[int, list[Table]] = {}
        while open_books:
            for book in tuple(open_books):
                table = desk.table(book, self._random.getrandbits(64))
                if table is None:
                    open_books.remove(book)
                else:
                    made.setdefault(book.ladder_id, []).append(table)
        return [(self._books[ladder_id], tables) for ladder_id, tables in made.items()]

    def _open_books(self, leadership: Leadership) -> dict[int, Book]:
        """Books of the ladders that are new to this scheduler, as of about now; keeps the lead while it reads long ledgers."""
        with self._database.read() as connection:
            now = database_time(connection)
            rows = connection.execute(_ACTIVE).all()
        opened = {row.id: self._new_book(row) for row in rows if row.id not in self._books}
        for row in rows:
            while row.id in opened:
                with self._database.read() as connection:
                    opened[row.id].refresh(connection, row.seq)
                    more = opened[row.id].remember(connection, now, PAGE)
                if not more:
                    break
                with self._database.write() as connection:
                    keep_lead(connection, leadership)
        return opened

    def _new_book(self, row: Row[Any]) -> Book:
        return Book(row.id, ladder_spec(row), self._settings.pair_sets_a_day)

    def _read(self, opened: Mapping[int, Book]) -> Now:
        """Brings the books up to date, ``opened`` ones too; returns what else there is to know."""
        with self._database.read() as connection:
            now = database_time(connection)
            flying = in_flight(connection)
            rows = connection.execute(_ACTIVE).all()
            for row in rows:
                if (book := self._books.get(row.id)) is not None:
                    book.refresh(connection, row.seq)
                    continue
                self._books[row.id] = book = opened.get(row.id) or self._new_book(row)
                book.refresh(connection, row.seq)
                while book.remember(connection, now, PAGE):
                    pass
                for one in flying:
                    if one.ladder_id == row.id and one.rated:
                        book.count([version for version, _ in one.seats], now, now)
            self._books = {row.id: self._books[row.id] for row in rows}
            found = Now(
                now,
                flying,
                versions.retired(connection),
                alive_workers(connection),
                busy_bots(connection),
                challenges.any_open(connection),
                trials.any_open(connection),
            )
        mark_by_name(self._books.values())
        return found

    def _enter(self, leadership: Leadership, online: Sequence[OnlineBot]) -> bool:
        new = {
            (book.ladder_id, bot.version_id)
            for book in self._books.values()
            for bot in online
            if bot.version_id not in book.members and bot.joins(book)
        }
        if new:
            with self._database.write() as connection:
                keep_lead(connection, leadership)
                for ladder_id, version_id in sorted(new):
                    enter(connection, ladder_id, version_id)
        return bool(new)

    def _insert(self, leadership: Leadership, book: Book, tables: Sequence[Table]) -> list[str]:
        budget_ms = book.budget_ms()
        with self._database.write() as connection:
            keep_lead(connection, leadership)
            return [_create(connection, book, table, budget_ms) for table in tables]


def _seats(connection: Connection, set_id: str) -> Sequence[Row[int, str]]:
    """The versions and bots' names of a set."""
    return connection.execute(
        select(set_seat.c.version_id, bot.c.name)
        .join(bot, bot.c.id == set_seat.c.bot_id)
        .where(set_seat.c.set_id == set_id)
    ).all()


def _create(
    connection: Connection, book: Book, table: Table, budget_ms: int, *, rated: bool = True, seed: int | None = None
) -> str:
    # House bots start afresh for each game and cannot remember a deal; remote bots could.
    by_itself: DealMode = "shared" if table.house_only else "own"
    return create_set(
        connection,
        book.ladder_id,
        table.seats,
        budget_ms=budget_ms,
        house_only=table.house_only,
        rated=rated,
        deal_mode=by_itself if seed is None else "seeded",
        seed=seed,
    )
