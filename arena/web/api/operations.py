"""Each operation of the API: what it takes, what it answers, and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Connection

import engines
from arena.errors import UserError
from arena.match.deal import rules_hash
from arena.settings import SLUG
from arena.storage import matches as stored_matches
from arena.storage import queries
from arena.storage.accounts import NAME, find_bot
from arena.storage.setpages import SetPage
from arena.web import bots, matches, sets, status
from arena.web.api import analysis, answers, commands, tournaments
from arena.web.api.serving import Operation, Parameter
from arena.web.ladders import get_ladder
from arena.web.reading import installed_games
from arena.web.site import HOT_S, WARM_S, NotHere, Site

ROWS: Final = 100
RIVALS: Final = 50
MATCH_ID: Final = r"[A-Za-z0-9_-]{1,80}"
_SLUG: Final = Parameter("slug", "The ladder's slug, like balloon-challenge-3p.", SLUG.pattern, where="path")
_MATCH: Final = Parameter("match_id", "The match's id.", MATCH_ID, where="path")
_SET: Final = Parameter("set_id", "The set's id.", MATCH_ID, where="path")
_CURSOR: Final = Parameter("cursor", "What `next` of the part before said.", r"[A-Za-z0-9_=-]{1,200}")


def _limit(most: int) -> Parameter:
    return Parameter("limit", "How many at most.", low=1, high=most)


async def ladders(site: Site, _given: Mapping[str, Any]) -> answers.Ladders:
    """All ladders"""
    return answers.Ladders(tuple(_ladder(row) for row in await site.read(queries.ladders)))


async def ladder(site: Site, given: Mapping[str, Any]) -> answers.Ladder:
    """One ladder"""
    return _ladder(await site.read(lambda connection: get_ladder(connection, given["slug"])))


async def table(site: Site, given: Mapping[str, Any]) -> answers.Table:
    """A ladder's live table"""
    first, limit = _number(given.get("cursor")), given.get("limit", ROWS)

    def read(connection: Connection) -> tuple[queries.TableRow, ...]:
        get_ladder(connection, given["slug"])
        return queries.leaderboard(connection, given["slug"], limit + 1, first)

    rows = await site.read(read)
    return answers.Table(given["slug"], rows[:limit], str(first + limit) if len(rows) > limit else None)


async def ratings(site: Site, given: Mapping[str, Any]) -> answers.Ratings:
    """A version's rating history on a ladder"""
    after, limit = _number(given.get("cursor")), given.get("limit", 1000)

    def read(connection: Connection) -> tuple[queries.RatingPoint, ...]:
        get_ladder(connection, given["slug"])
        return queries.rating_history(connection, given["slug"], given["version_id"], after, limit + 1)

    points = await site.read(read)
    following = str(points[limit - 1].seq) if len(points) > limit else None
    return answers.Ratings(given["slug"], given["version_id"], points[:limit], following)


async def bot(site: Site, given: Mapping[str, Any]) -> answers.Bot:
    """A bot: versions, standings, last matches summed up"""
    view = await site.read(lambda connection: bots.read_bot(connection, site.latencies, given["name"], ""))
    online = site.watch.online
    return answers.Bot(
        name=view.page.bot.name,
        owner=view.page.bot.owner,
        house=view.page.bot.house,
        versions=tuple(
            answers.BotVersion(one.id, one.label, one.claimed, one.created_at, one.id in online)
            for one in view.page.versions
        ),
        standings=tuple(
            answers.BotStanding(one.ladder, one.row, *view.official.get((one.ladder, one.row.version_id), (None, None)))
            for one in view.page.standings
        ),
        counted=view.counted,
        endings=dict(view.reasons),
        rivals=tuple(answers.Rival(name, one.wins, one.draws, one.losses) for name, one in view.rivals),
        latency=view.latency,
    )


async def match_list(site: Site, given: Mapping[str, Any]) -> answers.Matches:
    """Finished matches, newest first, of all or of one ladder or bot"""

    def read(connection: Connection) -> tuple[tuple[stored_matches.MatchRow, ...], str]:
        if slug := given.get("ladder"):
            get_ladder(connection, slug)
        if (name := given.get("bot")) and find_bot(connection, name) is None:
            raise NotHere(f"there is no bot {name!r}")
        try:
            return stored_matches.recent_matches(
                connection,
                ladder_slug=slug,
                bot_name=name,
                limit=given.get("limit", 50),
                cursor=given.get("cursor", ""),
            )
        except UserError as error:
            raise NotHere(str(error)) from None

    rows, following = await site.read(read)
    return answers.Matches(rows, following or None)


async def match(site: Site, given: Mapping[str, Any]) -> answers.Match:
    """A finished match, with all attempts at it"""
    view = await matches.read_match(site, given["match_id"])
    address = f"/matches/{given['match_id']}"
    return answers.Match(
        match=view.page.match,
        set_state=view.page.set_state,
        deal_mode=view.page.deal_mode,
        attempts=view.page.attempts,
        set=tuple(answers.SetGame(index, match_id) for index, match_id in view.games),
        record=f"{address}/record",
        page=address,
    )


