"""The application: routes, what wraps them, and what people see when something is wrong."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import AsyncIterator
from typing import Final

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena import metrics
from arena.errors import Unavailable
from arena.gateway.limits import Guesses
from arena.settings import Settings
from arena.web import bots, exporter, exports, home, ladders, matches, reading, running, sets, status, tournaments
from arena.web.api import commands, posting
from arena.web.api.openapi import document
from arena.web.api.operations import OPERATIONS
from arena.web.api.serving import HEADERS, PREFIX, Rates, problem, routes
from arena.web.content import HTML, JSON, Content
from arena.web.exporter import Exporter
from arena.web.play import pages as play
from arena.web.play.pages import Doors
from arena.web.running import Watched
from arena.web.site import NotHere, NotYet, Site
from arena.web.viewers import Viewers

log = logging.getLogger(__name__)

LONGEST_TOPIC: Final = 160
STREAMS: Final = ("/live", "/matches/{match_id}/live", "/play/{table}/live")
"""What lasts as long as somebody looks."""
_RELEASE: Final = re.compile(r"^[0-9a-f]{8}/")
ROUTES: Final = (
    Route("/", home.page),
    Route("/ladders", ladders.index),
    Route("/ladders/{slug}", ladders.page),
    Route("/ladders/{slug}/export", exports.export),
    Route("/bots/{name}", bots.page),
    Route("/matches", matches.index),
    Route("/matches/{match_id}", matches.page),
    Route("/matches/{match_id}/film.json", matches.positions),
    Route("/matches/{match_id}/live", running.live),
    Route("/matches/{match_id}/record", matches.record),
    Route("/sets/{set_id}", sets.page),
    Route("/tournaments", tournaments.index),
    Route("/tournaments/{slug}", tournaments.page),
    *play.ROUTES,
    Route("/games", reading.games),
    Route("/games/{name}", reading.game),
    Route("/docs", reading.docs),
    Route("/docs/first-bot/{language}", reading.kit),
    Route("/docs/pictures/{name}", reading.picture),
    Route("/docs/{page}", reading.doc),
    Route("/status", status.page),
    Route("/metrics", exporter.page),
    *routes(OPERATIONS),
    *posting.routes(commands.COMMANDS),
)


def build(settings: Settings) -> Starlette:
    """The application; its ``state.site`` is what all pages share."""
    site = Site(settings)
    watched = Watched(site)
    doors = Doors(site)
    site.topics.update(
        home=home.home_topic(home.Chooser()),
        ladder=ladders.ladder_topic,
        bot=bots.bot_topic,
        status=status.status_topic,
        tournaments=tournaments.list_topic,
        tournament=tournaments.event_topic,
        projector=tournaments.projector_topic,
    )

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        endless = (site.watch.run(), metrics.watch_loop(), doors.lounge.run())
        watching = [asyncio.create_task(one) for one in endless]
        try:
            yield
        finally:
            for watch in watching:
                watch.cancel()
            await asyncio.gather(*watching, return_exceptions=True)
            site.hub.close()
            await doors.lounge.close()
            await app.state.exports.close()
            await site.close()

    app = Starlette(
        routes=[
            *ROUTES,
            Route(f"{PREFIX}/openapi.json", described),
            Route("/live", live),
            Route("/healthz", healthy),
            Route("/robots.txt", robots),
            Route("/favicon.ico", favicon),
            Route("/static/{name:path}", static),
        ],
        lifespan=lifespan,
        exception_handlers={
            NotHere: not_here,
            NotYet: not_yet,
            HTTPException: refused,
            Unavailable: unavailable,
            Exception: failed,
        },
    )
    app.state.site = site
    app.state.watched = watched
    app.state.viewers = Viewers(settings.web.streams_per_address)
    app.state.doors = doors
    app.state.exports = exports.Exports(settings)
    app.state.guesses = Guesses(settings.limits.bad_tokens)
    app.state.rates = Rates(settings.limits.api_requests_per_s, settings.limits.api_burst)
    app.state.described = Content(
        orjson.dumps(document(OPERATIONS, commands.COMMANDS), option=orjson.OPT_INDENT_2), JSON
    )
    app.state.exporter = Exporter(site)
    app.add_middleware(_Timed, exporter=app.state.exporter)
    return app


class _Timed:
    """Counts and times requests by route."""

    def __init__(self, app: ASGIApp, exporter: Exporter) -> None:
        self._app = app
        self._seconds = exporter.seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            route = scope.get("route")
            name = route.path if isinstance(route, Route) else "none"
            if name not in STREAMS:
                self._seconds.labels(name, str(status)).observe(time.perf_counter() - began)


async def live(request: Request) -> Response:
    """``/live?topic=&version=``: what changes on a page, as server-sent events."""
    site: Site = request.app.state.site
    topic = request.query_params.get("topic", "")[:LONGEST_TOPIC]
    version = request.query_params.get("version", "")
    viewers: Viewers = request.app.state.viewers
    return await viewers.serve(request, lambda: site.hub.stream(topic, version))


async def described(request: Request) -> Response:
    """``/api/v1/openapi.json``"""
    content: Content = request.app.state.described
    return content.answer(request, HEADERS)


async def static(request: Request) -> Response:
    """``/static/{release}/{name}``: scripts name each other by relative addresses, so the release comes first."""
    site: Site = request.app.state.site
    content = site.assets.get(_RELEASE.sub("", request.path_params["name"]))
    if content is None:
        raise NotHere("there is no such file")
    return content.answer(request)


async def favicon(_request: Request) -> Response:
    """``/favicon.ico``, for browsers that do not look at the page first."""
    return RedirectResponse("/static/icon.svg", 301)


async def healthy(request: Request) -> Response:
    """``/healthz``: whether the database answers."""
    site: Site = request.app.state.site
    await site.read(lambda connection: connection.exec_driver_sql("SELECT 1").scalar_one())
    return PlainTextResponse("ok\n", headers={"cache-control": "no-store"})


async def robots(_request: Request) -> Response:
    """``/robots.txt``: matches are many, and of no use to a search engine."""
    return PlainTextResponse("User-agent: *\nDisallow: /matches\nDisallow: /live\nDisallow: /play/\n")


async def not_here(request: Request, error: Exception) -> Response:
    """404."""
    return _error(request, 404, "Not here", str(error))


async def not_yet(request: Request, error: Exception) -> Response:
    """202: it is being made."""
    response = _error(request, 202, "Not yet", str(error))
    response.headers.update({"retry-after": "5", "refresh": "5"})
    return response


async def refused(request: Request, error: Exception) -> Response:
    """What the router refuses."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return _error(request, 404, "Not here", "There is no such page.")
    response = _error(request, error.status_code, "That does not work", error.detail)
    response.headers.update(error.headers or {})
    return response


async def unavailable(request: Request, error: Exception) -> Response:
    """503: reads are shed before results are."""
    log.warning("%s: %s", request.url.path, error)
    response = _error(request, 503, "Busy", "The arena cannot show this now. Matches go on; try again in a moment.")
    response.headers["retry-after"] = "2"
    return response


async def failed(request: Request, _error_: Exception) -> Response:
    """500; the traceback is in the log alone."""
    return _error(request, 500, "Our mistake", "The arena could not make this page. It has been written down.")


def _error(request: Request, code: int, heading: str, message: str) -> Response:
    if request.url.path.startswith(f"{PREFIX}/"):
        return problem(request, code, message)
    site: Site = request.app.state.site
    html = site.html("error.html", code=code, heading=heading, message=message)
    return Content(html.encode(), HTML, status=code, cache="no-store").answer(request)
