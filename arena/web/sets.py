"""A set's page: its games with their seats rotating, its deals, and why each rating moved as it did."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from arena.errors import UserError
from arena.storage.setpages import SetPage, set_page
from arena.web.content import HTML, Content
from arena.web.site import WARM_S, NotHere, Site


async def page(request: Request) -> Response:
    """``/sets/{id}``"""
    site: Site = request.app.state.site
    set_id = request.path_params["set_id"]

    async def make() -> Content:
        return Content(site.html("set.html", set=await read_set(site, set_id)).encode(), HTML)

    return await site.page(request, ("set", set_id), WARM_S, make)


async def read_set(site: Site, set_id: str) -> SetPage:
    """The set. Raises NotHere."""
    try:
        return await site.read(lambda connection: set_page(connection, set_id))
    except UserError as error:
        raise NotHere(str(error)) from None
