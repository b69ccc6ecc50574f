"""Challenges."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "challenge",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("account_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("ladder_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("versions", sa.JSON(), nullable=False),
        sa.Column("sets", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_challenge_account_id")),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"], name=op.f("fk_challenge_ladder_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_challenge")),
    )
    with op.batch_alter_table("challenge", schema=None) as batch_op:
        batch_op.create_index("ix_challenge_account", ["account_id", "created_at"], unique=False)

    op.create_table(
        "challenge_set",
        sa.Column("challenge_id", sa.String(length=32), nullable=False),
        sa.Column("set_id", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["challenge_id"], ["challenge.id"], name=op.f("fk_challenge_set_challenge_id")),
        sa.ForeignKeyConstraint(["set_id"], ["game_set.id"], name=op.f("fk_challenge_set_set_id")),
        sa.PrimaryKeyConstraint("challenge_id", "set_id", name=op.f("pk_challenge_set")),
        sa.UniqueConstraint("set_id", name=op.f("uq_challenge_set_set_id")),
    )


def downgrade() -> None:
    op.drop_table("challenge_set")
    with op.batch_alter_table("challenge", schema=None) as batch_op:
        batch_op.drop_index("ix_challenge_account")

    op.drop_table("challenge")
