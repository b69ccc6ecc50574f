"""The home page: the arena's dashboard in small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from arena.storage import matches as stored_matches
from arena.storage import overview, queries
from arena.storage.matches import MatchRow
from arena.storage.overview import Activity
from arena.storage.queries import Counters, LadderRow, TableRow
from arena.web.charts import bars, sparkline
from arena.web.parts import Parts
from arena.web.site import Site, Totals
from arena.web.words import count, counted, duration

BOARDS: Final = 6
BOARD_ROWS: Final = 8
RECENT: Final = 9
MINUTES: Final = 30
LIVELIER: Final = 1.5
"""By what factor another ladder must be livelier to take a shown one's place: pages that jump are no use."""


@dataclass(frozen=True, slots=True)
class Board:
    """The top of a ladder."""

    ladder: LadderRow
    rows: tuple[TableRow, ...]
    trends: Mapping[int, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Tile:
    """A number to watch. ``note`` stands below it, ``picture`` beside it."""

    id: str
    label: str
    value: str
    note: str
    picture: Markup


@dataclass(frozen=True, slots=True)
class Home:
    """All that the home page reads."""

    counters: Counters
    activity: Activity
    boards: tuple[Board, ...]
    recent: tuple[MatchRow, ...]


class Chooser:
    """Which ladders are on the home page: the liveliest, without hurry to change."""

    def __init__(self) -> None:
        self._shown: list[str] = []

    def choose(self, ladders: Sequence[LadderRow], by_ladder: Mapping[str, int]) -> list[LadderRow]:
        """The ladders to show, in the order of their names."""
        held = {row.spec.slug: row for row in ladders if row.active}
        self._shown = [slug for slug in self._shown if slug in held]
        order = sorted(held, key=lambda slug: (-by_ladder.get(slug, 0), -held[slug].entries, slug))
        for slug in order:
            if slug in self._shown:
                continue
            if len(self._shown) < BOARDS:
                self._shown.append(slug)
                continue
            quietest = min(self._shown, key=lambda shown: by_ladder.get(shown, 0))
            if by_ladder.get(slug, 0) > LIVELIER * by_ladder.get(quietest, 0) + 5:
                self._shown[self._shown.index(quietest)] = slug
        return [held[slug] for slug in sorted(self._shown)]


def read_home(connection: Connection, chooser: Chooser, totals: Totals) -> Home:
    """Reads it."""
    activity = overview.activity(connection, MINUTES)
    boards = []
    for row in chooser.choose(queries.ladders(connection), activity.by_ladder):
        table = queries.leaderboard(connection, row.spec.slug, BOARD_ROWS)
        versions = [one.version_id for one in table]
        boards.append(Board(row, table, overview.trends(connection, row.id, versions)))
    recent, _ = stored_matches.recent_matches(connection, limit=RECENT)
    return Home(queries.counters(connection, totals.matches), activity, tuple(boards), recent)


def home_topic(chooser: Chooser) -> Any:
    """The maker of the home page's live parts."""

    async def make(site: Site, _rest: str) -> Parts:
        totals = await site.totals()
        home = await site.read(lambda connection: read_home(connection, chooser, totals))
        slugs = [board.ladder.spec.slug for board in home.boards]
        online = site.watch.online
        return Parts(
            skeleton=" ".join(("home", *slugs)),
            blocks={tile.id: site.part("_home.html", "tile", tile) for tile in tiles(site, home)},
            lists={
                **{
                    f"board-{board.ladder.spec.slug}": {
                        f"r-{board.ladder.id}-{row.version_id}": site.part(
                            "_home.html", "board_row", board.ladder.id, row, board.trends[row.version_id], online
                        )
                        for row in board.rows
                    }
                    for board in home.boards
                },
                "recent": {f"m-{row.match_id}": site.part("_matches.html", "match_item", row) for row in home.recent},
            },
        )

    return make


async def page(request: Request) -> Response:
    """``/``"""
    site: Site = request.app.state.site

    async def context() -> Mapping[str, Any]:
        return {"ladders": {row.spec.slug: row for row in await site.read(queries.ladders)}}

    return await site.live_page(request, "home", "home.html", context)


def tiles(site: Site, home: Home) -> list[Tile]:
    """The numbers on top."""
    counters, last, samples = home.counters, site.watch.last, site.watch.samples
    p50, p95 = (last.recent.quantile_s(q) if last else None for q in (0.5, 0.95))
    sessions = last.sessions if last else ()
    slow = [one.recent.quantile_s(0.95) for one in samples]
    rate = counters.matches_last_minute / 60
    waiting = f"oldest {duration(counters.oldest_queued_ms)}" if counters.sets_queued else "nothing waits"
    playing = sum(session.running for session in sessions)
    return [
        Tile(
            "t-rate",
            "Matches a second",
            f"{rate:.2f}" if rate < 10 else f"{rate:.0f}",
            f"{count(counters.matches)} in all",
            bars(home.activity.by_minute),
        ),
        Tile("t-queue", "Sets waiting", count(counters.sets_queued), waiting, Markup("")),
        Tile(
            "t-latency",
            "Decision p50",
            _seconds(p50),
            f"p95 {_seconds(p95)}",
            sparkline(slow, stretch=True),
        ),
        Tile(
            "t-sessions",
            "Bots connected",
            count(len(sessions)) if last else "–",
            f"in {counted(playing, 'game')}" if last else "not known now",
            sparkline([len(one.sessions) for one in samples], stretch=True),
        ),
        Tile(
            "t-workers",
            "Workers",
            count(counters.workers),
            f"playing {counted(counters.sets_claimed, 'set')}",
            sparkline([one.snapshot.sets_running for one in samples], stretch=True),
        ),
        Tile(
            "t-bots",
            "Bots",
            count(counters.bots),
            f"on {counted(len(home.activity.by_ladder), 'busy ladder')}",
            Markup(""),
        ),
    ]


def _seconds(value: float | None) -> str:
    return duration(None if value is None else value * 1000)
