"""What the API does for whoever shows a token: challenges, trials, and what becomes of a bot's versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from arena.errors import UserError
from arena.ladder import trials
from arena.ratings.summary import Summary
from arena.storage import accounts, challenges, versions
from arena.storage.accounts import LABEL, NAME, Bot, Principal
from arena.web.api.posting import Command
from arena.web.api.serving import Operation, Parameter
from arena.web.site import HOT_S, NotHere, Site

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
    elo0: float = trials.ELO0
    elo1: float = trials.ELO1
    alpha: float = trials.ERROR
    beta: float = trials.ERROR
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
    hypotheses = trials.hypotheses(body.elo0, body.elo1, body.alpha, body.beta)
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
