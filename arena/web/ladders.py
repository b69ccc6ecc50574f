"""The list of ladders, and a ladder's live table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from arena.errors import UserError
from arena.storage import overview, queries
from arena.storage.queries import LadderRow, TableRow
from arena.web.content import HTML, Content
from arena.web.parts import Parts
from arena.web.site import HOT_S, NotHere, Site

ROWS: Final = 100
HOUR: Final = 60


async def ladder_topic(site: Site, rest: str) -> Parts:
    """Live parts of ``slug/page``: the table."""
    slug, _, page = rest.partition("/")
    number = int(page) if page.isdecimal() and len(page) < 5 else 0

    def read(connection: Any) -> tuple[LadderRow, tuple[TableRow, ...], Mapping[int, tuple[float, ...]]]:
        held = get_ladder(connection, slug)
        rows = queries.leaderboard(connection, slug, ROWS, number * ROWS)
        return held, rows, overview.trends(connection, held.id, [row.version_id for row in rows])

    held, rows, trends = await site.read(read)
    online = site.watch.online
    return Parts(
        skeleton=f"ladder {slug} {number}",
        blocks={"ladder-facts": site.part("_ladders.html", "facts", held)},
        lists={
            "table": {
                f"r-{held.id}-{row.version_id}": site.part(
                    "_ladders.html", "row", held.id, row, trends[row.version_id], online
                )
                for row in rows
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
    """``/ladders/{slug}``, hundred rows a page."""
    site: Site = request.app.state.site
    slug, text = request.path_params["slug"], request.query_params.get("page", "0")
    if not text.isdecimal() or len(text) > 4:
        return RedirectResponse(f"/ladders/{slug}", 303)
    number = int(text)

    async def context() -> Mapping[str, Any]:
        held = await site.read(lambda connection: get_ladder(connection, slug))
        recent, _ = await site.read(lambda connection: queries.recent_matches(connection, ladder_slug=slug, limit=12))
        return {"ladder": held, "number": number, "more": held.bots > (number + 1) * ROWS, "recent": recent}

    return await site.live_page(request, f"ladder:{slug}/{number}", "ladder.html", context)


def get_ladder(connection: Any, slug: str) -> LadderRow:
    """The ladder. Raises NotHere."""
    try:
        return queries.get_ladder(connection, slug)
    except UserError as error:
        raise NotHere(str(error)) from None
