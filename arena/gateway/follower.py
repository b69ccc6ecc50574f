"""What a gateway's log and traces tell of sets: workers say of which set an offer is, and its games are told by it."""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from arena import logs
from arena.tracing import TRACES
from botarena.internal.v1 import relay_pb2 as rpb
from botarena.v1 import play_pb2 as pb

if TYPE_CHECKING:
    from opentelemetry.trace import Span

log = logging.getLogger(__name__)

KEPT: Final = 10_000
"""Offers, and games, that are remembered: nobody says when the last game of a set is over, nor of each that it came to nothing."""


@dataclass(frozen=True, slots=True)
class _Seat:
    """A game at a session, as it is told."""

    about: dict[str, str | int]
    span: Span | None

    def end(self) -> None:
        """Ends its span, if there is one."""
        if self.span is not None:
            self.span.end()


class Follower:
    """Hears what workers say to sessions. Without stories, when nobody asked for any, it does nothing."""

    def __init__(self, gateway: str) -> None:
        self._gateway = gateway
        self._stories: OrderedDict[str, rpb.Story] = OrderedDict()
        self._seats: OrderedDict[str, _Seat] = OrderedDict()

    def hear(self, bot: str, event: rpb.WorkerEvent) -> None:
        """Something that a worker said to a session of ``bot``."""
        match event.WhichOneof("event"):
            case "offer" if event.offer.HasField("story"):
                self._offered(bot, event.offer)
            case "deliver" if self._stories and event.deliver.WhichOneof("event") == "match_started":
                self._started(bot, event.deliver.match_started)
            case "end" if (seat := self._seats.pop(event.end.game_id, None)) is not None:
                logs.event(log, "seat.ended", **seat.about, end=pb.MatchEnded.End.Name(event.end.end))
                seat.end()
            case "forget_game" if (seat := self._seats.pop(event.forget_game, None)) is not None:
                seat.end()

    def _offered(self, bot: str, offer: rpb.Offer) -> None:
        story = offer.story
        self._stories[offer.offer.offer_id] = story
        while len(self._stories) > KEPT:
            self._stories.popitem(last=False)
        about = {"set_id": story.set_id, "attempt": story.attempt, "bot": bot, "gateway": self._gateway}
        logs.event(log, "seat.offered", **about)
        if (span := TRACES.begin("seat offered", story.traceparent, **about)) is not None:
            span.end()

    def _started(self, bot: str, started: pb.MatchStarted) -> None:
        story = self._stories.get(started.offer_id)
        if story is None or started.game_id in self._seats:
            return
        about: dict[str, str | int] = {
            "set_id": story.set_id,
            "attempt": story.attempt,
            "match_id": story.match_ids[started.game_index],
            "bot": bot,
            "gateway": self._gateway,
        }
        logs.event(log, "seat.started", **about)
        self._seats[started.game_id] = _Seat(about, TRACES.begin("seat", story.traceparent, **about))
        while len(self._seats) > KEPT:
            self._seats.popitem(last=False)[1].end()
