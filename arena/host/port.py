"""A bot's session as the host sees it: offers, questions and answers, wherever the session lives.

The session itself (``arena.gateway.session``) is in this process, behind a unix socket, or in a gateway at the other end of a
relay stream; host and session talk in WorkerEvents and GatewayEvents either way.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from arena.errors import ArenaError
from arena.match.spec import SeatReason
from botarena.internal.v1 import relay_pb2 as relay
from botarena.v1 import play_pb2 as pb

UNHEARD_S = 0.1
"""What passes between an event and its arrival here in an arena that is well is less."""
GRACE_S = 5.0
"""How long after a decision's limit the session itself may stay silent before the arena counts that as its own failure."""

SendWorkerEvent = Callable[[relay.WorkerEvent], None]
AskKey = tuple[str, int]
"""The ids of a game and of one of its seat's decisions."""


class SessionFailed(ArenaError):
    """The arena lost a seat's session by its own fault: the attempt is void."""

    retryable = True


STORY: Final[ContextVar[relay.Story | None]] = ContextVar("story", default=None)
"""What gateways are told, for their logs and traces, of the set whose bots are asked."""


class Answer(NamedTuple):
    """What came of a question: an act, or the fault that stood in its place. Durations in microseconds."""

    act: pb.Act | None
    fault: SeatReason | None
    elapsed_us: int
    rtt_us: int


@dataclass(slots=True)
class _Asked:
    """An open question: ``used_s`` of its time went by before ``sent_at`` (monotonic seconds, None while frozen).

    ``overdue_at``: when the session should long have spoken of it, on the same clock. ``lost``: the bot has left since it was sent;
    ``told``: and the session says that its time is over.
    """

    key: AskKey
    event: relay.WorkerEvent
    limit_ms: int
    future: asyncio.Future[Answer]
    used_s: float = 0.0
    sent_at: float | None = None
    overdue_at: float | None = None
    lost: bool = False
    told: bool = False

    def used_by(self, now: float) -> float:
        """The seconds of its time that went by until ``now`` (monotonic seconds)."""
        return self.used_s if self.sent_at is None else self.used_s + now - self.sent_at

    def charged_s(self, elapsed_s: float) -> float:
        """What counts of the time that a session says went by.

        Of an absence no more than passed since it was heard of here: while the link to the gateway was silent the bot may have
        been at another one, where nobody knew to ask it.
        """
        return min(elapsed_s, self.used_by(time.monotonic())) if self.lost else elapsed_s


@dataclass(slots=True)
class _Offered:
    """An offer that awaits its answer for ``allowed_s``, counted by ``timeout`` from when the session was last told."""

    event: relay.WorkerEvent
    future: asyncio.Future[relay.ReadyReceived | None]
    timeout: asyncio.Timeout
    allowed_s: float


