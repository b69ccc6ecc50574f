"""What RELIABILITY's lines say of workers, each as a history in which exactly that goes wrong."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import select

from arena.host import player
from arena.storage.plans import bots_not_ready
from arena.storage.tables import attempt, game_set, result
from tests.simulation.world import History, Trouble, World, simulate

QUIET = 3
"""A seed with bots that do nothing wrong, one worker, and sets from the first second on."""


def play(trouble: Trouble, seed: int = QUIET) -> History:
    """The history, which must end at rest with everything in order."""
    history = simulate(seed, trouble=trouble)
    assert history.problems == ()
    assert history.matches
    return history


def rows(world: World, statement: Any) -> list[Any]:
    return list(world.database.raw.execute(str(statement.compile(compile_kwargs={"literal_binds": True}))))


def attempts(world: World, outcome: str | None) -> int:
    """How many attempts ended so, or run (None)."""
    return sum(1 for (ended,) in rows(world, select(attempt.c.outcome)) if ended == outcome)


def running(world: World) -> set[tuple[str, int]]:
    """The attempts that run, by match and number."""
    unended = select(attempt.c.match_id, attempt.c.attempt).where(attempt.c.outcome.is_(None))
    return {(match_id, number) for match_id, number in rows(world, unended)}


def playing(world: World) -> bool:
    """Whether a bot from outside is in the middle of a game."""
    return any(bot.games for bot in world.bots)


async def until(condition: Any, within_s: float) -> None:
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110 - the condition is SQL's
            await asyncio.sleep(0.05)


def gateways_die(world: World, for_s: float) -> None:
    """All at once; they start again after so long."""
    for address, gateway in list(world.gateways.items()):
        gateway.process.kill()
        world.loop.call_later(for_s, world.start_gateway, address)


def spooled(world: World) -> int:
    return sum(len(spool.results) for spool in world.disk.spools.values())


def test_r78_a_heartbeat_that_fails_is_not_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was wrong with it: a worker whose lease has lapsed takes doorbells and plays nothing."""
    beats = 0
    right = player.overdue_sets

    def wrong_at_first(connection: Any, limit: int) -> Any:
        nonlocal beats
        beats += 1
        if beats <= 2:
            raise RuntimeError("dictionary changed size during iteration")
        return right(connection, limit)

    async def trouble(world: World) -> None:
        await until(lambda: beats > 2, 60)

    monkeypatch.setattr(player, "overdue_sets", wrong_at_first)
    play(trouble)
    assert beats > 3


def test_r70_a_result_waits_on_the_disk_for_the_database() -> None:
    """A match that ends while the database is away counts once it is back, before the lease has run out."""

    async def trouble(world: World) -> None:
        await until(lambda: attempts(world, None), 5)
        world.database.down = True
        await until(lambda: spooled(world), 20)
        await asyncio.sleep(2)
        world.database.down = False
        await until(lambda: not spooled(world), 5)
        assert attempts(world, "FINISHED")
        assert not attempts(world, "VOID")

    play(trouble)


def test_r70_past_the_lease_the_match_is_void() -> None:
    """A database that stays away for longer than the lease costs the match, which is played again."""

    async def trouble(world: World) -> None:
        await until(lambda: attempts(world, None), 5)
        world.database.down = True
        await asyncio.sleep(35)
        assert not attempts(world, "VOID")
        world.database.down = False
        await until(lambda: attempts(world, "VOID"), 20)

    play(trouble)


def test_r70_a_worker_that_dies_meanwhile_leaves_its_result() -> None:
    """A spooled result outlives its process: the next one of that name writes it while the claim stands."""

    async def trouble(world: World) -> None:
        await until(lambda: attempts(world, None), 5)
        world.database.down = True
        await until(lambda: spooled(world), 20)
        world.workers["worker-0"].process.kill()
        world.database.down = False
        assert not attempts(world, "FINISHED")
        world.start_worker("worker-0")
        await until(lambda: attempts(world, "FINISHED"), 0.2)
        assert not spooled(world)

    play(trouble)


def test_r72_a_zombie_writes_nothing() -> None:
    """A worker whose writes arrive after its lease has lapsed is fenced; its sets are played once more, by its next life."""

    async def trouble(world: World) -> None:
        await until(lambda: attempts(world, None), 5)
        world.workers["worker-0"].store.stalled_until = world.loop.time() + 25
        await until(lambda: attempts(world, "VOID"), 24)
        assert not attempts(world, "FINISHED")
        await asyncio.sleep(10)

    play(trouble)


def test_r82_a_full_disk_admits_nothing_new() -> None:
    """Without room sets stay in the queue and are not claimed; with room they are played."""

    async def trouble(world: World) -> None:
        world.disk.full = True
        await asyncio.sleep(20)
        states = {state for (state,) in rows(world, select(game_set.c.state))}
        assert states == {"QUEUED"}
        world.disk.full = False
        await until(lambda: attempts(world, "FINISHED"), 60)

    play(trouble)


