"""Challenges on demand: unrated, within quotas, played when everybody has a free seat."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from arena.errors import QuotaExceeded, UserError
from arena.ladder.settlement import check
from arena.storage import accounts, challenges, sets
from arena.storage.tables import challenge, game_set
from tests.ladder.test_scheduler import Desk, connect, scheduler_of, seats_of
from tests.storage.support import SPEC, World, behind


def account_of(world: World, name: str) -> int:
    with world.database.read() as connection:
        bot = accounts.find_bot(connection, name)
    assert bot is not None
    return bot.account_id


def ask(world: World, *names: str, games: int = 6, owner: str = "annbot") -> str:
    with world.database.write() as connection:
        return challenges.create(connection, account_of(world, owner), SPEC.slug, names[0], names[1:], games)


def sets_of(world: World, *, rated: bool) -> list[str]:
    with world.database.read() as connection:
        return list(
            connection.execute(select(game_set.c.id).where(game_set.c.rated == rated).order_by(game_set.c.id)).scalars()
        )


def test_a_challenge_is_played_to_its_end(world: World) -> None:
    """Two sets one after the other, unrated, with the bots that were named; then it is over and has its summary."""
    desk = Desk()
    annbot, bobbot = world.external("annbot"), world.external("bobbot")
    connect(world, desk, "annbot")
    connect(world, desk, "bobbot")
    challenge_id = ask(world, "annbot", "bobbot", "greedy", games=4)
    scheduler = scheduler_of(world, desk, house_sets=0)
    for _ in range(2):
        scheduler.round()
        [set_id] = [one for one in sets_of(world, rated=False) if world.state(one)[0] == "QUEUED"]
        assert [version for version, _ in seats_of(world, set_id)] == [
            annbot.version_id,
            bobbot.version_id,
            world.house["greedy"].version_id,
        ]
        world.play(set_id, lambda index: tuple((1, 2, 3)[(seat + index) % 3] for seat in range(3)))
    scheduler.round()
    assert len(sets_of(world, rated=False)) == 2
    with world.database.read() as connection:
        found = challenges.get(connection, challenge_id)
        assert check(connection) == ()
    assert (found.sets, found.sets_finished, found.over, len(found.matches)) == (2, 2, True, 6)
    assert found.summary.score == 1.0


def test_it_waits_for_who_is_away(world: World) -> None:
    """Nothing is made while an opponent is not connected; a day later it is given up."""
    desk = Desk()
    world.external("annbot")
    world.external("bobbot")
    connect(world, desk, "annbot")
    challenge_id = ask(world, "annbot", "bobbot", "greedy")
    scheduler = scheduler_of(world, desk, house_sets=0)
    scheduler.round()
    assert sets_of(world, rated=False) == []
    with world.database.write() as connection:
        connection.execute(update(challenge).values(created_at=challenge.c.created_at - challenges.DAY_MS))
    scheduler.round()
    with world.database.read() as connection:
        assert challenges.get(connection, challenge_id).over


def test_it_is_given_up_where_sets_are_void_again_and_again(world: World) -> None:
    """An opponent that never answers does not keep the others busy for ever."""
    annbot, bobbot = world.external("annbot"), world.external("bobbot")
    challenge_id = ask(world, "annbot", "bobbot", "greedy")
    for _ in range(challenges.VOID):
        set_id = world.queue([annbot, bobbot, world.house["greedy"]], rated=False)
        with world.database.write() as connection:
            challenges.attach(connection, challenge_id, set_id)
        world.begun(set_id)
        with world.database.write() as connection:
            sets.release_set(connection, world.lease, set_id, "not ready: bobbot")
    with world.database.write() as connection:
        assert challenges.wanted(connection) == ()
        assert challenges.get(connection, challenge_id).over


def test_a_chosen_seed_counts_on_from_set_to_set(world: World) -> None:
    """The k-th set is dealt by the seed plus k, played again or not; its mode says that somebody chose it."""
    desk = Desk()
    world.external("annbot")
    connect(world, desk, "annbot")
    with world.database.write() as connection:
        challenges.create(connection, account_of(world, "annbot"), SPEC.slug, "annbot", ["random", "greedy"], 6, 40)
    scheduler = scheduler_of(world, desk, house_sets=0)
    seeds = []
    for fails in (True, False, False):
        scheduler.round()
        [set_id] = [one for one in sets_of(world, rated=False) if world.state(one)[0] == "QUEUED"]
        if fails:
            world.begun(set_id)
            with world.database.write() as connection:
                sets.release_set(connection, world.lease, set_id, "INFRA_VOID")
        else:
            world.play(set_id)
        with world.database.read() as connection:
            row = connection.execute(select(game_set).where(game_set.c.id == set_id)).one()
        assert row.deal_mode == "seeded"
        seeds.append(row.seed)
    assert seeds == [40, 40, 41]


def test_quotas_and_mistakes_are_told(world: World) -> None:
    """Wrong numbers of opponents, others' bots, versions that are not there, too many games and open challenges."""
    world.external("annbot")
    world.external("bobbot")
    for names, games, message in (
        (("annbot", "greedy"), 6, "name 2 opponents"),
        (("bobbot", "annbot", "greedy"), 6, "not a bot of yours"),
        (("annbot", "greedy", "nobody"), 6, "no bot"),
        (("annbot", "greedy", "bobbot@9"), 6, "not on this ladder"),
        (("annbot", "greedy", "greedy"), 6, "sits once"),
        (("annbot", "greedy", "bobbot@1"), 201, "1 to 200"),
    ):
        with pytest.raises(UserError, match=message):
            ask(world, *names, games=games)
    for _ in range(challenges.OPEN):
        ask(world, "annbot", "greedy", "bobbot", games=200)
    with pytest.raises(QuotaExceeded, match="not over"):
        ask(world, "annbot", "greedy", "bobbot")
    with world.database.write() as connection:
        [newest, *_] = challenges.of_account(connection, account_of(world, "annbot"))
        with pytest.raises(UserError, match="no challenge"):
            challenges.cancel(connection, account_of(world, "bobbot"), newest.id)
        challenges.cancel(connection, account_of(world, "annbot"), newest.id)
        assert challenges.get(connection, newest.id).over
        connection.execute(update(challenge).values(closed_at=1))
    for _ in range(2):
        ask(world, "annbot", "greedy", "bobbot", games=180)
    with pytest.raises(QuotaExceeded, match="do not fit"):
        ask(world, "annbot", "greedy", "bobbot", games=200)


def test_two_that_ask_at_once_do_not_both_get_the_last_place(world: World) -> None:
    """A quota holds for a challenge that is asked for while the one before is not yet written."""
    world.external("annbot")
    about = (account_of(world, "annbot"), SPEC.slug, "annbot", ["random", "greedy"], 6)
    for _ in range(challenges.OPEN - 1):
        ask(world, "annbot", "random", "greedy")
    with pytest.raises(QuotaExceeded, match="not over"):
        behind(
            world.database,
            lambda connection: challenges.create(connection, *about),
            lambda: ask(world, "annbot", "random", "greedy"),
        )
