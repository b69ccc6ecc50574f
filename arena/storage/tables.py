"""The tables. Times are integer milliseconds since 1970, always the database's own (:func:`now_ms`)."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    select,
    text,
    true,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

metadata: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

BigInt: Final = BigInteger().with_variant(Integer, "sqlite")
"""64 bits everywhere; SQLite numbers rows by itself only in a column declared INTEGER."""


class now_ms(FunctionElement[int]):  # noqa: N801 - reads as the SQL function it is
    """The database's clock in milliseconds since 1970."""

    type = BigInteger()
    inherit_cache = True


@compiles(now_ms, "sqlite")
def _now_sqlite(element: now_ms, compiler: Any, **options: Any) -> str:
    return "CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"


@compiles(now_ms)
def _now(element: now_ms, compiler: Any, **options: Any) -> str:
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"


_NOW: Final = select(now_ms())


def database_time(connection: Connection) -> int:
    """The database's clock, milliseconds since 1970."""
    return connection.execute(_NOW).scalar_one()


def _id() -> Column[int]:
    return Column("id", BigInt, primary_key=True)


def _time(name: str, *, nullable: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=nullable)


# ---------------------------------------------------------------------------------------------- who plays

account = Table(
    "account",
    metadata,
    _id(),
    Column("name", String(40), nullable=False),
    Column("name_key", String(40), nullable=False, unique=True),  # the name as it is compared
    Column("house", Boolean, nullable=False),
    _time("created_at"),
)

bot = Table(
    "bot",
    metadata,
    _id(),
    Column("account_id", ForeignKey("account.id"), nullable=False, index=True),
    Column("name", String(40), nullable=False),
    Column("name_key", String(40), nullable=False, unique=True),
    _time("created_at"),
)

token = Table(
    "token",
    metadata,
    _id(),
    Column("account_id", ForeignKey("account.id"), nullable=False, index=True),
    Column("bot_id", ForeignKey("bot.id")),  # the bot it was made for, if any
    Column("prefix", String(16), nullable=False, unique=True),
    Column("sha256", String(64), nullable=False),
    Column("label", String(100), nullable=False),
    _time("created_at"),
    _time("revoked_at", nullable=True),
)

bot_version = Table(
    "bot_version",
    metadata,
    _id(),
    Column("bot_id", ForeignKey("bot.id"), nullable=False),
    Column("label", String(40), nullable=False),
    Column("claimed", Boolean, nullable=False),  # the author's word; the arena has not seen the program
    _time("created_at"),
    _time("seen_at"),  # connected, to within minutes
    _time("retired_at", nullable=True),  # plays nothing rated and is on no table
    UniqueConstraint("bot_id", "label"),
)

# Who may use the admin pages, and what they did there. Nothing ever changes or deletes a deed.
admin_token = Table(
    "admin_token",
    metadata,
    _id(),
    Column("name", String(40), nullable=False, index=True),
    Column("prefix", String(16), nullable=False, unique=True),
    Column("sha256", String(64), nullable=False),
    _time("created_at"),
    _time("revoked_at", nullable=True),
)

admin_deed = Table(
    "admin_deed",
    metadata,
    _id(),
    Column("token_id", ForeignKey("admin_token.id"), nullable=False),
    Column("action", String(20), nullable=False),
    Column("subject", String(200), nullable=False),
    _time("created_at"),
)

# ---------------------------------------------------------------------------------------------- ladders

ladder = Table(
    "ladder",
    metadata,
    _id(),
    Column("slug", String(80), nullable=False, unique=True),
    Column("game", String(80), nullable=False),
    Column("players", Integer, nullable=False),
    Column("config", JSON, nullable=False),
    Column("bank_ms", Integer, nullable=False),
    Column("increment_ms", Integer, nullable=False),
    Column("move_cap_ms", Integer, nullable=False),
    Column("active", Boolean, nullable=False),  # sets are made for it
    Column("seq", BigInteger, nullable=False),  # the last ledger entry
    Column("cursor", BigInteger, nullable=False),  # the last entry that is in the ratings
    _time("created_at"),
)

