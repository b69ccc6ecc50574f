"""Who comes into an event on an arena: join codes, eligibility, organisers, seeds, late entries; what is hidden is hidden."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, select, update

from arena.errors import QuotaExceeded, UserError
from arena.ladder.desk import OnlineBot
from arena.storage import accounts, queries
from arena.storage import matches as stored_matches
from arena.storage import tournaments as store
from arena.storage.accounts import Principal, authenticate, bot_of
from arena.storage.db import Database
from arena.storage.plans import NewSeat
from arena.storage.sets import create_set
from arena.storage.tables import game_set, outbox, rating
from arena.tournaments import entry
from arena.tournaments.formats.event import Pairing
from arena.tournaments.progress import GamePlayed, SetOrder, SetPlayed, Step
from arena.tournaments.remote import call, open_ladders
from arena.tournaments.spec import parse
from tests.ladder.test_scheduler import Desk, connect, scheduler_of, seats_of
from tests.storage.support import World, behind
from tests.tournaments.support import ROUND_ROBIN

JOINED = re.sub(r"bots = .*", "join_code = true", ROUND_ROBIN)


def create(database: Database, text: str) -> store.Tournament:
    """An open event."""
    with database.write() as connection:
        spec = parse(text, Path("cup.toml"))
        store.create(connection, spec, text)
        return store.get(connection, "cup")


def author(database: Database, name: str, *bots: str) -> Principal:
    """An account with bots, each of which has connected once."""
    with database.write() as connection:
        first, token = accounts.register(connection, name, bots[0])
        made = [first, *(accounts.create_bot(connection, first.account_id, bot) for bot in bots[1:])]
        for bot in made:
            accounts.ensure_version(connection, bot.id, "1")
        principal = authenticate(connection, token)
    assert principal is not None
    return principal


def join(database: Database, code: str, who: Principal, bot: str, team: str = "") -> None:
    with database.write() as connection:
        entry.join(connection, store.by_join_code(connection, code), bot_of(connection, who, bot), team)


def draw(database: Database) -> list[str]:
    with database.write() as connection:
        return [one.name for one in entry.draw(connection, store.get(connection, "cup"))]


def test_join_code_opens_the_event_and_is_replaced(world: World) -> None:
    """A code lets bots in however it is written; a new one shuts the old one; codes are kept as hashes."""
    event = create(world.database, JOINED)
    ann = author(world.database, "ann", "a1")
    with world.database.write() as connection:
        old = store.new_join_code(connection, event.id)
    join(world.database, f"{old[:6]}-{old[6:]}".lower(), ann, "a1")
    with world.database.write() as connection:
        new = store.new_join_code(connection, event.id)
    bob = author(world.database, "bob", "b1")
    with pytest.raises(UserError, match="opens no tournament"):
        join(world.database, old, bob, "b1")
    join(world.database, new, bob, "b1")
    with pytest.raises(UserError, match="in the field of cup already"):
        join(world.database, new, bob, "b1")
    assert sorted(draw(world.database)) == ["a1", "b1"]


def test_a_bot_of_somebody_else_cannot_be_entered(world: World) -> None:
    """A token enters the bots of its own account alone."""
    event = create(world.database, JOINED)
    author(world.database, "ann", "a1")
    bob = author(world.database, "bob", "b1")
    with world.database.write() as connection:
        code = store.new_join_code(connection, event.id)
    with pytest.raises(UserError, match="has no bot 'a1'"):
        join(world.database, code, bob, "a1")


@pytest.mark.parametrize(
    ("rule", "playing"),
    [
        ("owner", {"a2", "b1", "c1"}),
        ("team", {"b1", "c1"}),
        ("bot", {"a1", "a2", "b1", "c1"}),
    ],
)
def test_one_bot_counts_for_each_owner_or_team(world: World, rule: str, playing: set[str]) -> None:
    """Of two bots of one owner, or one team, the one that joined last plays."""
    event = create(world.database, JOINED + f'[eligibility]\none_per = "{rule}"\n')
    with world.database.write() as connection:
        code = store.new_join_code(connection, event.id)
    ann = author(world.database, "ann", "a1", "a2")
    join(world.database, code, ann, "a1", "red")
    join(world.database, code, ann, "a2", "red")
    join(world.database, code, author(world.database, "bob", "b1"), "b1", "red")
    join(world.database, code, author(world.database, "cid", "c1"), "c1", "blue")
    assert set(draw(world.database)) == playing


def test_team_events_want_a_team_and_listed_accounts_only(world: World) -> None:
    """Without a team, or with an account that is not on the list, nobody gets in."""
    event = create(world.database, JOINED + '[eligibility]\none_per = "team"\naccounts = ["Ann"]\n')
    with world.database.write() as connection:
        code = store.new_join_code(connection, event.id)
    ann, bob = author(world.database, "ann", "a1"), author(world.database, "bob", "b1")
    with pytest.raises(UserError, match="which team"):
        join(world.database, code, ann, "a1")
    with pytest.raises(UserError, match="not among those"):
        join(world.database, code, bob, "b1", "red")
    join(world.database, code, ann, "a1", "red")


def test_two_that_join_at_once_do_not_both_get_the_last_place(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An owner's quota holds for a bot that joins while the one before is not yet written."""
    monkeypatch.setattr(entry, "MOST_OF_ONE_OWNER", 1)
    event = create(world.database, JOINED)
    with world.database.write() as connection:
        code = store.new_join_code(connection, event.id)
    ann = author(world.database, "ann", "a1", "a2")
    with pytest.raises(QuotaExceeded, match="take one out first"):
        behind(
            world.database,
            lambda connection: entry.join(connection, event, bot_of(connection, ann, "a1")),
            lambda: join(world.database, code, ann, "a2"),
        )


