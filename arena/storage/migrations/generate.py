"""`python -m arena.storage.migrations.generate NNNN "what changes"` writes a migration from the tables' difference.

Only for developers: read what it wrote, then run the storage tests.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from alembic import command

from arena.storage.db import Database
from arena.storage.migrations import config


def main(revision: str, message: str) -> None:
    """Compares an empty database at the newest revision with :mod:`arena.storage.tables`."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{Path(folder) / 'empty.db'}")
        database.upgrade()
        with database.write() as connection:
            command.revision(config(connection), message, autogenerate=True, rev_id=revision)
        database.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
