"""What the API does for whoever shows a token: challenges, trials, and what becomes of a bot's versions.

Bearer tokens alone count, and cookies never do, so that no other page can ask in somebody's name.
"""

from __future__ import annotations

import re
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
from arena.ladder import trials
from arena.ratings.sprt import Hypotheses
from arena.ratings.summary import Summary
from arena.storage import accounts, challenges, versions
from arena.storage.accounts import LABEL, NAME, Bot, Principal
from arena.web.api.serving import HEADERS, PREFIX, BadRequest, Operation, Parameter, Rates, problem
from arena.web.content import JSON, Content
from arena.web.site import HOT_S, NotHere, Site

MOST_BODY: Final = 16 * 1024
MOST_INTEGER: Final = 2**53 - 1
WORD: Final = r"[A-Za-z0-9@._+-]{1,120}"
"""What every text in a body is: the name of a ladder, a bot or a version."""
ID: Final = r"[A-Za-z0-9_-]{1,40}"
_BOT: Final = Parameter("name", "The bot's name.", NAME.pattern, where="path")
_LABEL: Final = Parameter("label", "The version's label.", LABEL.pattern, where="path")
_CHALLENGE: Final = Parameter("challenge_id", "As it was answered.", ID, where="path")
_TRIAL: Final = Parameter("trial_id", "As it was answered.", ID, where="path")


@dataclass(frozen=True, slots=True)
class NewChallenge:
    """Unrated games against named opponents: ``BOT``, its current version on the ladder, or ``BOT@VERSION``. ``bot`` is one
    of yours. The same ``seed`` deals the same."""

    ladder: str
    bot: str
    opponents: tuple[str, ...]
    games: int = 10
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class NewTrial:
    """Whether ``new`` is better than ``old``, of which one is yours, named as in a challenge."""

    ladder: str
    new: str
    old: str
    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    beta: float = 0.05
    most_sets: int = trials.SETS


@dataclass(frozen=True, slots=True)
class Nothing:
    """No body is needed."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge and how far it is. ``away``: who of ``players`` is not connected now; ``summary`` of the first of them."""

    id: str
    ladder: str
    players: tuple[str, ...]
    sets: int
    sets_finished: int
    over: bool
    seed: int | None
    matches: tuple[str, ...]
    summary: Summary
    away: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial and where it stands. ``verdict`` is CONTINUE, H0 or H1; a trial that is over with CONTINUE has none. ``llr``
    between ``bounds``; after a verdict the interval of ``summary`` is biased. ``counts``: how often each score occurred."""

    id: str
    ladder: str
    new: str
    old: str
    elo0: float
    elo1: float
    alpha: float
    beta: float
    verdict: str
    llr: float
    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    summary: Summary
    interval_is_biased: bool
    most_sets: int
    over: bool
    reason: str
    away: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VersionState:
    """A version of a bot. The current one is the newest that is not retired."""

    label: str
    retired: bool
    seen_at: int


@dataclass(frozen=True, slots=True)
class Versions:
    """A bot's versions, newest first."""

    bot: str
    versions: tuple[VersionState, ...]


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
        if not rates.admit(request):
            return problem(request, 429, "Slow down.", {"retry-after": "1"})
        try:
            known = {one.name: one for one in self.parameters}
            given = {name: known[name].parse(text) for name, text in request.path_params.items()}
            if request.query_params:
                raise BadRequest("there are no parameters here: what is asked for is in the body")
            token = _token(request)
            body = parse_body(self.body, await _read(request))
            answer = await site.work(lambda: self._run(site, token, given, body))
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
                raise _Unknown("this token is not valid, or not valid any more")
            return self.do(site, connection, who, given, body)


class _Unknown(UserError):
    """Nobody knows who asks."""


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


def create_challenge(
    site: Site, connection: Connection, who: Principal, _given: Mapping[str, Any], body: NewChallenge
) -> Challenge:
    """Asks for unrated games"""
    about = (body.ladder, body.bot, body.opponents, body.games, body.seed)
    return _challenge(site, challenges.get(connection, challenges.create(connection, who.account_id, *about)))


def cancel_challenge(
    site: Site, connection: Connection, who: Principal, given: Mapping[str, Any], _body: Nothing
) -> Challenge:
    """Ends a challenge of yours"""
    challenges.cancel(connection, who.account_id, given["challenge_id"])
    return _challenge(site, challenges.get(connection, given["challenge_id"]))


def create_trial(
    site: Site, connection: Connection, who: Principal, _given: Mapping[str, Any], body: NewTrial
) -> Trial:
    """Asks whether a version is better than another"""
    try:
        hypotheses = Hypotheses(body.elo0, body.elo1, body.alpha, body.beta)
    except ValueError as error:
        raise UserError(str(error)) from None
    about = (body.ladder, body.new, body.old, hypotheses, body.most_sets)
    return _trial(site, trials.get(connection, trials.create(connection, who.account_id, *about)))


