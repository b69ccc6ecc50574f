"""The sets that a session is offered, and the credit that they take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from arena.gateway.session.model import SessionLimits, TimerKind
from arena.gateway.session.outlet import Outlet
from botarena.internal.v1 import relay_pb2 as rpb
from botarena.v1 import play_pb2 as pb


@dataclass(slots=True)
class SetOffer:
    """An offered set. Once ``ready`` it holds one unit of credit until its games are over.

    ``deadline_us`` is when the bot must be ready, later when the next game must have begun.
    """

    worker: str
    set_id: str
    attempt: int
    message: pb.SetOffered
    deadline_us: int
    games_left: int
    running: int = 0
    begun: bool = False
    ready: rpb.ReadyReceived | None = None


class Offers:
    """All offers of a session that are not over."""

    def __init__(self, out: Outlet, limits: SessionLimits) -> None:
        self._out: Final = out
        self._limits: Final = limits
        self._offers: dict[str, SetOffer] = {}

    def __len__(self) -> int:
        return len(self._offers)

    @property
    def idle(self) -> int:
        """Offers of which no game runs."""
        return sum(1 for offer in self._offers.values() if not offer.running)

    def workers(self) -> Iterator[str]:
        """The workers that wait for this session."""
        return (offer.worker for offer in self._offers.values())

    def restate(self) -> None:
        """Tell a fresh stream what awaits Ready."""
        for offer in self._offers.values():
            if offer.ready is None:
                self._out.restate(offer.message, vital=True)

    def offered(self, worker: str, offer: rpb.Offer, refusal: rpb.OfferRefused.Reason.ValueType | None) -> None:
        """A worker offers a set, perhaps once more; ``refusal`` is why the session takes nothing new."""
        offer_id = offer.offer.offer_id
        known = self._offers.get(offer_id)
        if known is not None:
            known.worker = worker
            if known.ready is not None:
                self._out.to_worker(worker, rpb.GatewayEvent(ready=known.ready))
        elif refusal is not None:
            self._refuse(worker, offer_id, refusal)
        else:
            deadline_us = self._out.now_us + offer.timeout_ms * 1000
            self._offers[offer_id] = SetOffer(
                worker, offer.set_id, offer.attempt, offer.offer, deadline_us, offer.offer.games
            )
            self._out.tell(offer.offer, vital=True)
            self._out.wake(deadline_us, TimerKind.OFFER, offer_id)

    def superseded(self, offer: rpb.Offer) -> list[str]:
        """The offers of other attempts of the set that is offered now. Of one attempt there may be several: seats of a table."""
        return [i for i, one in self._offers.items() if one.set_id == offer.set_id and one.attempt != offer.attempt]

    def awaits(self, offer_id: str) -> bool:
        """Whether a Ready for it was asked and not given."""
        offer = self._offers.get(offer_id)
        return offer is not None and offer.ready is None

    def ready(self, ready: pb.Ready, wants: pb.Wants) -> None:
        """The bot is ready for an offer that awaits it."""
        offer = self._offers[ready.offer_id]
        offer.ready = rpb.ReadyReceived(offer_id=ready.offer_id, nonce=ready.nonce, wants=wants)
        self._out.to_worker(offer.worker, rpb.GatewayEvent(ready=offer.ready))
        self._await_game(ready.offer_id, offer)

    def refuse_unanswered(self) -> None:
        """The bot drains: what is on its way to it will have no answer, and others need not wait for that."""
        for offer_id in [i for i, offer in self._offers.items() if offer.ready is None]:
            self._refuse(self._offers[offer_id].worker, offer_id, rpb.OfferRefused.REASON_DRAINING)
            self.release(offer_id)

    def release(self, offer_id: str) -> None:
        """The set is over or not going to be played; the bot is told if it never began."""
        offer = self._offers.pop(offer_id, None)
        if offer is not None and not offer.begun:
            self._out.tell(pb.Notice(kind=pb.Notice.KIND_OFFER_RELEASED, offer_id=offer_id), vital=True)

    def game_started(self, offer_id: str) -> None:
        """A game of the set runs."""
        if offer := self._offers.get(offer_id):
            offer.running += 1
            offer.begun = True

    def game_ended(self, offer_id: str, *, counts: bool) -> None:
        """A game of the set is gone; ``counts`` unless it is played again."""
        if offer := self._offers.get(offer_id):
            offer.running -= 1
            offer.games_left -= counts
            if offer.games_left <= 0:
                del self._offers[offer_id]
            elif not offer.running:
                self._await_game(offer_id, offer)

    def on_timer(self, offer_id: str) -> None:
        """A deadline may have passed."""
        offer = self._offers.get(offer_id)
        if offer and not offer.running and self._out.now_us >= offer.deadline_us:
            if offer.ready is None:
                self._refuse(offer.worker, offer_id, rpb.OfferRefused.REASON_TIMEOUT)
            self.release(offer_id)

    def worker_down(self, worker: str) -> None:
        """A worker is away: what was not accepted is off."""
        for offer_id in [i for i, offer in self._offers.items() if offer.worker == worker and offer.ready is None]:
            self.release(offer_id)

    def worker_gone(self, worker: str) -> None:
        """A worker will not come back."""
        for offer_id in [i for i, offer in self._offers.items() if offer.worker == worker]:
            self.release(offer_id)

    def _await_game(self, offer_id: str, offer: SetOffer) -> None:
        """No game of the set runs: give the credit back if that stays so."""
        offer.deadline_us = self._out.now_us + self._limits.frozen_us
        self._out.wake(offer.deadline_us, TimerKind.OFFER, offer_id)

    def _refuse(self, worker: str, offer_id: str, reason: rpb.OfferRefused.Reason.ValueType) -> None:
        refused = rpb.OfferRefused(offer_id=offer_id, reason=reason)
        self._out.to_worker(worker, rpb.GatewayEvent(offer_refused=refused))
