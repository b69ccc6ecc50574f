"""Live streams by the address that watches: no address takes the places of all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from arena.web.api.serving import address_of
from arena.web.hub import Full

HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


class Viewers:
    """Open streams of each address, at most ``most``. An address is remembered while it has one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    async def serve(self, request: Request, begin: Callable[[], Awaitable[AsyncIterator[str]]]) -> Response:
        """The server-sent events that ``begin`` gives, or why there are none for this address or, with Full, for anybody."""
        address = address_of(request)
        if self._open[address] >= self._most:
            told = f"{self._most} live pages are open at this address; close some of them.\n"
            return PlainTextResponse(told, 429, {"retry-after": "10"})
        self._open[address] += 1
        try:
            events = await begin()
        except Full:
            self._leave(address)
            return PlainTextResponse("Too many viewers.\n", 503, {"retry-after": "10"})
        except BaseException:
            self._leave(address)
            raise
        return _Stream(events, lambda: self._leave(address))

    def _leave(self, address: str) -> None:
        self._open[address] -= 1
        if not self._open[address]:
            del self._open[address]


class _Stream(StreamingResponse):
    """Says when it is over: its events cannot, for who has gone at once asks for none, and what never began does not end."""

    def __init__(self, events: AsyncIterator[str], ended: Callable[[], None]) -> None:
        super().__init__(events, headers=HEADERS, media_type="text/event-stream")
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ended()
