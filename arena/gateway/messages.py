"""What storage and engines know, as messages of the public protocol."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import engines
from arena.match.deal import rules_hash
from arena.storage.accounts import Bot
from arena.storage.queries import LadderRow, MatchRow, TableRow
from botarena.v1 import bot_service_pb2 as bots_pb
from botarena.v1 import game_service_pb2 as games_pb
from botarena.v1 import ladder_service_pb2 as ladders_pb
from botarena.v1 import match_service_pb2 as matches_pb


def game_info(game: engines.Game) -> games_pb.GameInfo:
    """A game without its rules."""
    return games_pb.GameInfo(
        name=game.name,
        title=game.title,
        rules_version=game.rules_version,
        min_players=game.min_players,
        max_players=game.max_players,
        options=[
            games_pb.GameOption(name=name, help=option.help, default_bool=option.default)
            if isinstance(option.default, bool)
            else games_pb.GameOption(
                name=name, help=option.help, default_int=option.default, low=option.low, high=option.high
            )
            for name, option in game.options.items()
        ],
        num_actions=game.num_actions,
        num_chance=game.num_chance,
        rules_hash=rules_hash(game).hex(),
    )


def bot_info(bot: Bot, latest: str, *, online: bool) -> bots_pb.BotInfo:
    """A bot as everybody sees it."""
    return bots_pb.BotInfo(name=bot.name, owner=bot.owner, house=bot.house, online=online, latest_version=latest)


def match_info(match: MatchRow) -> matches_pb.MatchInfo:
    """A match with a result."""
    return matches_pb.MatchInfo(
        match_id=match.match_id,
        set_id=match.set_id,
        ladder=match.ladder,
        game=match.game,
        players=match.players,
        seats=[
            matches_pb.MatchSeat(
                bot=seat.bot, version=seat.version, place=seat.place, score=seat.score, reason=seat.reason
            )
            for seat in match.seats
        ],
        events=match.events,
        finished_at=rfc3339(match.finished_at),
        record_head=match.record_head,
        rated=match.rated,
    )


def ladder_info(row: LadderRow) -> ladders_pb.LadderInfo:
    """A ladder."""
    config = json.dumps(dict(row.spec.config), separators=(",", ":"), sort_keys=True)
    return ladders_pb.LadderInfo(
        name=row.spec.slug, game=row.spec.game, players=row.spec.players, config_json=config, entries=row.entries
    )


def table_row(row: TableRow, *, online: bool) -> ladders_pb.LeaderboardRow:
    """A row of a table."""
    return ladders_pb.LeaderboardRow(
        rank=row.rank,
        bot=row.bot,
        version=row.version,
        owner=row.owner,
        rating_milli=round(row.rating * 1000),
        provisional=row.provisional,
        anchor=row.anchor,
        sets=row.sets,
        games=row.games,
        wins=row.wins,
        draws=row.draws,
        losses=row.losses,
        score_milli=round(row.score * 1000),
        online=online,
    )


def rfc3339(ms: int) -> str:
    """A time in ms since 1970, in UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
