"""A POST of the API: who asks, with what body, and what is said where it cannot be.

Bearer tokens alone count, and cookies never do, so that no other page can ask in somebody's name.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from types import NoneType
from typing import Any, Final, get_args, get_type_hints

import orjson
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from arena.errors import QuotaExceeded, Unavailable, UserError
from arena.gateway.limits import Guesses
from arena.storage import accounts
from arena.storage.accounts import Principal
from arena.web.api.serving import HEADERS, PREFIX, BadRequest, Parameter, Rates, address_of, problem
from arena.web.content import JSON, Content
from arena.web.site import NotHere, Site

MOST_BODY: Final = 16 * 1024
MOST_INTEGER: Final = 2**53 - 1
WORD: Final = r"[A-Za-z0-9@._+-]{1,120}"
"""What every text in a body is: the name of a ladder, a bot or a version."""

Do = Callable[[Site, Connection, Principal, Mapping[str, Any], Any], Any]


@dataclass(frozen=True, slots=True)
class Command:
    """A POST below PREFIX for an account, in one transaction: ``do`` takes a ``body`` and answers an ``answer``."""

    path: str
    do: Do
    body: type
    answer: type
    parameters: tuple[Parameter, ...] = ()

    async def serve(self, request: Request) -> Response:
        """As Starlette wants it."""
        site: Site = request.app.state.site
        rates: Rates = request.app.state.rates
        guesses: Guesses = request.app.state.guesses
        address = address_of(request)
        if not rates.admit(request):
            return problem(request, 429, "Slow down.", {"retry-after": "1"})
        try:
            known = {one.name: one for one in self.parameters}
            given = {name: known[name].parse(text) for name, text in request.path_params.items()}
            if request.query_params:
                raise BadRequest("there are no parameters here: what is asked for is in the body")
            token = _token(request)
            body = parse_body(self.body, await _read(request))
            if not guesses.may_look(address, token, time.monotonic_ns() // 1000):
                return problem(request, 429, "Too many bad tokens.", {"retry-after": "5"})
            answer = await site.work(lambda: self._run(site, token, given, body))
            guesses.right(token)
        except _Wrong as error:
            guesses.wrong(address, token, time.monotonic_ns() // 1000)
            return problem(request, 401, str(error), {"www-authenticate": "Bearer"})
        except _Unknown as error:
            return problem(request, 401, str(error), {"www-authenticate": "Bearer"})
        except BadRequest as error:
            return problem(request, 400, str(error))
        except NotHere as error:
            return problem(request, 404, str(error))
        except QuotaExceeded as error:
            return problem(request, 429, str(error))
        except UserError as error:
            return problem(request, 409, str(error))
        except Unavailable:
            return problem(request, 503, "The arena cannot do this now. Try again.", {"retry-after": "2"})
        return Content(orjson.dumps(answer), JSON, cache="no-store").answer(request, HEADERS)

    def _run(self, site: Site, token: str, given: Mapping[str, Any], body: Any) -> Any:
        with site.database.write() as connection:
            who = accounts.authenticate(connection, token)
            if who is None:
                raise _Wrong("this token is not valid, or not valid any more")
            return self.do(site, connection, who, given, body)


class _Unknown(UserError):
    """Nobody knows who asks."""


class _Wrong(_Unknown):
    """Nobody has this token."""


def _token(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise _Unknown("this needs the header Authorization: Bearer TOKEN")
    return token.strip()


async def _read(request: Request) -> bytes:
    """The body. Raises BadRequest if it is too long to be read."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BODY:
            raise BadRequest(f"a body has at most {MOST_BODY} bytes")
        parts.append(part)
    return b"".join(parts)


def parse_body(kind: type[Any], data: bytes) -> Any:
    """A ``kind``, a dataclass of plain members, from a JSON object. Raises BadRequest."""
    try:
        document = orjson.loads(data or b"{}")
    except ValueError:
        raise BadRequest("the body is not JSON") from None
    if not isinstance(document, dict):
        raise BadRequest("the body is not a JSON object")
    hints = get_type_hints(kind)
    if unknown := sorted(document.keys() - hints.keys()):
        raise BadRequest(f"there is no member {unknown[0]!r}; there are: {', '.join(hints)}")
    missing = [one.name for one in fields(kind) if one.default is MISSING and one.name not in document]
    if missing:
        raise BadRequest(f"the member {missing[0]!r} is needed")
    return kind(**{name: _value(name, hints[name], value) for name, value in document.items()})


def _value(name: str, kind: Any, value: Any) -> Any:
    choices = get_args(kind) if NoneType in get_args(kind) else (kind,)
    if value is None and NoneType in choices:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    for choice in choices:
        if choice is str and isinstance(value, str) and re.fullmatch(WORD, value, re.ASCII):
            return value
        if choice is int and number and value == int(value) and abs(value) <= MOST_INTEGER:
            return int(value)
        if choice is float and number:
            return float(value)
        if choice == tuple[str, ...] and isinstance(value, list):
            return tuple(_value(name, str, one) for one in value)
    raise BadRequest(f"{name} is not what it must be: see /api/v1/openapi.json")


def routes(commands: Sequence[Command]) -> list[Route]:
    """One for each command."""
    return [Route(PREFIX + one.path, one.serve, methods=["POST"], name=f"api POST {one.path}") for one in commands]
