"""A bot's page: versions, where it stands, how its rating went, whom it met and how its games ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from arena.errors import UserError
from arena.ratings.elo import standard_error
from arena.storage import matches as stored_matches
from arena.storage import official, overview, queries
from arena.storage.matches import MatchRow
from arena.storage.overview import History
from arena.storage.queries import BotPage, LadderRow, TableRow
from arena.web.charts import Chart, Series, line_chart
from arena.web.content import HTML, Content
from arena.web.latencies import Latencies, Latency
from arena.web.parts import Parts
from arena.web.site import HOT_S, NotHere, Site
from arena.web.words import HUES

LAST: Final = 200
"""Matches that the summaries are made of."""
SHOWN: Final = 10
CHARTED: Final = 6
"""Versions in one chart."""
RIVALS: Final = 12
CONFIDENCE: Final = 1.96
"""Standard errors of half a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Record:
    """Wins, draws and losses against somebody."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        """All of them."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Points a game, 0..1."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.0


@dataclass(frozen=True, slots=True)
class Curve:
    """The rating chart of one ladder. ``versions`` are (label, hue, last rating, its margin), the newest first."""

    ladder: LadderRow
    chart: Chart | None
    versions: tuple[tuple[str, int, float, float], ...]
    first_at: int
    last_at: int


@dataclass(frozen=True, slots=True)
class BotView:
    """All that the page shows."""

    page: BotPage
    ladders: Mapping[str, LadderRow]
    curve: Curve | None
    recent: tuple[MatchRow, ...]
    reasons: tuple[tuple[str, int], ...]
    rivals: tuple[tuple[str, Record], ...]
    counted: int
    latency: Latency | None
    official: Mapping[tuple[str, int], tuple[float, float]]


def read_bot(connection: Connection, latencies: Latencies, name: str, slug: str) -> BotView:
    """Reads it, with the chart of the ladder ``slug`` or, if that is empty, of the one it played most on.

    Raises NotHere.
    """
    try:
        page = queries.bot_page(connection, name)
    except UserError as error:
        raise NotHere(str(error)) from None
    ladders = {row.spec.slug: row for row in queries.ladders(connection)}
    recent, _ = stored_matches.recent_matches(connection, bot_name=name, limit=LAST)
    own = page.bot.name
    return BotView(
        page=page,
        ladders=ladders,
        curve=_curve(connection, page, ladders, slug),
        recent=recent[:SHOWN],
        reasons=tuple(_reasons(own, recent).most_common()),
        rivals=tuple(_rivals(own, recent)[:RIVALS]),
        counted=len(recent),
        latency=latencies.of(own, recent),
        official=official.of_versions(connection, [one.row.version_id for one in page.standings]),
    )


async def bot_topic(site: Site, rest: str) -> Parts:
    """Live parts of ``name/ladder``."""
    name, _, slug = rest.partition("/")
    return bot_parts(site, await site.read(lambda connection: read_bot(connection, site.latencies, name, slug)), slug)


def bot_parts(site: Site, view: BotView, slug: str) -> Parts:
    """The live parts of a bot's page; ``slug`` as its address says."""
    online = site.watch.online
    curve = view.curve
    return Parts(
        skeleton=f"bot {view.page.bot.name} {slug} {sum(one.row.games > 0 for one in view.page.standings)}",
        blocks={
            "bot-head": site.part("_bots.html", "head", view.page, online),
            "bot-curve": site.part("_bots.html", "curve", curve),
            "bot-reasons": site.part("_bots.html", "reasons", view.reasons, view.counted),
            "bot-rivals": site.part("_bots.html", "rivals", view.rivals),
            "bot-latency": site.part("_bots.html", "latency", view.latency),
        },
        lists={
            "standings": {
                f"s-{one.row.version_id}-{one.ladder}": site.part(
                    "_bots.html",
                    "standing",
                    view.page.bot.name,
                    one,
                    view.ladders[one.ladder],
                    curve is not None and curve.ladder.spec.slug == one.ladder,
                    view.official.get((one.ladder, one.row.version_id)),
                )
                for one in view.page.standings
                if one.row.games
            },
            "recent": {
                f"m-{row.match_id}": site.part("_matches.html", "match_item", row, view.page.bot.name)
                for row in view.recent
            },
        },
    )


async def page(request: Request) -> Response:
    """``/bots/{name}``; ``?ladder=`` chooses the chart."""
    site: Site = request.app.state.site
    name, slug = request.path_params["name"], request.query_params.get("ladder", "")
    topic = f"bot:{name}/{slug}"

    async def make() -> Content:
        view = await site.read(lambda connection: read_bot(connection, site.latencies, name, slug))
        parts = site.released(bot_parts(site, view, slug))
        return Content(site.html("bot.html", parts=parts, topic=topic, view=view).encode(), HTML)

    return await site.page(request, topic, HOT_S, make)


def _curve(connection: Connection, page: BotPage, ladders: Mapping[str, LadderRow], slug: str) -> Curve | None:
    on = [one for one in page.standings if one.ladder == slug] if slug else list(page.standings)
    if not on:
        return None
    chosen = max(on, key=lambda one: one.row.games).ladder
    held = ladders[chosen]
    series, times = [], []
    for number, one in enumerate([one for one in page.standings if one.ladder == chosen][:CHARTED]):
        history = overview.history(connection, held.id, one.row.version_id)
        if history.ratings:
            series.append(Series(one.version, number % HUES, history.ratings, _margins(one.row, history, held)))
            times += [history.first_at, history.last_at]
    return Curve(
        ladder=held,
        chart=line_chart(series, f"Rating of {page.bot.name} on {chosen}, with 95 % intervals"),
        versions=tuple((one.label, one.hue, one.values[-1], one.margins[-1]) for one in series),
        first_at=min(times, default=0),
        last_at=max(times, default=0),
    )


def _margins(row: TableRow, history: History, held: LadderRow) -> tuple[float, ...]:
    """Half of the 95 % interval at each point of a history: counted back from all games, as if each
    point were a set; only re-centrings, one a day at most, are none."""
    if row.anchor:
        return tuple(0.0 for _ in history.ratings)
    players, points = held.spec.players, len(history.ratings)
    games = (max(0, row.games - players * (points - 1 - point)) for point in range(points))
    return tuple(CONFIDENCE * standard_error(played, players) for played in games)


def _reasons(name: str, matches: Iterable[MatchRow]) -> Counter[str]:
    return Counter(seat.reason for match in matches for seat in match.seats if seat.bot == name)


def _rivals(name: str, matches: Sequence[MatchRow]) -> list[tuple[str, Record]]:
    """Who was met most, and how that went by places."""
    tallies: dict[str, list[int]] = {}
    for match in matches:
        mine = [seat.place for seat in match.seats if seat.bot == name]
        for seat in match.seats:
            if seat.bot != name:
                tally = tallies.setdefault(seat.bot, [0, 0, 0])
                for place in mine:
                    tally[(place > seat.place) + (place >= seat.place)] += 1
    records = {rival: Record(*tally) for rival, tally in tallies.items()}
    return sorted(records.items(), key=lambda item: (-item[1].games, item[0]))
