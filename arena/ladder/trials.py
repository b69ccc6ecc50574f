"""Trials: is the new version better than the old one? The arena plays unrated sets of the new one against copies of the old
one until a sequential test knows (:mod:`arena.ratings.sprt`).

All of it is in SQL: the counts of the sets consumed, and which set is played for each further number. Sets count in the
order issued; one that comes to nothing is played again under its number.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, case, func, insert, select, update

from arena.errors import QuotaExceeded, UserError
from arena.ladder.settlement import result_of
from arena.ratings.sprt import Hypotheses, Sprt, Verdict, set_score, support
from arena.storage import queries
from arena.storage.accounts import lock_account
from arena.storage.analysis import names
from arena.storage.plans import SetState
from arena.storage.tables import game_set, ladder, now_ms, trial, trial_set
from arena.storage.versions import find_on_ladder

DAY_MS: Final = 24 * 60 * 60 * 1000
LONGEST_MS: Final = 7 * DAY_MS
OPEN: Final = 2
"""Most trials of an account that are not over."""
SETS: Final = 2_000
MOST_SETS: Final = 10_000
"""Of one trial, unless it asks for fewer; and at most."""
SETS_A_DAY: Final = 20_000
"""That an account's trials of 24 hours may come to."""
IN_FLIGHT: Final = 4
"""Sets of one trial at once."""
TRIES: Final = 10
"""After so many sets that came to nothing under one number somebody does not play."""
ELO0: Final = 0.0
ELO1: Final = 20.0
ERROR: Final = 0.05
MOST_ELO: Final = 1_000.0
SHOWN: Final = 50
_ANY_OPEN: Final = select(trial.c.id).where(trial.c.closed_at.is_(None)).limit(1)


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial and where it stands. ``new`` and ``old`` are bot and version.

    ``reason``: why it is over, empty before. ``external``: names by version of those that are not the house's.
    """

    id: str
    ladder: str
    new: str
    old: str
    test: Sprt
    most_sets: int
    over: bool
    reason: str
    external: Mapping[int, str]

    def away(self, online: Collection[int]) -> tuple[str, ...]:
        """Whom it waits for, if these versions are connected."""
        return () if self.over else tuple(name for version, name in self.external.items() if version not in online)


@dataclass(frozen=True, slots=True)
class Due:
    """Sets that a trial of an account wants now: the numbers, and who sits there by position."""

    id: str
    account_id: int
    ladder_id: int
    versions: tuple[int, ...]
    numbers: tuple[int, ...]


def hypotheses(
    elo0: float | None = None, elo1: float | None = None, alpha: float | None = None, beta: float | None = None
) -> Hypotheses:
    """What a trial decides between; None: as is usual. Raises UserError, saying what would be right."""
    try:
        made = Hypotheses(
            ELO0 if elo0 is None else elo0,
            ELO1 if elo1 is None else elo1,
            ERROR if alpha is None else alpha,
            ERROR if beta is None else beta,
        )
    except ValueError as error:
        raise UserError(str(error)) from None
    if not -MOST_ELO <= made.elo0 < made.elo1 <= MOST_ELO:
        raise UserError(f"elo0 and elo1 are from -{MOST_ELO:g} to {MOST_ELO:g}")
    return made


def create(
    connection: Connection,
    account_id: int,
    slug: str,
    new: str,
    old: str,
    between: Hypotheses,
    most_sets: int = SETS,
) -> str:
    """Asks for a trial; returns its id. Raises UserError, QuotaExceeded.

    Versions are named ``BOT`` (its current one on the ladder) or ``BOT@VERSION``; one of the two is the account's.
    """
    held = queries.get_ladder(connection, slug)
    if not held.active:
        raise UserError(f"{slug} is closed: nothing is played there")
    if not 1 <= most_sets <= MOST_SETS:
        raise UserError(f"a trial has at most {MOST_SETS} sets")
    bots = [find_on_ladder(connection, held.id, name, account_id) for name in (new, old)]
    if not any(bot.account_id == account_id for bot, _ in bots):
        raise UserError(f"neither {new!r} nor {old!r} is a bot of yours")
    (_, new_id), (_, old_id) = bots
    if new_id == old_id:
        raise UserError("new and old are the same version")
    _check_quota(connection, account_id, most_sets)
    trial_id = f"t_{secrets.token_urlsafe(12)}"
    connection.execute(
        insert(trial).values(
            id=trial_id,
            account_id=account_id,
            ladder_id=held.id,
            new_version_id=new_id,
            old_version_id=old_id,
            elo0=between.elo0,
            elo1=between.elo1,
            alpha=between.alpha,
            beta=between.beta,
            most_sets=most_sets,
            counts=[0] * len(support(held.spec.players)),
            consumed=0,
            reason="",
            created_at=now_ms(),
        )
    )
    return trial_id


def _check_quota(connection: Connection, account_id: int, sets: int) -> None:
    lock_account(connection, account_id)
    mine = trial.c.account_id == account_id
    if connection.execute(select(func.count()).where(mine, trial.c.closed_at.is_(None))).scalar_one() >= OPEN:
        raise QuotaExceeded(f"you have {OPEN} trials that are not over: wait for one to end, or cancel it")
    # What is over has cost what it played, what is not may cost all that it asked for.
    cost = case((trial.c.closed_at.is_(None), trial.c.most_sets), else_=trial.c.consumed)
    asked = connection.execute(
        select(func.coalesce(func.sum(cost), 0)).where(mine, trial.c.created_at > now_ms() - DAY_MS)
    ).scalar_one()
    if asked + sets > SETS_A_DAY:
        raise QuotaExceeded(f"{asked} of {SETS_A_DAY} sets in 24 hours are used up: {sets} more do not fit")


def get(connection: Connection, trial_id: str) -> Trial:
    """Where a trial stands. Raises UserError."""
    row = connection.execute(_rows().where(trial.c.id == trial_id)).first()
    if row is None:
        raise UserError(f"there is no trial {trial_id!r}")
    return _trial(connection, row)


def of_account(connection: Connection, account_id: int) -> tuple[Trial, ...]:
    """The account's newest trials, newest first."""
    rows = connection.execute(
        _rows().where(trial.c.account_id == account_id).order_by(trial.c.created_at.desc(), trial.c.id).limit(SHOWN)
    ).all()
    return tuple(_trial(connection, row) for row in rows)


