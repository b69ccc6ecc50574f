"""Trials: the server's own answer to "is my new version better than my old one"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from sqlalchemy import select, update

from arena.errors import QuotaExceeded, UserError
from arena.ladder import trials
from arena.ladder.settlement import check
from arena.ratings.sprt import Hypotheses, Sprt, Verdict
from arena.storage import accounts, sets, versions
from arena.storage.tables import game_set, trial, trial_set
from tests.ladder.test_challenges import account_of
from tests.ladder.test_scheduler import Desk, connect, scheduler_of, seats_of
from tests.storage.support import SPEC, World, behind

HYPOTHESES = Hypotheses(0.0, 60.0)


def ask(world: World, new: str, old: str, *, owner: str = "annbot", **about: int) -> str:
    with world.database.write() as connection:
        return trials.create(connection, account_of(world, owner), SPEC.slug, new, old, HYPOTHESES, **about)


def stand(world: World, trial_id: str) -> trials.Trial:
    with world.database.read() as connection:
        return trials.get(connection, trial_id)


def two_versions(world: World, desk: Desk) -> tuple[int, int]:
    """Version 2 with one seat and version 1 with three, both connected; retired, so that no ladder takes their seats."""
    old = connect(world, desk, "annbot", credit=3)
    new = connect(world, desk, "annbot", label="2", credit=1)
    desk.bots[-1] = replace(new, instance="new")
    scheduler = scheduler_of(world, desk, house_sets=0)
    scheduler.round()
    scheduler.close()
    while desk.rung:
        world.play(desk.rung.popleft())
    with world.database.write() as connection:
        bot = accounts.find_bot(connection, "annbot")
        assert bot is not None
        versions.retire(connection, bot)
    return new.version_id, old.version_id


def wins(index: int) -> tuple[int, ...]:
    """Position 0 is first in every game."""
    return tuple((1, 2, 3)[(seat + index) % 3] for seat in range(3))


def draws(index: int) -> tuple[int, ...]:
    """Every seat wins once."""
    return (1, 2, 3)


def run(world: World, desk: Desk, trial_id: str, places: Callable[[int], tuple[int, ...]], rounds: int = 60) -> None:
    """Rounds until the trial is over, each by a scheduler that remembers nothing."""
    for _ in range(rounds):
        scheduler = scheduler_of(world, desk, house_sets=0)
        scheduler.round()
        scheduler.close()
        while desk.rung:
            world.play(desk.rung.popleft(), places)
        if stand(world, trial_id).over:
            return


def test_a_better_version_is_found_out_across_restarts(world: World) -> None:
    """Seats are the new version at one, the old at the others; nothing is rated; H1 after the least number of sets, and
    the numbers are those of the test of ``arena sprt``, though every round had a scheduler of its own."""
    desk = Desk()
    new, old = two_versions(world, desk)
    trial_id = ask(world, "annbot@2", "annbot@1")
    scheduler = scheduler_of(world, desk, house_sets=0)
    assert scheduler.round().made == 1  # the new version has one seat
    scheduler.close()
    [set_id] = desk.rung
    assert [version for version, _ in seats_of(world, set_id)] == [new, old, old]
    assert [instance for _, instance in seats_of(world, set_id)] == ["new", "0", "0"]
    run(world, desk, trial_id, wins)
    found = stand(world, trial_id)
    same = Sprt(HYPOTHESES, 3)
    for number in range(20):
        same.add(number, Fraction(1))
    assert (found.over, found.reason) == (True, "H1 accepted")
    assert (found.test.verdict, found.test.consumed) == (Verdict.H1, 20)
    assert found.test.llr == same.llr
    with world.database.read() as connection:
        assert check(connection) == ()
        of_trial = select(game_set.c.rated).join(trial_set, trial_set.c.set_id == game_set.c.id)
        assert set(connection.execute(of_trial).scalars()) == {False}


def test_equal_versions_end_with_h0_or_without_a_verdict(world: World) -> None:
    """Nothing but drawn sets: H0. And a trial that may play only five sets says that it has no verdict."""
    desk = Desk()
    two_versions(world, desk)
    trial_id = ask(world, "annbot@2", "annbot@1")
    run(world, desk, trial_id, draws)
    found = stand(world, trial_id)
    assert (found.test.verdict, found.reason) == (Verdict.H0, "H0 accepted")
    short = ask(world, "annbot@2", "annbot@1", most_sets=5)
    run(world, desk, short, wins)
    found = stand(world, short)
    assert (found.over, found.test.consumed) == (True, 5)
    assert found.reason == "no verdict after 5 sets"


def test_sets_count_in_the_order_issued_and_void_ones_are_played_again(world: World) -> None:
    """A set that ends early waits for those before it; one that came to nothing keeps its number."""
    house = world.house
    world.external("annbot")
    trial_id = ask(world, "annbot", "random")
    with world.database.write() as connection:
        [due] = trials.due(connection)
    assert due.numbers == (0, 1, 2, 3)
    seats = [world.external("annbot-2", owner_of="annbot"), house["random"], house["random"]]
    made = [world.queue(seats, rated=False) for _ in range(3)]
    with world.database.write() as connection:
        for number, set_id in enumerate(made):
            trials.attach(connection, trial_id, number, set_id)
    world.play(made[1], wins)
    world.begun(made[2])
    with world.database.write() as connection:
        sets.release_set(connection, world.lease, made[2], "not ready: annbot")
        [due] = trials.due(connection)
    assert stand(world, trial_id).test.consumed == 0
    assert due.numbers == (2, 3, 4)  # two of four are in flight or waiting for the first: that one is in flight
    world.play(made[0], wins)
    with world.database.write() as connection:
        trials.due(connection)
    assert stand(world, trial_id).test.consumed == 2
    for _ in range(trials.TRIES):
        again = world.queue(seats, rated=False)
        with world.database.write() as connection:
            trials.attach(connection, trial_id, 2, again)
        world.begun(again)
        with world.database.write() as connection:
            sets.release_set(connection, world.lease, again, "not ready: annbot")
    with world.database.write() as connection:
        assert trials.due(connection) == ()
    assert "came to nothing, the last one: not ready: annbot" in stand(world, trial_id).reason


def test_trials_and_ladders_share_a_single_seat(world: World) -> None:
    """A bot with one seat goes on climbing while it is in a trial: neither takes all of its sets."""
    desk = Desk()
    connect(world, desk, "annbot")
    scheduler = scheduler_of(world, desk, house_sets=0)
    scheduler.round()
    world.play(desk.rung.popleft())
    ask(world, "annbot", "greedy")
    for _ in range(12):
        scheduler.round()
        while desk.rung:
            world.play(desk.rung.popleft())
    with world.database.read() as connection:
        rated = list(connection.execute(select(game_set.c.rated).order_by(game_set.c.created_at)).scalars())
    assert (rated.count(True), rated.count(False)) == (7, 6)


def test_a_trial_that_needs_several_seats_is_not_starved_by_a_busy_ladder(world: World) -> None:
    """The old version needs two seats at once, which become free one by one: they are kept for the trial in its turn,
    and in the ladders' turn they are theirs."""
    desk = Desk()
    connect(world, desk, "annbot", credit=3)
    new = connect(world, desk, "annbot", label="2", credit=1)
    desk.bots[-1] = replace(new, instance="new")
    scheduler = scheduler_of(world, desk, house_sets=0)
    scheduler.round()
    ask(world, "annbot@2", "annbot@1")
    made = Counter[bool]()
    running = list(desk.rung)
    desk.rung.clear()
    for _ in range(40):
        world.play(running.pop(0))
        scheduler.round()
        with world.database.read() as connection:
            rated = dict(connection.execute(select(game_set.c.id, game_set.c.rated)).all())
        made.update(rated[set_id] for set_id in desk.rung)
        running += desk.rung
        desk.rung.clear()
    assert made[False] >= 6
    assert made[True] >= 6


