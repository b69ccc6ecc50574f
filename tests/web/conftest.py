from tests.web.admins import admin
from tests.web.support import redis_url, web

__all__ = ["admin", "redis_url", "web"]
