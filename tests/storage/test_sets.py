"""Claims, attempts, results: who may write what, and what happens when something breaks."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from arena.errors import ArenaError, Fenced
from arena.host.blackbox import BlackBox
from arena.host.worker import blame_crash
from arena.ladder.settlement import check
from arena.match.spec import VoidReason
from arena.storage import matches as stored_matches
from arena.storage import outbox, queries, sets
from arena.storage.ledger import entries
from arena.storage.plans import Recorded, SetState, seating
from arena.storage.sweeper import sweep_claims, sweep_queue
from arena.storage.tables import attempt, game_set, quarantine, result, worker
from arena.storage.workers import heartbeat, register_worker, retire_worker
from tests.storage.support import SPEC, World, behind, result_of


def test_a_set_seats_everybody_everywhere_once(world: World) -> None:
    """The n games of a plan seat each position on each seat exactly once."""
    plan = world.begun(world.queue())
    assert plan.ladder == SPEC
    assert [game.order for game in plan.games] == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    for seat in range(3):
        assert {seating(3, index)[seat] for index in range(3)} == {0, 1, 2}


def test_a_plan_names_its_seats(world: World) -> None:
    """A worker learns from the plan who is the house's and which process of a remote bot plays."""
    seat = world.external("annbot")
    plan = world.begun(world.queue([world.house["greedy"], seat, world.house["random"]]))
    assert [(one.bot, one.owner, one.kind, one.instance) for one in plan.seats] == [
        ("greedy", "house", "house", ""),
        ("annbot", "annbot-owner", "remote", "0"),
        ("random", "house", "house", ""),
    ]


def test_r71_a_second_delivery_claims_nothing(world: World) -> None:
    """The doorbell that rings twice finds the set taken, for the same worker and for another, and after the end."""
    set_id = world.queue()
    world.begun(set_id)
    with world.database.write() as connection:
        other = register_worker(connection, "worker-1")
        assert sets.claim(connection, set_id, world.lease) is None
        assert sets.claim(connection, set_id, other) is None
        assert sets.claim(connection, "s_unknown", other) is None


def test_a_lapsed_worker_claims_nothing(world: World) -> None:
    """Without a lease a worker is told to stop, and its heartbeat cannot bring the lease back."""
    set_id = world.queue()
    world.lapse()
    with world.database.write() as connection:
        with pytest.raises(Fenced):
            sets.claim(connection, set_id, world.lease)
        with pytest.raises(Fenced):
            heartbeat(connection, world.lease)


def test_a_restarted_worker_fences_its_former_self(world: World) -> None:
    """A process of the same name takes over: the older one is fenced, and its sets are swept at once."""
    plan = world.begun(world.queue())
    with world.database.write() as connection:
        again = register_worker(connection, "worker-0")
        assert (again.id, again.epoch) == (world.lease.id, world.lease.epoch + 1)
        with pytest.raises(Fenced):
            heartbeat(connection, world.lease)
        assert sweep_claims(connection) == (plan.set_id,)
    assert world.state(plan.set_id) == (SetState.QUEUED, 2)


def test_r66_72_a_dead_workers_set_is_played_by_another_and_the_zombie_is_fenced(world: World) -> None:
    """After the lease lapses finished games of an own-deal set stand, the others are played again by another worker,
    and nothing that the first worker still writes gets in."""
    plan = world.begun(world.queue())
    world.record(plan, 0, (1, 2, 3))
    world.lapse()
    with world.database.write() as connection:
        assert sweep_claims(connection) == (plan.set_id,)
        assert sweep_claims(connection) == ()
        other = register_worker(connection, "worker-1")
    for write in (
        lambda: world.record(plan, 1, (2, 1, 3)),
        lambda: world.finish(plan.set_id),
        lambda: world.begun(plan.set_id),
    ):
        with pytest.raises(Fenced):
            write()
    again = world.begun(plan.set_id, other)
    assert [(game.match_id, game.attempt) for game in again.games] == [(game.match_id, 2) for game in plan.games[1:]]
    for write in (lambda: world.record(plan, 1, (2, 1, 3)), lambda: world.finish(plan.set_id)):
        with pytest.raises(Fenced):
            write()
    for index in range(2):
        world.record(again, index, (3, 2, 1), other)
    world.finish(plan.set_id, other)
    with world.database.read() as connection:
        assert check(connection) == ()
        outcomes = connection.execute(
            select(attempt.c.attempt, attempt.c.outcome, func.count()).group_by(attempt.c.attempt, attempt.c.outcome)
        ).all()
        assert sorted(outcomes) == [(1, "FINISHED", 1), (1, "VOID", 2), (2, "FINISHED", 2)]


def test_a_retired_worker_leaves_its_sets_to_others(world: World) -> None:
    """Retiring needs no waiting for the lease."""
    set_id = world.queue()
    world.begun(set_id)
    with world.database.write() as connection:
        retire_worker(connection, world.lease)
        assert sweep_claims(connection) == (set_id,)