ledger = Table(
    "ledger",
    metadata,
    Column("ladder_id", ForeignKey("ladder.id"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),  # 1, 2, 3, ...: no gaps
    Column("kind", String(16), nullable=False),
    Column("payload", JSON, nullable=False),
    # Set for results alone: this is why no set can be rated twice.
    Column("set_id", ForeignKey("game_set.id"), unique=True),
    _time("created_at"),
)

# Derived from the ledger; `arena ladder rebuild` writes both anew.
rating = Table(
    "rating",
    metadata,
    Column("ladder_id", ForeignKey("ladder.id"), primary_key=True),
    Column("version_id", ForeignKey("bot_version.id"), primary_key=True),
    Column("rating", Float(53), nullable=False),
    Column("k2", Float(53), nullable=False),
    Column("sets", Integer, nullable=False),
    Column("games", Integer, nullable=False),
    Column("wins", Integer, nullable=False),
    Column("draws", Integer, nullable=False),
    Column("losses", Integer, nullable=False),
    Column("half_points", Integer, nullable=False),
    Column("anchor", Boolean, nullable=False),
    Column("last_seq", BigInteger, nullable=False),
    Index("ix_rating_table", "ladder_id", "rating"),
)

rating_point = Table(
    "rating_point",
    metadata,
    Column("ladder_id", ForeignKey("ladder.id"), primary_key=True),
    Column("version_id", ForeignKey("bot_version.id"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("before", Float(53), nullable=False),
    Column("after", Float(53), nullable=False),
)

# The official table: computed now and then from the whole ledger, kept for a while.
official = Table(
    "official",
    metadata,
    _id(),
    Column("ladder_id", ForeignKey("ladder.id"), nullable=False),
    Column("seq", BigInteger, nullable=False),  # of the last ledger entry that it is made of
    Column("dispersion", Float(53), nullable=False),
    Column("covariance", LargeBinary, nullable=False),  # of the best, float32 by row, points squared
    _time("created_at"),
    Index("ix_official_ladder", "ladder_id", "id"),
)

official_rating = Table(
    "official_rating",
    metadata,
    Column("official_id", ForeignKey("official.id"), primary_key=True),
    Column("rank", Integer, primary_key=True, autoincrement=False),  # 1 is the best
    Column("version_id", ForeignKey("bot_version.id"), nullable=False),
    Column("rating", Float(53), nullable=False),
    Column("standard_error", Float(53), nullable=False),
    Column("sets", Integer, nullable=False),
    Column("games", Integer, nullable=False),
    Column("linked", Boolean, nullable=False),
    Index("ix_official_rating_version", "official_id", "version_id"),
)

# ---------------------------------------------------------------------------------------------- sets and matches

worker = Table(
    "worker",
    metadata,
    _id(),
    Column("name", String(100), nullable=False, unique=True),
    Column("epoch", BigInteger, nullable=False),  # one more each time a process of this name starts
    _time("lease_until"),
    _time("started_at"),
)

leader = Table(
    "leader",
    metadata,
    Column("role", String(40), primary_key=True),
    Column("holder", String(100), nullable=False),
    Column("epoch", BigInteger, nullable=False),
    _time("lease_until"),
)

game_set = Table(
    "game_set",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("ladder_id", ForeignKey("ladder.id"), nullable=False),
    Column("state", String(8), nullable=False),
    Column("reason", String(200)),  # why it is VOID or ERRORED
    Column("deal_mode", String(8), nullable=False),
    Column("rated", Boolean, nullable=False),
    Column("listed", Boolean, nullable=False, server_default=true()),  # results may be seen by everybody
    Column("house_only", Boolean, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("engine_errors", Integer, nullable=False),
    Column("budget_ms", BigInteger, nullable=False),  # how long one claim may last
    Column("seed", BigInteger),  # of deals that somebody chose
    Column("worker_id", ForeignKey("worker.id")),
    Column("epoch", BigInteger),
    _time("created_at"),
    _time("queued_at"),
    _time("rung_at"),
    _time("claimed_at", nullable=True),
    _time("finished_at", nullable=True),
    Index("ix_game_set_state", "state", "queued_at"),
)

set_seat = Table(
    "set_seat",
    metadata,
    Column("set_id", ForeignKey("game_set.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("version_id", ForeignKey("bot_version.id"), nullable=False),
    Column("bot_id", ForeignKey("bot.id"), nullable=False),
    Column("instance", String(64), nullable=False),  # which process of the bot; empty for house bots
    _time("created_at"),
    Index("ix_set_seat_bot", "bot_id", "created_at"),
)

match = Table(
    "match",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("set_id", ForeignKey("game_set.id"), nullable=False),
    Column("game_index", Integer, nullable=False),
    UniqueConstraint("set_id", "game_index"),
)

attempt = Table(
    "attempt",
    metadata,
    Column("match_id", ForeignKey("match.id"), primary_key=True),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("worker_id", ForeignKey("worker.id"), nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("commitment", String(64), nullable=False),
    Column("secret", String(64)),  # for eyes only once the match, or the set of a shared deal, is final
    Column("outcome", String(8)),  # FINISHED or VOID; null while it runs
    Column("reason", String(200)),
    _time("started_at"),
    _time("ended_at", nullable=True),
    Index(
        "ix_attempt_void", "ended_at", sqlite_where=text("outcome = 'VOID'"), postgresql_where=text("outcome = 'VOID'")
    ),
)

result = Table(
    "result",
    metadata,
    Column("match_id", String(32), primary_key=True),
    Column("attempt", Integer, nullable=False),
    Column("ladder_id", ForeignKey("ladder.id"), nullable=False),
    Column("content_hash", String(64), nullable=False),
    Column("places", JSON, nullable=False),  # these three by seat
    Column("scores", JSON, nullable=False),
    Column("reasons", JSON, nullable=False),
    Column("record_digest", String(64), nullable=False),
    Column("record_head", String(64), nullable=False),
    Column("events", Integer, nullable=False),
    _time("finished_at"),
    ForeignKeyConstraint(["match_id", "attempt"], ["attempt.match_id", "attempt.attempt"]),
    Index("ix_result_finished", "finished_at", "match_id"),
    Index("ix_result_ladder", "ladder_id", "finished_at", "match_id"),
)

quarantine = Table(
    "quarantine",
    metadata,
    _id(),
    Column("match_id", ForeignKey("match.id"), nullable=False, index=True),
    Column("content_hash", String(64), nullable=False),
    Column("payload", JSON, nullable=False),
    _time("created_at"),
)

outbox = Table(
    "outbox",
    metadata,
    _id(),
    Column("topic", String(40), nullable=False),
    Column("payload", JSON, nullable=False),
    _time("created_at"),
)

# ---------------------------------------------------------------------------------------------- tournaments

tournament = Table(
    "tournament",
    metadata,
    _id(),
    Column("slug", String(40), nullable=False, unique=True),
    Column("name", String(200), nullable=False),
    Column("source", Text, nullable=False),  # its tournament.toml, as it was
    Column("state", String(8), nullable=False),
    Column("reason", String(200), nullable=False),  # why it is over; empty before
    Column("join_code", String(64)),  # SHA-256; null where nobody can join by a code
    Column("main_audience", String(12), nullable=False),
    Column("final_audience", String(12), nullable=False),
    _time("created_at"),
    _time("started_at", nullable=True),
    _time("finished_at", nullable=True),
)

organiser = Table(
    "organiser",
    metadata,
    Column("tournament_id", ForeignKey("tournament.id"), primary_key=True),
    Column("account_id", ForeignKey("account.id"), primary_key=True),
    _time("created_at"),
)

tournament_entrant = Table(
    "tournament_entrant",
    metadata,
    Column("tournament_id", ForeignKey("tournament.id"), primary_key=True),
    Column("name", String(80), primary_key=True),
    Column("seed", Integer),  # null until the field is drawn, and for those who did not make it
    Column("enters", Integer, nullable=False),  # the first round that it plays
    Column("withdrawn", Boolean, nullable=False),
    Column("owner", String(40), nullable=False),
    Column("team", String(40), nullable=False),
    Column("bot_id", ForeignKey("bot.id"), index=True),
    Column("version_id", ForeignKey("bot_version.id")),  # pinned when the event starts
    Column("program", Text, nullable=False),  # how it is started, where no arena is; empty on an arena
    Column("fingerprint", String(64), nullable=False),  # of that program's files, pinned too
    _time("joined_at"),
)

tournament_pairing = Table(
    "tournament_pairing",
    metadata,
    Column("tournament_id", ForeignKey("tournament.id"), primary_key=True),
    Column("id", String(20), primary_key=True),
    Column("stage", String(8), nullable=False),
    Column("number", Integer, nullable=False),  # in the order in which they were issued
    Column("round", Integer, nullable=False),
    Column("players", JSON, nullable=False),
    Column("label", String(40), nullable=False),
    Column("decisive", Boolean, nullable=False),
    Column("result", JSON),
)

tournament_set = Table(
    "tournament_set",
    metadata,
    Column("tournament_id", ForeignKey("tournament.id"), primary_key=True),
    Column("pairing_id", String(20), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    # The set that is played for it on an arena: the newest, if others before it came to nothing.
    Column("set_id", ForeignKey("game_set.id"), index=True),
    Column("tries", Integer, nullable=False),
    Column("games", JSON),  # null until it is played
    _time("played_at", nullable=True),
    ForeignKeyConstraint(
        ["tournament_id", "pairing_id"], ["tournament_pairing.tournament_id", "tournament_pairing.id"]
    ),
)

tournament_ladder = Table(
    "tournament_ladder",
    metadata,
    Column("tournament_id", ForeignKey("tournament.id"), primary_key=True),
    Column("game", Integer, primary_key=True, autoincrement=False),
    Column("ladder_id", ForeignKey("ladder.id"), nullable=False, unique=True),
)

# ---------------------------------------------------------------------------------------------- asked for

challenge = Table(
    "challenge",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("account_id", ForeignKey("account.id"), nullable=False),
    Column("ladder_id", ForeignKey("ladder.id"), nullable=False),
    Column("versions", JSON, nullable=False),  # who sits there; the first is the challenger
    Column("sets", Integer, nullable=False),  # to be played
    Column("seed", BigInteger),  # of the first set; the others count on from there
    _time("created_at"),
    _time("closed_at", nullable=True),  # all is played, or it is given up
    Index("ix_challenge_account", "account_id", "created_at"),
)

challenge_set = Table(
    "challenge_set",
    metadata,
    Column("challenge_id", ForeignKey("challenge.id"), primary_key=True),
    Column("set_id", ForeignKey("game_set.id"), primary_key=True, unique=True),
)

# Is the new version better than the old one? Sets are played until a test knows.
trial = Table(
    "trial",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("account_id", ForeignKey("account.id"), nullable=False),
    Column("ladder_id", ForeignKey("ladder.id"), nullable=False),
    Column("new_version_id", ForeignKey("bot_version.id"), nullable=False),
    Column("old_version_id", ForeignKey("bot_version.id"), nullable=False),
    Column("elo0", Float(53), nullable=False),
    Column("elo1", Float(53), nullable=False),
    Column("alpha", Float(53), nullable=False),
    Column("beta", Float(53), nullable=False),
    Column("most_sets", Integer, nullable=False),
    Column("counts", JSON, nullable=False),  # how often each score occurred in the sets consumed
    Column("consumed", Integer, nullable=False),  # sets, in the order issued
    Column("reason", String(200), nullable=False),  # why it is over; empty before
    _time("created_at"),
    _time("closed_at", nullable=True),
    Index("ix_trial_account", "account_id", "created_at"),
)

trial_set = Table(
    "trial_set",
    metadata,
    Column("trial_id", ForeignKey("trial.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    # The newest, if others before it came to nothing.
    Column("set_id", ForeignKey("game_set.id"), nullable=False, unique=True),
    Column("tries", Integer, nullable=False),
)
