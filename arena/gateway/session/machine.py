"""The session: one bot process across all of its streams."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from arena.gateway.session.conduct import Conduct
from arena.gateway.session.games import Decision, DecisionState, Game, SetOffer
from arena.gateway.session.model import (
    PROTOCOL,
    Changed,
    CloseStream,
    Effect,
    Failure,
    Identity,
    Reason,
    SessionLimits,
    Tally,
    Timer,
    TimerKind,
    ToWorker,
    Wake,
)
from arena.gateway.session.outbox import Outbox, encode_event
from arena.gateway.session.ping import Pinger
from botarena.internal.v1 import relay_pb2 as rpb
from botarena.v1 import play_pb2 as pb

NONCE_BYTES: Final = (0, 16)
ENDED_REMEMBERED: Final = 64
QUEUE_EVENTS_A_GAME: Final = 4
QUEUE_BYTES_A_GAME: Final = 8 * 1024


class Session:
    """A bot process: what it was asked, what it answered, how it behaves.

    Every method that takes ``now_us`` (monotonic microseconds in which the process's own lateness does not pass) may
    return effects for the caller to carry out, in order. What is to go to the bot is fetched with :meth:`take`, whose
    moment counts as that of the write. A game belongs to the worker that started it; the worker is known by a key.
    """

    def __init__(
        self,
        session_id: str,
        identity: Identity,
        instance: str,
        *,
        limits: SessionLimits,
        conduct: Conduct,
        tally: Tally,
    ) -> None:
        self.id: Final = session_id
        self.identity: Final = identity
        self.instance: Final = instance
        self.hello = pb.Hello()
        self.credit = 0
        self.draining = False
        self.stream: int | None = None
        """The number of the stream that is connected."""
        self._streams = 0
        self._limits = limits
        self._conduct = conduct
        self._tally = tally
        self._games: dict[str, Game] = {}
        self._offers: dict[str, SetOffer] = {}
        self._ended: deque[str] = deque(maxlen=ENDED_REMEMBERED)
        self._outbox = Outbox()
        self._compacted = False
        self._pinger = Pinger(limits)
        self._effects: list[Effect] = []

    # -- what others may know

    @property
    def connected(self) -> bool:
        """Whether a stream is open."""
        return self.stream is not None

    @property
    def is_over(self) -> bool:
        """True if it can be forgotten: nobody is there and nothing runs."""
        return not self.connected and not self._games and not self._offers

    @property
    def games(self) -> int:
        """How many games run."""
        return len(self._games)

    @property
    def taken(self) -> int:
        """How much of the credit is taken: by games, and by sets of which no game runs at the moment."""
        return len(self._games) + sum(1 for offer in self._offers.values() if not offer.running)

    @property
    def rtt_us(self) -> int:
        """Round trip by the last pings, 0 if none was answered yet."""
        return self._pinger.rtt_us

    @property
    def waiting(self) -> bool:
        """Whether :meth:`take` has something to give."""
        return len(self._outbox) > 0

    def take(self, now_us: int) -> bytes:
        """The next PlayResponse, encoded; empty if nothing waits."""
        frame = self._outbox.take(now_us)
        if not self._outbox:
            self._compacted = False
        return frame

    # -- streams

    def connect(self, hello: pb.Hello, welcome: pb.Welcome, now_us: int) -> list[Effect]:
        """A stream of this bot and instance has opened: the newest wins, and gets all that runs once more.

        ``welcome`` is completed here. The new stream's number is :attr:`stream`.
        """
        if self.stream is not None:
            replaced = pb.Draining(reason=pb.Draining.REASON_REPLACED)
            self._emit(CloseStream(self.stream, encode_event(replaced)))
            self._tally.counts["replaced"] += 1
        self._streams += 1
        self.stream = self._streams
        self._emit(Changed())
        self.hello = hello
        self.draining = False
        self.credit = self._capped(hello.credit or 1)
        self._outbox = Outbox()
        self._compacted = False
        welcome.session = self.id
        welcome.protocol = PROTOCOL
        welcome.bot = self.identity.bot
        welcome.version = self.identity.version
        welcome.limits.max_frame_bytes = self._limits.frame_bytes
        welcome.limits.max_credit = self._limits.max_credit
        welcome.limits.ping_interval_ms = self._limits.ping_interval_us // 1000
        welcome.running_games.extend(self._games)
        self._outbox.push(encode_event(welcome), vital=True)
        self._push_state(now_us)
        for offer in self._offers.values():
            if offer.ready is None:
                self._outbox.push(encode_event(offer.message), vital=True)
        self._pinger = Pinger(self._limits)
        self._pinger.heard(now_us)
        self._ping(now_us)
        self._tell_workers(rpb.GatewayEvent(session=self.id, session_live=rpb.SessionLive(wants=hello.wants)))
        return self._flush()

    def disconnect(self, stream: int, now_us: int) -> list[Effect]:
        """A stream has ended, by whatever cause. Clocks run on."""
        if stream == self.stream:
            self._lost()
        return self._flush()

    def misconduct(self, failure: Failure, now_us: int) -> list[Effect]:
        """The bot sent what no program of good will sends: a strike, and the stream ends with ``failure``."""
        self._tally.counts["strikes"] += 1
        out = self._conduct.strike(now_us)
        self._close(failure=self._out_failure() if out else failure)
        return self._flush()

    def drain(self, reconnect_within_ms: int, now_us: int) -> list[Effect]:
        """The gateway shuts down: the time until the bot is back elsewhere is the arena's."""
        for game in self._games.values():
            if decision := game.open_decision:
                decision.pause(now_us)
        self._tell_workers(rpb.GatewayEvent(session=self.id, session_released=rpb.SessionReleased()))
        if self.stream is not None:
            draining = pb.Draining(reason=pb.Draining.REASON_SERVER, reconnect_within_ms=reconnect_within_ms)
            self._emit(CloseStream(self.stream, self._outbox.take(now_us) + encode_event(draining)))
            self._forget_stream()
        return self._flush()

    def evict(self, reason: pb.Draining.Reason.ValueType, failure: Failure | None = None) -> list[Effect]:
        """End the stream for good: revoked, or replaced by a connection to another gateway."""
        self._close(last=encode_event(pb.Draining(reason=reason)), failure=failure)
        return self._flush()

    # -- the bot

    def from_bot(self, frame: pb.PlayRequest, now_us: int) -> list[Effect]:
        """A frame from the stream that is connected."""
        self._pinger.heard(now_us)
        if not frame.events:
            self._unasked(now_us)
        for event in frame.events:
            if self.stream is None:
                break
            match event.WhichOneof("event"):
                case "act":
                    self._on_act(event.act, now_us)
                case "pong":
                    if not self._pinger.pong(event.pong.nonce, now_us):
                        self._unasked(now_us)
                case "ready":
                    self._on_ready(event.ready, now_us)
                case "set_credit":
                    self._on_credit(event.set_credit, now_us)
                case "hello":
                    self._reject("Hello is the first event of a stream and comes once.", now_us)
                case _:
                    self._unasked(now_us)  # A kind that this arena does not know yet.
        return self._flush()

    def _on_act(self, act: pb.Act, now_us: int) -> None:
        game = self._games.get(act.game_id)
        if game is None:
            known = act.game_id in self._ended
            code = pb.ActResult.CODE_STALE if known else pb.ActResult.CODE_UNKNOWN_GAME
            detail = "The game is over." if known else "No game of this id runs in this session."
            self._refuse_act(act, code, detail, now_us)
            return
        decision = game.decision
        if decision is None or decision.id != act.decision_id:
            current = "None" if decision is None else str(decision.id)
            self._refuse_act(act, pb.ActResult.CODE_STALE, f"The newest decision is {current}.", now_us)
        elif decision.state is DecisionState.ANSWERED:
            self._refuse_act(act, pb.ActResult.CODE_DUPLICATE, "The first answer counts.", now_us)
        elif decision.state is DecisionState.OVER:
            self._refuse_act(act, pb.ActResult.CODE_TOO_LATE, "The decision is over.", now_us)
        elif (elapsed_us := decision.elapsed_us(now_us)) > decision.limit_us:
            self._expire(game, decision, now_us)
            self._refuse_act(act, pb.ActResult.CODE_TOO_LATE, "The time was over.", now_us)
        else:
            decision.state = DecisionState.ANSWERED
            decision.answer = rpb.ActReceived(act=act, elapsed_us=elapsed_us, rtt_us=self.rtt_us)
            self._tally.answered(elapsed_us)
            if game.frozen_us is None:
                self._to_worker(game.worker, rpb.GatewayEvent(session=self.id, act=decision.answer))

    def _refuse_act(self, act: pb.Act, code: pb.ActResult.Code.ValueType, detail: str, now_us: int) -> None:
        self._tally.counts[f"act_{pb.ActResult.Code.Name(code).removeprefix('CODE_').lower()}"] += 1
        # A bot that answers a hundred wrong things at once has no need of a hundred corrections.
        if self._unasked(now_us) and len(self._outbox) < self._limits.queue_events // 2:
            self._push(pb.ActResult(game_id=act.game_id, decision_id=act.decision_id, code=code, detail=detail), now_us)

    def _on_ready(self, ready: pb.Ready, now_us: int) -> None:
        offer = self._offers.get(ready.offer_id)
        if offer is None or offer.ready is not None:
            self._unasked(now_us)
        elif len(ready.nonce) not in NONCE_BYTES:
            self._reject(f"Ready.nonce must have 16 bytes or none, not {len(ready.nonce)}.", now_us)
        else:
            offer.ready = rpb.ReadyReceived(offer_id=ready.offer_id, nonce=ready.nonce, wants=self.hello.wants)
            self._to_worker(offer.worker, rpb.GatewayEvent(session=self.id, ready=offer.ready))
            self._await_game(ready.offer_id, offer, now_us)

    def _on_credit(self, change: pb.SetCredit, now_us: int) -> None:
        if not self._unasked(now_us):
            return
        self.credit = self._capped(change.credit)
        self.draining = self.draining or change.drain
        self._emit(Changed())
        self._close_if_done(now_us)

    # -- workers

    def from_worker(self, worker: str, event: rpb.WorkerEvent, now_us: int) -> list[Effect]:
        """An event for this session from the worker of that key."""
        match event.WhichOneof("event"):
            case "ask":
                self._on_ask(worker, event.ask, now_us)
            case "deliver":
                self._on_deliver(worker, event.deliver, now_us)
            case "end":
                self._on_end(event.end, now_us)
            case "cancel":
                game = self._games.get(event.cancel.game_id)
                decision = game.open_decision if game else None
                if decision and decision.id == event.cancel.decision_id:
                    decision.state = DecisionState.OVER
            case "offer":
                self._on_offer(worker, event.offer, now_us)
            case "release_offer":
                self._release(event.release_offer, now_us)
            case "forget_game":
                self._forget(event.forget_game, now_us)
            case _:
                self._tally.counts["odd_worker_events"] += 1
        return self._flush()

    def worker_down(self, worker: str, now_us: int) -> list[Effect]:
        """The stream of a worker broke: its games stand still, and are void if it does not come back in time."""
        for game_id, game in self._games.items():
            if game.worker == worker and game.frozen_us is None:
                game.frozen_us = now_us
                if decision := game.open_decision:
                    decision.pause(now_us)
                self._wake(now_us + self._limits.frozen_us, TimerKind.FROZEN, game_id)
        for offer_id in [i for i, offer in self._offers.items() if offer.worker == worker and offer.ready is None]:
            self._release(offer_id, now_us)
        return self._flush()

    def worker_gone(self, worker: str, now_us: int) -> list[Effect]:
        """A worker will not come back: its games are void."""
        for game_id in [i for i, game in self._games.items() if game.worker == worker]:
            self._void(game_id, now_us)
        for offer_id in [i for i, offer in self._offers.items() if offer.worker == worker]:
            self._release(offer_id, now_us)
        return self._flush()

    def _on_offer(self, worker: str, offer: rpb.Offer, now_us: int) -> None:
        offer_id = offer.offer.offer_id
        known = self._offers.get(offer_id)
        if known is not None:
            known.worker = worker
            if known.ready is not None:
                self._to_worker(worker, rpb.GatewayEvent(session=self.id, ready=known.ready))
        elif self.draining:
            self._refuse_offer(worker, offer_id, rpb.OfferRefused.REASON_DRAINING)
        elif self.taken >= self.credit:
            self._refuse_offer(worker, offer_id, rpb.OfferRefused.REASON_NO_CREDIT)
        else:
            deadline_us = now_us + offer.timeout_ms * 1000
            self._offers[offer_id] = SetOffer(worker, offer.offer, deadline_us, offer.offer.games)
            self._push(offer.offer, now_us, vital=True)
            self._wake(deadline_us, TimerKind.OFFER, offer_id)

    def _refuse_offer(self, worker: str, offer_id: str, reason: rpb.OfferRefused.Reason.ValueType) -> None:
        refused = rpb.OfferRefused(offer_id=offer_id, reason=reason)
        self._to_worker(worker, rpb.GatewayEvent(session=self.id, offer_refused=refused))

    def _release(self, offer_id: str, now_us: int) -> None:
        offer = self._offers.pop(offer_id, None)
        if offer is not None and not offer.begun:
            self._push(pb.Notice(kind=pb.Notice.KIND_OFFER_RELEASED, offer_id=offer_id), now_us, vital=True)
        self._close_if_done(now_us)

    def _await_game(self, offer_id: str, offer: SetOffer, now_us: int) -> None:
        """No game of the set runs: give the credit back if that stays so."""
        offer.deadline_us = now_us + self._limits.frozen_us
        self._wake(offer.deadline_us, TimerKind.OFFER, offer_id)

    def _on_deliver(self, worker: str, event: pb.ArenaEvent, now_us: int) -> None:
        match event.WhichOneof("event"):
            case "match_started":
                self._on_started(worker, event.match_started, now_us)
            case "events_observed":
                if self._touch(worker, event.events_observed.game_id):
                    self._push(event.events_observed, now_us)
            case "act_result":
                self._push(event.act_result, now_us)
            case "notice":
                self._push(event.notice, now_us)
            case _:
                self._tally.counts["odd_worker_events"] += 1

    def _on_started(self, worker: str, started: pb.MatchStarted, now_us: int) -> None:
        if started.game_id in self._games:  # The worker is back, or took the game over; the bot knows the game.
            self._touch(worker, started.game_id)
            return
        self._games[started.game_id] = Game(worker, started)
        if offer := self._offers.get(started.offer_id):
            offer.running += 1
            offer.begun = True
        self._push(started, now_us)

    def _on_ask(self, worker: str, ask: rpb.Ask, now_us: int) -> None:
        game = self._touch(worker, ask.request.game_id)
        if game is None:
            return
        decision = game.decision
        if decision is None or decision.id != ask.request.decision_id:
            decision = game.decision = Decision(ask, now_us, unwritten=self.connected)
            self._tally.counts["decisions"] += 1
            self._push(decision.message(now_us, resent=False), now_us, decision=decision)
        elif decision.state is DecisionState.ANSWERED:
            self._to_worker(worker, rpb.GatewayEvent(session=self.id, act=decision.answer))
            return
        elif decision.state is DecisionState.OVER:
            self._expire(game, decision, now_us)
            return
        else:
            decision.asked_again(ask, now_us)
        self._wake_decision(ask.request.game_id, decision)

    def _on_end(self, end: pb.MatchEnded, now_us: int) -> None:
        if end.game_id in self._games:
            self._push(end, now_us, vital=True)
            self._forget(end.game_id, now_us, counts=end.end != pb.MatchEnded.END_VOID)

    def _void(self, game_id: str, now_us: int) -> None:
        self._tally.counts["voided"] += 1
        self._on_end(pb.MatchEnded(game_id=game_id, end=pb.MatchEnded.END_VOID), now_us)

    def _forget(self, game_id: str, now_us: int, *, counts: bool = False) -> None:
        """The game is not this session's any more; ``counts`` if it is one of its set's games that are over."""
        game = self._games.pop(game_id, None)
        if game is None:
            return
        self._ended.append(game_id)
        offer_id = game.started.offer_id
        if offer := self._offers.get(offer_id):
            offer.running -= 1
            offer.games_left -= counts
            if offer.games_left <= 0:
                del self._offers[offer_id]
            elif not offer.running:
                self._await_game(offer_id, offer, now_us)
        self._close_if_done(now_us)

    def _touch(self, worker: str, game_id: str) -> Game | None:
        """The game, which is this worker's and moves again. None, and the worker told so, if there is none."""
        game = self._games.get(game_id)
        if game is None:
            self._to_worker(worker, rpb.GatewayEvent(session=self.id, game_unknown=game_id))
            return None
        game.worker = worker
        game.frozen_us = None
        return game

    # -- time

    def on_timer(self, timer: Timer, now_us: int) -> list[Effect]:
        """The time of a :class:`Wake` has come."""
        match timer.kind:
            case TimerKind.DECISION:
                game = self._games.get(timer.ref)
                decision = game.open_decision if game else None
                if game and decision and decision.id == timer.number and decision.deadline_us is not None:
                    if now_us >= decision.deadline_us:
                        self._expire(game, decision, now_us)
                    else:
                        self._wake_decision(timer.ref, decision)
            case TimerKind.OFFER:
                offer = self._offers.get(timer.ref)
                if offer and not offer.running and now_us >= offer.deadline_us:
                    if offer.ready is None:
                        self._refuse_offer(offer.worker, timer.ref, rpb.OfferRefused.REASON_TIMEOUT)
                    self._release(timer.ref, now_us)
            case TimerKind.FROZEN:
                game = self._games.get(timer.ref)
                if game and game.frozen_us is not None and now_us - game.frozen_us >= self._limits.frozen_us:
                    self._void(timer.ref, now_us)
            case TimerKind.PING:
                if timer.number == self.stream:
                    self._ping(now_us)
        return self._flush()

    def _wake_decision(self, game_id: str, decision: Decision) -> None:
        if decision.deadline_us is not None:
            self._wake(decision.deadline_us, TimerKind.DECISION, game_id, decision.id)

    def _expire(self, game: Game, decision: Decision, now_us: int) -> None:
        decision.state = DecisionState.OVER
        self._tally.counts["expired"] += 1
        expired = rpb.Expired(
            game_id=game.started.game_id,
            decision_id=decision.id,
            elapsed_ms=decision.elapsed_us(now_us) // 1000,
            disconnected=not self.connected,
        )
        self._to_worker(game.worker, rpb.GatewayEvent(session=self.id, expired=expired))

    def _ping(self, now_us: int) -> None:
        # A bot that thinks in the loop in which it reads is silent, not dead; its own clock sees to it.
        thinking = any(game.open_decision for game in self._games.values())
        if self._pinger.is_dead(now_us) and not thinking:
            self._close(failure=Failure(Reason.DEAD_PEER, "No answer to Ping; is the bot stuck?"))
            return
        if ping := self._pinger.next(now_us):
            self._outbox.push(encode_event(pb.Ping(nonce=ping)), on_write=self._pinger)
        assert self.stream is not None
        self._wake(now_us + self._limits.ping_interval_us, TimerKind.PING, "", self.stream)

    # -- to the bot

    def _push(
        self,
        message: pb.ActResult
        | pb.DecisionRequested
        | pb.EventsObserved
        | pb.MatchEnded
        | pb.MatchStarted
        | pb.Notice
        | pb.SetOffered,
        now_us: int,
        *,
        decision: Decision | None = None,
        vital: bool = False,
    ) -> None:
        """Queue for the bot, if it is there. A queue that is too long is replaced by the fresh state, once."""
        if self.stream is None:
            return
        self._outbox.push(encode_event(message), on_write=decision, vital=vital)
        games = len(self._games)
        if (
            len(self._outbox) <= self._limits.queue_events + QUEUE_EVENTS_A_GAME * games
            and self._outbox.size <= self._limits.queue_bytes + QUEUE_BYTES_A_GAME * games
        ):
            return
        if self._compacted:
            self._close(failure=Failure(Reason.SLOW_READER, "The bot does not read what it is sent."))
            return
        self._tally.counts["compacted"] += 1
        self._compacted = True
        self._outbox.compact()
        self._push_state(now_us)

    def _push_state(self, now_us: int) -> None:
        """All games that run, as if they began, with what is asked."""
        for game in self._games.values():
            started = pb.MatchStarted()
            started.CopyFrom(game.started)
            started.resumed = True
            self._outbox.push(encode_event(started))
            if decision := game.open_decision:
                self._outbox.push(encode_event(decision.message(now_us, resent=True)), on_write=decision)

    def _unasked(self, now_us: int) -> bool:
        """Count a message that nobody asked for. False if it is one too many and has no answer but a strike."""
        if self._conduct.unasked(now_us):
            return True
        self._tally.counts["strikes"] += 1
        if self._conduct.strike(now_us):
            self._close(failure=self._out_failure())
        else:
            text = f"At most {self._limits.messages_per_s} messages a second beyond those asked for."
            self._push(pb.Notice(kind=pb.Notice.KIND_FLOOD, text=text), now_us)
        return False

    def _reject(self, text: str, now_us: int) -> None:
        if self._unasked(now_us):
            self._push(pb.Notice(kind=pb.Notice.KIND_REJECTED, text=text), now_us)

    def _out_failure(self) -> Failure:
        out_ms = self._limits.out_us // 1000
        return Failure(Reason.FLOOD, f"{self._limits.strikes} strikes: out for {out_ms // 1000} s.", out_ms)

    def _close(self, *, last: bytes = b"", failure: Failure | None = None) -> None:
        if self.stream is not None:
            if failure is not None:
                self._tally.counts[f"closed_{failure.reason.lower()}"] += 1
            self._emit(CloseStream(self.stream, last, failure))
            self._lost()

    def _close_if_done(self, now_us: int) -> None:
        if self.draining and not self._games and not self._offers:
            done = encode_event(pb.Draining(reason=pb.Draining.REASON_DONE))
            self._close(last=self._outbox.take(now_us) + done)

    def _lost(self) -> None:
        self._forget_stream()
        self._tell_workers(rpb.GatewayEvent(session=self.id, session_lost=rpb.SessionLost()))

    def _forget_stream(self) -> None:
        self.stream = None
        self._emit(Changed())
        self._outbox = Outbox()

    # -- effects

    def _workers(self) -> Iterator[str]:
        yield from {game.worker for game in self._games.values()} | {offer.worker for offer in self._offers.values()}

    def _tell_workers(self, event: rpb.GatewayEvent) -> None:
        for worker in self._workers():
            self._to_worker(worker, event)

    def _to_worker(self, worker: str, event: rpb.GatewayEvent) -> None:
        self._emit(ToWorker(worker, event))

    def _wake(self, at_us: int, kind: TimerKind, ref: str, number: int = 0) -> None:
        self._emit(Wake(at_us, Timer(kind, ref, number)))

    def _emit(self, effect: Effect) -> None:
        self._effects.append(effect)

    def _flush(self) -> list[Effect]:
        effects, self._effects = self._effects, []
        return effects

    def _capped(self, credit: int) -> int:
        return min(credit, self._limits.max_credit)
