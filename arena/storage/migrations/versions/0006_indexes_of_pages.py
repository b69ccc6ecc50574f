"""Indexes of what pages ask for: void attempts of late, and where a version stands in an official table."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    void = sa.text("outcome = 'VOID'")
    op.create_index("ix_attempt_void", "attempt", ["ended_at"], sqlite_where=void, postgresql_where=void)
    op.create_index("ix_official_rating_version", "official_rating", ["official_id", "version_id"])


def downgrade() -> None:
    op.drop_index("ix_official_rating_version", "official_rating")
    op.drop_index("ix_attempt_void", "attempt")