def cancel_trial(site: Site, connection: Connection, who: Principal, given: Mapping[str, Any], _body: Nothing) -> Trial:
    """Ends a trial of yours without a verdict"""
    trials.cancel(connection, who.account_id, given["trial_id"])
    return _trial(site, trials.get(connection, given["trial_id"]))


def retire(_site: Site, connection: Connection, who: Principal, given: Mapping[str, Any], _body: Nothing) -> Versions:
    """Takes a version of your bot off tables and out of rated play"""
    return _changed(connection, who, given, versions.retire)


def restore(_site: Site, connection: Connection, who: Principal, given: Mapping[str, Any], _body: Nothing) -> Versions:
    """Takes a version's retirement back"""
    return _changed(connection, who, given, versions.restore)


def roll_back(
    _site: Site, connection: Connection, who: Principal, given: Mapping[str, Any], _body: Nothing
) -> Versions:
    """Makes an older version the current one: newer ones are retired"""
    return _changed(connection, who, given, versions.roll_back)


async def challenge(site: Site, given: Mapping[str, Any]) -> Challenge:
    """How far a challenge is"""
    return _challenge(site, await _read_or_404(site, challenges.get, given["challenge_id"]))


async def trial(site: Site, given: Mapping[str, Any]) -> Trial:
    """Where a trial stands"""
    return _trial(site, await _read_or_404(site, trials.get, given["trial_id"]))


async def _read_or_404(site: Site, get: Callable[[Connection, str], Any], name: str) -> Any:
    def read(connection: Connection) -> Any:
        try:
            return get(connection, name)
        except UserError as error:
            raise NotHere(str(error)) from None

    return await site.read(read)


def _changed(
    connection: Connection, who: Principal, given: Mapping[str, Any], change: Callable[[Connection, Bot, str], None]
) -> Versions:
    try:
        bot = accounts.bot_of(connection, who, given["name"])
        change(connection, bot, given["label"])
    except UserError as error:
        raise NotHere(str(error)) from None
    found = versions.versions_of(connection, bot)
    return Versions(bot.name, tuple(VersionState(one.label, one.retired, one.seen_at) for one in found))


def _challenge(site: Site, found: challenges.Challenge) -> Challenge:
    return Challenge(
        id=found.id,
        ladder=found.ladder,
        players=found.players,
        sets=found.sets,
        sets_finished=found.sets_finished,
        over=found.over,
        seed=found.seed,
        matches=found.matches,
        summary=found.summary,
        away=found.away(site.watch.online),
    )


def _trial(site: Site, found: trials.Trial) -> Trial:
    test = found.test
    return Trial(
        id=found.id,
        ladder=found.ladder,
        new=found.new,
        old=found.old,
        elo0=test.hypotheses.elo0,
        elo1=test.hypotheses.elo1,
        alpha=test.hypotheses.alpha,
        beta=test.hypotheses.beta,
        verdict=str(test.verdict),
        llr=test.llr,
        bounds=test.hypotheses.bounds,
        counts=tuple(test.counts),
        summary=test.summary(),
        interval_is_biased=str(test.verdict) != "CONTINUE",
        most_sets=found.most_sets,
        over=found.over,
        reason=found.reason,
        away=found.away(site.watch.online),
    )


OPERATIONS: Final = (
    Operation("/challenges/{challenge_id}", challenge, Challenge, HOT_S, (_CHALLENGE,)),
    Operation("/trials/{trial_id}", trial, Trial, HOT_S, (_TRIAL,)),
)
COMMANDS: Final = (
    Command("/challenges", create_challenge, NewChallenge, Challenge),
    Command("/challenges/{challenge_id}/cancel", cancel_challenge, Nothing, Challenge, (_CHALLENGE,)),
    Command("/trials", create_trial, NewTrial, Trial),
    Command("/trials/{trial_id}/cancel", cancel_trial, Nothing, Trial, (_TRIAL,)),
    Command("/bots/{name}/versions/{label}/retire", retire, Nothing, Versions, (_BOT, _LABEL)),
    Command("/bots/{name}/versions/{label}/restore", restore, Nothing, Versions, (_BOT, _LABEL)),
    Command("/bots/{name}/versions/{label}/rollback", roll_back, Nothing, Versions, (_BOT, _LABEL)),
)


def routes(commands: Sequence[Command]) -> list[Route]:
    """One for each command."""
    return [Route(PREFIX + one.path, one.serve, methods=["POST"], name=f"api POST {one.path}") for one in commands]
