"""A bot's session as the host sees it: offers, questions and answers, wherever the session lives.

The session itself (``arena.gateway.session``) is in this process, behind a unix socket, or in a gateway at the other end of a
relay stream; host and session talk in WorkerEvents and GatewayEvents either way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from arena.errors import ArenaError
from arena.match.spec import SeatReason
from botarena.internal.v1 import relay_pb2 as relay
from botarena.v1 import play_pb2 as pb

GRACE_S = 5.0
"""How long after a decision's limit the session itself may stay silent before the arena counts that as its own failure."""

SendWorkerEvent = Callable[[relay.WorkerEvent], None]
AskKey = tuple[str, int]


class SessionFailed(ArenaError):
    """The arena lost a seat's session by its own fault: the attempt is void."""

    retryable = True


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question: an act, or the fault that stood in its place. Durations in microseconds."""

    act: pb.Act | None
    fault: SeatReason | None
    elapsed_us: int
    rtt_us: int


@dataclass(slots=True)
class _Asked:
    ask: relay.Ask
    future: asyncio.Future[Answer]
    alarm: asyncio.TimerHandle


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
        self._offers: dict[str, asyncio.Future[relay.ReadyReceived | None]] = {}
        self._asked: dict[AskKey, _Asked] = {}
        self._running: dict[str, pb.MatchStarted] = {}

    async def offer(self, offer: pb.SetOffered, timeout_s: float) -> bytes | None:
        """The bot's nonce once it is ready; None if it is not within ``timeout_s``."""
        if self.gone:
            return None
        future: asyncio.Future[relay.ReadyReceived | None] = asyncio.get_running_loop().create_future()
        self._offers[offer.offer_id] = future
        self._event(offer=relay.Offer(offer=offer, timeout_ms=int(timeout_s * 1000)))
        try:
            async with asyncio.timeout(timeout_s + GRACE_S):
                ready = await future
        except TimeoutError:
            return None
        finally:
            del self._offers[offer.offer_id]
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
        self._event(end=ended)

    async def ask(self, request: pb.DecisionRequested, limit_ms: int) -> Answer:
        """The answer to a decision, whatever it is. Raises SessionFailed if the arena loses the session."""
        if self.gone:
            return Answer(None, self.gone, 0, 0)
        loop = asyncio.get_running_loop()
        key = (request.game_id, request.decision_id)
        future: asyncio.Future[Answer] = loop.create_future()
        alarm = loop.call_later(limit_ms / 1000 + GRACE_S, self._overdue, key)
        asked = _Asked(relay.Ask(request=request, limit_ms=limit_ms), future, alarm)
        self._asked[key] = asked
        self._send_ask(asked)
        try:
            return await future
        finally:
            asked.alarm.cancel()
            self._asked.pop(key, None)

    def handle(self, event: relay.GatewayEvent) -> None:
        """An event from the session's side."""
        match event.WhichOneof("event"):
            case "act":
                act = event.act.act
                answer = Answer(act, None, event.act.elapsed_us, event.act.rtt_us)
                self._answer((act.game_id, act.decision_id), answer)
            case "expired":
                expired = event.expired
                fault = SeatReason.DISCONNECT if expired.disconnected else SeatReason.TIMEOUT
                answer = Answer(None, fault, expired.elapsed_ms * 1000, 0)
                self._answer((expired.game_id, expired.decision_id), answer)
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
        """The arena has lost the session: open questions raise SessionFailed."""
        for asked in self._asked.values():
            if not asked.future.done():
                asked.future.set_exception(SessionFailed(why))

    def _settle_offer(self, offer_id: str, ready: relay.ReadyReceived | None) -> None:
        waiting = self._offers.get(offer_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(ready)

    def _answer(self, key: AskKey, answer: Answer) -> None:
        asked = self._asked.get(key)
        if asked is not None and not asked.future.done():
            asked.future.set_result(answer)

    def _overdue(self, key: AskKey) -> None:
        asked = self._asked.get(key)
        if asked is not None and not asked.future.done():
            asked.future.set_exception(SessionFailed("the session did not report the end of a decision's time"))

    def _send_ask(self, asked: _Asked) -> None:
        self._event(ask=asked.ask)

    def _event(
        self,
        *,
        offer: relay.Offer | None = None,
        deliver: pb.ArenaEvent | None = None,
        ask: relay.Ask | None = None,
        end: pb.MatchEnded | None = None,
        release_offer: str | None = None,
    ) -> None:
        event = relay.WorkerEvent(session=self.session, offer=offer, deliver=deliver, ask=ask, end=end)
        if release_offer is not None:
            event.release_offer = release_offer
        self._send(event)
