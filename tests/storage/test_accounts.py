"""Accounts, bots, versions, tokens."""

from __future__ import annotations

import string

import pytest
from sqlalchemy import select

from arena.errors import UserError
from arena.storage import accounts
from arena.storage.accounts import NameTaken
from arena.storage.db import Database
from arena.storage.tables import token


def test_a_token_speaks_for_its_account_and_bot(database: Database) -> None:
    """What register hands out authenticates as the account and the bot that it made."""
    with database.write() as connection:
        bot, text = accounts.register(connection, "ann", "Ann-Bot")
    with database.read() as connection:
        principal = accounts.authenticate(connection, text)
        assert principal is not None
        assert (principal.account, principal.house, principal.bot_id) == ("ann", False, bot.id)
        assert accounts.bot_of(connection, principal) == bot == accounts.bot_of(connection, principal, "ann-bot")


def test_the_secret_is_not_kept(database: Database) -> None:
    """No column of the token's row holds more of the token than its prefix."""
    with database.write() as connection:
        _, text = accounts.register(connection, "ann", "annbot")
        secret = text.split("_")[2][:32]
        assert all(secret not in str(value) for value in connection.execute(select(token)).one())


def test_every_single_typing_error_is_found_offline(database: Database) -> None:
    """A token with one character changed is refused by its checksum, without repeating what was typed."""
    with database.write() as connection:
        _, text = accounts.register(connection, "ann", "annbot")
    accounts.check_format(text)
    for place in range(len("arena_"), len(text)):
        if text[place] == "_":
            continue
        wrong = next(letter for letter in string.ascii_letters if letter != text[place])
        with pytest.raises(UserError) as caught:
            accounts.check_format(text[:place] + wrong + text[place + 1 :])
        assert text[15:47] not in str(caught.value)


def test_a_well_formed_token_of_nobody_is_nobody(database: Database) -> None:
    """Neither a token of another arena nor one with a known prefix and another secret authenticates."""
    with database.write() as connection:
        _, text = accounts.register(connection, "ann", "annbot")
        body = text[:15] + "0" * 32
        forged = body + accounts._checksum(body)
        accounts.check_format(forged)
        assert accounts.authenticate(connection, forged) is None
        assert accounts.authenticate(connection, accounts.new_token()[1]) is None
        assert accounts.authenticate(connection, "") is None


def test_revoking_ends_one_token_at_once(database: Database) -> None:
    """A revoked token is nobody's, is listed as revoked, and the account's other token works on."""
    with database.write() as connection:
        bot, first = accounts.register(connection, "ann", "annbot")
        second = accounts.create_token(connection, bot.account_id, label="laptop")
        principal = accounts.authenticate(connection, first)
        assert principal is not None
        accounts.revoke_token(connection, bot.account_id, principal.prefix)
        accounts.revoke_token(connection, bot.account_id, principal.prefix)
        assert accounts.authenticate(connection, first) is None
        assert accounts.revoked_tokens(connection, [principal.token_id, 999]) == {principal.token_id}
        assert accounts.authenticate(connection, second) is not None


def test_nobody_revokes_or_plays_with_what_is_not_theirs(database: Database) -> None:
    """Another account's token prefix and bot are as if they did not exist."""
    with database.write() as connection:
        _, anns = accounts.register(connection, "ann", "annbot")
        bob, bobs = accounts.register(connection, "bob", "bobbot")
        with pytest.raises(UserError, match="no token"):
            accounts.revoke_token(connection, bob.account_id, accounts.check_format(anns))
        principal = accounts.authenticate(connection, bobs)
        assert principal is not None
        with pytest.raises(UserError, match="no bot 'annbot'"):
            accounts.bot_of(connection, principal, "annbot")


@pytest.mark.parametrize("name", ["x", "-ab", "_ab", "a b", "ab\n", "a" * 41, "", "żółw", "a/b"])
def test_bad_names_are_refused_with_the_rule(database: Database, name: str) -> None:
    """Names that a URL, a log or a reader could misread do not exist, for accounts and bots."""
    with database.write() as connection:
        with pytest.raises(UserError, match="2 to 40 letters"):
            accounts.register(connection, name, "fine")
        with pytest.raises(UserError, match="2 to 40 letters"):
            accounts.register(connection, "fine", name)


@pytest.mark.parametrize(
    ("owner", "bot"), [("ANN", "other"), ("bob", "AnnBot"), ("House", "other"), ("bob", "Random"), ("bob", "greedy")]
)
def test_taken_and_reserved_names(database: Database, owner: str, bot: str) -> None:
    """A name is taken however its letters are cased; the house's names are never free; a refusal leaves no trace."""
    with database.write() as connection:
        accounts.register(connection, "ann", "annbot")
    with pytest.raises(NameTaken), database.write() as connection:
        accounts.register(connection, owner, bot)
    if owner == "bob":
        with database.write() as connection:
            accounts.register(connection, "bob", "bobbot")


def test_versions_are_made_once(database: Database) -> None:
    """The same label is the same version; an empty one is "1"; a bad one is refused."""
    with database.write() as connection:
        bot, _ = accounts.register(connection, "ann", "annbot")
        first = accounts.ensure_version(connection, bot.id)
        assert first.label == "1"
        assert first.claimed
        assert accounts.ensure_version(connection, bot.id, "1").id == first.id
        assert accounts.ensure_version(connection, bot.id, "2.0-rc+1").id != first.id
        with pytest.raises(UserError, match="a version has"):
            accounts.ensure_version(connection, bot.id, "v 2")


def test_house_bots_are_the_houses(database: Database) -> None:
    """House bots belong to the account `house`, are not claims, and are made once."""
    with database.write() as connection:
        version = accounts.ensure_house_bot(connection, "random")
        assert accounts.ensure_house_bot(connection, "random").id == version.id
        bot = accounts.find_bot(connection, "RANDOM")
        assert bot is not None
        assert (bot.owner, bot.house, version.claimed) == ("house", True, False)
