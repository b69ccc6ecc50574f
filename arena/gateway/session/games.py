"""The games of a session: who asked what, what was answered, and whose time it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from arena.gateway.session.decision import Decision, DecisionState
from arena.gateway.session.model import SessionLimits, Tally, TimerKind
from arena.gateway.session.offers import Offers
from arena.gateway.session.outlet import Outlet
from botarena.internal.v1 import relay_pb2 as rpb
from botarena.v1 import play_pb2 as pb

ENDED_REMEMBERED: Final = 64


@dataclass(slots=True)
class Game:
    """A seat of a running game. ``frozen_us`` is since when its worker is away, ``touched_us`` when it last spoke of it.

    ``let_go``: the worker looks for the bot elsewhere, and the game stands still here. ``alarm_us``: when a decision's time
    is next looked at. There is one alarm a game and not one a decision: thousands of fast moves would leave theirs behind until
    long after their answers.
    """

    worker: str
    started: pb.MatchStarted
    touched_us: int
    decision: Decision | None = None
    frozen_us: int | None = None
    alarm_us: int | None = None
    let_go: bool = False

    @property
    def open_decision(self) -> Decision | None:
        """The decision that awaits an answer."""
        return self.decision if self.decision is not None and self.decision.is_open else None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an answer does not count."""

    code: pb.ActResult.Code.ValueType
    detail: str


