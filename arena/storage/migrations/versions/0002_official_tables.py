"""Official tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "official",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("ladder_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("dispersion", sa.Float(precision=53), nullable=False),
        sa.Column("covariance", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"], name=op.f("fk_official_ladder_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_official")),
    )
    with op.batch_alter_table("official", schema=None) as batch_op:
        batch_op.create_index("ix_official_ladder", ["ladder_id", "id"], unique=False)

    op.create_table(
        "official_rating",
        sa.Column("official_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("rank", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("rating", sa.Float(precision=53), nullable=False),
        sa.Column("standard_error", sa.Float(precision=53), nullable=False),
        sa.Column("sets", sa.Integer(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("linked", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["official_id"], ["official.id"], name=op.f("fk_official_rating_official_id")),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_official_rating_version_id")),
        sa.PrimaryKeyConstraint("official_id", "rank", name=op.f("pk_official_rating")),
    )


def downgrade() -> None:
    op.drop_table("official_rating")
    with op.batch_alter_table("official", schema=None) as batch_op:
        batch_op.drop_index("ix_official_ladder")

    op.drop_table("official")
