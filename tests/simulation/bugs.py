"""Bugs put in on purpose: what the simulation is for is to find each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from sqlalchemy import bindparam, update

from arena.gateway.session import games as session_games
from arena.gateway.session.decision import DecisionState
from arena.gateway.session.offers import Offers
from arena.host import player, port
from arena.host import sets as host_sets
from arena.ladder import settlement
from arena.storage import sets, sweeper
from arena.storage.tables import attempt, game_set

Patch = Callable[[ExitStack], None]


def _replace(stack: ExitStack, where: Any, name: str, what: Any) -> None:
    stack.enter_context(mock.patch.object(where, name, what))


def no_epoch_check(stack: ExitStack) -> None:
    """A worker's claim is not looked at when it writes a result."""
    anybody = update(attempt).where(attempt.c.match_id == bindparam("match"), attempt.c.attempt == bindparam("number"))
    _replace(stack, sets, "check_held", lambda row, lease: None)
    _replace(stack, settlement, "check_held", lambda row, lease: None)
    _replace(stack, sets, "_FINISH_ATTEMPT", anybody.values(outcome="FINISHED", ended_at=sets.now_ms()))


def clock_runs_on(stack: ExitStack) -> None:
    """The death of a gateway stops no clock."""

    def freeze(self: port.Port, since: float | None) -> None:
        self._frozen = True
        for asked in self._asked.values():
            asked.overdue_at = None

    _replace(stack, port.Port, "freeze", freeze)


def second_answer_counts(stack: ExitStack) -> None:
    """A later answer takes the place of the first."""
    first = session_games.Games.act

    def act(self: session_games.Games, act: Any, rtt_us: int) -> Any:
        game = self._games.get(act.game_id)
        decision = game.decision if game is not None else None
        if decision is not None and decision.id == act.decision_id and decision.state is DecisionState.ANSWERED:
            assert decision.answer is not None
            decision.answer.act.act.CopyFrom(act)
            return None
        return first(self, act, rtt_us)

    _replace(stack, session_games.Games, "act", act)


def credit_leaks(stack: ExitStack) -> None:
    """An offer keeps its credit when the games of its set are over."""

    def game_ended(self: Offers, offer_id: str, *, counts: bool) -> None:
        if offer := self._offers.get(offer_id):
            offer.running -= 1

    _replace(stack, Offers, "game_ended", game_ended)


def same_attempt_again(stack: ExitStack) -> None:
    """A set that goes back into the queue keeps the number of its attempt."""
    true = sets.void

    def void(connection: Any, row: Any, reason: Any) -> Any:
        state = true(connection, row, reason)
        connection.execute(update(game_set).where(game_set.c.id == row.id).values(attempt=row.attempt))
        return state

    for module in (sets, sweeper):
        _replace(stack, module, "void", void)


def told_before_the_commit(stack: ExitStack) -> None:
    """Bots hear of a result before it is written."""
    true = host_sets._settle

    async def settle(game: Any, finished: Any, seats: Any, journal: Any, *, reveal: bool) -> Any:
        for seat in seats:
            seat.end(finished.outcome, finished.record, reveal=reveal)
        return await true(game, finished, seats, journal, reveal=reveal)

    _replace(stack, host_sets, "_settle", settle)


def strays_stay(stack: ExitStack) -> None:
    """A claim whose answer got lost is nobody's, and never given back."""
    _replace(stack, player, "sweep_strays", lambda connection, lease, playing: ())


BUGS: Mapping[str, Patch] = {
    patch.__name__: patch
    for patch in (
        no_epoch_check,
        clock_runs_on,
        second_answer_counts,
        credit_leaks,
        same_attempt_again,
        told_before_the_commit,
        strays_stay,
    )
}


@contextmanager
def planted(name: str) -> Iterator[None]:
    """With this bug in the arena."""
    with ExitStack() as stack:
        BUGS[name](stack)
        yield
