"""Fills a data folder with matches that were really refereed, for tests and pictures: ``python -m tests.web.seed DIR``.

Bots play at random, and a match that ends against its bots' strengths is now and then dealt again, so that ladders have
an order. Records verify.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import secrets
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, select, update

import engines
from arena import live
from arena.errors import Fenced
from arena.gateway.registry import OnlineSession, SessionRegistry, connect_redis
from arena.keys import load_or_create
from arena.ladder.entry import enter, open_ladders
from arena.ladder.settlement import finish_set
from arena.match.deal import ChanceStream, Deal, DealMode, commitment, rules_hash
from arena.match.record import Record, write_record
from arena.match.referee import Outcome, Referee, Reply
from arena.match.spec import Player, SeatReason, Spec
from arena.metrics import DECISION_TIMES, Snapshots
from arena.settings import LadderSpec, Settings, standard_ladders
from arena.storage import accounts, outbox, sets
from arena.storage.db import Database
from arena.storage.plans import Beginning, GamePlan, MatchResult, NewSeat, SetPlan
from arena.storage.records import RecordStore
from arena.storage.tables import ladder, ledger, now_ms, result
from arena.storage.workers import WorkerLease, heartbeat, register_worker

HOUSE_BOTS: Final = ("random", "greedy", "heuristic")

STRENGTHS: Final[Mapping[str, float]] = {
    "random": 0.25,
    "greedy": 0.6,
    "heuristic": 1.0,
    "montgolfier": 1.6,
    "zephyr": 1.3,
    "helium-9": 0.9,
    "paper-lantern": 0.7,
    "updraft": 0.8,
    "gasbag": 0.4,
    "nimbus-with-a-name-as-long-as-they-come1": 0.5,
}
OWNERS: Final = ("ada", "grace", "edsger", "barbara")
FAULTS: Final = (SeatReason.TIMEOUT, SeatReason.ILLEGAL, SeatReason.DISCONNECT, SeatReason.MALFORMED)


@dataclass(frozen=True, slots=True)
class Played:
    """A match as it was refereed."""

    record: Record
    outcome: Outcome
    events: int


class SeededArena:
    """A data folder with ladders, bots and whatever is played here."""

    def __init__(
        self, data_dir: Path, ladders: Sequence[LadderSpec] = (), seed: int = 1, bots: Sequence[str] = tuple(STRENGTHS)
    ) -> None:
        self.settings = Settings(data_dir=data_dir, ladders=tuple(ladders) or standard_ladders())
        self.database = Database(self.settings.database_url)
        self.records = RecordStore(data_dir)
        self.random = random.Random(seed)
        self.seats: dict[str, NewSeat] = {}
        self._key = load_or_create(data_dir)
        self.database.upgrade()
        with self.database.write() as connection:
            open_ladders(connection, self.settings.ladders)
            self.ladders: dict[str, int] = {
                row.slug: row.id for row in connection.execute(select(ladder.c.slug, ladder.c.id))
            }
            self.lease: WorkerLease = register_worker(connection, "worker-0")
            for name in HOUSE_BOTS:
                version = accounts.ensure_house_bot(connection, name)
                self.seats[name] = NewSeat(version.id, version.bot_id)
        for number, name in enumerate(name for name in bots if name not in HOUSE_BOTS):
            self.add_bot(name, f"{OWNERS[number % len(OWNERS)]}{'' if number < len(OWNERS) else number}")

    def add_bot(self, name: str, owner: str, version: str = "1.0") -> NewSeat:
        """An external bot, on every ladder; made if it is new."""
        with self.database.write() as connection:
            bot = accounts.find_bot(connection, name) or accounts.register(connection, owner, name)[0]
            made = accounts.ensure_version(connection, bot.id, version)
            for ladder_id in self.ladders.values():
                enter(connection, ladder_id, made.id)
        self.seats[name] = NewSeat(made.id, made.bot_id, "0")
        return self.seats[name]

    def queue(
        self, slug: str, names: Sequence[str], deal_mode: DealMode = "own", *, rated: bool = True, listed: bool = True
    ) -> str:
        """A queued set; its id."""
        with self.database.write() as connection:
            return sets.create_set(
                connection,
                self.ladders[slug],
                [self.seats[name] for name in names],
                budget_ms=60_000,
                house_only=False,
                deal_mode=deal_mode,
                rated=rated,
                listed=listed,
            )

    def begin(self, set_id: str) -> tuple[SetPlan, dict[str, bytes]]:
        """Claims a set and writes its commitments down; the plan, and the secret of each match."""
        with self.database.write() as connection:
            self._keep_lease(connection)
            plan = sets.claim(connection, set_id, self.lease)
            assert plan is not None
            common = secrets.token_bytes(32)
            keep = {
                game.match_id: common if plan.deal_mode == "shared" else secrets.token_bytes(32) for game in plan.games
            }
            rules = rules_hash(engines.get(plan.ladder.game))
            beginnings = [
                Beginning(
                    game.match_id,
                    game.attempt,
                    commitment(game.match_id, game.attempt, rules, keep[game.match_id]),
                    keep[game.match_id],
                )
                for game in plan.games
            ]
            sets.begin_attempts(connection, self.lease, set_id, beginnings)
        return plan, keep

    def finish_game(self, plan: SetPlan, game: GamePlan, secret: bytes, fault_rate: float = 0.0) -> Played:
        """Plays one game of a set and records its result."""
        played = self._referee(plan, game, secret, fault_rate)
        ended = MatchResult(
            match_id=game.match_id,
            attempt=game.attempt,
            places=played.outcome.places,
            scores=played.outcome.scores,
            reasons=tuple(map(str, played.outcome.reasons)),
            record_digest=self.records.write(played.record.to_bytes()),
            record_head=played.record.head.hex(),
            events=played.events,
        )
        with self.database.write() as connection:
            sets.record_result(connection, self.lease, ended)
        return played

    def settle(self, set_id: str) -> None:
        """Rates a set all of whose games are over."""
        with self.database.write() as connection:
            finish_set(connection, self.lease, set_id)

    def play(self, slug: str, names: Sequence[str], deal_mode: DealMode = "own", fault_rate: float = 0.0) -> SetPlan:
        """A whole set."""
        plan, keep = self.begin(self.queue(slug, names, deal_mode))
        for game in plan.games:
            self.finish_game(plan, game, keep[game.match_id], fault_rate)
        self.settle(plan.set_id)
        return plan

    def play_any(self, slug: str, fault_rate: float = 0.0) -> SetPlan:
        """A whole set of bots drawn at random."""
        players = next(spec.players for spec in self.settings.ladders if spec.slug == slug)
        return self.play(slug, self.random.sample(sorted(self.seats), players), fault_rate=fault_rate)

    def spread(self, hours: float) -> None:
        """Moves everything back in time, evenly over the last hours, for pictures of a history."""
        with self.database.write() as connection:
            now = connection.execute(select(now_ms())).scalar_one()
            for table, when, keys in (
                (ledger, ledger.c.created_at, (ledger.c.ladder_id, ledger.c.seq)),
                (result, result.c.finished_at, (result.c.match_id,)),
            ):
                rows = connection.execute(select(*keys).order_by(when, *keys)).all()
                for number, row in enumerate(rows):
                    back = int((len(rows) - number) / len(rows) * hours * 3_600_000)
                    condition = [key == value for key, value in zip(keys, row, strict=True)]
                    connection.execute(update(table).where(*condition).values({when.name: now - back}))

    def connect(self, redis_url: str) -> None:
        """Lets external bots look connected, publishes what waits in the outbox, and this process's latencies."""
        publish = live.publisher(redis_url)
        with self.database.read() as connection:
            events = outbox.pending(connection)
        for event in events:
            publish(event)
        with self.database.write() as connection:
            outbox.discard(connection, events)
            self._keep_lease(connection)
        with ThreadPoolExecutor(1) as thread:  # a test may have a loop in its own
            thread.submit(lambda: asyncio.run(self._register(redis_url))).result()

    def _keep_lease(self, connection: Connection) -> None:
        try:
            heartbeat(connection, self.lease)
        except Fenced:
            self.lease = register_worker(connection, "worker-0")

    async def _register(self, redis_url: str) -> None:
        async with connect_redis(redis_url) as redis:
            sessions = [
                OnlineSession(
                    bot_id=seat.bot_id,
                    instance="0",
                    session=f"session-{name}",
                    gateway="gateway-1",
                    relay="",
                    version_id=seat.version_id,
                    bot=name,
                    version="1.0",
                    owner="",
                    credit=8,
                    running=2,
                    games={},
                )
                for name, seat in self.seats.items()
                if seat.instance and name != "gasbag"
            ]
            await SessionRegistry(redis).renew([], sessions)
            await Snapshots.publish(redis, "worker-0")

    def _referee(self, plan: SetPlan, game: GamePlan, secret: bytes, fault_rate: float) -> Played:
        """Plays, and at most a few times again while the result mocks the bots' strengths."""
        names = [plan.seats[position].bot for position in game.order]
        for _ in range(4):
            played = self._once(plan, game, secret, fault_rate)
            winner = played.outcome.places.index(1)
            best = max(STRENGTHS.get(name, 1.0) for name in names)
            if self.random.random() < (STRENGTHS.get(names[winner], 1.0) / best) ** 1.5:
                break
        return played

    def _once(self, plan: SetPlan, game: GamePlan, secret: bytes, fault_rate: float) -> Played:
        rules = rules_hash(engines.get(plan.ladder.game))
        deal = Deal(
            mode=plan.deal_mode,
            commitment=commitment(game.match_id, game.attempt, rules, secret),
            nonces=tuple(secrets.token_bytes(16) for _ in game.order) if plan.deal_mode == "own" else (),
            set_attempt=plan.set_attempt,
            proven=True,
            secret=secret,
        )
        players = tuple(
            Player(seat.bot, seat.version, seat.owner) for seat in (plan.seats[position] for position in game.order)
        )
        spec = Spec(
            match_id=game.match_id,
            set_id=plan.set_id,
            attempt=game.attempt,
            game_index=game.index,
            game=plan.ladder.game,
            config=plan.ladder.config,
            seats=players,
            bot_seeds=tuple(self.random.getrandbits(63) for _ in players),
            time_control=plan.ladder.time_control,
            deal=deal,
            rated=plan.rated,
        )
        referee = Referee(spec, ChanceStream(deal.seed(spec.match_id, spec.attempt, spec.set_id)).pick)
        step, at_ms = referee.start(), 0
        while step.outcome is None:
            replies = {}
            for request in step.requests:
                elapsed_us = int(self.random.lognormvariate(8.3, 1.0))
                at_ms += elapsed_us // 1000
                DECISION_TIMES.add(elapsed_us)
                fault = self.random.choice(FAULTS) if self.random.random() < fault_rate else None
                action = None if fault else self.random.choice(request.legal)
                replies[request.seat] = Reply(action, fault, elapsed_us, elapsed_us // 10)
            step = referee.advance(replies, at_ms)
        return Played(write_record(spec, referee.events, step.outcome, self._key), step.outcome, len(referee.events))


def main() -> None:
    """Fills a folder, and goes on playing if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--sets", type=int, default=150)
    parser.add_argument("--hours", type=float, default=0.0)
    parser.add_argument("--live", metavar="REDIS_URL", help="go on, a set about each second, and tell Redis")
    given = parser.parse_args()
    arena = SeededArena(given.data_dir)
    slugs = sorted(arena.ladders)
    weights = [20 if number % 3 == 0 else number % 2 for number in range(len(slugs))]
    for _ in range(given.sets):
        arena.play_any(arena.random.choices(slugs, weights)[0], fault_rate=0.0006)
    if given.hours:
        arena.spread(given.hours)
    while given.live:
        arena.play_any(arena.random.choices(slugs, weights)[0], fault_rate=0.0006)
        arena.connect(given.live)
        time.sleep(arena.random.expovariate(1.5))


if __name__ == "__main__":
    main()
