"""The databases and the small arena of the storage tests."""

from tests.storage.support import database, migrated, postgresql, world

__all__ = ["database", "migrated", "postgresql", "world"]
