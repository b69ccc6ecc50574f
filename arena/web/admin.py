"""The admin pages: an application of their own, on a listener of their own. Nothing of it is on the public one.

Whoever shows an admin token gets a session, which lives in this process for SESSION_S. Every POST needs the session's
CSRF token, and every action is done and written down in one transaction (:mod:`arena.storage.admins`).
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, urlencode

from sqlalchemy import Connection
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from arena.errors import Unavailable, UserError
from arena.gateway.session import TokenBucket
from arena.storage import accounts, admins, overview, running, sets, versions
from arena.storage.admins import Admin
from arena.web import app as public
from arena.web.site import NotHere, Site

COOKIE: Final = "arena_admin"
SESSION_S: Final = 30 * 60
MOST_BODY: Final = 4_096
LIMIT: Final = 100
TRIES_PER_S: Final = 1
TRIES: Final = 5
"""Attempts to log in, of everybody together: all come from this machine or its proxy."""
NO_STORE: Final = {"cache-control": "no-store"}
Form = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who has logged in, till ``until`` (s, monotonic)."""

    admin: Admin
    until: float


class Door:
    """Who is in. A cookie is a random number; only those that a login has made are sessions."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._sessions: dict[str, Session] = {}
        self.tries = TokenBucket(TRIES_PER_S, TRIES)

    def csrf(self, cookie: str) -> str:
        """What a form must carry that comes with this cookie."""
        return hmac.digest(self._key, cookie.encode(), "sha256").hex()

    def enter(self, admin: Admin) -> str:
        """The cookie of a new session; what was there before is of no use to whoever planted it."""
        now = time.monotonic()
        self._sessions = {cookie: one for cookie, one in self._sessions.items() if one.until > now}
        cookie = secrets.token_urlsafe(32)
        self._sessions[cookie] = Session(admin, now + SESSION_S)
        return cookie

    def session(self, cookie: str) -> Session | None:
        """The session of a cookie, unless its time is over."""
        found = self._sessions.get(cookie)
        return found if found is not None and found.until > time.monotonic() else None

    def leave(self, cookie: str) -> None:
        """Ends a session."""
        self._sessions.pop(cookie, None)


@dataclass(frozen=True, slots=True)
class Action:
    """What can be done: ``do`` returns on what it was done, for the audit; afterwards ``page`` is shown again."""

    page: str
    do: Callable[[Connection, Form], str]


def _version(change: Callable[[Connection, accounts.Bot, str], None]) -> Callable[[Connection, Form], str]:
    def do(connection: Connection, form: Form) -> str:
        bot, label = accounts.find_bot(connection, form.get("bot", "")), form.get("version", "")
        if bot is None or not label:
            raise UserError("there is no such version of a bot")
        change(connection, bot, label)
        return f"{bot.name}@{label}"

    return do


def _revoke(connection: Connection, form: Form) -> str:
    prefix = form.get("prefix", "")
    return f"token {prefix} of {accounts.revoke_anybodys(connection, prefix)}"


def _set(*, again: bool) -> Callable[[Connection, Form], str]:
    def do(connection: Connection, form: Form) -> str:
        set_id = form.get("set", "")
        sets.call_off(connection, set_id, again=again)
        return f"set {set_id}"

    return do


ACTIONS: Final[Mapping[str, Action]] = {
    "retire": Action("/", _version(versions.retire)),
    "restore": Action("/", _version(versions.restore)),
    "revoke": Action("/tokens", _revoke),
    "play-again": Action("/sets", _set(again=True)),
    "give-up": Action("/sets", _set(again=False)),
}


async def bots(request: Request) -> Response:
    """``/?find=``"""
    find = request.query_params.get("find", "")
    return await _list(request, "bots", lambda connection: versions.find_versions(connection, find, LIMIT), find=find)


async def tokens(request: Request) -> Response:
    """``/tokens?find=``"""
    find = request.query_params.get("find", "")
    return await _list(request, "tokens", lambda connection: accounts.find_tokens(connection, find, LIMIT), find=find)


async def in_flight(request: Request) -> Response:
    """``/sets``"""
    return await _list(request, "sets", lambda connection: running.sets_in_flight(connection, LIMIT))


async def audit(request: Request) -> Response:
    """``/audit?before=``"""
    text = request.query_params.get("before", "")
    before = int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None
    return await _list(
        request, "audit", lambda connection: admins.deeds(connection, LIMIT, before), earlier=before is not None
    )


async def processes(request: Request) -> Response:
    """``/processes``"""
    session = await _session(request)
    if session is None:
        return RedirectResponse("/login", 303, NO_STORE)
    site = _site(request)
    workers = await site.read(overview.workers)
    last = site.watch.last
    gateways = Counter(one.gateway for one in last.sessions) if last else Counter[str]()
    return _page(
        request,
        "processes",
        session,
        workers=site.part("_status.html", "workers", workers),
        gateways=site.part("_status.html", "gateways", sorted(gateways.items()), last is not None),
    )


async def act(request: Request) -> Response:
    """``POST /do/{action}``: does it for an admin, and leads back to the page."""
    session, form = await _session(request), await _form(request)
    if session is None:
        raise HTTPException(403, "You are not logged in, or not any more.")
    name = request.path_params["action"]
    action = ACTIONS.get(name)
    if action is None:
        raise HTTPException(404, "There is no such action.")
    site = _site(request)

    def run() -> None:
        with site.database.write() as connection:
            admins.note(connection, session.admin, name, action.do(connection, form))

    await site.work(run)
    query = f"?{urlencode({'find': form['find']})}" if form.get("find") else ""
    return RedirectResponse(action.page + query, 303, NO_STORE)


async def login(request: Request) -> Response:
    """``/login``: the form; sent with an admin token, it begins a session."""
    if request.method != "POST":
        return _login(request)
    form = await _form(request)
    door = _door(request)
    if not door.tries.take(time.monotonic_ns() // 1000):
        refusal = _login(request, "Too many attempts. Wait a few seconds.", 429)
        refusal.headers["retry-after"] = str(1 // TRIES_PER_S)
        return refusal
    secret = form.get("secret", "").strip()
    admin = await _site(request).read(lambda connection: admins.authenticate(connection, secret))
    if admin is None:
        return _login(request, "This is no admin token, or it has been revoked.", 403)
    door.leave(_cookie(request))
    return _with_cookie(RedirectResponse("/", 303, NO_STORE), door.enter(admin))


async def logout(request: Request) -> Response:
    """``POST /logout``"""
    await _form(request)
    _door(request).leave(_cookie(request))
    return RedirectResponse("/login", 303, NO_STORE)


async def refused(request: Request, error: Exception) -> Response:
    """What is not allowed, not there, or not possible."""
    if isinstance(error, HTTPException):
        return _problem(request, error.status_code, error.detail)
    message = str(error)
    return _problem(request, 404 if isinstance(error, NotHere) else 409, f"{message[:1].upper()}{message[1:]}.")


async def unavailable(request: Request, _error: Exception) -> Response:
    """503"""
    return _problem(request, 503, "The database does not answer now. Nothing was done.")


async def failed(request: Request, _error: Exception) -> Response:
    """500; the traceback is in the log alone."""
    return _problem(request, 500, "The arena could not do this. It has been written down.")


def build(site: Site) -> Starlette:
    """The application, on what the public pages share."""
    app = Starlette(
        routes=[
            Route("/", bots),
            Route("/tokens", tokens),
            Route("/sets", in_flight),
            Route("/processes", processes),
            Route("/audit", audit),
            Route("/do/{action}", act, methods=["POST"]),
            Route("/login", login, methods=["GET", "POST"]),
            Route("/logout", logout, methods=["POST"]),
            Route("/static/{name:path}", public.static),
        ],
        exception_handlers={
            HTTPException: refused,
            UserError: refused,
            Unavailable: unavailable,
            Exception: failed,
        },
    )
    app.state.site = site
    app.state.door = Door()
    return app


async def _list(request: Request, name: str, query: Callable[[Connection], Any], **context: Any) -> Response:
    """A page of rows, for an admin; others are led to the door."""
    session = await _session(request)
    if session is None:
        return RedirectResponse("/login", 303, NO_STORE)
    return _page(request, name, session, rows=await _site(request).read(query), limit=LIMIT, **context)


def _page(request: Request, name: str, session: Session | None, status: int = 200, **context: Any) -> Response:
    csrf = _door(request).csrf(_cookie(request))
    path = request.url.path
    html = _site(request).html(f"admin/{name}.html", session=session, csrf=csrf, here=path, **context)
    return HTMLResponse(html, status, NO_STORE)


def _problem(request: Request, code: int, message: str) -> Response:
    return _page(request, "problem", None, code, code=code, message=message)


def _login(request: Request, problem: str = "", status: int = 200) -> Response:
    """The form, with a cookie that it belongs to: another site's page can send neither."""
    cookie = secrets.token_urlsafe(32)
    csrf = _door(request).csrf(cookie)
    html = _site(request).html("admin/login.html", session=None, csrf=csrf, here="/login", problem=problem)
    return _with_cookie(HTMLResponse(html, status, NO_STORE), cookie)


def _with_cookie(response: Response, cookie: str) -> Response:
    response.set_cookie(COOKIE, cookie, max_age=SESSION_S, httponly=True, samesite="strict")
    return response


async def _session(request: Request) -> Session | None:
    """Whose request this is; None of nobody's, of a session that is over, and of a token that was revoked."""
    session = _door(request).session(_cookie(request))
    if session is None:
        return None
    standing = await _site(request).read(lambda connection: admins.stands(connection, session.admin))
    return session if standing else None


async def _form(request: Request) -> Form:
    """The fields of a form that one of these pages made for this cookie. Raises HTTPException of any other."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BODY:
            raise HTTPException(413, "That is more than belongs here.")
    try:
        given = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        raise HTTPException(422, "That is no form of these pages.") from None
    form = {name: values[-1] for name, values in given.items()}
    cookie = _cookie(request)
    if not cookie or not hmac.compare_digest(form.get("csrf", "").encode(), _door(request).csrf(cookie).encode()):
        raise HTTPException(403, "This form is too old, or not from these pages. Open the page again.")
    return form


def _cookie(request: Request) -> str:
    return request.cookies.get(COOKIE, "")


def _site(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


def _door(request: Request) -> Door:
    door: Door = request.app.state.door
    return door
