"""A seat whose bot is a person: a port like any other, so that the person is told what a bot is told and no more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from arena.host.port import Answer, AskKey, Port
from arena.match.spec import SeatReason
from botarena.v1 import play_pb2 as pb


class Person(Protocol):
    """Who sits there: shows what happens and chooses."""

    def start(self, started: pb.MatchStarted) -> None:
        """The game begins."""

    def observe(self, events: Sequence[pb.ObservedEvent]) -> None:
        """Something happened, as far as this seat may see it."""

    async def choose(self, request: pb.DecisionRequested) -> int:
        """The id of one of the request's legal actions. Cancelled when the time for it is over, or the person has left."""

    def end(self, ended: pb.MatchEnded) -> None:
        """The game has a result, or none."""


class PersonPort(Port):
    """A port without a session, whose clock runs from the question to the choice."""

    def __init__(self, person: Person) -> None:
        super().__init__("person", lambda _: None)
        self.wants = pb.Wants(text=True, history=pb.Wants.HISTORY_DELTA)
        self._person = person
        self._choosing: asyncio.Future[int] | None = None

    async def offer(
        self, offer: pb.SetOffered, timeout_s: float, *, set_id: str = "", attempt: int = 0
    ) -> bytes | None:
        """A person is ready, and adds no nonce."""
        return b""

    def release_offer(self, offer_id: str) -> None:
        """A person holds no place free."""

    def start(self, started: pb.MatchStarted) -> None:
        self._person.start(started)

    def deliver(self, event: pb.ArenaEvent) -> None:
        if event.HasField("events_observed"):
            self._person.observe(event.events_observed.events)

    async def ask(self, key: AskKey, fill: Callable[[pb.DecisionRequested], None], limit_ms: int) -> Answer:
        if self.gone:
            return Answer(None, self.gone, 0, 0)
        request = pb.DecisionRequested()
        fill(request)
        began = time.monotonic_ns()
        choosing = self._choosing = asyncio.ensure_future(self._person.choose(request))
        try:
            await asyncio.wait((choosing,), timeout=limit_ms / 1000)
        finally:
            choosing.cancel()
        elapsed_us = (time.monotonic_ns() - began) // 1000
        if not choosing.done():
            return Answer(None, SeatReason.TIMEOUT, elapsed_us, 0)
        if choosing.cancelled():
            return Answer(None, self.gone, elapsed_us, 0)
        act = pb.Act(game_id=key[0], decision_id=key[1], action_id=choosing.result())
        return Answer(act, None, elapsed_us, 0)

    def leave(self) -> None:
        """The person goes: this and all later decisions count as those of a bot that has disconnected."""
        self.gone = SeatReason.DISCONNECT
        if self._choosing is not None:
            self._choosing.cancel()

    def end(self, ended: pb.MatchEnded) -> None:
        self._person.end(ended)