def test_who_joins_while_the_field_is_drawn_is_late(world: World) -> None:
    """An event that is starting lets nobody into the field that has been drawn: who comes then hears that it has begun."""
    event = create(world.database, JOINED)
    with world.database.write() as connection:
        code = store.new_join_code(connection, event.id)
    join(world.database, code, author(world.database, "ann", "a1"), "a1")
    join(world.database, code, author(world.database, "bob", "b1"), "b1")
    cid = author(world.database, "cid", "c1")

    def start(connection: Connection) -> None:
        store.begin(connection, event.id, entry.draw(connection, event))

    with pytest.raises(UserError, match="once it has begun"):
        behind(world.database, start, lambda: join(world.database, code, cid, "c1"))


def test_who_leaves_while_the_event_starts_has_withdrawn(world: World) -> None:
    """Somebody who was drawn stays in the field, as withdrawn, though they left before that was written."""
    event = create(world.database, JOINED)
    with world.database.write() as connection:
        code = store.new_join_code(connection, event.id)
    ann = author(world.database, "ann", "a1")
    join(world.database, code, ann, "a1")
    join(world.database, code, author(world.database, "bob", "b1"), "b1")

    def start(connection: Connection) -> None:
        store.begin(connection, event.id, entry.draw(connection, event))

    def leave() -> None:
        with world.database.write() as connection:
            entry.leave(connection, event, bot_of(connection, ann, "a1"))

    behind(world.database, start, leave)
    with world.database.read() as connection:
        field = store.participants(connection, event.id)
    assert {(one.name, one.seed is not None, one.withdrawn) for one in field} == {
        ("a1", True, True),
        ("b1", True, False),
    }


def test_versions_are_pinned_at_the_start(world: World) -> None:
    """The newest version when the event starts plays; a newer one later is not called to the table."""
    event = create(world.database, JOINED)
    with world.database.write() as connection:
        code = store.new_join_code(connection, event.id)
    ann, bob = author(world.database, "ann", "a1"), author(world.database, "bob", "b1")
    join(world.database, code, ann, "a1")
    join(world.database, code, bob, "b1")
    with world.database.write() as connection:
        found = accounts.find_bot(connection, "a1")
        assert found is not None
        second = accounts.ensure_version(connection, found.id, "2")
        field = entry.draw(connection, event)
        store.begin(connection, event.id, field)
        third = accounts.ensure_version(connection, found.id, "3")
    mine = next(one for one in field if one.name == "a1")
    other = next(one for one in field if one.name == "b1")
    assert mine.version_id == second.id

    def online(version: int, free: int = 1) -> list[OnlineBot]:
        assert mine.bot_id is not None
        assert other.bot_id is not None
        assert other.version_id is not None
        return [OnlineBot(mine.bot_id, version, "p", free), OnlineBot(other.bot_id, other.version_id, "p", 1)]

    table = [mine, other]
    assert call(table, online(third.id), {}, "balloon-pop", 2).missing == {"a1"}
    assert len(call(table, online(second.id), {}, "balloon-pop", 2).seats) == 2
    busy = call(table, online(second.id), {(second.id, "p"): 1}, "balloon-pop", 2)
    assert (busy.seats, busy.missing, busy.busy) == ((), frozenset(), True)


