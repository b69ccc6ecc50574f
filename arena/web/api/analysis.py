"""The API's operations on what lies behind a table: official ratings, head-to-head, weakness, odd pairs, circles, history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sqlalchemy import Connection

from arena.errors import UserError
from arena.settings import SLUG
from arena.storage import analysis, official, queries
from arena.storage.accounts import LABEL, NAME
from arena.storage.analysis import Change, HeadToHead, Weakness
from arena.storage.official import OfficialVersion
from arena.web.api.serving import Operation, Parameter
from arena.web.site import WARM_S, NotHere, Site

if TYPE_CHECKING:
    from arena.ratings.residuals import Residuals

T = TypeVar("T")

COLD_S: Final = 60.0
"""How old an answer may be for which a whole ledger is read."""
OFFICIAL_ROWS: Final = 100
_SLUG: Final = Parameter("slug", "The ladder's slug, like balloon-challenge-3p.", SLUG.pattern, where="path")
_BOT: Final = Parameter("name", "The bot's name.", NAME.pattern, where="path")


@dataclass(frozen=True, slots=True)
class Official:
    """A ladder's official table, made of its ledger up to entry ``seq``. ``los[a][b]``: the probability that row a is better
    than row b; ``covariance`` of the ratings; both of the first rows only."""

    ladder: str
    seq: int
    created_at: int
    dispersion: float
    rows: tuple[OfficialVersion, ...]
    los: tuple[tuple[float, ...], ...]
    covariance: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class OddPair:
    """Two versions whose results their ratings do not explain; scores are the first's, 0..1, ``z`` the surprise in standard
    errors over sets."""

    first: str
    second: str
    sets: int
    score: float
    expected: float
    z: float


@dataclass(frozen=True, slots=True)
class OddPairs:
    """The pairs with a surprise of three standard errors or more, the greatest first."""

    ladder: str
    pairs: tuple[OddPair, ...]


@dataclass(frozen=True, slots=True)
class CircleOfThree:
    """Each does better against the next than ratings allow; ``strength``: the least of the three surprises."""

    versions: tuple[str, ...]
    pairs: tuple[OddPair, ...]
    strength: float


@dataclass(frozen=True, slots=True)
class Circles:
    """The strongest circles of three versions."""

    ladder: str
    circles: tuple[CircleOfThree, ...]


@dataclass(frozen=True, slots=True)
class History:
    """What each ledger entry did to a version's rating, oldest first. ``next`` goes on; null at the end."""

    ladder: str
    bot: str
    version: str
    changes: tuple[Change, ...]
    next: str | None


async def official_table(site: Site, given: Mapping[str, Any]) -> Official:
    """A ladder's last official table"""

    def read(connection: Connection) -> official.OfficialPage | None:
        held = _found(lambda: queries.get_ladder(connection, given["slug"]))
        return official.latest(connection, held.id, given.get("limit", OFFICIAL_ROWS))

    page = await site.read(read)
    if page is None:
        raise NotHere("there is no official table yet: it is made every night")
    return Official(
        ladder=given["slug"],
        seq=page.seq,
        created_at=page.created_at,
        dispersion=page.dispersion,
        rows=page.rows,
        los=tuple(tuple(round(float(one), 4) for one in row) for row in page.los),
        covariance=tuple(tuple(round(float(one), 3) for one in row) for row in page.covariance),
    )


async def head_to_head(site: Site, given: Mapping[str, Any]) -> HeadToHead:
    """How two bots do against each other, by version, seat and day"""
    return await site.read(
        lambda connection: _found(
            lambda: analysis.head_to_head(connection, given["slug"], given["name"], given["other"])
        )
    )


async def weakness(site: Site, given: Mapping[str, Any]) -> Weakness:
    """Where a bot loses: by seat, opponent, fault and use of its clock"""
    return await site.read(
        lambda connection: _found(lambda: analysis.weakness(connection, given["slug"], given["name"], site.records))
    )


async def history(site: Site, given: Mapping[str, Any]) -> History:
    """Before, after and why of each change of a version's rating"""
    after, limit = int(given.get("cursor", 0)), given.get("limit", 100)

    def read(connection: Connection) -> History:
        page = _found(lambda: queries.bot_page(connection, given["name"]))
        version = next((one for one in page.versions if one.label == given["label"]), None)
        if version is None:
            raise NotHere(f"{given['name']!r} has no version {given['label']!r}")
        found = _found(lambda: analysis.changes(connection, given["slug"], version.id, after, limit + 1))
        following = str(found[limit - 1].seq) if len(found) > limit else None
        return History(given["slug"], page.bot.name, version.label, found[:limit], following)

    return await site.read(read)


async def odd_pairs(site: Site, given: Mapping[str, Any]) -> OddPairs:
    """Pairs whose results their ratings do not explain"""
    names, found = await _residuals(site, given["slug"])
    return OddPairs(given["slug"], tuple(_pair(names, one) for one in found.odd_pairs(3.0)))


async def circles(site: Site, given: Mapping[str, Any]) -> Circles:
    """Circles of three versions, which one number for each hides"""
    names, found = await _residuals(site, given["slug"])
    return Circles(
        given["slug"],
        tuple(
            CircleOfThree(
                tuple(names[version] for version in one.versions),
                tuple(_pair(names, pair) for pair in one.pairs),
                round(one.strength, 2),
            )
            for one in found.circles()
        ),
    )


async def _residuals(site: Site, slug: str) -> tuple[Mapping[int, str], Residuals]:
    from arena.ratings.residuals import residuals  # noqa: PLC0415 - scipy is slow to import

    names, results = await site.read(lambda connection: _found(lambda: analysis.results_of(connection, slug)))
    return names, await site.work(lambda: residuals(results))


def _pair(names: Mapping[int, str], one: Any) -> OddPair:
    numbers = (round(one.score, 4), round(one.expected, 4), round(one.z, 2))
    return OddPair(names[one.first], names[one.second], one.sets, *numbers)


def _found(read: Callable[[], T]) -> T:
    try:
        return read()
    except UserError as error:
        raise NotHere(str(error)) from None


OPERATIONS: Final = (
    Operation(
        "/ladders/{slug}/official",
        official_table,
        Official,
        WARM_S,
        (_SLUG, Parameter("limit", "How many rows at most.", low=1, high=OFFICIAL_ROWS)),
    ),
    Operation("/ladders/{slug}/odd-pairs", odd_pairs, OddPairs, COLD_S, (_SLUG,)),
    Operation("/ladders/{slug}/circles", circles, Circles, COLD_S, (_SLUG,)),
    Operation("/ladders/{slug}/bots/{name}/weakness", weakness, Weakness, WARM_S, (_SLUG, _BOT)),
    Operation(
        "/ladders/{slug}/bots/{name}/against/{other}",
        head_to_head,
        HeadToHead,
        WARM_S,
        (_SLUG, _BOT, Parameter("other", "The other bot's name.", NAME.pattern, where="path")),
    ),
    Operation(
        "/ladders/{slug}/bots/{name}/versions/{label}/history",
        history,
        History,
        WARM_S,
        (
            _SLUG,
            _BOT,
            Parameter("label", "The version's label.", LABEL.pattern, where="path"),
            Parameter("limit", "How many at most.", low=1, high=1000),
            Parameter("cursor", "What `next` of the part before said.", r"[0-9]{1,9}"),
        ),
    ),
)