class Port:
    """One session. Methods are for the event loop's own thread.

    ``gone`` is set once the bot's program has ended, if the arena can know: from then on each question is answered with that
    fault at once.
    """

    def __init__(self, session: str, send: SendWorkerEvent) -> None:
        self.session = session
        self.wants = pb.Wants()
        self.gone: SeatReason | None = None
        self._send = send
        self._offers: dict[str, _Offered] = {}
        self._asked: dict[AskKey, _Asked] = {}
        self._running: dict[str, pb.MatchStarted] = {}
        self._failed = ""
        self._frozen_at: float | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = 0.0

    async def offer(
        self, offer: pb.SetOffered, timeout_s: float, *, set_id: str = "", attempt: int = 0
    ) -> bytes | None:
        """The bot's nonce once it is ready; None if it is not within ``timeout_s`` of being told.

        What other attempts of the set ``set_id`` still hold of the bot ends with it. Raises SessionFailed if the arena cannot
        reach the session: who was not told is not to blame.
        """
        if self.gone:
            return None
        self._check()
        about = relay.Offer(
            offer=offer, timeout_ms=int(timeout_s * 1000), story=STORY.get(), set_id=set_id, attempt=attempt
        )
        future: asyncio.Future[relay.ReadyReceived | None] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(None) as timeout:
                offered = _Offered(relay.WorkerEvent(offer=about), future, timeout, timeout_s + GRACE_S)
                self._offers[offer.offer_id] = offered
                self._put_offer(offered)
                ready = await future
        except TimeoutError:
            if self.frozen:
                raise SessionFailed("the session was out of reach for as long as an offer stands") from None
            return None
        finally:
            self._offers.pop(offer.offer_id, None)
        if ready is None:
            return None
        self.wants = ready.wants
        return ready.nonce

    def release_offer(self, offer_id: str) -> None:
        self._event(release_offer=offer_id)

    def start(self, started: pb.MatchStarted) -> None:
        """A game begins; it is remembered, because a session that moves has to be told again."""
        self._running[started.game_id] = started
        self._event(deliver=pb.ArenaEvent(match_started=started))

    def deliver(self, event: pb.ArenaEvent) -> None:
        self._event(deliver=event)

    def end(self, ended: pb.MatchEnded) -> None:
        self._running.pop(ended.game_id, None)
        if self._alarm is not None and not self._running:
            self._alarm.cancel()
            self._alarm = None
        self._event(end=ended)

    async def ask(self, key: AskKey, fill: Callable[[pb.DecisionRequested], None], limit_ms: int) -> Answer:
        """The answer to the decision of ``key``, whatever it is. Raises SessionFailed if the arena loses the session.

        ``fill`` writes the question into the message that carries it.
        """
        if self.gone:
            return Answer(None, self.gone, 0, 0)
        self._check()
        event = relay.WorkerEvent()
        question = event.ask
        fill(question.request)
        question.limit_ms = limit_ms
        asked = _Asked(key, event, limit_ms, asyncio.get_running_loop().create_future())
        self._asked[key] = asked
        if not self.frozen:
            self._put(asked)
        try:
            return await asked.future
        finally:
            self._asked.pop(key, None)

    @property
    def running(self) -> tuple[str, ...]:
        """The games that have begun and not ended."""
        return tuple(self._running)

    @property
    def frozen(self) -> bool:
        """Whether the session is out of the arena's reach."""
        return self._frozen_at is not None

    @property
    def frozen_s(self) -> float:
        """For how long it has been."""
        return 0.0 if self._frozen_at is None else time.monotonic() - self._frozen_at

    @property
    def failed(self) -> bool:
        """Whether the arena has given it up."""
        return bool(self._failed)

    def account(self, used: Iterable[relay.OpenDecision]) -> None:
        """What the session's own clocks say now that it cannot be reached; a question that it does not name never got there.

        How long ago a question was sent says little: it may have been on its way for most of that time.
        """
        used_ms = {(one.game_id, one.decision_id): one.elapsed_ms for one in used}
        now = time.monotonic()
        for key, asked in self._asked.items():
            if asked.sent_at is None or asked.told:  # whose clock has run out is not open, and had got there
                continue
            if key in used_ms:
                asked.used_s = asked.charged_s(used_ms[key] / 1000)
            asked.sent_at, asked.lost = now, True

    def freeze(self, since: float | None) -> None:
        """The session is out of the arena's reach since then (monotonic seconds): the clocks of its games stand still.

        None: what is open is not charged for, because nobody can tell when, or whether, it arrived. What is told to be over did.
        """
        if self.frozen:
            return
        self._frozen_at = time.monotonic()
        for asked in self._asked.values():
            if asked.sent_at is not None:
                until = time.monotonic() if asked.told else since
                if until is not None:
                    asked.used_s += max(0.0, until - asked.sent_at)
                asked.sent_at = asked.overdue_at = None

    def thaw(self, session: str, send: SendWorkerEvent) -> None:
        """The bot was found at ``session``: it is told its games and offers, and asked its open questions again."""
        if session != self.session:
            for asked in self._asked.values():
                asked.lost = False
        self.session, self._send, self._frozen_at = session, send, None
        self.tell_again()

    def tell_again(self) -> None:
        """Sends every running game, offer and open question once more; the session knows what it has had."""
        for started in self._running.values():
            resumed = pb.MatchStarted()
            resumed.CopyFrom(started)
            resumed.resumed = True
            self._event(deliver=pb.ArenaEvent(match_started=resumed))
        for offered in self._offers.values():
            self._put_offer(offered)
        for asked in self._asked.values():
            asked.used_s = asked.used_by(time.monotonic())
            self._put(asked)

    def tell(self, expired: relay.Expired) -> None:
        """The session says that a decision's time ran out while the bot was away; perhaps that is not the end of it."""
        if (asked := self._asked.get((expired.game_id, expired.decision_id))) is not None:
            asked.told = True

    def is_told(self, expired: relay.Expired) -> bool:
        """Whether the decision has not been asked again since."""
        asked = self._asked.get((expired.game_id, expired.decision_id))
        return asked is not None and asked.told

    def handle(self, event: relay.GatewayEvent) -> None:
        """An event from the session's side."""
        match event.WhichOneof("event"):
            case "act":
                self._acted(event.act)
            case "expired":
                self._expired(event.expired)
            case "ready":
                self._settle_offer(event.ready.offer_id, event.ready)
            case "offer_refused":
                self._settle_offer(event.offer_refused.offer_id, None)

    def bot_ended(self, fault: SeatReason = SeatReason.BOT_CRASH) -> None:
        """The bot's program has ended: open questions and all later ones are answered with ``fault``."""
        self.gone = fault
        for key in list(self._asked):
            self._answer(key, Answer(None, fault, 0, 0))
        for offer_id in self._offers:
            self._settle_offer(offer_id, None)

    def fail(self, why: str) -> None:
        """The arena has lost the session: open questions and offers raise SessionFailed, and so do all later ones."""
        self._failed = why
        futures: list[asyncio.Future[Any]] = [one.future for one in self._asked.values()]
        futures += [one.future for one in self._offers.values()]
        for future in futures:
            if not future.done():
                future.set_exception(SessionFailed(why))

    def _check(self) -> None:
        if self._failed:
            raise SessionFailed(self._failed)

    def _acted(self, received: relay.ActReceived) -> None:
        key, elapsed_us = (received.act.game_id, received.act.decision_id), received.elapsed_us
        if (asked := self._asked.get(key)) is not None and asked.lost:
            elapsed_us = round(asked.charged_s(elapsed_us / 1e6) * 1e6)
        self._answer(key, Answer(received.act, None, elapsed_us, received.rtt_us))

    def _expired(self, expired: relay.Expired) -> None:
        key, elapsed_s = (expired.game_id, expired.decision_id), expired.elapsed_ms / 1000
        asked = self._asked.get(key)
        if asked is not None and (charged_s := asked.charged_s(elapsed_s)) + UNHEARD_S < elapsed_s:
            asked.used_s, asked.lost = charged_s, False
            if not self.frozen:  # else it is asked once the bot is found
                self._put(asked)
            return
        fault = SeatReason.DISCONNECT if expired.disconnected else SeatReason.TIMEOUT
        self._answer(key, Answer(None, fault, expired.elapsed_ms * 1000, 0))

    def _settle_offer(self, offer_id: str, ready: relay.ReadyReceived | None) -> None:
        offered = self._offers.get(offer_id)
        if offered is not None and not offered.future.done():
            offered.future.set_result(ready)

    def _answer(self, key: AskKey, answer: Answer) -> None:
        asked = self._asked.get(key)
        if asked is not None and not asked.future.done():
            asked.future.set_result(answer)

    def _look(self) -> None:
        """Fails what is overdue. There is one alarm for all questions, for each of them is answered long before."""
        self._alarm = None
        now = time.monotonic()
        for asked in self._asked.values():
            if asked.overdue_at is None or asked.future.done():
                continue
            if asked.overdue_at <= now:
                why = "the session did not report the end of a decision's time"
                asked.future.set_exception(SessionFailed(why))
            else:
                self._look_at(asked.overdue_at)

    def _look_at(self, at: float) -> None:
        if self._alarm is not None:
            if self._alarm_at <= at:
                return
            self._alarm.cancel()
        self._alarm_at = at
        self._alarm = asyncio.get_running_loop().call_later(max(0.0, at - time.monotonic()), self._look)

    def _put_offer(self, offered: _Offered) -> None:
        """Sends an offer, which stands from then on; while the session is out of reach it waits for as long."""
        if offered.timeout.expired():  # and whoever made it is about to hear so
            return
        offered.timeout.reschedule(asyncio.get_running_loop().time() + offered.allowed_s)
        if not self.frozen:
            offered.event.session = self.session
            self._send(offered.event)

    def _put(self, asked: _Asked) -> None:
        """Sends a question, and sees to it that a session that never answers is noticed."""
        asked.sent_at, asked.told = time.monotonic(), False
        used_ms = min(int(asked.used_s * 1000), asked.limit_ms)
        asked.overdue_at = asked.sent_at + (asked.limit_ms - used_ms) / 1000 + GRACE_S
        self._look_at(asked.overdue_at)
        asked.event.session = self.session
        asked.event.ask.elapsed_ms = used_ms
        self._send(asked.event)

    def _event(
        self,
        *,
        deliver: pb.ArenaEvent | None = None,
        end: pb.MatchEnded | None = None,
        release_offer: str | None = None,
    ) -> None:
        event = relay.WorkerEvent(session=self.session, deliver=deliver, end=end)
        if release_offer is not None:
            event.release_offer = release_offer
        self._send(event)
