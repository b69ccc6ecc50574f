"""Matches: the list, a match's page with its replay, its record to take away."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import orjson
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from arena.errors import ArenaError, UserError
from arena.match.record import DamagedRecord
from arena.storage import matches as stored_matches
from arena.storage import overview
from arena.storage.matches import MatchPage, MatchRow
from arena.storage.running import RunningMatch, running_matches
from arena.web import running
from arena.web.content import FOREVER, GZIP, HTML, JSON, Content
from arena.web.film import Picture, film, picture_at, pictures
from arena.web.replay import Eyes, Replayed, replayed
from arena.web.site import HOT_S, WARM_S, NotHere, Site

PAGE: Final = 50
ON_NOW: Final = 12
"""Running matches that the list begins with."""
KEEP_S: Final = 120.0
"""How long a refereed match is kept: it never changes, but there are many."""


@dataclass(frozen=True, slots=True)
class MatchView:
    """A match and the other games of its set."""

    page: MatchPage
    games: tuple[tuple[int, str], ...]


async def index(request: Request) -> Response:
    """``/matches``, newest first; ``?bot=`` and ``?ladder=`` choose, ``?cursor=`` goes on."""
    site: Site = request.app.state.site
    bot, ladder, cursor = (request.query_params.get(name, "")[:200] for name in ("bot", "ladder", "cursor"))

    def read(connection: Connection) -> tuple[Sequence[MatchRow], str]:
        try:
            return stored_matches.recent_matches(
                connection, bot_name=bot or None, ladder_slug=ladder or None, cursor=cursor, limit=PAGE
            )
        except UserError as error:
            raise NotHere(str(error)) from None

    async def make() -> Content:
        rows, following = await site.read(read)
        on_now: Sequence[RunningMatch] = ()
        if site.redis is not None and not (bot or ladder or cursor):
            on_now = await site.read(lambda connection: running_matches(connection, ON_NOW))
        html = site.html(
            "matches.html", rows=rows, following=following, bot=bot, ladder=ladder, cursor=cursor, on_now=on_now
        )
        return Content(html.encode(), HTML)

    return await site.page(request, ("matches", bot, ladder, cursor), HOT_S, make)


async def page(request: Request) -> Response:
    """``/matches/{id}``; ``?eyes=`` and ``?n=`` choose whose eyes and which position, for those without scripts."""
    site: Site = request.app.state.site
    match_id, eyes_text, n_text = (
        request.path_params["match_id"],
        request.query_params.get("eyes", "all"),
        request.query_params.get("n", ""),
    )

    async def make() -> Content:
        view = await read_match(site, match_id)
        match = view.page.match
        eyes = eyes_of(eyes_text, match.players)
        replay = await _replay(site, match)
        last = len(replay.events) if isinstance(replay, Replayed) else 0
        n = min(int(n_text), last) if n_text.isdecimal() and len(n_text) < 7 else last
        shown = await site.work(lambda: picture_at(replay, eyes, n)) if isinstance(replay, Replayed) and last else None
        choices = ["all", "public", *map(str, range(match.players))]
        html = site.html(
            "match.html",
            view=view,
            match=match,
            replay=replay,
            frame=shown,
            choices=choices,
            eyes=eyes_text,
            n=n,
            last=last,
        )
        return Content(html.encode(), HTML)

    try:
        return await site.page(request, ("match", match_id, eyes_text, n_text), WARM_S, make)
    except NotHere as error:
        with contextlib.suppress(NotHere):
            return await running.page(request)
        raise error


async def positions(request: Request) -> Response:
    """``/matches/{id}/film.json?eyes=``: the film that the viewer shows."""
    site: Site = request.app.state.site
    match_id, eyes_text = request.path_params["match_id"], request.query_params.get("eyes", "all")

    async def make() -> Content:
        match = (await read_match(site, match_id)).page.match
        eyes = eyes_of(eyes_text, match.players)
        replay = await _replay(site, match)
        if isinstance(replay, str) or not replay.events:
            raise NotHere("this match cannot be replayed here")
        return Content(await site.work(lambda: orjson.dumps(film(replay, eyes))), JSON)

    return await site.page(request, ("film", match_id, eyes_text), KEEP_S, make)


async def record(request: Request) -> Response:
    """``/matches/{id}/record``: the file that ``arena verify`` and ``arena replay`` read."""
    site: Site = request.app.state.site
    match = (await read_match(site, request.path_params["match_id"])).page.match
    try:
        data = await site.work(lambda: site.records.read(match.record_digest))
    except ArenaError as error:
        raise NotHere(str(error)) from None
    name = f"{match.game}-{match.match_id}.jsonl.gz"
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": FOREVER}
    return Response(data, headers=headers, media_type=GZIP)


async def read_match(site: Site, match_id: str) -> MatchView:
    """A finished match that may be shown, through the cache. Raises NotHere."""

    def read(connection: Connection) -> MatchView:
        try:
            found = stored_matches.match_page(connection, match_id)
        except UserError as error:
            raise NotHere(str(error)) from None
        return MatchView(found, overview.matches_of_set(connection, found.match.set_id))

    return await site.cache.get(("match view", match_id), WARM_S, lambda: site.read(read))


async def _replay(site: Site, match: MatchRow) -> Replayed | str:
    """The match refereed again, or why it cannot be."""

    async def make() -> Replayed | str:
        try:
            return await site.work(lambda: replayed(site.records.read(match.record_digest)))
        except (ArenaError, DamagedRecord) as error:
            return str(error)

    return await site.cache.get(("replay", match.match_id), KEEP_S, make)


async def read_pictures(site: Site, match: MatchRow, eyes: Eyes) -> tuple[Picture, ...]:
    """Its positions in somebody's eyes; none if its record cannot be refereed again."""
    replay = await _replay(site, match)
    return () if isinstance(replay, str) else await site.work(lambda: tuple(pictures(replay, eyes)))


def eyes_of(text: str, players: int) -> Eyes:
    """``all``, ``public`` or a seat's number. Raises NotHere."""
    if text == "all":
        return "all"
    if text == "public":
        return None
    if not text.isdecimal() or len(text) > 2 or int(text) >= players:
        raise NotHere("this match has no such seat")
    return int(text)