def test_seeds_come_from_the_ladder(world: World) -> None:
    """A field from a ladder is its table's best, house bots only if they may play; others are seeded by its ratings."""
    text = ROUND_ROBIN.replace('game = "balloon-pop"', 'game = "balloon-challenge"\nplayers = 3')
    text = re.sub(r"bots = .*", 'ladder = "balloon-challenge-3p"\ntop = 3', text.replace("round-robin", "tables"))
    with world.database.write() as connection:
        for points, seat in zip((900.0, 1200.0, 1100.0), world.house.values(), strict=True):
            connection.execute(update(rating).where(rating.c.version_id == seat.version_id).values(rating=points))
    create(world.database, text)
    assert draw(world.database) == ["greedy", "heuristic", "random"]
    spec = parse(text.replace("[field]", "[eligibility]\nhouse = false\n[field]"), Path("cup.toml"))
    strict = store.Tournament(0, spec, "", store.TournamentState.OPEN, "", {}, 0, None, None)
    with world.database.write() as connection, pytest.raises(UserError, match="0 bots may play"):
        entry.draw(connection, strict)


def test_organisers_of_one_event(world: World) -> None:
    """The role holds for that event alone, and is looked up each time."""
    event = create(world.database, ROUND_ROBIN)
    ann, bob = author(world.database, "ann", "a1"), author(world.database, "bob", "b1")
    with world.database.write() as connection:
        other = store.create(connection, parse('slug = "other"\n' + ROUND_ROBIN, Path("other.toml")), ROUND_ROBIN)
        store.add_organiser(connection, event.id, "Ann")
        store.require_organiser(connection, event.id, ann.account_id)
        for tournament_id, who in ((other, ann), (event.id, bob)):
            with pytest.raises(UserError, match="no organiser"):
                store.require_organiser(connection, tournament_id, who.account_id)
        assert store.organisers(connection, event.id) == ("ann",)
        with pytest.raises(UserError, match="no account"):
            store.add_organiser(connection, event.id, "nobody")


def test_running_events_keep_their_bots_from_ladders(world: World) -> None:
    """Bots in the field of a running event are busy from its start to its end, those who withdrew are not."""
    event = create(world.database, JOINED)
    with world.database.write() as connection:
        code = store.new_join_code(connection, event.id)
    for name, bot in (("ann", "a1"), ("bob", "b1"), ("cid", "c1")):
        join(world.database, code, author(world.database, name, bot), bot)
    with world.database.write() as connection:
        assert store.busy_bots(connection) == frozenset()
        field = entry.draw(connection, event)
        store.begin(connection, event.id, field)
        assert store.busy_bots(connection) == {one.bot_id for one in field}
        store.leave(connection, event.id, "c1")
        assert store.busy_bots(connection) == {one.bot_id for one in field if one.name != "c1"}
        store.finish(connection, event.id, "done")
        assert store.busy_bots(connection) == frozenset()


def test_scheduler_seats_no_bot_of_a_running_event(world: World) -> None:
    """A connected bot in a running event gets no set of a ladder; once the event is over it does."""
    desk = Desk()
    mine = connect(world, desk, "a1", credit=4)
    scheduler = scheduler_of(world, desk, house_sets=0)
    event = create(world.database, ROUND_ROBIN)
    with world.database.write() as connection:
        field = [entry.listed(connection, "a1"), entry.listed(connection, "random")]
        playing = tuple(replace(one, seed=seed) for seed, one in enumerate(field, 1))
        store.begin(connection, event.id, playing)
    assert scheduler.round().made == 0
    with world.database.write() as connection:
        store.finish(connection, event.id, "done")
    assert scheduler.round().made > 0
    assert any((mine.version_id, "0") in seats_of(world, set_id) for set_id in desk.rung)


