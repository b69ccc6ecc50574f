"""Accounts, bots, immutable versions and tokens.

A token is ``arena_<prefix>_<secret><checksum>``: the prefix names it in lists, the checksum finds typing errors without
asking the arena (:func:`check_format`). The arena keeps its SHA-256 alone.
"""

from __future__ import annotations

import hmac
import re
import secrets
import string
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, Table, func, insert, or_, select, update

from arena.errors import QuotaExceeded, UserError
from arena.storage.db import insert_unless_there
from arena.storage.tables import account, bot, bot_version, now_ms, token
from bots.house import catalogue

HOUSE: Final = "house"
"""The account that owns the house bots."""

_ALPHABET: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
_PREFIX_LENGTH: Final = 8
_SECRET_LENGTH: Final = 32  # 190 bits
_CHECKSUM_LENGTH: Final = 6  # base 62 digits of a CRC-32
_TOKEN: Final = re.compile(r"arena_([0-9A-Za-z]{8})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})")
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{1,39}")
LABEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}")


class NameTaken(UserError):
    """Somebody has that name already."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who a token speaks for. ``bot_id`` is the bot that the token was made for, if it was made for one."""

    account_id: int
    account: str
    house: bool
    token_id: int
    prefix: str
    bot_id: int | None


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot and whose it is."""

    id: int
    name: str
    account_id: int
    owner: str
    house: bool


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token as it is listed; the arena does not have the token itself."""

    prefix: str
    label: str
    owner: str
    account_id: int
    created_at: int


@dataclass(frozen=True, slots=True)
class Version:
    """One immutable version of a bot. ``claimed``: the author's word; the arena has not seen the program.

    ``seen_at``: when it was last connected, to within minutes. ``retired``: it plays nothing rated and is on no table.
    """

    id: int
    bot_id: int
    label: str
    claimed: bool
    created_at: int
    seen_at: int
    retired: bool

    @classmethod
    def of(cls, row: Row[Any]) -> Version:
        """A row of the table."""
        retired = row.retired_at is not None
        return cls(row.id, row.bot_id, row.label, row.claimed, row.created_at, row.seen_at, retired)


def check_format(text: str) -> str:
    """The prefix of a well-formed token. Raises UserError, which never repeats what was given."""
    found = _TOKEN.fullmatch(text)
    if not found:
        raise UserError("this is not a token of an arena: one looks like arena_ABCDEFGH_ and 38 letters and digits")
    if _checksum(text[:-_CHECKSUM_LENGTH]) != found[3]:
        raise UserError("this token has a typing error: its checksum is wrong; copy it again as a whole")
    return found[1]


def check_name(name: str, what: str) -> None:
    """Raises UserError unless ``name`` may be the name of ``what`` ("a bot")."""
    if not NAME.fullmatch(name):
        raise UserError(
            f"the name of {what} has 2 to 40 letters (A-Z, a-z), digits, '-' and '_', "
            f"and begins with a letter or digit; {name!r} does not"
        )


def register(connection: Connection, owner: str, bot_name: str) -> tuple[Bot, str]:
    """Makes the account ``owner`` with one bot; returns the bot and its token. Raises UserError, NameTaken."""
    check_name(owner, "an account")
    check_name(bot_name, "a bot")
    if _key(owner) == HOUSE:
        raise NameTaken(f"the account {HOUSE!r} is the arena's own")
    if not _insert_named(connection, account, owner, house=False):
        raise NameTaken(
            f"there is an account {owner!r} already; with its token `arena bot create` adds a bot to it, or choose another name"
        )
    account_id = connection.execute(select(account.c.id).where(account.c.name_key == _key(owner))).scalar_one()
    made = create_bot(connection, account_id, bot_name)
    return made, create_token(connection, account_id, bot_id=made.id, label=bot_name)


def create_bot(connection: Connection, account_id: int, name: str) -> Bot:
    """Adds a bot to an account. Raises UserError, NameTaken."""
    check_name(name, "a bot")
    owner = connection.execute(select(account).where(account.c.id == account_id)).one()
    if catalogue.is_house(_key(name)) and not owner.house:
        raise NameTaken(f"the name {name!r} belongs to a house bot")
    if not _insert_named(connection, bot, name, account_id=account_id):
        raise NameTaken(f"there is a bot {name!r} already")
    found = find_bot(connection, name)
    assert found is not None
    return found


