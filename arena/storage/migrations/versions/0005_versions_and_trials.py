"""When a version was seen and whether it is retired, chosen seeds, and trials."""

from __future__ import annotations

import time

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    # Whoever is on a table now has 14 days from here on to be seen.
    seen = sa.Column("seen_at", sa.BigInteger(), nullable=False, server_default=str(int(time.time() * 1000)))
    with op.batch_alter_table("bot_version") as batch_op:
        batch_op.add_column(seen)
        batch_op.add_column(sa.Column("retired_at", sa.BigInteger(), nullable=True))
    with op.batch_alter_table("bot_version") as batch_op:
        batch_op.alter_column("seen_at", server_default=None)
    op.add_column("game_set", sa.Column("seed", sa.BigInteger(), nullable=True))
    op.add_column("challenge", sa.Column("seed", sa.BigInteger(), nullable=True))
    op.create_table(
        "trial",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("account_id", BIG, nullable=False),
        sa.Column("ladder_id", BIG, nullable=False),
        sa.Column("new_version_id", BIG, nullable=False),
        sa.Column("old_version_id", BIG, nullable=False),
        sa.Column("elo0", sa.Float(53), nullable=False),
        sa.Column("elo1", sa.Float(53), nullable=False),
        sa.Column("alpha", sa.Float(53), nullable=False),
        sa.Column("beta", sa.Float(53), nullable=False),
        sa.Column("most_sets", sa.Integer(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("consumed", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_trial_account_id")),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"], name=op.f("fk_trial_ladder_id")),
        sa.ForeignKeyConstraint(["new_version_id"], ["bot_version.id"], name=op.f("fk_trial_new_version_id")),
        sa.ForeignKeyConstraint(["old_version_id"], ["bot_version.id"], name=op.f("fk_trial_old_version_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trial")),
    )
    op.create_index("ix_trial_account", "trial", ["account_id", "created_at"], unique=False)
    op.create_table(
        "trial_set",
        sa.Column("trial_id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("set_id", sa.String(length=32), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name=op.f("fk_trial_set_trial_id")),
        sa.ForeignKeyConstraint(["set_id"], ["game_set.id"], name=op.f("fk_trial_set_set_id")),
        sa.PrimaryKeyConstraint("trial_id", "number", name=op.f("pk_trial_set")),
        sa.UniqueConstraint("set_id", name=op.f("uq_trial_set_set_id")),
    )


def downgrade() -> None:
    op.drop_table("trial_set")
    op.drop_index("ix_trial_account", "trial")
    op.drop_table("trial")
    for name, columns in (
        ("challenge", ("seed",)),
        ("game_set", ("seed",)),
        ("bot_version", ("retired_at", "seen_at")),
    ):
        with op.batch_alter_table(name) as batch_op:
            for column in columns:
                batch_op.drop_column(column)