def test_r82_what_runs_may_finish_on_a_full_disk() -> None:
    """The reserve is for the results of what was begun before."""

    async def trouble(world: World) -> None:
        await until(lambda: attempts(world, None), 5)
        world.disk.full = True
        await until(lambda: attempts(world, "FINISHED"), 30)
        world.disk.full = False

    play(trouble)


def test_r88_a_silent_consumer_is_noticed_within_a_minute() -> None:
    """Doorbells that the queue takes and never delivers: workers find the sets in SQL."""

    async def trouble(world: World) -> None:
        world.queue.deaf = True
        await until(lambda: rows(world, select(game_set.c.id)), 5)
        await until(lambda: attempts(world, None), 60)
        await until(lambda: attempts(world, "FINISHED"), 60)

    play(trouble)


def strays(world: World) -> set[tuple[str, int]]:
    """Sets, with their attempt, that are claimed and that no worker plays."""
    claimed = select(game_set.c.id, game_set.c.attempt).where(game_set.c.state == "CLAIMED")
    played = {set_id for worker in world.workers.values() for set_id in worker.player._playing}
    return {(set_id, number) for set_id, number in rows(world, claimed) if set_id not in played}


@pytest.mark.parametrize("seed", range(4))
def test_r78_a_claim_whose_answer_got_lost_is_given_back(seed: int) -> None:
    """Commits whose answers never arrive leave nothing that nobody plays: the next heartbeats see to it."""

    async def trouble(world: World) -> None:
        world.database.acks_lost = 0.5
        await until(lambda: strays(world), 120)
        lost = strays(world)
        world.database.acks_lost = 0.0
        await until(lambda: not lost & strays(world), 12)

    assert simulate(seed, trouble=trouble).problems == ()


def test_r69_the_clock_stands_still_while_there_is_no_gateway() -> None:
    """Both gateways die for eight seconds, more than any decision may take: nobody is charged, games go on."""

    async def trouble(world: World) -> None:
        await until(lambda: attempts(world, None), 5)
        await asyncio.sleep(1)
        gateways_die(world, 8)
        await asyncio.sleep(20)
        assert attempts(world, "FINISHED")
        assert not attempts(world, "VOID")

    play(trouble)


def test_r69_a_game_whose_gateway_stays_away_is_void_after_a_minute() -> None:
    """Till then it may go on wherever its bot turns up; then it is over, and played again."""

    async def trouble(world: World) -> None:
        await until(lambda: playing(world), 5)
        for gateway in world.gateways.values():
            gateway.process.kill()
        held = running(world)
        await asyncio.sleep(55)
        held &= running(world)
        assert held
        await until(lambda: not held & running(world), 12)
        assert {*rows(world, select(attempt.c.match_id, attempt.c.attempt).where(attempt.c.outcome == "VOID"))} >= held
        for address in list(world.gateways):
            world.start_gateway(address)

    play(trouble)


@pytest.mark.parametrize("seed", [0, 2, 5, 6, 11, 14])
def test_r69_nobody_is_called_unready_whom_the_arena_could_not_ask(seed: int) -> None:
    """Both gateways die while sets are offered: offers wait for bots that come back, and who left for good may be named."""
    unready: set[str] = set()

    async def trouble(world: World) -> None:
        await until(lambda: attempts(world, None), 8)
        await asyncio.sleep(1)
        gateways_die(world, 4.5)
        await asyncio.sleep(40)
        for (reason,) in rows(world, select(game_set.c.reason).where(game_set.c.state == "VOID")):
            unready.update(bots_not_ready(reason))

    play(trouble, seed)
    assert {bot for bot in unready if not bot.startswith("vanishing")} == set()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("stall_s", [4.7, 9.0])
def test_r69_nobody_is_charged_for_what_was_on_its_way(seed: int, stall_s: float) -> None:
    """Relays stand still, for less or for more than it takes to give one up, while all bots change their gateways."""

    async def trouble(world: World) -> None:
        await until(lambda: attempts(world, None), 8)
        for _ in range(3):
            for gateway in world.gateways.values():
                for stream in gateway.workers:
                    stream.stalled_until = world.loop.time() + stall_s
            await asyncio.sleep(0.5)
            for bot in world.bots:
                bot.move()
            await asyncio.sleep(6)

    assert simulate(seed, trouble=trouble).problems == ()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("empty", [False, True])
