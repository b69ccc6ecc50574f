"""An arena that is there already, for the commands that work on its data."""

from __future__ import annotations

from arena.errors import UserError
from arena.settings import Settings
from arena.storage.db import Database


def open_arena(chosen: Settings) -> Database:
    """Its database, the schema up to date. Raises UserError if there is none: a misspelt folder is no empty arena."""
    database = Database(chosen.database_url)
    if not database.exists():
        where = f"in {chosen.data_dir}" if database.sqlite else "in that database"
        raise UserError(f"there is no arena {where}: `arena up` begins one, and --data-dir names another folder")
    database.upgrade()
    return database
