"""The runner with a backend that does what a test says: absences beside finished sets, failures, two at once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.storage import tournaments as store
from arena.storage.db import Database
from arena.tournaments.progress import GamePlayed, SetOrder, SetPlayed, State
from arena.tournaments.runner import Absent, Runner
from arena.tournaments.spec import parse
from tests.tournaments.support import ROUND_ROBIN


class Scripted:
    """Plays a set by asking ``decide``; remembers what it was asked for, and how many at once."""

    def __init__(self, decide: Callable[[SetOrder], SetPlayed | Absent]) -> None:
        self._decide = decide
        self.asked: list[tuple[str, int]] = []
        self.now = self.most = 0

    async def play(self, order: SetOrder) -> SetPlayed | Absent:
        self.asked.append(order.key)
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        return self._decide(order)


def won(order: SetOrder) -> SetPlayed:
    """The first one wins both games."""
    game = GamePlayed(f"m{order.key}", (1, 2), (1, 0), ("NORMAL", "NORMAL"))
    return SetPlayed((game, game))


def started(database: Database, text: str) -> store.Tournament:
    with database.write() as connection:
        spec = parse(text, Path("cup.toml"))
        event_id = store.create(connection, spec, text)
        field = [store.Participant(one.name, seed=seed) for seed, one in enumerate(spec.entry.bots, 1)]
        store.begin(connection, event_id, field)
        return store.get(connection, spec.slug)


def run(database: Database, event: store.Tournament, backend: Scripted, concurrency: int = 4) -> State:
    return asyncio.run(Runner(database, event, backend, concurrency=concurrency).run())


def test_absence_ends_the_other_sets_of_its_pairing(database: Database) -> None:
    """Where a set is played and another finds somebody absent at the same moment, the pairing is a walkover, once."""
    event = started(database, ROUND_ROBIN.replace("[[games]]", "sets = 3\n[[games]]", 1))

    def decide(order: SetOrder) -> SetPlayed | Absent:
        return Absent(frozenset({"other"})) if "other" in order.pairing.players and order.number == 0 else won(order)

    state = run(database, event, Scripted(decide), concurrency=18)
    table = {row.name: row for row in state.table()}
    assert table["other"].withdrawn
    assert table["other"].points == 0
    assert [state.main.results[one.id].sets for one in state.main.pairings if "other" not in one.players] == [3, 3, 3]
    assert state.main.open == ()


def test_failure_keeps_what_was_played_and_goes_on(database: Database) -> None:
    """A backend that fails ends the run with its error; run again, only what is missing is played."""
    event = started(database, ROUND_ROBIN)
    asked: list[tuple[str, int]] = []

    def fail_third(order: SetOrder) -> SetPlayed:
        asked.append(order.key)
        if len(asked) == 3:
            raise ArenaError("the disk is full")
        return won(order)

    with pytest.raises(ArenaError, match="disk is full"):
        run(database, event, Scripted(fail_third), concurrency=1)
    second = Scripted(won)
    state = run(database, event, second, concurrency=1)
    assert len(second.asked) == 4
    assert state.played == 6
    with database.read() as connection:
        assert store.get(connection, "cup").state == store.TournamentState.FINISHED


def test_no_more_sets_at_once_than_asked(database: Database) -> None:
    """Concurrency is a bound, and it is used."""
    backend = Scripted(won)
    run(database, started(database, ROUND_ROBIN), backend, concurrency=3)
    assert backend.most == 3
    assert len(backend.asked) == len(set(backend.asked)) == 6


def test_withdrawal_while_it_runs(database: Database) -> None:
    """Who is taken out by another process meanwhile plays no more."""
    event = started(database, re.sub("round-robin", "swiss", ROUND_ROBIN))

    def decide(order: SetOrder) -> SetPlayed:
        if order.pairing.round == 1 and not gone:
            gone.append("other")
            with database.write() as connection:
                store.leave(connection, event.id, "other")
        return won(order)

    gone: list[str] = []
    state = run(database, event, Scripted(decide), concurrency=1)
    assert {pairing.round for pairing in state.main.pairings if "other" in pairing.players} == {1}