def test_r67_a_bot_that_moves_while_redis_is_away_is_not_charged(seed: int, empty: bool) -> None:
    """In the middle of a game, and whatever Redis knows once it is back: what it knew before, which is old, or nothing."""

    async def trouble(world: World) -> None:
        await until(lambda: playing(world), 15)
        world.registry.down = world.queue.down = True
        if empty:
            world.registry.clear()
        for bot in world.bots:
            bot.move()
        await asyncio.sleep(8)
        world.registry.down = world.queue.down = False
        await asyncio.sleep(20)

    assert simulate(seed, trouble=trouble).problems == ()


@pytest.mark.parametrize("seed", range(10))
def test_r67_68_a_redis_that_lost_everything_unnoticed_costs_no_bot_time(seed: int) -> None:
    """Bots have moved, and before their worker looks for them the registry is empty: what it does not know it may have lost."""

    async def trouble(world: World) -> None:
        await until(lambda: attempts(world, None), 8)
        await asyncio.sleep(0.5)
        for gateway in world.gateways.values():
            for stream in gateway.workers:
                stream.stalled_until = world.loop.time() + 1.0
        for bot in world.bots:
            bot.move()
        await asyncio.sleep(0.9)
        world.registry.clear()
        await asyncio.sleep(10)

    assert simulate(seed, trouble=trouble).problems == ()


def test_r67_who_came_back_where_it_was_needs_no_redis() -> None:
    """A bot that left in the middle of a game and is back at its gateway ends it while nobody can say where any bot is."""

    async def trouble(world: World) -> None:
        world.gateways["gw1"].process.kill()
        await until(lambda: playing(world), 15)
        assert not any(bot.matches for bot in world.bots)
        world.registry.down = True
        for bot in world.bots:
            bot.move(away_s=1.0)  # long enough to be looked for
        await until(lambda: any(bot.matches for bot in world.bots), 30)
        world.registry.down = False

    play(trouble)


@pytest.mark.parametrize("shown_s", [0.3, 1.0])
def test_r10_a_bot_that_shows_itself_elsewhere_for_a_moment_has_left_all_the_same(shown_s: float) -> None:
    """Else who is about to lose would turn up at another gateway and be gone before anybody asks it there: void."""
    faults: list[str] = []

    async def trouble(world: World) -> None:
        await until(lambda: attempts(world, None), 8)
        await asyncio.sleep(1)
        loser = next(bot for bot in world.bots if bot.games)
        everywhere = world.gateways
        here = next(a for a, g in everywhere.items() if any(s.identity.bot == loser.name for s in g.core.sessions))
        world.gateways = {address: gateway for address, gateway in everywhere.items() if address != here}
        loser.move(0.05)
        await asyncio.sleep(0.1 + shown_s)
        world.gateways = everywhere
        loser.move(90.0)
        await asyncio.sleep(80)
        faults.extend(str(reasons) for (reasons,) in rows(world, select(result.c.reasons)))
        assert not attempts(world, "VOID")

    play(trouble, seed=8)
    assert any("DISCONNECT" in reasons for reasons in faults)


@pytest.mark.parametrize("lost", [False, True])
def test_r67_a_bot_that_leaves_while_redis_is_away_has_left_all_the_same(lost: bool) -> None:
    """Its time stands still until the registry can tell that it is nowhere, and then runs on where it left."""
    faults: list[str] = []

    async def trouble(world: World) -> None:
        await until(lambda: attempts(world, None), 8)
        await asyncio.sleep(1)
        world.registry.down = True
        if lost:
            world.registry.clear()
        next(bot for bot in world.bots if bot.games).move(90.0)
        await asyncio.sleep(4)
        world.registry.down = False
        await asyncio.sleep(75)
        faults.extend(str(reasons) for (reasons,) in rows(world, select(result.c.reasons)))
        assert not attempts(world, "VOID")

    play(trouble, seed=8)
    assert any("DISCONNECT" in reasons for reasons in faults)


@pytest.mark.parametrize("seed", [10, 13, 14])
def test_r10_an_absence_of_which_nobody_could_know_is_not_charged(seed: int) -> None:
    """A relay is silent while a bot goes to another gateway, where nobody asks it, and comes back."""

    async def trouble(world: World) -> None:
        await until(lambda: attempts(world, None), 8)
        await asyncio.sleep(1)
        everywhere = world.gateways
        for bot in world.bots:
            homes = (a for a, g in everywhere.items() if any(s.identity.bot == bot.name for s in g.core.sessions))
            if not bot.games or (home := next(homes, None)) is None:
                continue
            for stream in everywhere[home].workers:
                stream.stalled_until = world.loop.time() + 3.4
            world.gateways = {address: gateway for address, gateway in everywhere.items() if address != home}
            bot.move(0.05)
            await asyncio.sleep(2.8)
            world.gateways = {home: everywhere[home]}
            bot.move(0.05)
            await asyncio.sleep(5)
            world.gateways = everywhere

    play(trouble, seed)
