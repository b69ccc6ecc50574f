"""tournaments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "tournament",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("slug", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("reason", sa.String(length=200), nullable=False),
        sa.Column("join_code", sa.String(length=64), nullable=True),
        sa.Column("main_audience", sa.String(length=12), nullable=False),
        sa.Column("final_audience", sa.String(length=12), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tournament")),
        sa.UniqueConstraint("slug", name=op.f("uq_tournament_slug")),
    )
    op.create_table(
        "organiser",
        sa.Column("tournament_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("account_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_organiser_account_id")),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name=op.f("fk_organiser_tournament_id")),
        sa.PrimaryKeyConstraint("tournament_id", "account_id", name=op.f("pk_organiser")),
    )
    op.create_table(
        "tournament_ladder",
        sa.Column("tournament_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("game", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("ladder_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"], name=op.f("fk_tournament_ladder_ladder_id")),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name=op.f("fk_tournament_ladder_tournament_id")),
        sa.PrimaryKeyConstraint("tournament_id", "game", name=op.f("pk_tournament_ladder")),
        sa.UniqueConstraint("ladder_id", name=op.f("uq_tournament_ladder_ladder_id")),
    )
    op.create_table(
        "tournament_pairing",
        sa.Column("tournament_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("stage", sa.String(length=8), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("players", sa.JSON(), nullable=False),
        sa.Column("label", sa.String(length=40), nullable=False),
        sa.Column("decisive", sa.Boolean(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name=op.f("fk_tournament_pairing_tournament_id")),
        sa.PrimaryKeyConstraint("tournament_id", "id", name=op.f("pk_tournament_pairing")),
    )
    op.create_table(
        "tournament_set",
        sa.Column("tournament_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("pairing_id", sa.String(length=20), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("set_id", sa.String(length=32), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("games", sa.JSON(), nullable=True),
        sa.Column("played_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["set_id"], ["game_set.id"], name=op.f("fk_tournament_set_set_id")),
        sa.ForeignKeyConstraint(
            ["tournament_id", "pairing_id"],
            ["tournament_pairing.tournament_id", "tournament_pairing.id"],
            name=op.f("fk_tournament_set_tournament_id_pairing_id"),
        ),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name=op.f("fk_tournament_set_tournament_id")),
        sa.PrimaryKeyConstraint("tournament_id", "pairing_id", "number", name=op.f("pk_tournament_set")),
    )
    with op.batch_alter_table("tournament_set", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tournament_set_set_id"), ["set_id"], unique=False)

    op.create_table(
        "tournament_entrant",
        sa.Column("tournament_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=True),
        sa.Column("enters", sa.Integer(), nullable=False),
        sa.Column("withdrawn", sa.Boolean(), nullable=False),
        sa.Column("owner", sa.String(length=40), nullable=False),
        sa.Column("team", sa.String(length=40), nullable=False),
        sa.Column("bot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("program", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("joined_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_tournament_entrant_bot_id")),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name=op.f("fk_tournament_entrant_tournament_id")),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_tournament_entrant_version_id")),
        sa.PrimaryKeyConstraint("tournament_id", "name", name=op.f("pk_tournament_entrant")),
    )
    with op.batch_alter_table("tournament_entrant", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tournament_entrant_bot_id"), ["bot_id"], unique=False)

    with op.batch_alter_table("game_set", schema=None) as batch_op:
        batch_op.add_column(sa.Column("listed", sa.Boolean(), server_default=sa.true(), nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("game_set", schema=None) as batch_op:
        batch_op.drop_column("listed")

    with op.batch_alter_table("tournament_entrant", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_tournament_entrant_bot_id"))

    op.drop_table("tournament_entrant")
    with op.batch_alter_table("tournament_set", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_tournament_set_set_id"))

    op.drop_table("tournament_set")
    op.drop_table("tournament_pairing")
    op.drop_table("tournament_ladder")
    op.drop_table("organiser")
    op.drop_table("tournament")
