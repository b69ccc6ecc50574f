"""What every answer carries, and what no request may: middleware around the whole site."""

from __future__ import annotations

from typing import Final

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


class Guard:
    """Sets the headers, and refuses addresses that carry a token: addresses end up in logs and histories."""

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

        query: bytes = scope.get("query_string", b"")
        if b"token=" in query or b"arena_" in query or len(query) > MAX_QUERY:
            why = "A token does not belong into an address, and no address is so long."
            refusal = (
                problem(Request(scope), 400, why)
                if scope["path"].startswith(f"{PREFIX}/")
                else PlainTextResponse(f"{why}\n", 400)
            )
            await refusal(scope, receive, send_guarded)
            return
        await self._app(scope, receive, send_guarded)