def cancel(connection: Connection, account_id: int, trial_id: str) -> None:
    """Ends one of the account's trials as it stands; again changes nothing. Raises UserError."""
    mine = (trial.c.id == trial_id) & (trial.c.account_id == account_id)
    if connection.execute(select(trial.c.id).where(mine)).first() is None:
        raise UserError(f"you have no trial {trial_id!r}")
    _close(connection, trial_id, "cancelled")


def any_open(connection: Connection) -> bool:
    """Whether there is a trial that is not over."""
    return connection.execute(_ANY_OPEN).first() is not None


def due(connection: Connection) -> tuple[Due, ...]:
    """The sets that trials want now, the oldest trial first, after counting what has been played.

    Closes trials that have a verdict, or will have none.
    """
    rows = connection.execute(_rows().where(trial.c.closed_at.is_(None)).order_by(trial.c.created_at, trial.c.id)).all()
    return tuple(found for row in rows if (found := _advance(connection, row)) is not None)


def attach(connection: Connection, trial_id: str, number: int, set_id: str) -> None:
    """A set was made for a number of a trial."""
    again = (
        update(trial_set)
        .where(trial_set.c.trial_id == trial_id, trial_set.c.number == number)
        .values(set_id=set_id, tries=trial_set.c.tries + 1)
    )
    if not connection.execute(again).rowcount:
        connection.execute(insert(trial_set).values(trial_id=trial_id, number=number, set_id=set_id, tries=1))


def _advance(connection: Connection, row: Row[Any]) -> Due | None:
    """Counts the sets of a trial that are over, and says which it wants next; None once it is over."""
    test = _test(row)
    sets = connection.execute(
        select(trial_set, game_set.c.state, game_set.c.reason)
        .join(game_set, game_set.c.id == trial_set.c.set_id)
        .where(trial_set.c.trial_id == row.id, trial_set.c.number >= row.consumed)
        .order_by(trial_set.c.number)
    ).all()
    for one in sets:
        if one.state == SetState.FINISHED:
            test.add(one.number, set_score(result_of(connection, one.set_id).places, 0))
    if test.consumed > row.consumed:
        counted = {"counts": test.counts, "consumed": test.consumed}
        connection.execute(update(trial).where(trial.c.id == row.id).values(**counted))
    spoilt = [one for one in sets if one.state in (SetState.VOID, SetState.ERRORED)]
    if reason := _ended(row, test, spoilt):
        _close(connection, row.id, reason)
        return None
    flying = sum(one.state in (SetState.QUEUED, SetState.CLAIMED) for one in sets)
    following = max((one.number for one in sets), default=row.consumed - 1) + 1
    wanted = [*(one.number for one in spoilt), *range(following, row.most_sets)][: max(0, IN_FLIGHT - flying)]
    versions = (row.new_version_id, *[row.old_version_id] * (row.players - 1))
    return Due(row.id, row.account_id, row.ladder_id, versions, tuple(wanted))


def _ended(row: Row[Any], test: Sprt, spoilt: list[Row[Any]]) -> str:
    """Why a trial is over; empty if it goes on."""
    if test.verdict is not Verdict.CONTINUE:
        return f"{test.verdict} accepted"
    if test.consumed >= row.most_sets:
        return f"no verdict after {test.consumed} sets"
    if any(one.tries >= TRIES for one in spoilt):
        return f"{TRIES} sets came to nothing, the last one: {spoilt[0].reason}"[:200]
    if row.age_ms > LONGEST_MS:
        return "a week is over"
    return ""


def _close(connection: Connection, trial_id: str, reason: str) -> None:
    still_open = (trial.c.id == trial_id) & trial.c.closed_at.is_(None)
    connection.execute(update(trial).where(still_open).values(closed_at=now_ms(), reason=reason))


def _rows() -> Select[*tuple[Any, ...]]:
    age = (now_ms() - trial.c.created_at).label("age_ms")
    return select(trial, ladder.c.slug, ladder.c.players, age).join(ladder, ladder.c.id == trial.c.ladder_id)


def _test(row: Row[Any]) -> Sprt:
    """The test after the sets that were consumed."""
    made = Sprt(Hypotheses(row.elo0, row.elo1, row.alpha, row.beta), row.players)
    made.counts, made.consumed = list(row.counts), row.consumed
    return made


def _trial(connection: Connection, row: Row[Any]) -> Trial:
    named = names(connection, (row.new_version_id, row.old_version_id))
    return Trial(
        id=row.id,
        ladder=row.slug,
        new=named[row.new_version_id],
        old=named[row.old_version_id],
        test=_test(row),
        most_sets=row.most_sets,
        over=row.closed_at is not None,
        reason=row.reason,
        external=names(connection, named, house=False),
    )
