from tests.storage.support import migrated

__all__ = ["migrated"]
