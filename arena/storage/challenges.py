"""Challenges: unrated sets against named opponents, played when everybody has a free seat."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, ScalarSelect, func, insert, select, update

from arena.errors import QuotaExceeded, UserError
from arena.ratings.summary import Summary, pairwise_scores, summarise
from arena.storage import queries
from arena.storage.accounts import lock_account
from arena.storage.analysis import names
from arena.storage.plans import SetState, seating
from arena.storage.tables import challenge, challenge_set, game_set, ladder, match, now_ms, result
from arena.storage.versions import find_on_ladder

DAY_MS: Final = 24 * 60 * 60 * 1000
GAMES: Final = 200
"""Most games of one challenge."""
GAMES_A_DAY: Final = 1_000
"""Most games that an account may ask for in 24 hours."""
OPEN: Final = 3
"""Most challenges of an account that are not over."""
SHOWN: Final = 50
MAX_SEED: Final = 2**53
"""JavaScript knows no larger whole numbers."""
VOID: Final = 10
"""After so many void sets a challenge is given up: somebody in it does not play."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge and how far it is. ``players``: bot and version each, the challenger first, whom ``summary`` is of.

    ``matches``: the ids of its finished games. ``external``: names by version of those that are not the house's.
    """

    id: str
    ladder: str
    players: tuple[str, ...]
    sets: int
    sets_finished: int
    over: bool
    seed: int | None
    matches: tuple[str, ...]
    summary: Summary
    external: Mapping[int, str]

    def away(self, online: Collection[int]) -> tuple[str, ...]:
        """Whom it waits for, if these versions are connected."""
        return () if self.over else tuple(name for version, name in self.external.items() if version not in online)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A challenge whose next set can be made: nothing of it is being played. ``seed``: of that set."""

    id: str
    ladder_id: int
    versions: tuple[int, ...]
    seed: int | None


def _sets(*states: SetState) -> ScalarSelect[int]:
    """How many sets of a challenge are in these states."""
    return (
        select(func.count())
        .select_from(challenge_set.join(game_set, game_set.c.id == challenge_set.c.set_id))
        .where(challenge_set.c.challenge_id == challenge.c.id, game_set.c.state.in_(states))
        .scalar_subquery()
    )


_CLOSE: Final = (
    update(challenge)
    .where(
        challenge.c.closed_at.is_(None),
        (_sets(SetState.FINISHED) >= challenge.c.sets)
        | (_sets(SetState.VOID, SetState.ERRORED) >= VOID)
        | (challenge.c.created_at <= now_ms() - DAY_MS),
    )
    .values(closed_at=now_ms())
)
_WANTED: Final = (
    select(challenge, _sets(SetState.FINISHED).label("finished"))
    .where(challenge.c.closed_at.is_(None), _sets(SetState.QUEUED, SetState.CLAIMED) == 0)
    .order_by(challenge.c.created_at, challenge.c.id)
)
_ANY_OPEN: Final = select(challenge.c.id).where(challenge.c.closed_at.is_(None)).limit(1)


def any_open(connection: Connection) -> bool:
    """Whether there is a challenge that is not over."""
    return connection.execute(_ANY_OPEN).first() is not None


def create(
    connection: Connection,
    account_id: int,
    slug: str,
    challenger: str,
    opponents: Sequence[str],
    games: int,
    seed: int | None = None,
) -> str:
    """Asks for games; returns the challenge's id. Raises UserError, QuotaExceeded.

    Bots are named ``BOT`` (its current version on the ladder) or ``BOT@VERSION``. Games are rounded up to whole sets.
    ``seed``: the k-th set, from 0, is dealt by ``seed + k`` alone.
    """
    held = queries.get_ladder(connection, slug)
    players = held.spec.players
    if not held.active:
        raise UserError(f"{slug} is closed: nothing is played there")
    if len(opponents) != players - 1:
        raise UserError(f"{slug} is for {players}: name {players - 1} opponents, not {len(opponents)}")
    if not 1 <= games <= GAMES:
        raise UserError(f"a challenge has 1 to {GAMES} games")
    if seed is not None and not 0 <= seed <= MAX_SEED:
        raise UserError(f"a seed is a whole number from 0 to {MAX_SEED}")
    mine, first = find_on_ladder(connection, held.id, challenger, account_id)
    if mine.account_id != account_id:
        raise UserError(f"{mine.name!r} is not a bot of yours")
    versions = [first, *(find_on_ladder(connection, held.id, name, account_id)[1] for name in opponents)]
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
            seed=seed,
            created_at=now_ms(),
        )
    )
    return challenge_id


def cancel(connection: Connection, account_id: int, challenge_id: str) -> None:
    """Ends one of the account's challenges; again changes nothing. Raises UserError."""
    mine = (challenge.c.id == challenge_id) & (challenge.c.account_id == account_id)
    if connection.execute(select(challenge.c.id).where(mine)).first() is None:
        raise UserError(f"you have no challenge {challenge_id!r}")
    connection.execute(update(challenge).where(mine, challenge.c.closed_at.is_(None)).values(closed_at=now_ms()))


def of_account(connection: Connection, account_id: int) -> tuple[Challenge, ...]:
    """The account's newest challenges, newest first."""
    ids = connection.execute(
        select(challenge.c.id)
        .where(challenge.c.account_id == account_id)
        .order_by(challenge.c.created_at.desc(), challenge.c.id)
        .limit(SHOWN)
    ).scalars()
    return tuple(get(connection, challenge_id) for challenge_id in ids.all())


def _check_quota(connection: Connection, account_id: int, games: int) -> None:
    lock_account(connection, account_id)
    mine = challenge.c.account_id == account_id
    still_open = select(func.count()).where(mine, challenge.c.closed_at.is_(None))
    if connection.execute(still_open).scalar_one() >= OPEN:
        raise QuotaExceeded(f"you have {OPEN} challenges that are not over: wait for one to end")
    asked = connection.execute(
        select(func.coalesce(func.sum(challenge.c.sets * ladder.c.players), 0))
        .join(ladder, ladder.c.id == challenge.c.ladder_id)
        .where(mine, challenge.c.created_at > now_ms() - DAY_MS)
    ).scalar_one()
    if asked + games > GAMES_A_DAY:
        raise QuotaExceeded(f"{asked} of {GAMES_A_DAY} games in 24 hours are used up: {games} more do not fit")


def wanted(connection: Connection) -> tuple[Wanted, ...]:
    """Challenges whose next set can be made, oldest first. Closes those that are over, or a day old, or void too often."""
    connection.execute(_CLOSE)
    return tuple(
        Wanted(row.id, row.ladder_id, tuple(row.versions), None if row.seed is None else row.seed + row.finished)
        for row in connection.execute(_WANTED)
    )


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
    named = names(connection, row.versions)
    by_set: dict[str, list[float]] = {}
    for one in rows:
        seat = seating(row.players, one.game_index).index(0)
        by_set.setdefault(one.set_id, []).append(pairwise_scores(one.places)[seat])
    return Challenge(
        id=challenge_id,
        ladder=row.slug,
        players=tuple(named[version] for version in row.versions),
        sets=row.sets,
        sets_finished=len(by_set),
        over=row.closed_at is not None or len(by_set) >= row.sets,
        seed=row.seed,
        matches=tuple(one.id for one in rows),
        summary=summarise([sum(scores) / len(scores) for scores in by_set.values()]),
        external=names(connection, named, house=False),
    )
