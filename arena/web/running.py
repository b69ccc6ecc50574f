"""Matches while they are played: their page, and the film of what a spectator may see, as it comes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

import orjson
from redis.asyncio import Redis
from redis.exceptions import RedisError
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from arena.endless import again_and_again
from arena.errors import ArenaError
from arena.host.broadcast import LOOKED_AT_S, film_key, looked_at_key
from arena.storage.running import RunningMatch, running_match
from arena.web.content import HTML, Content
from arena.web.hub import Full
from arena.web.site import HOT_S, NotHere, Site
from arena.web.viewers import Viewers

log = logging.getLogger(__name__)

EVERY_S: Final = 1.0
ASK_SQL_EVERY: Final = 3
"""Of how many looks at Redis one also asks SQL whether the match is still played."""
PING_S: Final = 15.0
MOST_MATCHES: Final = 50
MOST_VIEWERS: Final = 2_000
LONGEST: Final = 20_000
"""Frames kept of one match."""


async def find(site: Site, match_id: str) -> RunningMatch:
    """A match that is being played and may be watched, through the cache. Raises NotHere."""

    async def make() -> RunningMatch:
        found = await site.read(lambda connection: running_match(connection, match_id))
        if found is None or site.redis is None:
            raise NotHere(f"there is no match {match_id!r} that may be shown")
        return found

    return await site.cache.get(("running", match_id), HOT_S, make)


async def page(request: Request) -> Response:
    """The page of a running match, which becomes the finished one's when it is over. Raises NotHere."""
    site: Site = request.app.state.site
    running = await find(site, request.path_params["match_id"])
    html = site.html("running.html", match=running)
    return Content(html.encode(), HTML, cache="no-store").answer(request)


async def live(request: Request) -> Response:
    """``/matches/{id}/live``: what a spectator may see, as server-sent events."""
    site: Site = request.app.state.site
    watched: Watched = request.app.state.watched
    running = await find(site, request.path_params["match_id"])
    viewers: Viewers = request.app.state.viewers

    async def begin() -> AsyncIterator[str]:
        return watched.stream(running, request.headers.get("last-event-id", ""))

    return await viewers.serve(request, begin)


@dataclass(eq=False, slots=True)
class _Film:
    """One attempt at one match. ``lines``: the heading and the frames, as they are in Redis."""

    match_id: str
    attempt: int
    lines: list[bytes] = field(default_factory=list)
    over: bool = False
    viewers: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    def tell(self) -> None:
        """Wakes those who wait."""
        self.changed.set()
        self.changed = asyncio.Event()


class Watched:
    """The running matches that somebody watches through this process. For one event loop."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._films: dict[tuple[str, int], _Film] = {}
        self._closed = False

    def stream(self, running: RunningMatch, last: str) -> AsyncIterator[str]:
        """Server-sent events for one viewer, who has had what the event id ``last`` names. Raises Full."""
        key = (running.match_id, running.attempt)
        viewers = sum(film.viewers for film in self._films.values())
        if viewers >= MOST_VIEWERS or (key not in self._films and len(self._films) >= MOST_MATCHES):
            raise Full("too many viewers")
        film = self._films.setdefault(key, _Film(*key))
        attempt, _, count = last.partition("-")
        known = int(count) if attempt == str(running.attempt) and count.isdecimal() and len(count) < 7 else 0
        film.viewers += 1
        if film.task is None:
            film.task = asyncio.create_task(self._follow(film))
        return self._events(film, known)

    def close(self) -> None:
        """Ends all streams."""
        self._closed = True
        for film in self._films.values():
            if film.task is not None:
                film.task.cancel()
            film.tell()

    async def _events(self, film: _Film, known: int) -> AsyncIterator[str]:
        try:
            yield "retry: 2000\n\n"
            while not self._closed:
                changed = film.changed
                if len(film.lines) > known:
                    yield _event(film, known)
                    known = len(film.lines)
                elif film.over:
                    yield 'data: {"over":true}\n\n'
                    return
                else:
                    try:
                        async with asyncio.timeout(PING_S):
                            await changed.wait()
                    except TimeoutError:
                        yield ": still here\n\n"
        finally:
            film.viewers -= 1
            if not film.viewers and film.task is not None:
                film.task.cancel()
                self._films.pop((film.match_id, film.attempt), None)

    async def _follow(self, film: _Film) -> None:
        redis = self._site.redis
        assert redis is not None
        looks = 0

        async def look() -> None:
            nonlocal looks
            try:
                await self._fetch(redis, film)
                looks += 1
                if looks % ASK_SQL_EVERY == 0 and not await self._played(film):
                    await self._fetch(redis, film)
                    film.over = True
            except (RedisError, ArenaError) as error:
                log.info("the match %s cannot be watched now: %s", film.match_id, error)
            film.tell()

        what = f"watching the match {film.match_id}"
        await again_and_again(look, pause_s=EVERY_S, what=what, log=log, over=lambda: film.over)

    async def _fetch(self, redis: Redis, film: _Film) -> None:
        """Says that somebody looks, and takes what has come."""
        async with redis.pipeline(transaction=False) as pipeline:
            pipeline.set(looked_at_key(film.match_id), "1", ex=LOOKED_AT_S)
            pipeline.lrange(film_key(film.match_id, film.attempt), len(film.lines), LONGEST)
            _, lines = await pipeline.execute()
        film.lines += [line if isinstance(line, bytes) else line.encode() for line in lines]

    async def _played(self, film: _Film) -> bool:
        def read(connection: Connection) -> bool:
            found = running_match(connection, film.match_id)
            return found is not None and found.attempt == film.attempt

        return await self._site.read(read)


def _event(film: _Film, known: int) -> str:
    """The heading, for who has nothing yet, and the frames behind the first ``known`` lines."""
    lines = [orjson.loads(line) for line in film.lines[known:]]
    message = {"frames": lines} if known else {"film": {**lines[0], "frames": lines[1:]}}
    return f"id: {film.attempt}-{len(film.lines)}\ndata: {orjson.dumps(message).decode()}\n\n"