def test_a_trial_whose_old_version_has_too_few_seats_holds_nobody_up(world: World) -> None:
    """Two seats are needed and there is one: the bots play on their ladder as before."""
    desk = Desk()
    connect(world, desk, "annbot", credit=1)
    new = connect(world, desk, "annbot", label="2", credit=1)
    desk.bots[-1] = replace(new, instance="new")
    scheduler = scheduler_of(world, desk, house_sets=0)
    scheduler.round()
    ask(world, "annbot@2", "annbot@1")
    for _ in range(5):
        world.play(desk.rung.popleft())
        assert scheduler.round().made == 1


def test_who_is_away_is_named_and_a_week_is_the_end(world: World) -> None:
    """Nothing is made while a version is not connected; house bots are always there."""
    desk = Desk()
    bot = world.external("annbot")
    trial_id = ask(world, "annbot", "greedy")
    scheduler = scheduler_of(world, desk, house_sets=0)
    assert scheduler.round().made == 0
    assert stand(world, trial_id).away(()) == ("annbot 1",)
    assert stand(world, trial_id).away({bot.version_id}) == ()
    with world.database.write() as connection:
        connection.execute(update(trial).values(created_at=trial.c.created_at - trials.LONGEST_MS - 1))
    scheduler.round()
    assert stand(world, trial_id).reason == "a week is over"


