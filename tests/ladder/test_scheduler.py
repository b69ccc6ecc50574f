"""The scheduler, round by round, with real SQL; what is connected and the doorbell are the test's."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from sqlalchemy import select, update

from arena.errors import Fenced, Unavailable
from arena.ladder import scheduler as scheduler_module
from arena.ladder.desk import OnlineBot
from arena.ladder.entry import open_ladders
from arena.ladder.pairing import pair
from arena.ladder.scheduler import Scheduler
from arena.ladder.settlement import check
from arena.match.spec import VoidReason
from arena.settings import LadderSpec, SchedulerSettings
from arena.storage import accounts, queries, sets
from arena.storage.outbox import Event
from arena.storage.plans import Recorded, SetState
from arena.storage.tables import game_set, leader, set_seat, worker
from arena.storage.workers import WorkerLease, register_worker
from tests.storage.support import SPEC, World


class Desk:
    """Sessions, doorbell and event bus in one, each of which can be broken."""

    def __init__(self) -> None:
        self.bots: list[OnlineBot] = []
        self.rung: deque[str] = deque()
        self.events: list[Event] = []
        self.broken = False

    def online(self) -> Sequence[OnlineBot]:
        return self.bots

    def ring(self, set_id: str) -> None:
        self._check()
        self.rung.append(set_id)

    def publish(self, event: Event) -> None:
        self._check()
        self.events.append(event)

    def _check(self) -> None:
        if self.broken:
            raise Unavailable("Redis is away")


def scheduler_of(world: World, desk: Desk, **settings: int) -> Scheduler:
    return Scheduler(world.database, SchedulerSettings(**settings), desk, desk.ring, desk.publish)


def connect(
    world: World, desk: Desk, name: str, *, credit: int = 1, label: str = "1", **games: tuple[int, ...]
) -> OnlineBot:
    """Registers a bot if it is new, and connects a process of it."""
    with world.database.write() as connection:
        bot = accounts.find_bot(connection, name) or accounts.register(connection, f"{name}-owner", name)[0]
        version = accounts.ensure_version(connection, bot.id, label)
    online = OnlineBot(bot.id, version.id, "0", credit, {key.replace("_", "-"): value for key, value in games.items()})
    desk.bots.append(online)
    return online


def seats_of(world: World, set_id: str) -> list[tuple[int, str]]:
    with world.database.read() as connection:
        rows = connection.execute(
            select(set_seat.c.version_id, set_seat.c.instance)
            .where(set_seat.c.set_id == set_id)
            .order_by(set_seat.c.position)
        )
        return [(row.version_id, row.instance) for row in rows]


def test_the_house_plays_alone_within_its_bound(world: World) -> None:
    """With nobody connected house bots play each other, two sets at a time and not more, until they are settled."""
    desk = Desk()
    scheduler = scheduler_of(world, desk)
    assert scheduler.round().made == 2
    assert scheduler.round().made == 0
    world.play(desk.rung.popleft())
    assert scheduler.round().made == 1
    rounds = 0
    while desk.rung:
        world.play(desk.rung.popleft())
        scheduler.round()
        rounds += 1
    assert 40 < rounds < 200
    with world.database.read() as connection:
        assert all(row.standard_error < 20 for row in queries.leaderboard(connection, SPEC.slug))


def test_a_newcomer_is_on_the_table_and_at_one_within_a_round(world: World) -> None:
    """A bot that connects is entered on its ladder and seated at once, with own deals and its own process named."""
    desk = Desk()
    bot = connect(world, desk, "annbot", credit=2)
    scheduler_of(world, desk, house_sets=0).round()
    assert len(desk.rung) == 2
    for set_id in desk.rung:
        assert (bot.version_id, "0") in seats_of(world, set_id)
    with world.database.read() as connection:
        assert set(connection.execute(select(game_set.c.deal_mode)).scalars()) == {"own"}
        assert "annbot" in [row.bot for row in queries.leaderboard(connection, SPEC.slug)]


def test_a_seat_is_never_given_twice(world: World) -> None:
    """The sets in flight of a process never exceed its credit, and a seat is free again when its set is over."""
    desk = Desk()
    bot = connect(world, desk, "annbot", credit=3)
    desk.bots.append(replace(bot, instance="1", credit=1))
    scheduler = scheduler_of(world, desk, house_sets=0)
    for _ in range(3):
        scheduler.round()
    taken = Counter(seat for set_id in desk.rung for seat in seats_of(world, set_id))
    assert (taken[bot.version_id, "0"], taken[bot.version_id, "1"]) == (3, 1)
    world.play(desk.rung[0])
    assert scheduler.round().made == 1


def test_bots_play_only_what_they_said(world: World) -> None:
    """A bot of another game, or of other numbers of players, is neither entered nor seated."""
    desk = Desk()
    connect(world, desk, "other-game", pop=())
    connect(world, desk, "for-two", balloon_challenge=(2,))
    connect(world, desk, "for-three", balloon_challenge=(2, 3))
    scheduler_of(world, desk, house_sets=0).round()
    with world.database.read() as connection:
        assert {row.bot for row in queries.leaderboard(connection, SPEC.slug) if not row.house} == {"for-three"}
    assert len(desk.rung) == 1


def test_r79_the_backlog_is_bounded(world: World) -> None:
    """However many seats are free, no more sets wait for a worker than the bound says."""
    desk = Desk()
    for number in range(20):
        connect(world, desk, f"bot{number}", credit=10)
    scheduler = scheduler_of(world, desk, backlog=5)
    assert scheduler.round().made == 5
    assert scheduler.round().made == 0
    world.begun(desk.rung[0])
    assert scheduler.round().made == 1


def test_ladders_take_turns(world: World) -> None:
    """A bot with seats for two sets gets one on each of two ladders."""
    with world.database.write() as connection:
        open_ladders(connection, [SPEC, LadderSpec("other", "balloon-challenge", 2, {})])
    desk = Desk()
    connect(world, desk, "annbot", credit=2)
    scheduler_of(world, desk, house_sets=0).round()
    assert sorted(len(seats_of(world, set_id)) for set_id in desk.rung) == [2, 3]


def test_r30_a_pair_meets_only_so_often_a_day(world: World) -> None:
    """Two external bots share at most the allowed number of rated sets; with the house both play on. A scheduler that
    starts afresh knows what the one before it has seen."""
    desk = Desk()
    ann, bob = (connect(world, desk, name).version_id for name in ("annbot", "bobbot"))
    together = 0
    for _ in range(30):
        scheduler_of(world, desk, house_sets=0, pair_sets_a_day=3).round()
        with world.database.write() as connection:
            connection.execute(update(leader).values(lease_until=0))
        while desk.rung:
            set_id = desk.rung.popleft()
            together += {ann, bob} <= {version for version, _ in seats_of(world, set_id)}
            world.play(set_id)
    assert together == 3


def test_an_unrated_set_in_flight_is_no_meeting(world: World) -> None:
    """A scheduler that starts afresh counts the rated sets that are being played, not those of challenges and trials."""
    ann, bob = world.external("annbot"), world.external("bobbot")
    for rated, third in ((False, "greedy"), (False, "random"), (True, "random")):
        world.queue([ann, bob, world.house[third]], rated=rated)
    scheduler = scheduler_of(world, Desk(), house_sets=0, pair_sets_a_day=2)
    scheduler.round()
    [book] = scheduler._books.values()
    versions = ann.version_id, bob.version_id
    assert book.meetings[pair(*versions)] == 1
    assert book.closed(versions, 0) == frozenset()


def test_r66_a_dead_workers_set_is_swept_and_rung_in_one_round(world: World) -> None:
    """The round that notices the lapse rings again, so that the set is played on at once."""
    desk = Desk()
    connect(world, desk, "annbot")
    scheduler = scheduler_of(world, desk, house_sets=0)
    scheduler.round()
    plan = world.begun(desk.rung.popleft())
    world.lapse()
    done = scheduler.round()
    assert (done.swept, list(desk.rung)) == (1, [plan.set_id])
    assert world.state(plan.set_id) == (SetState.QUEUED, 2)
    assert [event.topic for event in desk.events] == ["set.void"]
    assert desk.events[0].payload["match_ids"] == sorted(game.match_id for game in plan.games)


def test_r67_doorbells_and_events_survive_redis(world: World) -> None:
    """While Redis is away sets are made and wait; when it is back they ring and what happened is published."""
    desk = Desk()
    connect(world, desk, "annbot")
    scheduler = scheduler_of(world, desk, house_sets=0)
    desk.broken = True
    done = scheduler.round()
    assert (done.made, done.rung, done.unrung) == (1, 0, 1)
    with world.database.write() as connection:
        set_id = connection.execute(select(game_set.c.id)).scalar_one()
    world.play(set_id)
    scheduler.round()
    assert desk.events == []
    desk.broken = False
    with world.database.write() as connection:
        connection.execute(update(game_set).values(rung_at=0))
    scheduler.round()
    scheduler.round()
    assert len(desk.rung) >= 1
    assert [event.topic for event in desk.events] == ["match.finished"] * 3 + ["set.finished"]


def test_one_scheduler_leads(world: World) -> None:
    """The second does nothing until the first resigns or its lease lapses; a deposed leader writes nothing."""
    desk = Desk()
    first, second = (scheduler_of(world, desk) for _ in range(2))
    assert first.round().led
    assert second.round() == replace(first.round(), led=False)
    first.close()
    assert second.round().led
    with world.database.write() as connection:
        connection.execute(update(leader).values(lease_until=0))
    assert first.round().led
    assert not second.round().led
    stale = first._leadership
    assert stale is not None
    with world.database.write() as connection:
        connection.execute(update(leader).values(lease_until=0))
    assert second.round().led
    with pytest.raises(Fenced):
        first._sweep(stale)


@pytest.mark.parametrize("seed", range(4))
def test_faults_of_every_kind_leave_a_sound_ladder(world: World, seed: int) -> None:
    """Workers die in the middle of sets, doorbells ring twice, zombies write, engines fail, results come twice, the
    leader changes: in the end nothing is stuck and every invariant of the ledger holds."""
    rng = Random(seed)
    desk = Desk()
    for number in range(3):
        connect(world, desk, f"bot{number}", credit=2)
    schedulers = [scheduler_of(world, desk), scheduler_of(world, desk)]
    workers = [world.lease]
    recorded: Counter[str] = Counter()
    for _ in range(25):
        rng.choice(schedulers).round()
        if rng.random() < 0.2:
            with world.database.write() as connection:
                connection.execute(update(leader).values(lease_until=0))
        rings = list(desk.rung)
        desk.rung.clear()
        for set_id in rings + rng.sample(rings, len(rings) // 2):
            _play_badly(world, set_id, workers, rng, recorded)
    _heal(world, desk, schedulers)
    with world.database.read() as connection:
        assert check(connection) == ()
        states = Counter(connection.execute(select(game_set.c.state)).scalars())
        assert states[SetState.FINISHED] > 50
        assert states[SetState.QUEUED] + states[SetState.CLAIMED] <= 2  # the house's next sets


def _heal(world: World, desk: Desk, schedulers: list[Scheduler]) -> None:
    """No more faults: whoever was killed is gone, nobody is connected, and one good worker plays what rings."""
    desk.bots.clear()
    with world.database.write() as connection:
        connection.execute(update(worker).values(lease_until=0))
        lease = register_worker(connection, "good")
    for _ in range(60):
        for scheduler in schedulers:
            scheduler.round()
        with world.database.write() as connection:
            connection.execute(update(game_set).values(rung_at=0))
        for set_id in desk.rung:
            if world.state(set_id)[0] == SetState.QUEUED:
                plan = world.begun(set_id, lease)
                for index in range(len(plan.games)):
                    world.record(plan, index, (1, 2, 3), lease)
                world.finish(set_id, lease)
        desk.rung.clear()


def _play_badly(world: World, set_id: str, workers: list[WorkerLease], rng: Random, recorded: Counter[str]) -> None:
    """Plays a set as an unreliable worker would; counts the results that were taken as new."""
    lease = rng.choice(workers[-3:])
    try:
        if world.state(set_id)[0] != SetState.QUEUED:
            with world.database.write() as connection:
                assert sets.claim(connection, set_id, lease) is None
            return
        plan = world.begun(set_id, lease)
        for index in range(len(plan.games)):
            fault = rng.random()
            if fault < 0.05:
                world.lapse(lease)  # and goes on as a zombie, until somebody notices
            elif fault < 0.10:
                return  # killed
            elif fault < 0.15:
                with world.database.write() as connection:
                    sets.void_attempts(connection, lease, set_id, rng.choice(list(VoidReason)))
            elif fault < 0.18:
                with world.database.write() as connection:
                    sets.release_set(connection, lease, set_id, "not ready")
            places = tuple(rng.sample((1, 2, 3), 3))
            recorded[plan.games[index].match_id] += world.record(plan, index, places, lease) == Recorded.NEW
            if rng.random() < 0.2:
                assert world.record(plan, index, places, lease) == Recorded.SAME
        world.finish(set_id, lease)
        if rng.random() < 0.2:
            world.finish(set_id, lease)
    except Fenced:
        with world.database.write() as connection:
            workers.append(register_worker(connection, f"worker-{rng.randrange(1000)}"))


def test_a_new_leader_keeps_the_lead_over_a_long_ledger(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """It renews its lease page by page while it reads, and knows the same meetings as one that read all at once."""
    for _ in range(5):
        world.play(world.queue())
    desk = Desk()
    connect(world, desk, "annbot")
    whole = scheduler_of(world, desk)
    whole.round()
    whole.close()
    monkeypatch.setattr("arena.ladder.scheduler.PAGE", 2)
    renewed = Counter[str]()
    keep = scheduler_module.keep_lead
    monkeypatch.setattr(
        "arena.ladder.scheduler.keep_lead",
        lambda connection, leadership: (renewed.update(["kept"]), keep(connection, leadership)),
    )
    paged = scheduler_of(world, desk)
    paged.round()
    assert renewed["kept"] >= 4
    [ours], [theirs] = paged._books.values(), whole._books.values()
    assert ours.meetings == theirs.meetings
