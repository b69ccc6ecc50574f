"""What all pages share: the database off the event loop, templates, the cache, the view of what is live."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from markupsafe import Markup
from redis.asyncio import Redis
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from arena.errors import UserError
from arena.gateway.registry import connect_redis
from arena.settings import Settings
from arena.storage import overview, queries
from arena.storage.db import Database
from arena.storage.records import RecordStore
from arena.web.assets import environment, load_assets, release_of
from arena.web.cache import Cache
from arena.web.content import HTML, Content
from arena.web.hub import Hub
from arena.web.latencies import Latencies
from arena.web.parts import Parts
from arena.web.watch import Watch

T = TypeVar("T")

HOT_S: Final = 1.0
"""How old a live page may be."""
WARM_S: Final = 10.0
READERS: Final = 4


class NotHere(UserError):
    """There is no such thing; the page is a 404."""


class NotYet(UserError):
    """It is being made; the page is a 202 that asks again."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Matches with a result, and sets by state."""

    matches: int
    sets: Mapping[str, int]

    @classmethod
    def read(cls, connection: Connection) -> Totals:
        """Counts them."""
        return cls(queries.matches_stored(connection), overview.sets_by_state(connection))


class Site:
    """One web process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        settings.data_dir.mkdir(parents=True, exist_ok=True)  # for exports; and one that cannot be is told now
        self.database = Database(settings.database_url)
        self.database.refuse_newer()
        self.records = RecordStore(settings.data_dir)
        self.latencies = Latencies(self.records)
        self.cache = Cache()
        self.redis: Redis | None = connect_redis(settings.redis_url) if settings.redis_url else None
        self.hub = Hub(self.parts)
        self.watch = Watch(self.redis, self.hub.hint)
        self.assets = load_assets()
        self.topics: dict[str, Callable[[Site, str], Awaitable[Parts]]] = {}
        """Makers of live parts by the first word of a topic; they get what follows the colon."""
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="pages")
        self.release = release_of(self.assets)
        self._templates = environment(self.assets, self.release)

    async def read(self, query: Callable[[Connection], T]) -> T:
        """Runs a query in a thread, in a transaction that sees one moment. Raises what it raises, and Unavailable."""

        def run() -> T:
            with self.database.read() as connection:
                return query(connection)

        return await self.work(run)

    async def work(self, function: Callable[[], T]) -> T:
        """Runs what takes a while in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function)

    async def parts(self, topic: str, *, fresh: bool = False) -> Parts:
        """The live parts of a page, at most HOT_S old or made now. Raises NotHere of a topic that there is not."""
        kind, _, rest = topic.partition(":")
        make = self.topics.get(kind)
        if make is None:
            raise NotHere(f"there is no live page {kind!r}")
        parts = await self.cache.get(("parts", topic), HOT_S, lambda: make(self, rest), fresh=fresh)
        return self.released(parts)

    def released(self, parts: Parts) -> Parts:
        """The parts as of this release: pages of another one must be fetched again."""
        return replace(parts, skeleton=f"{self.release} {parts.skeleton}")

    def html(self, template: str, /, **context: Any) -> str:
        """A page or a part of one."""
        return self._templates.get_template(template).render(context)

    def part(self, template: str, name: str, /, *arguments: Any) -> Markup:
        """What the macro ``name`` of a template makes of its arguments."""
        module = self._templates.get_template(template).module
        return Markup(getattr(module, name)(*arguments).strip())  # noqa: S704 - a template escapes what it is given

    async def totals(self) -> Totals:
        """What takes a while to count, at most WARM_S old; nobody but the first who asks waits for it."""
        return await self.cache.get("totals", WARM_S, lambda: self.read(Totals.read))

    async def page(
        self, request: Request, key: object, seconds: float, make: Callable[[], Awaitable[Content]]
    ) -> Response:
        """A page through the cache."""
        content = await self.cache.get(("page", key), seconds, make)
        return content.answer(request)

    async def live_page(
        self, request: Request, topic: str, template: str, context: Callable[[], Awaitable[Mapping[str, Any]]]
    ) -> Response:
        """A page with live parts: the template gets ``parts``, ``topic`` and the context."""

        async def make() -> Content:
            parts = await self.parts(topic)
            return Content(self.html(template, parts=parts, topic=topic, **await context()).encode(), HTML)

        return await self.page(request, topic, HOT_S, make)

    async def close(self) -> None:
        """Gives connections and threads back."""
        if self.redis is not None:
            await self.redis.aclose()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.database.close()