def test_what_is_written_once_stays(world: World) -> None:
    """A pairing, its result and each of its sets are there once, whatever is written again; an event starts once."""
    event = create(world.database, ROUND_ROBIN)
    with world.database.write() as connection:
        field = entry.draw(connection, create_listed(connection, event))
        store.begin(connection, event.id, field)
        pairing = Pairing("r1.1", 1, ("random", "greedy"))
        step = Step(pairings=(("main", pairing),))
        store.write(connection, event.id, step)
        store.write(connection, event.id, step)
        order = SetOrder(pairing, 0, 0)
        game = GamePlayed("m_1", (1, 2), (5, 3), ("NORMAL", "NORMAL"), "ab", 7)
        assert store.record_set(connection, event.id, order, SetPlayed((game, game)))
        again = SetPlayed((GamePlayed("m_2", (2, 1), (3, 5), ("NORMAL", "NORMAL")),) * 2)
        assert not store.record_set(connection, event.id, order, again)
    with world.database.read() as connection:
        state = store.load(connection, store.get(connection, "cup"))
    assert state.main.pairings == (pairing,)
    assert state.sets == {"r1.1": {0: SetPlayed((game, game))}}
    with world.database.write() as connection, pytest.raises(Exception, match="started already"):
        store.begin(connection, event.id, field)


def create_listed(connection: object, event: store.Tournament) -> store.Tournament:
    """The event without the bot that no arena has."""
    spec = parse(ROUND_ROBIN.replace(', { name = "other", program = "random" }', ""), Path("cup.toml"))
    return store.Tournament(event.id, spec, "", event.state, "", event.audiences, 0, None, None)


def test_hidden_sets_leave_no_trace_until_they_are_published(world: World) -> None:
    """Neither lists, pages nor events tell of a hidden set's games; publishing the stage shows them."""
    event = create(world.database, ROUND_ROBIN + '[publication]\nresults = "hidden"\n')
    pairing = Pairing("r1.1", 1, ("random", "greedy", "heuristic"))
    with world.database.write() as connection:
        store.write(connection, event.id, Step(pairings=(("main", pairing),)))
        seats: list[NewSeat] = list(world.house.values())
        set_id = create_set(
            connection, world.ladder_id, seats, budget_ms=1000, house_only=True, rated=False, listed=False
        )
        store.name_set(connection, event.id, SetOrder(pairing, 0, 0), set_id)
    plan = world.begun(set_id)
    for index in range(3):
        world.record(plan, index, (1, 2, 3))
    world.finish(set_id)
    with world.database.read() as connection:
        assert stored_matches.recent_matches(connection)[0] == ()
        assert connection.execute(select(outbox)).first() is None
        with pytest.raises(UserError, match="no finished match"):
            stored_matches.match_page(connection, plan.games[0].match_id)
    with world.database.write() as connection:
        store.publish(connection, event.id, "final", "public")
        assert not connection.execute(select(game_set.c.listed).where(game_set.c.id == set_id)).scalar_one()
        store.publish(connection, event.id, "main", "public")
    with world.database.read() as connection:
        assert len(stored_matches.recent_matches(connection)[0]) == 3


def test_event_ladders_are_closed(world: World) -> None:
    """An event has ladders of its own on which the scheduler makes no sets; opened again they are the same."""
    event = create(world.database, ROUND_ROBIN)
    with world.database.write() as connection:
        first = open_ladders(connection, event)
        assert open_ladders(connection, event) == first
        made = queries.get_ladder(connection, "event-cup-1-balloon-pop")
    assert (made.id, made.active, made.bots) == (first[0], False, 0)


def test_late_entry_rules(world: World) -> None:
    """A Swiss takes late bots from the next round on, a round robin none."""
    text = JOINED.replace("round-robin", "swiss")
    event = create(world.database, text)
    with world.database.write() as connection:
        code = store.new_join_code(connection, event.id)
    for name, bot in (("ann", "a1"), ("bob", "b1")):
        join(world.database, code, author(world.database, name, bot), bot)
    with world.database.write() as connection:
        store.begin(connection, event.id, entry.draw(connection, event))
        store.write(connection, event.id, Step(pairings=(("main", Pairing("r1.1", 1, ("a1", "b1"))),)))
    join(world.database, code, author(world.database, "cid", "c1"), "c1")
    with world.database.read() as connection:
        late = {one.name: one for one in store.entrants(connection, event.id)}["c1"]
    assert (late.seed, late.enters) == (3, 2)
    with world.database.write() as connection:
        refused = store.Tournament(
            event.id, parse(JOINED, Path("cup.toml")), "", store.TournamentState.RUNNING, "", {}, 0, None, None
        )
        with pytest.raises(UserError, match="nobody can enter a round-robin"):
            entry.enter_late(connection, refused, store.Participant("x"))
