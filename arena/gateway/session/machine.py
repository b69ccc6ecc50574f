"""The session: one bot process across all of its streams."""

from __future__ import annotations

from typing import Final

from arena.gateway.session.conduct import Conduct
from arena.gateway.session.games import Games
from arena.gateway.session.model import (
    PROTOCOL,
    Effect,
    Failure,
    Identity,
    Reason,
    SessionLimits,
    Tally,
    Timer,
    TimerKind,
)
from arena.gateway.session.offers import Offers
from arena.gateway.session.outlet import Outlet
from arena.gateway.session.ping import Pinger
from botarena.internal.v1 import relay_pb2 as rpb
from botarena.v1 import play_pb2 as pb

NONCE_BYTES: Final = (0, 16)


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
        self._absences = 0
        self._just_left = False
        self._limits: Final = limits
        self._conduct: Final = conduct
        self._tally: Final = tally
        self._out: Final = Outlet(session_id, limits, self._overflow)
        self._offers: Final = Offers(self._out, limits)
        self._games: Final = Games(self._out, self._offers, limits, tally)
        self._pinger = Pinger(limits)

    # -- what others may know

    @property
    def stream(self) -> int | None:
        """The number of the stream that is open."""
        return self._out.stream

    @property
    def connected(self) -> bool:
        """Whether a stream is open."""
        return self._out.stream is not None

    @property
    def is_over(self) -> bool:
        """True if it can be forgotten: nobody is there or has just left, and nothing runs."""
        return self._out.stream is None and not self._games and not self._offers and not self._just_left

    @property
    def games(self) -> int:
        """How many games run."""
        return len(self._games)

    @property
    def taken(self) -> int:
        """How much of the credit is taken: by games, and by sets of which no game runs at the moment."""
        return len(self._games) + self._offers.idle

    @property
    def rtt_us(self) -> int:
        """Round trip by the last pings, 0 if none was answered yet."""
        return self._pinger.rtt_us

    @property
    def waiting(self) -> bool:
        """Whether :meth:`take` has something to give."""
        return bool(self._out.outbox)

    def take(self, now_us: int) -> bytes:
        """The next PlayResponse, encoded; empty if nothing waits."""
        self._out.now_us = now_us
        waiting = len(self._out.outbox)
        frame = self._out.take()
        if frame:
            self._tally.counts["frames"] += 1
            self._tally.counts["events"] += waiting - len(self._out.outbox)
        return frame

    # -- streams

    def connect(self, hello: pb.Hello, welcome: pb.Welcome, now_us: int) -> list[Effect]:
        """A stream of this bot and instance has opened: the newest wins, and gets all that runs once more.

        ``welcome`` is completed here. The new stream's number is :attr:`stream`.
        """
        self._out.now_us = now_us
        if self.connected:
            self._tally.counts["replaced"] += 1
            self._out.close(pb.Draining(reason=pb.Draining.REASON_REPLACED))
        self._out.open()
        workers = self._workers()
        self._games.forget_let_go()
        self.hello = hello
        self.draining = False
        self.credit = min(hello.credit or 1, self._limits.max_credit)
        welcome.session = self.id
        welcome.protocol = PROTOCOL
        welcome.bot = self.identity.bot
        welcome.version = self.identity.version
        welcome.limits.max_frame_bytes = self._limits.frame_bytes
        welcome.limits.max_credit = self._limits.max_credit
        welcome.limits.ping_interval_ms = self._limits.ping_interval_us // 1000
        welcome.running_games.extend(self._games)
        self._out.restate(welcome, vital=True)
        self._games.restate()
        self._offers.restate()
        self._pinger = Pinger(self._limits)
        self._pinger.heard(now_us)
        self._ping()
        for worker in workers:
            self._out.to_worker(worker, rpb.GatewayEvent(session_live=rpb.SessionLive(wants=hello.wants)))
        return self._out.effects()

    def disconnect(self, stream: int, now_us: int) -> list[Effect]:
        """A stream has ended, by whatever cause. Clocks run on."""
        self._out.now_us = now_us
        if stream == self.stream:
            self._out.shut()
            self._tell_lost(by_itself=True)
        return self._out.effects()

    def misconduct(self, failure: Failure, now_us: int) -> list[Effect]:
        """The bot sent what no program of good will sends: a strike, and the stream ends with ``failure``."""
        self._out.now_us = now_us
        self._close(failure=self._out_failure() if self._strike() else failure)
        return self._out.effects()

    def drain(self, reconnect_within_ms: int, now_us: int) -> list[Effect]:
        """The gateway shuts down: the time until the bot is back elsewhere is the arena's."""
        self._out.now_us = now_us
        self._games.pause()
        for worker in self._workers():
            self._out.to_worker(
                worker, rpb.GatewayEvent(session_released=rpb.SessionReleased(open=self._games.open_of(worker)))
            )
        draining = pb.Draining(reason=pb.Draining.REASON_SERVER, reconnect_within_ms=reconnect_within_ms)
        self._out.close(draining, flush=True)
        return self._out.effects()

    def evict(
        self, reason: pb.Draining.Reason.ValueType, now_us: int, *, failure: Failure | None = None
    ) -> list[Effect]:
        """End the stream for good: revoked, or replaced by a connection elsewhere."""
        self._out.now_us = now_us
        self._close(pb.Draining(reason=reason), failure)
        return self._out.effects()

    # -- the bot

    def from_bot(self, frame: pb.PlayRequest, now_us: int) -> list[Effect]:
        """A frame from the stream that is connected."""
        self._out.now_us = now_us
        self._pinger.heard(now_us)
        if not frame.events:
            self._unasked()
        for event in frame.events:
            if self._out.stream is None:
                break
            match event.WhichOneof("event"):
                case "act":
                    self._on_act(event.act)
                case "pong":
                    if not self._pinger.pong(event.pong.nonce, now_us):
                        self._unasked()
                case "ready":
                    self._on_ready(event.ready)
                case "set_credit":
                    self._on_credit(event.set_credit)
                case "hello":
                    self._reject("Hello is the first event of a stream and comes once.")
                case _:
                    self._unasked()  # A kind that this arena does not know yet.
        return self._finish()

    def _on_act(self, act: pb.Act) -> None:
        refusal = self._games.act(act, self._pinger.rtt_us)
        if refusal is None:
            return
        code = pb.ActResult.Code.Name(refusal.code).removeprefix("CODE_").lower()
        self._tally.counts[f"act_{code}"] += 1
        # A bot that answers a hundred wrong things at once has no need of a hundred corrections.
        if self._unasked() and len(self._out.outbox) < self._limits.queue_events // 2:
            self._out.tell(
                pb.ActResult(game_id=act.game_id, decision_id=act.decision_id, code=refusal.code, detail=refusal.detail)
            )

    def _on_ready(self, ready: pb.Ready) -> None:
        if not self._offers.awaits(ready.offer_id):
            self._unasked()
        elif len(ready.nonce) not in NONCE_BYTES:
            self._reject(f"Ready.nonce must have 16 bytes or none, not {len(ready.nonce)}.")
        else:
            self._offers.ready(ready, self.hello.wants)

    def _on_credit(self, change: pb.SetCredit) -> None:
        if self._unasked():
            self.credit = min(change.credit, self._limits.max_credit)
            self.draining = self.draining or change.drain
            if self.draining:
                self._offers.refuse_unanswered()
            self._out.changed()

    # -- workers

    def from_worker(self, worker: str, event: rpb.WorkerEvent, now_us: int) -> list[Effect]:
        """An event for this session from the worker of that key."""
        self._out.now_us = now_us
        match event.WhichOneof("event"):
            case "ask":
                self._games.ask(worker, event.ask)
            case "deliver":
                self._on_deliver(worker, event.deliver)
            case "end":
                self._games.end(event.end)
            case "cancel":
                self._games.cancel(event.cancel)
            case "offer":
                # Its worker is dead, or was for so long that the set went to another: the bot is free for what comes now.
                for earlier in self._offers.superseded(event.offer):
                    self._games.end_set(earlier)
                self._offers.offered(worker, event.offer, self._offer_refusal())
            case "release_offer":
                self._offers.release(event.release_offer)
            case "forget_game":
                self._games.let_go(event.forget_game)
            case _:
                self._tally.counts["odd_worker_events"] += 1
        return self._finish()

    def worker_down(self, worker: str, now_us: int) -> list[Effect]:
        """The stream of a worker broke: its games stand still, and are void if it does not come back in time."""
        self._out.now_us = now_us
        self._games.worker_down(worker)
        self._offers.worker_down(worker)
        return self._finish()

    def worker_gone(self, worker: str, now_us: int) -> list[Effect]:
        """A worker will not come back: its games are void."""
        self._out.now_us = now_us
        self._games.worker_gone(worker)
        self._offers.worker_gone(worker)
        return self._finish()

    def _on_deliver(self, worker: str, event: pb.ArenaEvent) -> None:
        match event.WhichOneof("event"):
            case "match_started":
                self._games.started(worker, event.match_started)
            case "events_observed":
                self._games.observed(worker, event.events_observed)
            case "act_result":
                self._out.tell(event.act_result)
            case "notice":
                self._out.tell(event.notice)
            case _:
                self._tally.counts["odd_worker_events"] += 1

    def _offer_refusal(self) -> rpb.OfferRefused.Reason.ValueType | None:
        if self.draining:
            return rpb.OfferRefused.REASON_DRAINING
        return rpb.OfferRefused.REASON_NO_CREDIT if self.taken >= self.credit else None

    # -- time

    def on_timer(self, timer: Timer, now_us: int) -> list[Effect]:
        """The time of a Wake has come."""
        self._out.now_us = now_us
        match timer.kind:
            case TimerKind.DECISION:
                self._games.on_decision_timer(timer.ref)
            case TimerKind.OFFER:
                self._offers.on_timer(timer.ref)
            case TimerKind.FROZEN:
                self._games.on_frozen_timer(timer.ref)
            case TimerKind.PING:
                if timer.number == self.stream:
                    self._ping()
            case TimerKind.AWAY:
                if timer.number == self._absences and not self.connected:
                    self._just_left = False
                    self._games.forget_quiet()
                    self._watch_absence()
        return self._finish()

    def _ping(self) -> None:
        # A bot that thinks in the loop in which it reads is silent, not dead; its own clock sees to it.
        if self._pinger.is_dead(self._out.now_us) and not self._games.awaited:
            self._close(failure=Failure(Reason.DEAD_PEER, "No answer to Ping; is the bot stuck?"))
            return
        if nonce := self._pinger.next(self._out.now_us):
            # Vital: there is no second one while it is unanswered, and a bot that never had it would pass for dead.
            self._out.restate(pb.Ping(nonce=nonce), on_write=self._pinger, vital=True)
        assert self.stream is not None
        self._out.wake(self._out.now_us + self._limits.ping_interval_us, TimerKind.PING, "", self.stream)

    # -- what every call may lead to

    def _overflow(self) -> None:
        """A queue that is too long is replaced by the fresh state, once; then the bot is given up."""
        if not self._out.is_overfull(games=len(self._games)):
            return
        if self._out.compact():
            self._tally.counts["compacted"] += 1
            self._games.restate()
        else:
            self._close(failure=Failure(Reason.SLOW_READER, "The bot does not read what it is sent."))

    def _unasked(self) -> bool:
        """Count a message that nobody asked for. False if it is one too many and has no answer but a strike."""
        if self._conduct.unasked(self._out.now_us):
            return True
        if self._strike():
            self._close(failure=self._out_failure())
        else:
            text = f"At most {self._limits.messages_per_s} messages a second beyond those asked for."
            self._out.tell(pb.Notice(kind=pb.Notice.KIND_FLOOD, text=text))
        return False

    def _strike(self) -> bool:
        self._tally.counts["strikes"] += 1
        return self._conduct.strike(self._out.now_us)

    def _out_failure(self) -> Failure:
        out_ms = self._limits.out_us // 1000
        return Failure(Reason.FLOOD, f"{self._limits.strikes} strikes: out for {out_ms // 1000} s.", out_ms)

    def _reject(self, text: str) -> None:
        if self._unasked():
            self._out.tell(pb.Notice(kind=pb.Notice.KIND_REJECTED, text=text))

    def _finish(self) -> list[Effect]:
        if self.draining and not self._games and not self._offers:
            self._close(pb.Draining(reason=pb.Draining.REASON_DONE), flush=True)
        return self._out.effects()

    def _close(self, last: pb.Draining | None = None, failure: Failure | None = None, *, flush: bool = False) -> None:
        if self.connected:
            self._out.close(last, failure, flush=flush)
            self._tell_lost(by_itself=last is None)

    def _tell_lost(self, *, by_itself: bool) -> None:
        """The bot is away; ``by_itself`` if by its own doing.

        Then the session lives on for a while although nothing runs in it: a worker that has just heard of the bot here may be about
        to ask it, and is to learn that it left. Of a session that it does not know a gateway could not say whose fault that is.
        """
        self._just_left = by_itself
        self._games.left()
        for worker in self._workers():
            self._out.to_worker(
                worker, rpb.GatewayEvent(session_lost=rpb.SessionLost(open=self._games.open_of(worker)))
            )
        self._absences += 1
        self._watch_absence()

    def _watch_absence(self) -> None:
        after_us = self._limits.frozen_us if self._games else self._limits.left_us if self._just_left else None
        if after_us is not None:
            self._out.wake(self._out.now_us + after_us, TimerKind.AWAY, "", self._absences)

    def _workers(self) -> dict[str, None]:
        """Each once, in an order that does not depend on hashes."""
        return dict.fromkeys((*self._games.workers(), *self._offers.workers()))