async def one_set(site: Site, given: Mapping[str, Any]) -> SetPage:
    """A set: its games, seats and deals, and what it did to the ratings"""
    return await sets.read_set(site, given["set_id"])


async def replay(site: Site, given: Mapping[str, Any]) -> answers.Replay:
    """A finished match, position by position"""
    seat = given.get("seat")
    row = (await matches.read_match(site, given["match_id"])).page.match
    if seat is not None and seat >= row.players:
        raise NotHere("this match has no such seat")
    shown = await matches.read_pictures(site, row, seat)
    if not shown:
        raise NotHere("this match cannot be replayed here")
    return answers.Replay(row.match_id, seat, tuple(map(answers.replay_frame, range(len(shown)), shown)))


async def games(_site: Site, _given: Mapping[str, Any]) -> answers.Games:
    """The games that are installed here"""
    return answers.Games(tuple(map(_game, installed_games())))


async def game(_site: Site, given: Mapping[str, Any]) -> answers.Game:
    """A game: options, sizes, rules in short"""
    for one in installed_games():
        if one.name == given["name"]:
            return _game(one)
    raise NotHere(f"there is no game {given['name']!r}")


async def arena_status(site: Site, _given: Mapping[str, Any]) -> answers.Status:
    """Whether the arena is well, and how busy it is"""
    totals = await site.totals()
    read, last = await site.read(lambda connection: status.read_status(connection, totals)), site.watch.last
    return answers.Status(
        problems=tuple(status.problems(read, redis_up=site.watch.up or site.redis is None)),
        counters=read.counters,
        sets=read.sets,
        matches_by_minute=read.activity.by_minute,
        matches_by_ladder=read.activity.by_ladder,
        workers=read.workers,
        gateways=Counter(session.gateway for session in last.sessions) if last else None,
        decision_p50_s=last.recent.quantile_s(0.5) if last else None,
        decision_p95_s=last.recent.quantile_s(0.95) if last else None,
        incidents=status.all_incidents(read, site.watch),
    )


OPERATIONS: Final = (
    Operation("/status", arena_status, answers.Status, HOT_S),
    Operation("/ladders", ladders, answers.Ladders, HOT_S),
    Operation("/ladders/{slug}", ladder, answers.Ladder, HOT_S, (_SLUG,)),
    Operation(
        "/ladders/{slug}/table",
        table,
        answers.Table,
        HOT_S,
        (_SLUG, _limit(ROWS), Parameter("cursor", _CURSOR.text, r"[0-9]{1,6}")),
    ),
    Operation(
        "/ladders/{slug}/versions/{version_id}/ratings",
        ratings,
        answers.Ratings,
        HOT_S,
        (
            _SLUG,
            Parameter("version_id", "As in the table.", low=1, high=2**31 - 1, where="path"),
            _limit(1000),
            Parameter("cursor", _CURSOR.text, r"[0-9]{1,9}"),
        ),
    ),
    Operation("/bots/{name}", bot, answers.Bot, HOT_S, (Parameter("name", "Its name.", NAME.pattern, where="path"),)),
    Operation(
        "/matches",
        match_list,
        answers.Matches,
        HOT_S,
        (
            Parameter("ladder", "Of this ladder alone.", SLUG.pattern),
            Parameter("bot", "Of this bot alone.", NAME.pattern),
            _limit(stored_matches.MAX_MATCHES),
            _CURSOR,
        ),
    ),
    Operation("/matches/{match_id}", match, answers.Match, WARM_S, (_MATCH,)),
    Operation(
        "/matches/{match_id}/replay",
        replay,
        answers.Replay,
        WARM_S,
        (_MATCH, Parameter("seat", "In whose eyes; everybody's if not given.", low=0, high=15)),
    ),
    Operation("/sets/{set_id}", one_set, SetPage, WARM_S, (_SET,)),
    *tournaments.OPERATIONS,
    *analysis.OPERATIONS,
    *commands.OPERATIONS,
    Operation("/games", games, answers.Games, WARM_S),
    Operation(
        "/games/{name}", game, answers.Game, WARM_S, (Parameter("name", "Its name.", SLUG.pattern, where="path"),)
    ),
)


def _number(cursor: str | None) -> int:
    return int(cursor) if cursor else 0


def _ladder(row: queries.LadderRow) -> answers.Ladder:
    spec = row.spec
    control = spec.time_control
    return answers.Ladder(
        slug=spec.slug,
        game=spec.game,
        players=spec.players,
        config=spec.config,
        time_control=answers.TimeControl(control.bank_ms, control.increment_ms, control.move_cap_ms),
        active=row.active,
        entries=row.entries,
        bots=row.bots,
        export=f"/ladders/{spec.slug}/export",
    )


def _game(one: engines.Game) -> answers.Game:
    return answers.Game(
        name=one.name,
        title=one.title,
        min_players=one.min_players,
        max_players=one.max_players,
        rules_version=one.rules_version,
        rules_hash=rules_hash(one).hex(),
        num_actions=one.num_actions,
        num_chance=one.num_chance,
        options={
            name: answers.GameOption(option.default, option.help, option.low, option.high)
            for name, option in one.options.items()
        },
        summary=one.summary,
    )
