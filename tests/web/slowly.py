"""A match that is played as slowly as a test likes, shown through the worker's broadcast to whoever watches."""

from __future__ import annotations

from collections.abc import Callable

import engines
from arena.host.sets import GameJob, SetJob
from arena.match.deal import ChanceStream, Deal, commitment, rules_hash
from arena.match.referee import Event, Referee, Reply
from arena.match.spec import Player, Spec
from arena.storage.plans import GamePlan, SetPlan


def job_of(plan: SetPlan, games: tuple[GamePlan, ...]) -> SetJob:
    """A claimed set as its worker plays it."""
    return SetJob(
        set_id=plan.set_id,
        attempt=plan.set_attempt,
        game=plan.ladder.game,
        config=plan.ladder.config,
        players=tuple(Player(seat.bot, seat.version, seat.owner) for seat in plan.seats),
        games=tuple(GameJob(game.match_id, game.index, game.attempt, game.order) for game in games),
        time_control=plan.ladder.time_control,
        deal_mode=plan.deal_mode,
        rated=plan.rated,
    )


class SlowMatch:
    """The first game of a set: a step of the referee when asked for one."""

    def __init__(self, plan: SetPlan, game: GamePlan, secret: bytes) -> None:
        rules = rules_hash(engines.get(plan.ladder.game))
        deal = Deal("own", commitment(game.match_id, game.attempt, rules, secret), (), plan.set_attempt, True, secret)
        players = tuple(Player(plan.seats[at].bot, plan.seats[at].version, plan.seats[at].owner) for at in game.order)
        spec = Spec(
            match_id=game.match_id,
            set_id=plan.set_id,
            attempt=game.attempt,
            game_index=game.index,
            game=plan.ladder.game,
            config=plan.ladder.config,
            seats=players,
            bot_seeds=(1,) * len(players),
            time_control=plan.ladder.time_control,
            deal=deal,
            rated=plan.rated,
        )
        self.referee = Referee(spec, ChanceStream(deal.seed(spec.match_id, spec.attempt, spec.set_id)).pick)
        self._step = self.referee.start()

    @property
    def over(self) -> bool:
        """Whether there is a result."""
        return self._step.outcome is not None

    def go(self, watch: Callable[[tuple[Event, ...]], None], decisions: int) -> None:
        """Goes on by some decisions, each the least legal action, and tells ``watch`` as a worker would."""
        if len(self.referee.events) == len(self._step.events):
            watch(self._step.events)
        for _ in range(decisions):
            if self.over:
                return
            replies = {one.seat: Reply(one.legal[0], elapsed_us=1000) for one in self._step.requests}
            self._step = self.referee.advance(replies, len(self.referee.events))
            watch(self._step.events)
