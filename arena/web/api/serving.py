"""How the API is served: parameters are checked, answers kept and tagged, errors told as problems, callers rated."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from arena.addresses import counted_as
from arena.errors import Unavailable, UserError
from arena.gateway.limits import Buckets
from arena.web.api.answers import Problem
from arena.web.content import JSON, Content
from arena.web.site import NotHere, Site

PREFIX: Final = "/api/v1"
PROBLEM: Final = "application/problem+json"
HEADERS: Final = {"access-control-allow-origin": "*"}
"""Anybody's page may read what anybody may read."""
TITLES: Final = {
    400: "Bad request",
    401: "Who are you?",
    404: "Not here",
    405: "Method not allowed",
    409: "Not possible",
    429: "Too many requests",
    500: "Our mistake",
    503: "Busy",
}


class BadRequest(UserError):
    """A parameter is not what it must be."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: text that a ``pattern`` fits whole or, without one, an integer from ``low`` to ``high``."""

    name: str
    text: str
    pattern: str = ""
    low: int = 0
    high: int = 0
    where: Literal["path", "query"] = "query"

    def parse(self, text: str) -> str | int:
        """Its value. Raises BadRequest, or NotHere of a path that leads nowhere."""
        wrong = NotHere if self.where == "path" else BadRequest
        if self.pattern:
            if not re.fullmatch(self.pattern, text, re.ASCII):
                raise wrong(f"{self.name} must match {self.pattern}")
            return text
        if not re.fullmatch(r"0|[1-9][0-9]{0,9}", text, re.ASCII) or not self.low <= int(text) <= self.high:
            raise wrong(f"{self.name} must be an integer from {self.low} to {self.high}")
        return int(text)


Make = Callable[[Site, Mapping[str, Any]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Operation:
    """A GET below PREFIX. ``make`` answers an ``answer``, which is kept for so many ``seconds``."""

    path: str
    make: Make
    answer: type
    seconds: float
    parameters: tuple[Parameter, ...] = ()

    async def serve(self, request: Request) -> Response:
        """As Starlette wants it."""
        site: Site = request.app.state.site
        rates: Rates = request.app.state.rates
        if not rates.admit(request):
            return problem(request, 429, "Slow down: answers change every second at most.", {"retry-after": "1"})
        try:
            given = self._given(request)

            async def make() -> Content:
                answer = await self.make(site, given)
                return Content(await site.work(lambda: orjson.dumps(answer)), JSON)

            key = ("api", self.path, tuple(sorted(given.items())))
            content = await site.cache.get(key, self.seconds, make)
        except BadRequest as error:
            return problem(request, 400, str(error))
        except NotHere as error:
            return problem(request, 404, str(error))
        except Unavailable:
            return problem(request, 503, "The arena cannot tell this now. Matches go on.", {"retry-after": "2"})
        return content.answer(request, HEADERS)

    def _given(self, request: Request) -> dict[str, str | int]:
        """Checked parameters. Raises BadRequest and NotHere."""
        query = request.query_params
        known = {one.name: one for one in self.parameters}
        for name in query:
            if name not in known or known[name].where != "query":
                raise BadRequest(f"there is no parameter {name!r} here")
            if len(query.getlist(name)) > 1:
                raise BadRequest(f"{name} is given twice")
        found = {**request.path_params, **query}
        return {name: known[name].parse(text) for name, text in found.items()}


def routes(operations: Sequence[Operation]) -> list[Route]:
    """One for each operation."""
    return [Route(PREFIX + one.path, one.serve, name=f"api {one.path}") for one in operations]


def problem(request: Request, status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """An error, as a problem document."""
    body = orjson.dumps(Problem(TITLES.get(status, "That does not work"), status, detail))
    return Content(body, PROBLEM, status=status, cache="no-store").answer(request, {**HEADERS, **(headers or {})})


class Rates:
    """How fast each address may ask: ``per_s`` requests a second, ``burst`` at once."""

    def __init__(self, per_s: int, burst: int) -> None:
        self._buckets = Buckets(per_s, burst)

    def admit(self, request: Request) -> bool:
        """Whether the request is within its address's rate."""
        return self._buckets.of(address_of(request)).take(time.monotonic_ns() // 1000)


def address_of(request: Request) -> str:
    """Where a request comes from, as limits count it."""
    return counted_as(request.client.host) if request.client else ""