def lock_account(connection: Connection, account_id: int) -> None:
    """Whoever else locks the account waits till this transaction ends: first thing before a quota is counted.

    Without it two that ask at once both find room for one. New bots and tokens of the account wait for nothing.
    """
    connection.execute(select(account.c.id).where(account.c.id == account_id).with_for_update(key_share=True))


def find_bot(connection: Connection, name: str) -> Bot | None:
    """The bot of that name, however its letters are cased."""
    return _bot(connection, bot.c.name_key == _key(name))


def bot_of(connection: Connection, principal: Principal, name: str = "") -> Bot:
    """The bot that ``principal`` may play as: the named one of its account, or the one its token was made for.

    Raises UserError; whether somebody else has a bot of that name is not told.
    """
    if name:
        found = _bot(connection, bot.c.name_key == _key(name), bot.c.account_id == principal.account_id)
        if found is None:
            raise UserError(f"the account {principal.account!r} has no bot {name!r}")
        return found
    if principal.bot_id is not None:
        found = _bot(connection, bot.c.id == principal.bot_id)
        if found is not None:
            return found
    raise UserError("this token was not made for one bot: say which bot plays")


def create_token(connection: Connection, account_id: int, *, label: str, bot_id: int | None = None) -> str:
    """A new token of an account. This is the only time that it can be seen."""
    prefix, text = new_token()
    connection.execute(
        insert(token).values(
            account_id=account_id,
            bot_id=bot_id,
            prefix=prefix,
            sha256=digest(text),
            label=label[:100],
            created_at=now_ms(),
        )
    )
    return text


def revoke_token(connection: Connection, account_id: int, prefix: str) -> None:
    """Ends one of the account's tokens; again changes nothing. Raises UserError if the account has none such."""
    mine = (token.c.account_id == account_id) & (token.c.prefix == prefix)
    connection.execute(update(token).where(mine, token.c.revoked_at.is_(None)).values(revoked_at=now_ms()))
    if connection.execute(select(token.c.id).where(mine)).first() is None:
        raise UserError(f"the account has no token {prefix!r}")


def find_tokens(connection: Connection, text: str = "", limit: int = 100) -> tuple[TokenRow, ...]:
    """Tokens that stand and whose prefix, label or owner contains ``text``, newest first."""
    has = or_(token.c.prefix.contains(text, autoescape=True), token.c.label.icontains(text, autoescape=True))
    rows = connection.execute(
        select(token.c.prefix, token.c.label, account.c.name, token.c.account_id, token.c.created_at)
        .join(account, account.c.id == token.c.account_id)
        .where(token.c.revoked_at.is_(None), has | account.c.name_key.contains(_key(text), autoescape=True))
        .order_by(token.c.id.desc())
        .limit(limit)
    )
    return tuple(TokenRow(*row) for row in rows)


def revoke_anybodys(connection: Connection, prefix: str) -> str:
    """Ends the token of that prefix, whoever owns it; returns the account's name. Raises UserError if there is none."""
    owner = connection.execute(
        select(account.c.id, account.c.name)
        .join(token, token.c.account_id == account.c.id)
        .where(token.c.prefix == prefix)
    ).first()
    if owner is None:
        raise UserError(f"there is no token {prefix!r}")
    revoke_token(connection, owner.id, prefix)
    return str(owner.name)


def authenticate(connection: Connection, text: str) -> Principal | None:
    """Who ``text`` speaks for; None if it is no valid token of this arena, or was revoked."""
    try:
        prefix = check_format(text)
    except UserError:
        return None
    columns = (token.c.id, token.c.sha256, token.c.bot_id, account.c.id, account.c.name, account.c.house)
    row = connection.execute(
        select(*columns)
        .join(account, account.c.id == token.c.account_id)
        .where(token.c.prefix == prefix, token.c.revoked_at.is_(None))
    ).first()
    if row is None or not hmac.compare_digest(row[1], digest(text)):
        return None
    return Principal(account_id=row[3], account=row[4], house=row[5], token_id=row[0], prefix=prefix, bot_id=row[2])