def test_r78_a_claim_has_a_deadline_even_with_a_live_worker(world: World) -> None:
    """A set that lasts longer than its budget is taken from a worker that hangs but beats."""
    set_id = world.queue()
    world.begun(set_id)
    with world.database.write() as connection:
        assert sweep_claims(connection) == ()
        connection.execute(game_set.update().values(claimed_at=game_set.c.claimed_at - 60_001))
        assert sweep_claims(connection) == (set_id,)


def test_a_claim_is_not_judged_by_an_older_row_of_its_worker(world: World) -> None:
    """A set that a worker claimed since its new start stays its own where the sweeper still sees the lease of before."""
    set_id = world.queue()
    with world.database.write() as connection:
        newer = register_worker(connection, "worker-0")
    world.begun(set_id, newer)
    with world.database.write() as connection:
        connection.execute(update(worker).values(epoch=world.lease.epoch, lease_until=0))  # what that sweeper sees
        assert sweep_claims(connection) == ()
    assert world.state(set_id) == (SetState.CLAIMED, 1)


def test_r68_78_a_queued_set_rings_again_and_ends(world: World) -> None:
    """Flushed doorbells ring again after a while; what nobody plays at all is given up."""
    set_id = world.queue()
    with world.database.write() as connection:
        assert sweep_queue(connection) == ()
        connection.execute(game_set.update().values(rung_at=game_set.c.rung_at - 15_001))
        assert sweep_queue(connection) == (set_id,)
        assert sweep_queue(connection) == ()
        connection.execute(game_set.update().values(queued_at=game_set.c.queued_at - 600_001))
        assert sweep_queue(connection) == ()
    assert world.state(set_id) == (SetState.VOID, 1)
    with world.database.read() as connection:
        assert check(connection) == ()


def test_r73_a_result_counts_once(world: World) -> None:
    """The same result again is nothing, even from a worker that has lost its claim since; another one of the same
    match goes to quarantine and changes nothing."""
    plan = world.begun(world.queue())
    assert world.record(plan, 0, (1, 2, 3)) == Recorded.NEW
    assert world.record(plan, 0, (1, 2, 3)) == Recorded.SAME
    assert world.record(plan, 0, (3, 2, 1)) == Recorded.QUARANTINED
    world.lapse()
    with world.database.write() as connection:
        sweep_claims(connection)
    assert world.record(plan, 0, (1, 2, 3)) == Recorded.SAME
    with world.database.read() as connection:
        assert connection.execute(select(result.c.places)).scalars().all() == [[1, 2, 3]]
        assert connection.execute(select(quarantine.c.payload)).scalar_one()["places"] == [3, 2, 1]


@pytest.mark.parametrize(("places", "answer"), [((1, 2, 3), Recorded.SAME), ((3, 2, 1), Recorded.QUARANTINED)])
def test_a_result_is_known_to_whoever_waited_for_it(world: World, places: tuple[int, ...], answer: Recorded) -> None:
    """A worker that repeats a result while the transaction that brings it is open hears what it would hear later."""
    plan = world.begun(world.queue())
    first = result_of(plan, 0, (1, 2, 3))
    assert answer == behind(
        world.database,
        lambda connection: sets.record_result(connection, world.lease, first),
        lambda: world.record(plan, 0, places),
    )


def test_a_result_needs_an_attempt_that_began(world: World) -> None:
    """Without a commitment written before, no result is taken; nor one for another attempt or number of seats."""
    set_id = world.queue()
    with world.database.write() as connection:
        plan = sets.claim(connection, set_id, world.lease)
    assert plan is not None
    with pytest.raises(Fenced):
        world.record(plan, 0, (1, 2, 3))
    with pytest.raises(ValueError, match="3 places"):
        world.record(plan, 0, (1, 2))


def test_a_set_is_finished_only_with_all_results(world: World) -> None:
    """Settling too early changes nothing."""
    plan = world.begun(world.queue())
    world.record(plan, 0, (1, 2, 3))
    with pytest.raises(ArenaError, match="no result yet"):
        world.finish(plan.set_id)
    assert world.state(plan.set_id) == (SetState.CLAIMED, 1)


def test_a_spoilt_shared_deal_is_dealt_again_as_a_whole(world: World) -> None:
    """Of a shared-deal set the finished games fall too: their seats have seen the deal."""
    plan = world.begun(world.queue(deal_mode="shared"))
    world.record(plan, 0, (1, 2, 3))
    with world.database.write() as connection:
        assert sets.void_attempts(connection, world.lease, plan.set_id, VoidReason.INFRA_VOID) == SetState.QUEUED
    again = world.begun(plan.set_id)
    assert [(game.index, game.attempt) for game in again.games] == [(0, 2), (1, 2), (2, 2)]
    for index in range(3):
        world.record(again, index, (1, 2, 3))
    world.finish(plan.set_id)
    with world.database.read() as connection:
        assert check(connection) == ()


