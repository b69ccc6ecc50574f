from tests.storage.support import postgresql

__all__ = ["postgresql"]
