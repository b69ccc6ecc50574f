"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "account",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("name_key", sa.String(length=40), nullable=False),
        sa.Column("house", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account")),
        sa.UniqueConstraint("name_key", name=op.f("uq_account_name_key")),
    )
    op.create_table(
        "ladder",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("slug", sa.String(length=80), nullable=False),
        sa.Column("game", sa.String(length=80), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("bank_ms", sa.Integer(), nullable=False),
        sa.Column("increment_ms", sa.Integer(), nullable=False),
        sa.Column("move_cap_ms", sa.Integer(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("cursor", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ladder")),
        sa.UniqueConstraint("slug", name=op.f("uq_ladder_slug")),
    )
    op.create_table(
        "leader",
        sa.Column("role", sa.String(length=40), nullable=False),
        sa.Column("holder", sa.String(length=100), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("role", name=op.f("pk_leader")),
    )
    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("topic", sa.String(length=40), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
    )
    op.create_table(
        "worker",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_worker")),
        sa.UniqueConstraint("name", name=op.f("uq_worker_name")),
    )
    op.create_table(
        "bot",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("account_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("name_key", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_bot_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot")),
        sa.UniqueConstraint("name_key", name=op.f("uq_bot_name_key")),
    )
    with op.batch_alter_table("bot", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_bot_account_id"), ["account_id"], unique=False)

    op.create_table(
        "game_set",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("ladder_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("reason", sa.String(length=200), nullable=True),
        sa.Column("deal_mode", sa.String(length=8), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("house_only", sa.Boolean(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("engine_errors", sa.Integer(), nullable=False),
        sa.Column("budget_ms", sa.BigInteger(), nullable=False),
        sa.Column("worker_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("epoch", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("queued_at", sa.BigInteger(), nullable=False),
        sa.Column("rung_at", sa.BigInteger(), nullable=False),
        sa.Column("claimed_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"], name=op.f("fk_game_set_ladder_id")),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_game_set_worker_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_game_set")),
    )
    with op.batch_alter_table("game_set", schema=None) as batch_op:
        batch_op.create_index("ix_game_set_state", ["state", "queued_at"], unique=False)

    op.create_table(
        "bot_version",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("bot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("label", sa.String(length=40), nullable=False),
        sa.Column("claimed", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_bot_version_bot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot_version")),
        sa.UniqueConstraint("bot_id", "label", name=op.f("uq_bot_version_bot_id_label")),
    )
    op.create_table(
        "ledger",
        sa.Column("ladder_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("set_id", sa.String(length=32), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"], name=op.f("fk_ledger_ladder_id")),
        sa.ForeignKeyConstraint(["set_id"], ["game_set.id"], name=op.f("fk_ledger_set_id")),
        sa.PrimaryKeyConstraint("ladder_id", "seq", name=op.f("pk_ledger")),
        sa.UniqueConstraint("set_id", name=op.f("uq_ledger_set_id")),
    )
    op.create_table(
        "match",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("set_id", sa.String(length=32), nullable=False),
        sa.Column("game_index", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["set_id"], ["game_set.id"], name=op.f("fk_match_set_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_match")),
        sa.UniqueConstraint("set_id", "game_index", name=op.f("uq_match_set_id_game_index")),
    )
    op.create_table(
        "token",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("account_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("bot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("prefix", sa.String(length=16), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("label", sa.String(length=100), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_token_account_id")),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_token_bot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token")),
        sa.UniqueConstraint("prefix", name=op.f("uq_token_prefix")),
    )
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_token_account_id"), ["account_id"], unique=False)

    op.create_table(
        "attempt",
        sa.Column("match_id", sa.String(length=32), nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("worker_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("commitment", sa.String(length=64), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=True),
        sa.Column("outcome", sa.String(length=8), nullable=True),
        sa.Column("reason", sa.String(length=200), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["match_id"], ["match.id"], name=op.f("fk_attempt_match_id")),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_attempt_worker_id")),
        sa.PrimaryKeyConstraint("match_id", "attempt", name=op.f("pk_attempt")),
    )
    op.create_table(
        "quarantine",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("match_id", sa.String(length=32), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["match.id"], name=op.f("fk_quarantine_match_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quarantine")),
    )
    with op.batch_alter_table("quarantine", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_quarantine_match_id"), ["match_id"], unique=False)

    op.create_table(
        "rating",
        sa.Column("ladder_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("rating", sa.Float(precision=53), nullable=False),
        sa.Column("k2", sa.Float(precision=53), nullable=False),
        sa.Column("sets", sa.Integer(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("half_points", sa.Integer(), nullable=False),
        sa.Column("anchor", sa.Boolean(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"], name=op.f("fk_rating_ladder_id")),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_rating_version_id")),
        sa.PrimaryKeyConstraint("ladder_id", "version_id", name=op.f("pk_rating")),
    )
    with op.batch_alter_table("rating", schema=None) as batch_op:
        batch_op.create_index("ix_rating_table", ["ladder_id", "rating"], unique=False)

    op.create_table(
        "rating_point",
        sa.Column("ladder_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("before", sa.Float(precision=53), nullable=False),
        sa.Column("after", sa.Float(precision=53), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"], name=op.f("fk_rating_point_ladder_id")),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_rating_point_version_id")),
        sa.PrimaryKeyConstraint("ladder_id", "version_id", "seq", name=op.f("pk_rating_point")),
    )
    op.create_table(
        "set_seat",
        sa.Column("set_id", sa.String(length=32), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("bot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("instance", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_set_seat_bot_id")),
        sa.ForeignKeyConstraint(["set_id"], ["game_set.id"], name=op.f("fk_set_seat_set_id")),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_set_seat_version_id")),
        sa.PrimaryKeyConstraint("set_id", "position", name=op.f("pk_set_seat")),
    )
    with op.batch_alter_table("set_seat", schema=None) as batch_op:
        batch_op.create_index("ix_set_seat_bot", ["bot_id", "created_at"], unique=False)

    op.create_table(
        "result",
        sa.Column("match_id", sa.String(length=32), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("ladder_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("places", sa.JSON(), nullable=False),
        sa.Column("scores", sa.JSON(), nullable=False),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("record_digest", sa.String(length=64), nullable=False),
        sa.Column("record_head", sa.String(length=64), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"], name=op.f("fk_result_ladder_id")),
        sa.ForeignKeyConstraint(
            ["match_id", "attempt"], ["attempt.match_id", "attempt.attempt"], name=op.f("fk_result_match_id_attempt")
        ),
        sa.PrimaryKeyConstraint("match_id", name=op.f("pk_result")),
    )
    with op.batch_alter_table("result", schema=None) as batch_op:
        batch_op.create_index("ix_result_finished", ["finished_at", "match_id"], unique=False)
        batch_op.create_index("ix_result_ladder", ["ladder_id", "finished_at", "match_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("result", schema=None) as batch_op:
        batch_op.drop_index("ix_result_ladder")
        batch_op.drop_index("ix_result_finished")

    op.drop_table("result")
    with op.batch_alter_table("set_seat", schema=None) as batch_op:
        batch_op.drop_index("ix_set_seat_bot")

    op.drop_table("set_seat")
    op.drop_table("rating_point")
    with op.batch_alter_table("rating", schema=None) as batch_op:
        batch_op.drop_index("ix_rating_table")

    op.drop_table("rating")
    with op.batch_alter_table("quarantine", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_quarantine_match_id"))

    op.drop_table("quarantine")
    op.drop_table("attempt")
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_token_account_id"))

    op.drop_table("token")
    op.drop_table("match")
    op.drop_table("ledger")
    op.drop_table("bot_version")
    with op.batch_alter_table("game_set", schema=None) as batch_op:
        batch_op.drop_index("ix_game_set_state")

    op.drop_table("game_set")
    with op.batch_alter_table("bot", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_bot_account_id"))

    op.drop_table("bot")
    op.drop_table("worker")
    op.drop_table("outbox")
    op.drop_table("leader")
    op.drop_table("ladder")
    op.drop_table("account")