def revoked_tokens(connection: Connection, token_ids: Collection[int]) -> frozenset[int]:
    """Those of ``token_ids`` that have been revoked: their streams are to be cut."""
    if not token_ids:
        return frozenset()
    found = connection.execute(select(token.c.id).where(token.c.id.in_(token_ids), token.c.revoked_at.is_not(None)))
    return frozenset(found.scalars())


def ensure_version(
    connection: Connection, bot_id: int, label: str = "", *, claimed: bool = True, most: int | None = None
) -> Version:
    """The bot's version of that label, made if it is new, and seen now; an empty label means "1".

    ``most``: so many versions all bots of an account may have. Raises UserError, and QuotaExceeded.
    """
    label = label or "1"
    if not LABEL.fullmatch(label):
        raise UserError(
            "a version has 1 to 40 letters, digits, '.', '_', '+' and '-', and begins with a letter or digit; "
            f"{label!r} does not"
        )
    seen = (
        update(bot_version)
        .where(bot_version.c.bot_id == bot_id, bot_version.c.label == label)
        .values(seen_at=now_ms())
        .returning(*bot_version.c)
    )
    row = connection.execute(seen).first()
    if row is None:
        if most is not None:
            _check_room(connection, bot_id, most)
        about = {"bot_id": bot_id, "label": label, "claimed": claimed, "created_at": now_ms(), "seen_at": now_ms()}
        insert_unless_there(connection, bot_version, **about)
        row = connection.execute(seen).one()
    return Version.of(row)


def _check_room(connection: Connection, bot_id: int, most: int) -> None:
    """Raises QuotaExceeded if the account of a bot has ``most`` versions already."""
    account_id = connection.execute(select(bot.c.account_id).where(bot.c.id == bot_id)).scalar_one()
    lock_account(connection, account_id)
    of_account = select(func.count()).select_from(bot_version.join(bot, bot.c.id == bot_version.c.bot_id))
    if connection.execute(of_account.where(bot.c.account_id == account_id)).scalar_one() >= most:
        raise QuotaExceeded(
            f"the bots of this account have {most} versions, as many as may be here (limits.versions_per_account): "
            "connect as one of them"
        )


def ensure_house_bot(connection: Connection, name: str) -> Version:
    """The version of a house bot as the catalogue has it, made with its bot and account where they are new."""
    _insert_named(connection, account, HOUSE, house=True)
    account_id = connection.execute(select(account.c.id).where(account.c.name_key == HOUSE)).scalar_one()
    _insert_named(connection, bot, name, account_id=account_id)
    found = find_bot(connection, name)
    if found is None or not found.house:
        raise UserError(f"the bot {name!r} is not the house's")
    return ensure_version(connection, found.id, catalogue.find(name).version, claimed=False)


def _bot(connection: Connection, *where: ColumnElement[bool]) -> Bot | None:
    row = connection.execute(
        select(bot.c.id, bot.c.name, account.c.id, account.c.name, account.c.house)
        .join(account, account.c.id == bot.c.account_id)
        .where(*where)
    ).first()
    return None if row is None else Bot(*row)


def _insert_named(connection: Connection, table: Table, name: str, **values: Any) -> bool:
    return insert_unless_there(connection, table, name=name, name_key=_key(name), created_at=now_ms(), **values)


def _key(name: str) -> str:
    """Names that are equal but for case are the same name."""
    return name.lower()


def new_token() -> tuple[str, str]:
    """The prefix of a new token, and the token."""
    prefix, secret = (
        "".join(secrets.choice(_ALPHABET) for _ in range(length)) for length in (_PREFIX_LENGTH, _SECRET_LENGTH)
    )
    body = f"arena_{prefix}_{secret}"
    return prefix, body + _checksum(body)


def _checksum(body: str) -> str:
    value, digits = zlib.crc32(body.encode()), ""
    for _ in range(_CHECKSUM_LENGTH):
        value, digit = divmod(value, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return digits


def digest(text: str) -> str:
    """What is kept of a token."""
    return sha256(text.encode()).hexdigest()
