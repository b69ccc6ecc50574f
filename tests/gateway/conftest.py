"""The databases of the storage tests."""

from tests.storage.support import database, migrated, postgresql

__all__ = ["database", "migrated", "postgresql"]
