"""Admins' tokens and what they are written down to have done; what admins look for, and sets taken from their workers."""

from __future__ import annotations

import pytest

from arena.errors import Fenced, UserError
from arena.storage import accounts, admins, running, sets, versions
from arena.storage.plans import SetState
from tests.storage.support import World


def test_an_admins_token_is_nobodys_else(world: World) -> None:
    """It speaks for the admin, till a newer one or a revocation; no account's token does, and it is no account's."""
    with world.database.write() as connection:
        _, bots = accounts.register(connection, "ann", "annbot")
        first, second = admins.create_token(connection, "ada"), admins.create_token(connection, "ada")
        assert admins.authenticate(connection, first) is admins.authenticate(connection, bots) is None
        assert accounts.authenticate(connection, second) is None
        ada = admins.authenticate(connection, second)
        assert ada is not None
        assert admins.authenticate(connection, second[:-1]) is None
        assert admins.stands(connection, ada)
        admins.revoke(connection, "ada")
        assert not admins.stands(connection, ada)
        with pytest.raises(UserError, match="has no token"):
            admins.revoke(connection, "ada")


def test_deeds_are_told_newest_first_and_by_pages(world: World) -> None:
    """Each with its admin, after the token was revoked too."""
    with world.database.write() as connection:
        ada = admins.authenticate(connection, admins.create_token(connection, "ada"))
        assert ada is not None
        for number in range(3):
            admins.note(connection, ada, "retire", f"bot@{number}")
        admins.revoke(connection, "ada")
        page = admins.deeds(connection, 2)
        assert [(deed.admin, deed.subject) for deed in page] == [("ada", "bot@2"), ("ada", "bot@1")]
        assert [deed.subject for deed in admins.deeds(connection, 2, page[-1].id)] == ["bot@0"]


def test_a_set_is_taken_from_its_worker(world: World) -> None:
    """Called off, it is queued again or given up, its worker is fenced, and what is over stays as it is."""
    again, given_up, over = world.queue(), world.queue(), world.queue()
    world.play(over)
    plans = [world.begun(set_id) for set_id in (again, given_up)]
    with world.database.write() as connection:
        told = {one.set_id: one for one in running.sets_in_flight(connection, 10)}
        assert told.keys() == {again, given_up}
        assert told[again].worker == "worker-0"
        assert sorted(told[again].bots) == sorted(world.house)
        assert sets.call_off(connection, again, again=True) is SetState.QUEUED
        assert sets.call_off(connection, given_up, again=False) is SetState.VOID
        assert [(one.set_id, one.worker) for one in running.sets_in_flight(connection, 10)] == [(again, None)]
    assert (world.state(again), world.state(given_up)) == (("QUEUED", 2), ("VOID", 1))
    for plan in plans:
        with pytest.raises(Fenced):
            world.record(plan, 0, (1, 2, 3))
    world.play(again)
    for set_id in (given_up, over, "s_none"):
        with world.database.write() as connection, pytest.raises(UserError):
            sets.call_off(connection, set_id, again=True)


def test_versions_and_tokens_are_found_by_parts(world: World) -> None:
    """Of a bot's or owner's name, however cased, of a prefix, of a label; signs that SQL would take otherwise are signs."""
    world.external("ann_bot")
    world.external("annabel")
    with world.database.write() as connection:

        def found(text: str) -> list[str]:
            return [bot.name for bot, _ in versions.find_versions(connection, text)]

        assert found("ANN") == ["ann_bot", "annabel"]
        assert found("n_b") == ["ann_bot"]
        assert found("bel-own") == ["annabel"]
        assert found("%") == []
        ann = accounts.find_bot(connection, "ann_bot")
        assert ann is not None
        prefix = accounts.check_format(accounts.create_token(connection, ann.account_id, label="My Laptop"))
        for text in (prefix, "lapto"):
            assert [one.prefix for one in accounts.find_tokens(connection, text)] == [prefix]
        assert len(accounts.find_tokens(connection, "ann_bot-owner")) == 2
        assert accounts.revoke_anybodys(connection, prefix) == "ann_bot-owner"
        assert accounts.find_tokens(connection, prefix) == ()
        with pytest.raises(UserError, match="no token"):
            accounts.revoke_anybodys(connection, "nonesuch")
