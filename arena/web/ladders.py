"""The list of ladders, and a ladder's live table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from arena.errors import UserError
from arena.storage import matches as stored_matches
from arena.storage import overview, queries, tournaments
from arena.storage.queries import LadderRow, TableRow
from arena.web.content import HTML, Content
from arena.web.parts import Parts
from arena.web.site import HOT_S, WARM_S, NotHere, Site

ROWS: Final = 100
HOUR: Final = 60
LONGEST_QUERY: Final = 40


async def ladder_topic(site: Site, rest: str) -> Parts:
    """Live parts of ``slug/page``: the table."""
    slug, _, page = rest.partition("/")
    number = int(page) if page.isdecimal() and len(page) < 5 else 0

    def read(connection: Connection) -> Shown:
        return _shown(connection, slug, lambda: queries.leaderboard(connection, slug, ROWS, number * ROWS))

    return _parts(site, await site.read(read), f"ladder {slug} {number}")


@dataclass(frozen=True, slots=True)
class Shown:
    """Rows of a ladder's table, and the last ratings of each by version."""

    ladder: LadderRow
    rows: tuple[TableRow, ...]
    trends: Mapping[int, tuple[float, ...]]


def _shown(connection: Connection, slug: str, rows: Callable[[], tuple[TableRow, ...]]) -> Shown:
    held = get_ladder(connection, slug)
    found = rows()
    return Shown(held, found, overview.trends(connection, held.id, [row.version_id for row in found]))


def _parts(site: Site, shown: Shown, skeleton: str) -> Parts:
    held, online = shown.ladder, site.watch.online
    return Parts(
        skeleton=skeleton,
        blocks={"ladder-facts": site.part("_ladders.html", "facts", held)},
        lists={
            "table": {
                f"r-{held.id}-{row.version_id}": site.part(
                    "_ladders.html", "row", held.id, row, shown.trends[row.version_id], online
                )
                for row in shown.rows
            }
        },
    )


async def index(request: Request) -> Response:
    """``/ladders``"""
    site: Site = request.app.state.site

    async def make() -> Content:
        ladders, activity = await site.read(
            lambda connection: (queries.ladders(connection), overview.activity(connection, HOUR))
        )
        leaders = await site.read(
            lambda connection: {
                row.spec.slug: queries.leaderboard(connection, row.spec.slug, 1) for row in ladders if row.entries
            }
        )
        html = site.html("ladders.html", ladders=ladders, leaders=leaders, busy=activity.by_ladder)
        return Content(html.encode(), HTML)

    return await site.page(request, "ladders", HOT_S, make)


async def page(request: Request) -> Response:
    """``/ladders/{slug}``, hundred rows a page; ``?q=`` searches all of it for bots and owners.

    A tournament's ladder leads to the tournament.
    """
    site: Site = request.app.state.site
    if query := request.query_params.get("q", "").strip()[:LONGEST_QUERY]:
        return await _found(site, request, query)
    slug, text = request.path_params["slug"], request.query_params.get("page", "0")
    if not text.isdecimal() or len(text) > 4:
        return RedirectResponse(f"/ladders/{slug}", 303)
    number = int(text)
    if (event := await event_of(site, slug)) is not None:
        return RedirectResponse(f"/tournaments/{event}", 303)

    async def context() -> Mapping[str, Any]:
        held = await site.read(lambda connection: get_ladder(connection, slug))
        recent, _ = await site.read(
            lambda connection: stored_matches.recent_matches(connection, ladder_slug=slug, limit=12)
        )
        return {
            "ladder": held,
            "number": number,
            "more": held.bots > (number + 1) * ROWS,
            "recent": recent,
            "query": "",
        }

    return await site.live_page(request, f"ladder:{slug}/{number}", "ladder.html", context)


async def _found(site: Site, request: Request, query: str) -> Response:
    """The rows of a ladder that a search finds. They do not move: a search is looked at, not watched."""
    slug = request.path_params["slug"]

    def read(connection: Connection) -> Shown:
        return _shown(connection, slug, lambda: queries.search(connection, slug, query, ROWS))

    async def make() -> Content:
        shown = await site.read(read)
        parts = _parts(site, shown, "")
        context = {"number": 0, "more": False, "recent": (), "query": query}
        return Content(site.html("ladder.html", parts=parts, ladder=shown.ladder, **context).encode(), HTML)

    return await site.page(request, ("search", slug, query), HOT_S, make)


async def event_of(site: Site, slug: str) -> str | None:
    """The slug of the tournament whose ladder it is, through the cache."""

    async def read() -> str | None:
        return await site.read(lambda connection: tournaments.on_ladder(connection, slug))

    return await site.cache.get(("event of", slug), WARM_S, read)


def get_ladder(connection: Connection, slug: str) -> LadderRow:
    """The ladder. Raises NotHere."""
    try:
        return queries.get_ladder(connection, slug)
    except UserError as error:
        raise NotHere(str(error)) from None
