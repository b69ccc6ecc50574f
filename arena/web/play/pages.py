"""Play in the browser: choosing a game, a table, and what a person at it sends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import orjson
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

import engines
from arena.web.api.serving import Rates, address_of
from arena.web.content import FOREVER, GZIP, HTML, JSON, Content
from arena.web.film import film, picture_at
from arena.web.matches import KEEP_S, eyes_of
from arena.web.play.chair import Chair
from arena.web.play.lounge import Lounge
from arena.web.play.order import LONGEST_NAME, PACES, BadOrder, opponents, order_of
from arena.web.play.shelf import Shelf
from arena.web.play.table import Refused, Table
from arena.web.reading import installed_games, rendered
from arena.web.replay import Replayed, replayed
from arena.web.site import WARM_S, NotHere, Site
from arena.web.viewers import Viewers

MAX_BODY: Final = 4_096
PER_S: Final = 20
BURST: Final = 200
"""How often an address may open a table, sit down, move: more than a house full of hands can, less than a table can bear."""
BEARER: Final = "Bearer "


class Doors:
    """What the handlers share."""

    def __init__(self, site: Site) -> None:
        self.shelf: Final = Shelf(site.settings.data_dir / "tables")
        self.rates: Final = Rates(PER_S, BURST)

        async def keep(table_id: str, record: bytes) -> None:
            await site.work(lambda: self.shelf.put(table_id, record))

        self.lounge: Final = Lounge(
            site.settings.data_dir / "logs",
            keep,
            tables=site.settings.web.tables,
            per_address=site.settings.web.tables_per_address,
        )


async def index(request: Request) -> Response:
    """``/play``: which game?"""
    site: Site = request.app.state.site

    async def make() -> Content:
        games = [(game, _about(game)) for game in installed_games() if opponents(game.name)]
        return Content(site.html("play.html", games=games).encode(), HTML)

    return await site.page(request, "play", WARM_S, make)


async def new(request: Request) -> Response:
    """``/play/new/{game}``: the form; sent, it opens a table and leads the opener to their seat there."""
    site: Site = request.app.state.site
    game = _game(request.path_params["game"])
    if request.method != "POST":
        return Content(_form(site, game).encode(), HTML).answer(request)
    try:
        _same_origin(request)
        _in_time(request)
        form = parse_qs((await _body(request)).decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=40)
        name = form.get("name", [""])[-1]
        table = _doors(request).lounge.open(order_of(game, form), name, address_of(request))
    except (Refused, BadOrder, ValueError) as error:
        status = error.status if isinstance(error, Refused) else 422
        return Content(_form(site, game, str(error)).encode(), HTML, status=status, cache="no-store").answer(request)
    secret = table.chairs[table.opener_seat].secret
    return RedirectResponse(f"/play/{table.id}#seat={secret}", 303, {"cache-control": "no-store"})


async def page(request: Request) -> Response:
    """``/play/{table}``: the same page for everybody; who somebody is, is in the part of the address that is not sent."""
    site: Site = request.app.state.site
    table = _doors(request).lounge.get(request.path_params["table"])
    if table is None:
        if await _kept(request) is not None:
            return RedirectResponse(f"/play/{request.path_params['table']}/replay", 302)
        raise NotHere("this table is not here, or not any more")
    game = engines.get(table.order.game)
    html = site.html("table.html", table=table, game=game, longest=LONGEST_NAME)
    return Content(html.encode(), HTML).answer(request)


async def live(request: Request) -> Response:
    """``/play/{table}/live``: as server-sent events, for the seat whose secret is in the header, or for a spectator."""
    viewers: Viewers = request.app.state.viewers

    async def begin() -> AsyncIterator[str]:
        table = _table(request)
        chair = table.chair_of(secret) if (secret := _secret(request)) else None
        have = request.query_params.get("have", "0")
        known = int(have) if have.isdecimal() and len(have) < 6 else 0
        return await table.events(None if chair is None else chair.seat, known)

    try:
        _in_time(request)  # or secrets could be guessed here as fast as anybody can ask
        return await viewers.serve(request, begin)
    except Refused as error:
        return _told({"problem": str(error)}, error.status)


async def act(request: Request) -> Response:
    """``POST /play/{table}/{join,move,leave,again}``, JSON in and out.

    A page from elsewhere can send none of them: it does not have the secret, which no cookie carries for it.
    """
    try:
        _same_origin(request)
        _in_time(request)
        do = ACTS.get(request.path_params["what"])
        if do is None:
            raise Refused(404, f"at a table one can {', '.join(ACTS)}")
        return _told(do(request, _table(request), _document(await _body(request))))
    except Refused as error:
        return _told({"problem": str(error)}, error.status)


def _join(request: Request, table: Table, sent: Mapping[str, Any]) -> Mapping[str, Any]:
    chair = table.join(_text(sent, "code"), _text(sent, "name"))
    _doors(request).lounge.begin(table)
    return {"seat": chair.seat, "secret": chair.secret}


def _move(request: Request, table: Table, sent: Mapping[str, Any]) -> Mapping[str, Any]:
    decision = sent.get("decision")
    if not isinstance(decision, int):
        raise Refused(422, "the decision's number is needed")
    table.choose(_seated(request, table), decision, _text(sent, "action"))
    return {}


def _leave(request: Request, table: Table, _sent: Mapping[str, Any]) -> Mapping[str, Any]:
    table.leave(_seated(request, table))
    return {}


def _again(request: Request, table: Table, _sent: Mapping[str, Any]) -> Mapping[str, Any]:
    again, chair = _doors(request).lounge.open_again(table, _seated(request, table), address_of(request))
    return {"table": again.id, "secret": chair.secret}


ACTS: Final = {"join": _join, "move": _move, "leave": _leave, "again": _again}


async def replay(request: Request) -> Response:
    """``/play/{table}/replay``: a game that is over, in the viewer."""
    site: Site = request.app.state.site
    match = await _replayed(request)
    header, footer = match.record.header, match.record.footer
    last = len(match.events)
    html = site.html(
        "played.html",
        table_id=request.path_params["table"],
        header=header,
        footer=footer,
        game=engines.get(header["game"]),
        order=sorted((place, seat) for seat, place in enumerate(footer["places"])),
        replay=match,
        frame=await site.work(lambda: picture_at(match, "all", last)),
        choices=["all", "public", *map(str, range(match.players))],
        last=last,
    )
    return Content(html.encode(), HTML).answer(request)


async def positions(request: Request) -> Response:
    """``/play/{table}/film.json?eyes=``"""
    site: Site = request.app.state.site
    match = await _replayed(request)
    eyes = eyes_of(request.query_params.get("eyes", "all"), match.players)
    return Content(await site.work(lambda: orjson.dumps(film(match, eyes))), JSON).answer(request)


async def record(request: Request) -> Response:
    """``/play/{table}/record``: the file that ``arena verify`` reads."""
    data = await _kept(request)
    if data is None:
        raise NotHere("this table has no record")
    name = f"{request.path_params['table']}.jsonl.gz"
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": FOREVER}
    return Response(data, headers=headers, media_type=GZIP)


ROUTES: Final = (
    Route("/play", index),
    Route("/play/new/{game}", new, methods=["GET", "POST"]),
    Route("/play/{table}", page),
    Route("/play/{table}/live", live),
    Route("/play/{table}/replay", replay),
    Route("/play/{table}/film.json", positions),
    Route("/play/{table}/record", record),
    Route("/play/{table}/{what}", act, methods=["POST"]),
)


def _form(site: Site, game: engines.Game, problem: str = "") -> str:
    return site.html(
        "new_table.html",
        game=game,
        bots=opponents(game.name),
        paces=PACES,
        longest=LONGEST_NAME,
        problem=problem,
    )


def _about(game: engines.Game) -> Markup:
    """The first paragraph of its rules."""
    paragraphs = game.summary.split("\n\n")
    return rendered(next(paragraph for paragraph in paragraphs if not paragraph.startswith("#")))


def _doors(request: Request) -> Doors:
    doors: Doors = request.app.state.doors
    return doors


def _game(name: str) -> engines.Game:
    found = {one.name: one for one in installed_games()}.get(name)
    if found is None or not opponents(name):
        raise NotHere(f"there is no game {name!r} to play here")
    return found


def _table(request: Request) -> Table:
    """Raises Refused: the page is a script, which wants to be told."""
    table = _doors(request).lounge.get(request.path_params["table"])
    if table is None:
        raise Refused(404, "this table is not here any more")
    return table


def _secret(request: Request) -> str:
    given = request.headers.get("authorization", "")
    return given.removeprefix(BEARER) if given.startswith(BEARER) else ""


def _seated(request: Request, table: Table) -> Chair:
    return table.chair_of(_secret(request))


async def _kept(request: Request) -> bytes | None:
    """The record of a table that is over, from memory or disk."""
    site: Site = request.app.state.site
    table_id = request.path_params["table"]
    table = _doors(request).lounge.get(table_id)
    if table is not None:
        return table.record
    return await site.work(lambda: _doors(request).shelf.get(table_id))


async def _replayed(request: Request) -> Replayed:
    site: Site = request.app.state.site

    async def make() -> Replayed:
        data = await _kept(request)
        if data is None:
            raise NotHere("this table has no record")
        return await site.work(lambda: replayed(data))

    return await site.cache.get(("played", request.path_params["table"]), KEEP_S, make)


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise Refused(413, "that is more than belongs here")
    return body


def _document(body: bytes) -> Mapping[str, Any]:
    try:
        document = orjson.loads(body or b"{}")
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise Refused(422, "a JSON object is needed")
    return document


def _text(sent: Mapping[str, Any], name: str) -> str:
    value = sent.get(name)
    if not isinstance(value, str) or len(value) > 200:
        raise Refused(422, f"{name} must be a text")
    return value


def _same_origin(request: Request) -> None:
    """Raises Refused of what another site's page makes a browser send."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    origin = request.headers.get("origin")
    elsewhere = origin is not None and urlsplit(origin).netloc != request.headers.get("host")
    if site not in ("same-origin", "none") or elsewhere:
        raise Refused(403, "this can be asked by the arena's own pages only")


def _in_time(request: Request) -> None:
    """Raises Refused of an address that asks faster than people play."""
    if not _doors(request).rates.admit(request):
        raise Refused(429, "that is faster than anybody plays; wait a moment")


def _told(document: Mapping[str, Any], status: int = 200) -> Response:
    return Response(orjson.dumps(document), status, {"cache-control": "no-store"}, JSON)
