from tests.web.support import redis_url, web

__all__ = ["redis_url", "web"]
