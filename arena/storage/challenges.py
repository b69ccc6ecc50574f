"""Challenges: unrated sets against named opponents, played when everybody has a free seat."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, ScalarSelect, func, insert, select, update

from arena.errors import UserError
from arena.ratings.summary import Summary, pairwise_scores, summarise
from arena.storage import queries
from arena.storage.accounts import Bot, find_bot
from arena.storage.plans import SetState, seating
from arena.storage.tables import (
    bot_version,
    challenge,
    challenge_set,
    game_set,
    ladder,
    match,
    now_ms,
    rating,
    result,
)

DAY_MS: Final = 24 * 60 * 60 * 1000
GAMES: Final = 200
"""Most games of one challenge."""
GAMES_A_DAY: Final = 1_000
"""Most games that an account may ask for in 24 hours."""
OPEN: Final = 3
"""Most challenges of an account that are not over."""
VOID: Final = 10
"""After so many void sets a challenge is given up: somebody in it does not play."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge and how far it is. ``played``: match ids of its finished games. ``summary``: of the challenger."""

    id: str
    ladder: str
    versions: tuple[int, ...]
    sets: int
    sets_finished: int
    over: bool
    matches: tuple[str, ...]
    summary: Summary


@dataclass(frozen=True, slots=True)
class Wanted:
    """A challenge whose next set can be made: nothing of it is being played."""

    id: str
    ladder_id: int
    versions: tuple[int, ...]


def create(
    connection: Connection, account_id: int, slug: str, challenger: str, opponents: Sequence[str], games: int
) -> str:
    """Asks for games; returns the challenge's id. Raises UserError, as when a quota is used up.

    Bots are named ``BOT`` (the newest version on the ladder) or ``BOT@VERSION``. Games are rounded up to whole sets.
    """
    held = queries.get_ladder(connection, slug)
    players = held.spec.players
    if len(opponents) != players - 1:
        raise UserError(f"{slug} is for {players}: name {players - 1} opponents, not {len(opponents)}")
    if not 1 <= games <= GAMES:
        raise UserError(f"a challenge has 1 to {GAMES} games")
    mine, first = _version(connection, held.id, challenger)
    if mine.account_id != account_id:
        raise UserError(f"{mine.name!r} is not a bot of yours")
    versions = [first, *(_version(connection, held.id, name)[1] for name in opponents)]
    if len(set(versions)) != len(versions):
        raise UserError("everybody sits once at the table")
    sets = -(-games // players)
    _check_quota(connection, account_id, sets * players)
    challenge_id = f"c_{secrets.token_urlsafe(12)}"
    connection.execute(
        insert(challenge).values(
            id=challenge_id,
            account_id=account_id,
            ladder_id=held.id,
            versions=versions,
            sets=sets,
            created_at=now_ms(),
        )
    )
    return challenge_id


def _version(connection: Connection, ladder_id: int, name: str) -> tuple[Bot, int]:
    wanted, _, label = name.partition("@")
    found = find_bot(connection, wanted)
    if found is None:
        raise UserError(f"there is no bot {wanted!r}")
    query = (
        select(rating.c.version_id)
        .join(bot_version, bot_version.c.id == rating.c.version_id)
        .where(rating.c.ladder_id == ladder_id, bot_version.c.bot_id == found.id)
        .order_by(rating.c.version_id.desc())
    )
    version = connection.execute(query.where(bot_version.c.label == label) if label else query).scalar()
    if version is None:
        raise UserError(f"{name!r} is not on this ladder")
    return found, version


def _check_quota(connection: Connection, account_id: int, games: int) -> None:
    mine = challenge.c.account_id == account_id
    still_open = select(func.count()).where(mine, challenge.c.closed_at.is_(None))
    if connection.execute(still_open).scalar_one() >= OPEN:
        raise UserError(f"you have {OPEN} challenges that are not over: wait for one to end")
    asked = connection.execute(
        select(func.coalesce(func.sum(challenge.c.sets * ladder.c.players), 0))
        .join(ladder, ladder.c.id == challenge.c.ladder_id)
        .where(mine, challenge.c.created_at > now_ms() - DAY_MS)
    ).scalar_one()
    if asked + games > GAMES_A_DAY:
        raise UserError(f"{asked} of {GAMES_A_DAY} games in 24 hours are used up: {games} more do not fit")


def wanted(connection: Connection) -> tuple[Wanted, ...]:
    """Challenges whose next set can be made, oldest first. Closes those that are over, or a day old, or void too often."""
    _close(connection)
    flying = (
        select(challenge_set.c.set_id)
        .join(game_set, game_set.c.id == challenge_set.c.set_id)
        .where(
            challenge_set.c.challenge_id == challenge.c.id,
            game_set.c.state.in_([SetState.QUEUED, SetState.CLAIMED]),
        )
        .exists()
    )
    rows = connection.execute(
        select(challenge.c.id, challenge.c.ladder_id, challenge.c.versions)
        .where(challenge.c.closed_at.is_(None), ~flying)
        .order_by(challenge.c.created_at, challenge.c.id)
    )
    return tuple(Wanted(row.id, row.ladder_id, tuple(row.versions)) for row in rows)


def _close(connection: Connection) -> None:
    def sets(*states: SetState) -> ScalarSelect[int]:
        return (
            select(func.count())
            .select_from(challenge_set.join(game_set, game_set.c.id == challenge_set.c.set_id))
            .where(challenge_set.c.challenge_id == challenge.c.id, game_set.c.state.in_(states))
            .scalar_subquery()
        )

    over = (
        (sets(SetState.FINISHED) >= challenge.c.sets)
        | (sets(SetState.VOID, SetState.ERRORED) >= VOID)
        | (challenge.c.created_at <= now_ms() - DAY_MS)
    )
    connection.execute(update(challenge).where(challenge.c.closed_at.is_(None), over).values(closed_at=now_ms()))


def attach(connection: Connection, challenge_id: str, set_id: str) -> None:
    """A set was made for a challenge."""
    connection.execute(insert(challenge_set).values(challenge_id=challenge_id, set_id=set_id))


def get(connection: Connection, challenge_id: str) -> Challenge:
    """How far a challenge is. Raises UserError."""
    row = connection.execute(
        select(challenge, ladder.c.slug, ladder.c.players)
        .join(ladder, ladder.c.id == challenge.c.ladder_id)
        .where(challenge.c.id == challenge_id)
    ).first()
    if row is None:
        raise UserError(f"there is no challenge {challenge_id!r}")
    rows = connection.execute(
        select(match.c.set_id, match.c.id, match.c.game_index, result.c.places)
        .join(result, result.c.match_id == match.c.id)
        .join(game_set, game_set.c.id == match.c.set_id)
        .join(challenge_set, challenge_set.c.set_id == match.c.set_id)
        .where(challenge_set.c.challenge_id == challenge_id, game_set.c.state == SetState.FINISHED)
        .order_by(game_set.c.finished_at, match.c.game_index)
    ).all()
    by_set: dict[str, list[float]] = {}
    for one in rows:
        seat = seating(row.players, one.game_index).index(0)
        by_set.setdefault(one.set_id, []).append(pairwise_scores(one.places)[seat])
    return Challenge(
        id=challenge_id,
        ladder=row.slug,
        versions=tuple(row.versions),
        sets=row.sets,
        sets_finished=len(by_set),
        over=row.closed_at is not None or len(by_set) >= row.sets,
        matches=tuple(one.id for one in rows),
        summary=summarise([sum(scores) / len(scores) for scores in by_set.values()]),
    )