def test_quotas_and_mistakes_are_told(world: World) -> None:
    """Others' bots, versions that are not there or retired by others, the same twice, too many sets, trials and days."""
    world.external("annbot")
    world.external("bobbot")
    for names, most, message in (
        (("greedy", "bobbot"), 100, "neither .* is a bot of yours"),
        (("annbot", "nobody"), 100, "no bot"),
        (("annbot@7", "greedy"), 100, "not on this ladder"),
        (("annbot", "annbot@1"), 100, "same version"),
        (("annbot", "greedy"), 10_001, "at most 10000"),
    ):
        with pytest.raises(UserError, match=message):
            ask(world, *names, most_sets=most)
    with world.database.write() as connection:
        bob = accounts.find_bot(connection, "bobbot")
        assert bob is not None
        versions.retire(connection, bob)
    with pytest.raises(UserError, match="retired"):
        ask(world, "annbot", "bobbot@1")
    for _ in range(trials.OPEN):
        last = ask(world, "annbot", "greedy", most_sets=9_000)
    with pytest.raises(QuotaExceeded, match="not over"):
        ask(world, "annbot", "greedy")
    with world.database.write() as connection:
        with pytest.raises(UserError, match="no trial"):
            trials.cancel(connection, account_of(world, "bobbot"), last)
        trials.cancel(connection, account_of(world, "annbot"), last)
    assert stand(world, last).reason == "cancelled"
    ask(world, "annbot", "greedy", most_sets=9_000)  # the cancelled one has cost what it played
    with world.database.write() as connection:
        connection.execute(update(trial).values(closed_at=1, consumed=9_000))
    with pytest.raises(QuotaExceeded, match="do not fit"):
        ask(world, "annbot", "greedy", most_sets=9_000)


def test_two_that_ask_at_once_do_not_both_get_the_last_place(world: World) -> None:
    """A quota holds for a trial that is asked for while the one before is not yet written."""
    world.external("annbot")
    about = (account_of(world, "annbot"), SPEC.slug, "annbot", "greedy", HYPOTHESES)
    for _ in range(trials.OPEN - 1):
        ask(world, "annbot", "greedy")
    with pytest.raises(QuotaExceeded, match="not over"):
        behind(
            world.database,
            lambda connection: trials.create(connection, *about),
            lambda: ask(world, "annbot", "greedy"),
        )


@pytest.mark.parametrize(
    "wrong", [(20.0, 0.0), (-1e300, 0.0), (0.0, 1_001.0), (0.0, 20.0, 0.5), (0.0, 20.0, 0.05, 0.0)]
)
def test_hypotheses_that_make_no_sense_are_refused(wrong: tuple[float, ...]) -> None:
    """The wrong way round, further apart than any two bots, or errors that are none: a sentence, whoever asks how."""
    with pytest.raises(UserError):
        trials.hypotheses(*wrong)


def test_hypotheses_are_as_usual_where_nothing_is_said() -> None:
    """0 against 20 Elo with errors of 5 %, each by itself."""
    assert trials.hypotheses() == Hypotheses(0, 20, 0.05, 0.05)
    assert trials.hypotheses(elo1=5) == Hypotheses(0, 5, 0.05, 0.05)
