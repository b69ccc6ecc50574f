"""Admins' tokens, and what admins did."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "admin_token",
        sa.Column("id", BIG, nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("prefix", sa.String(length=16), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_admin_token")),
        sa.UniqueConstraint("prefix", name=op.f("uq_admin_token_prefix")),
    )
    op.create_index(op.f("ix_admin_token_name"), "admin_token", ["name"], unique=False)
    op.create_table(
        "admin_deed",
        sa.Column("id", BIG, nullable=False),
        sa.Column("token_id", BIG, nullable=False),
        sa.Column("action", sa.String(length=20), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["token_id"], ["admin_token.id"], name=op.f("fk_admin_deed_token_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_admin_deed")),
    )


def downgrade() -> None:
    op.drop_table("admin_deed")
    op.drop_index(op.f("ix_admin_token_name"), "admin_token")
    op.drop_table("admin_token")
