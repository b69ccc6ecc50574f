"""What storage and engines know, as messages of the public protocol."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final

import engines
from arena.ladder.trials import Trial
from arena.match.deal import rules_hash
from arena.ratings.sprt import Verdict
from arena.ratings.summary import Summary
from arena.storage.accounts import Bot, Version
from arena.storage.challenges import Challenge
from arena.storage.matches import MatchRow
from arena.storage.queries import LadderRow, TableRow
from botarena.v1 import bot_service_pb2 as bots_pb
from botarena.v1 import challenge_service_pb2 as challenges_pb
from botarena.v1 import game_service_pb2 as games_pb
from botarena.v1 import ladder_service_pb2 as ladders_pb
from botarena.v1 import match_service_pb2 as matches_pb
from botarena.v1 import trial_service_pb2 as trials_pb

VERDICTS: Final = {
    Verdict.CONTINUE: trials_pb.Trial.VERDICT_NONE,
    Verdict.H0: trials_pb.Trial.VERDICT_H0,
    Verdict.H1: trials_pb.Trial.VERDICT_H1,
}


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


def version_info(version: Version) -> bots_pb.VersionInfo:
    """A version of a bot."""
    return bots_pb.VersionInfo(
        version=version.label,
        claimed=version.claimed,
        created_at=rfc3339(version.created_at),
        seen_at=rfc3339(version.seen_at),
        retired=version.retired,
    )


def challenge_info(found: Challenge, online: Collection[int]) -> challenges_pb.Challenge:
    """A challenge and how far it is; ``online``: ids of the versions that are connected."""
    return challenges_pb.Challenge(
        challenge_id=found.id,
        ladder=found.ladder,
        players=found.players,
        sets=found.sets,
        sets_finished=found.sets_finished,
        over=found.over,
        match_ids=found.matches,
        showing=showing(found.summary),
        seed=found.seed,
        away=found.away(online),
    )


def trial_info(found: Trial, online: Collection[int]) -> trials_pb.Trial:
    """A trial and where it stands; ``online``: ids of the versions that are connected."""
    test = found.test
    lower, upper = test.hypotheses.bounds
    return trials_pb.Trial(
        trial_id=found.id,
        ladder=found.ladder,
        new_version=found.new,
        old_version=found.old,
        elo0=test.hypotheses.elo0,
        elo1=test.hypotheses.elo1,
        alpha=test.hypotheses.alpha,
        beta=test.hypotheses.beta,
        llr=test.llr,
        lower_bound=lower,
        upper_bound=upper,
        verdict=VERDICTS[test.verdict],
        showing=showing(test.summary()),
        counts=test.counts,
        most_sets=found.most_sets,
        over=found.over,
        reason=found.reason,
        away=found.away(online),
    )


def showing(summary: Summary) -> challenges_pb.Showing:
    """How a bot did."""
    return challenges_pb.Showing(
        sets=summary.sets, score=summary.score, elo=summary.elo, error=summary.error, los=summary.los
    )


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
        name=row.spec.slug,
        game=row.spec.game,
        players=row.spec.players,
        config_json=config,
        entries=row.entries,
        **row.spec.time_control.to_json(),
    )


def table_row(row: TableRow, *, online: bool) -> ladders_pb.LeaderboardRow:
    """A row of a table."""
    return ladders_pb.LeaderboardRow(
        rank=row.rank or 0,
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
        seen_at=rfc3339(row.seen_at),
    )


def rfc3339(ms: int) -> str:
    """A time in ms since 1970, in UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