def test_a_shared_deal_is_seen_by_nobody_before_its_end(world: World) -> None:
    """Lists, pages and events hold nothing of a shared-deal set that is not final, and everything after it."""
    plan = world.begun(world.queue(deal_mode="shared"))
    for index in range(3):
        world.record(plan, index, (1, 2, 3))
    with world.database.read() as connection:
        assert stored_matches.recent_matches(connection) == ((), "")
        with pytest.raises(ArenaError):
            stored_matches.match_page(connection, plan.games[0].match_id)
        assert _topics(world) == []
    world.finish(plan.set_id)
    with world.database.read() as connection:
        assert len(stored_matches.recent_matches(connection)[0]) == 3
        assert stored_matches.match_page(connection, plan.games[0].match_id).attempts[0].secret == (b"s" * 32).hex()
    assert _topics(world) == ["set.finished"]


def test_r77_an_engine_that_fails_three_times_ends_the_set_and_nobody_loses(world: World) -> None:
    """ERRORED after the third engine error; ratings are as before, and the ledger says why."""
    set_id = world.queue()
    states = []
    for _ in range(3):
        world.begun(set_id)
        with world.database.write() as connection:
            states.append(sets.void_attempts(connection, world.lease, set_id, VoidReason.ENGINE_ERROR))
    assert states == [SetState.QUEUED, SetState.QUEUED, SetState.ERRORED]
    with world.database.write() as connection:
        assert sets.claim(connection, set_id, world.lease) is None
        assert check(connection) == ()
        last = list(entries(connection, world.ladder_id))[-1].entry
        assert (last.set_id, last.reason) == (set_id, "ENGINE_ERROR")  # type: ignore[union-attr]
        assert all(row.rating == 1000 and row.games == 0 for row in queries.leaderboard(connection, SPEC.slug))


def test_r76_a_set_whose_rules_crash_three_workers_is_errored(world: World, tmp_path: Path) -> None:
    """Counted by the next life of each, before or after the sweeper took the set, and whoever plays it by then is fenced; the
    set beside it is void, and counts nothing. What is over already stays."""
    set_id, other = world.queue(), world.queue()
    box = BlackBox(tmp_path, "w")
    box.open()
    box.close()
    (tmp_path / "w.trace").write_text("Fatal Python error: Segmentation fault")

    def crashed(spoilt: int) -> SetState:
        (tmp_path / "w.page").write_bytes(f"{set_id} {spoilt}".encode().ljust(64, b"\0"))
        blame_crash(world.database, box)
        return world.state(set_id)[0]

    world.begun(set_id)
    world.begun(other)
    assert crashed(spoilt=1) == SetState.QUEUED
    assert world.state(set_id) == (SetState.QUEUED, 2)
    world.begun(set_id)
    with world.database.write() as connection:
        for one in (set_id, other):
            sets.void_attempts(connection, world.lease, one, VoidReason.INFRA_VOID)
    assert crashed(spoilt=2) == SetState.QUEUED
    assert world.state(set_id) == (SetState.QUEUED, 3)
    world.begun(set_id)
    assert crashed(spoilt=2) == SetState.ERRORED
    with world.database.write() as connection, pytest.raises(Fenced):
        sets.void_attempts(connection, world.lease, set_id, VoidReason.INFRA_VOID)
    assert crashed(spoilt=3) == SetState.ERRORED
    assert world.state(other) == (SetState.QUEUED, 2)
    with world.database.write() as connection:
        assert check(connection) == ()


def test_a_set_that_keeps_killing_workers_is_given_up(world: World) -> None:
    """Poison does not circulate for ever."""
    set_id = world.queue()
    for _ in range(sets.MAX_ATTEMPTS):
        world.begun(set_id)
        with world.database.write() as connection:
            sets.void_attempts(connection, world.lease, set_id, VoidReason.INFRA_VOID)
    assert world.state(set_id) == (SetState.VOID, sets.MAX_ATTEMPTS)


def test_a_released_set_is_over_and_unrated(world: World) -> None:
    """Nobody was ready: VOID, not queued again, one void entry in the ledger."""
    set_id = world.queue()
    world.begun(set_id)
    with world.database.write() as connection:
        sets.release_set(connection, world.lease, set_id, "not ready: annbot")
        assert sets.claim(connection, set_id, world.lease) is None
        assert check(connection) == ()
    assert world.state(set_id) == (SetState.VOID, 1)


def _topics(world: World) -> list[str]:
    with world.database.read() as connection:
        return [event.topic for event in outbox.pending(connection)]


def test_events_are_posted_with_what_they_tell(world: World) -> None:
    """An own-deal set tells of each match as it ends; an event is gone once discarded."""
    plan = world.begun(world.queue())
    world.record(plan, 0, (1, 2, 3))
    assert _topics(world) == ["match.finished"]
    with world.database.write() as connection:
        outbox.discard(connection, outbox.pending(connection))
    assert _topics(world) == []