class Games:
    """All games of a session that run. A game belongs to the worker that last spoke of it."""

    def __init__(self, out: Outlet, offers: Offers, limits: SessionLimits, tally: Tally) -> None:
        self._out: Final = out
        self._offers: Final = offers
        self._limits: Final = limits
        self._tally: Final = tally
        self._games: dict[str, Game] = {}
        self._ended: deque[str] = deque(maxlen=ENDED_REMEMBERED)

    def __len__(self) -> int:
        return len(self._games)

    def __iter__(self) -> Iterator[str]:
        return iter(self._games)

    def workers(self) -> Iterator[str]:
        """The workers that play games with this session."""
        return (game.worker for game in self._games.values())

    @property
    def awaited(self) -> bool:
        """Whether any answer is awaited."""
        return any(game.open_decision for game in self._games.values())

    def open_of(self, worker: str) -> Iterator[rpb.OpenDecision]:
        """The decisions of a worker that await an answer, and what their clocks have used."""
        for game_id, game in self._games.items():
            if game.worker == worker and (decision := game.open_decision):
                elapsed_ms = decision.elapsed_us(self._out.now_us) // 1000
                yield rpb.OpenDecision(game_id=game_id, decision_id=decision.id, elapsed_ms=elapsed_ms)

    def restate(self) -> None:
        """Tell all that runs and is asked, as if it began."""
        for game in self._games.values():
            started = pb.MatchStarted()
            started.CopyFrom(game.started)
            started.resumed = True
            self._out.restate(started)
            if decision := game.open_decision:
                self._out.restate(decision.message(self._out.now_us, resent=True), on_write=decision)

    # -- the bot

    def act(self, act: pb.Act, rtt_us: int) -> Refusal | None:
        """An answer of the bot; None if it is the one that counts."""
        game = self._games.get(act.game_id)
        if game is None:
            if act.game_id in self._ended:
                return Refusal(pb.ActResult.CODE_STALE, "The game is over.")
            return Refusal(pb.ActResult.CODE_UNKNOWN_GAME, "No game of this id runs in this session.")
        decision = game.decision
        if decision is None or decision.id != act.decision_id:
            newest = "none yet" if decision is None else str(decision.id)
            return Refusal(pb.ActResult.CODE_STALE, f"The newest decision is {newest}.")
        if decision.state is DecisionState.ANSWERED:
            return Refusal(pb.ActResult.CODE_DUPLICATE, "The first answer counts.")
        if decision.is_over:
            return Refusal(pb.ActResult.CODE_TOO_LATE, "The decision is over.")
        elapsed_us = decision.elapsed_us(self._out.now_us)
        if elapsed_us > decision.limit_us:
            self._expire(game, decision)
            return Refusal(pb.ActResult.CODE_TOO_LATE, "The time was over.")
        answer = rpb.GatewayEvent()
        received = answer.act
        received.act.CopyFrom(act)
        received.elapsed_us, received.rtt_us = elapsed_us, rtt_us
        decision.answer, decision.state = answer, DecisionState.ANSWERED
        self._tally.answers.add(elapsed_us)
        if game.frozen_us is None:  # Else it is kept until the worker asks again.
            self._out.to_worker(game.worker, answer)
        return None

    def left(self) -> None:
        """The bot's stream has ended."""
        for game in self._games.values():
            if decision := game.open_decision:
                decision.away = True

    # -- workers

    def started(self, worker: str, started: pb.MatchStarted) -> None:
        """A game begins; or its worker is back, or another has taken it over, and the bot knows it."""
        if self._out.stream is None:  # the worker may have it from a registry that is behind
            lost = rpb.SessionLost(open=self.open_of(worker))
            self._out.to_worker(worker, rpb.GatewayEvent(session_lost=lost))
        if started.game_id in self._games:
            self._touch(worker, started.game_id)
            return
        self._games[started.game_id] = Game(worker, started, self._out.now_us)
        self._offers.game_started(started.offer_id)
        self._out.tell(started)

    def observed(self, worker: str, observed: pb.EventsObserved) -> None:
        """Something happened in a game."""
        if self._touch(worker, observed.game_id):
            self._out.tell(observed)

    def ask(self, worker: str, ask: rpb.Ask) -> None:
        """A decision is due, perhaps asked before."""
        game = self._touch(worker, ask.request.game_id)
        if game is None:
            return
        decision = game.decision
        if decision is None or decision.id != ask.request.decision_id or (decision.away and decision.is_over):
            decision = game.decision = Decision(ask, self._out.now_us, here=self._out.stream is not None)
            self._tally.counts["decisions"] += 1
            self._out.tell(decision.message(self._out.now_us, resent=False), on_write=decision)
            self._wake_decision(game, decision)
        elif decision.state is DecisionState.ANSWERED:
            assert decision.answer is not None
            self._out.to_worker(worker, decision.answer)
        elif decision.is_over:
            self._expire(game, decision)
        else:
            decision.asked_again(ask, self._out.now_us)
            self._wake_decision(game, decision)

    def cancel(self, cancel: rpb.Cancel) -> None:
        """A decision is withdrawn."""
        game = self._games.get(cancel.game_id)
        decision = game.open_decision if game else None
        if decision and decision.id == cancel.decision_id:
            decision.state = DecisionState.OVER

    def end(self, end: pb.MatchEnded) -> None:
        """A game is over."""
        if end.game_id in self._games:
            self._out.tell(end, vital=True)
            self.forget(end.game_id, counts=end.end != pb.MatchEnded.END_VOID)

    def forget(self, game_id: str, *, counts: bool = False) -> None:
        """A game is not this session's any more; ``counts`` if it is one of its set's games that are over."""
        game = self._games.pop(game_id, None)
        if game is not None:
            self._ended.append(game_id)
            self._offers.game_ended(game.started.offer_id, counts=counts)

    def end_set(self, offer_id: str) -> None:
        """The set is played anew: what is left of this attempt is void."""
        for game_id in [i for i, game in self._games.items() if game.started.offer_id == offer_id]:
            self._void(game_id)
        self._offers.release(offer_id)

    def let_go(self, game_id: str) -> None:
        """The worker looks for the bot elsewhere: the game stands still here.

        It may be wrong, for what it knows comes from a registry that may be away or behind. So it speaks of the game again, or
        learns that the bot is here, or the game is void in the end: a bot whose game was forgotten would wait for it for ever.
        """
        if (game := self._games.get(game_id)) is not None:
            game.let_go = True
            self._freeze(game_id, game)

    def forget_let_go(self) -> None:
        """The bot opens a stream: what it plays elsewhere it must not find here. Workers that hear of it know better."""
        for game_id in [game_id for game_id, game in self._games.items() if game.let_go]:
            self._forget_set_of(game_id)

    def forget_quiet(self) -> None:
        """Forget, while the bot is away, games of which nothing was heard for long: the bot may play them elsewhere.

        A worker that speaks of one after all learns that it is unknown here, and starts it again.
        """
        since_us = self._out.now_us - self._limits.frozen_us
        for game_id in [i for i, g in self._games.items() if g.touched_us <= since_us and not g.open_decision]:
            self._forget_set_of(game_id)

    def _forget_set_of(self, game_id: str) -> None:
        """A game, and that its set takes credit here: both may be elsewhere."""
        offer_id = self._games[game_id].started.offer_id
        self.forget(game_id)
        self._offers.release(offer_id)

    def worker_down(self, worker: str) -> None:
        """A worker is away: its games stand still."""
        for game_id, game in self._games.items():
            if game.worker == worker:
                self._freeze(game_id, game)

    def _freeze(self, game_id: str, game: Game) -> None:
        if game.frozen_us is None:
            game.frozen_us = self._out.now_us
            if decision := game.open_decision:
                decision.pause(self._out.now_us)
            self._out.wake(self._out.now_us + self._limits.frozen_us, TimerKind.FROZEN, game_id)

    def worker_gone(self, worker: str) -> None:
        """A worker will not come back: its games are void."""
        for game_id in [i for i, game in self._games.items() if game.worker == worker]:
            self._void(game_id)

    def pause(self) -> None:
        """All clocks stand still from now on."""
        for game in self._games.values():
            if decision := game.open_decision:
                decision.pause(self._out.now_us)

    # -- time

    def on_decision_timer(self, game_id: str) -> None:
        """The time of a decision may be over."""
        game = self._games.get(game_id)
        if game is None:
            return
        if game.alarm_us is not None and self._out.now_us >= game.alarm_us:
            game.alarm_us = None
        decision = game.open_decision
        if decision and decision.deadline_us is not None:
            if self._out.now_us >= decision.deadline_us:
                self._expire(game, decision)
            else:
                self._wake_decision(game, decision)

    def on_frozen_timer(self, game_id: str) -> None:
        """A worker may have been away for too long."""
        game = self._games.get(game_id)
        if game and game.frozen_us is not None and self._out.now_us - game.frozen_us >= self._limits.frozen_us:
            self._void(game_id)

    def _wake_decision(self, game: Game, decision: Decision) -> None:
        deadline_us = decision.deadline_us
        if deadline_us is not None and (game.alarm_us is None or deadline_us < game.alarm_us):
            game.alarm_us = deadline_us
            self._out.wake(deadline_us, TimerKind.DECISION, game.started.game_id)

    def _expire(self, game: Game, decision: Decision) -> None:
        if not decision.is_over:  # else it is only said again
            decision.state = DecisionState.OVER
            decision.disconnected = self._out.stream is None
        self._tally.counts["expired"] += 1
        expired = rpb.Expired(
            game_id=game.started.game_id,
            decision_id=decision.id,
            elapsed_ms=decision.elapsed_us(self._out.now_us) // 1000,
            disconnected=decision.disconnected,
        )
        self._out.to_worker(game.worker, rpb.GatewayEvent(expired=expired))

    def _void(self, game_id: str) -> None:
        game = self._games[game_id]
        self._tally.counts["voided"] += 1
        self.end(pb.MatchEnded(game_id=game_id, end=pb.MatchEnded.END_VOID))
        if game.let_go:
            self._offers.release(game.started.offer_id)

    def _touch(self, worker: str, game_id: str) -> Game | None:
        """The game, which is this worker's and moves again. None, and the worker told so, if there is none."""
        game = self._games.get(game_id)
        if game is None:
            self._out.to_worker(worker, rpb.GatewayEvent(game_unknown=game_id))
            return None
        game.worker = worker
        game.touched_us = self._out.now_us
        game.frozen_us = None
        game.let_go = False
        return game
