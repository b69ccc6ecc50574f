"""Alembic's migrations, shipped with the package; :meth:`arena.storage.db.Database.upgrade` runs them.

Imported only where a schema is upgraded: Alembic is slow to import.
"""

from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection


def config(connection: Connection) -> Config:
    """Alembic's configuration for running on ``connection``, in its transaction."""
    made = Config()
    made.set_main_option("script_location", "arena.storage:migrations")
    made.set_main_option("path_separator", "os")
    made.attributes["connection"] = connection
    return made


def known_revisions(made: Config) -> frozenset[str]:
    """All schema versions that this arena knows."""
    return frozenset(script.revision for script in ScriptDirectory.from_config(made).walk_revisions())
