"""What every answer carries, and what no request may: middleware around the whole site."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote_plus

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.web.api.serving import PREFIX, problem

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), interest-cohort=()",
}
MAX_QUERY: Final = 2_000
_TOKEN: Final = re.compile("arena_[0-9A-Za-z]{8}_[0-9A-Za-z]{8}")


class Guard:
    """Sets the headers, and refuses addresses that carry a token: addresses end up in logs and histories.

    Nor does any page see a NUL: nothing has one in its name, and PostgreSQL takes none in a text.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI wants it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if (refused := _refused(scope["path"], scope.get("query_string", b""))) is not None:
            status, why = refused
            refusal = (
                problem(Request(scope), status, why)
                if scope["path"].startswith(f"{PREFIX}/")
                else PlainTextResponse(f"{why}\n", status)
            )
            await refusal(scope, receive, send_guarded)
            return
        await self._app(scope, receive, send_guarded)


def _refused(path: str, query: bytes) -> tuple[int, str] | None:
    """With what status an address is refused, and why; None if it is not."""
    if "\0" in path:
        return 404, "There is no such page."
    if b"%00" in query or b"\0" in query:
        return 400, "No name has the character NUL."
    given = unquote_plus(query.decode("latin-1"))
    if "token=" in given or _TOKEN.search(path) or "arena_" in given or len(query) > MAX_QUERY:
        return 400, "A token does not belong into an address, and no address is so long."
    return None
