"""A seat whose bot is a person: a port like any other, so that the person is told what a bot is told and no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from arena.host.port import Answer, Port
from botarena.v1 import play_pb2 as pb


class Person(Protocol):
    """Who sits there: shows what happens and chooses."""

    def start(self, started: pb.MatchStarted) -> None:
        """The game begins."""

    def observe(self, events: Sequence[pb.ObservedEvent]) -> None:
        """Something happened, as far as this seat may see it."""

    async def choose(self, request: pb.DecisionRequested) -> int:
        """The id of one of the request's legal actions."""

    def end(self, ended: pb.MatchEnded) -> None:
        """The game has a result, or none."""


class PersonPort(Port):
    """A port without a session. There is no clock: every answer took no time."""

    def __init__(self, person: Person) -> None:
        super().__init__("person", lambda _: None)
        self.wants = pb.Wants(text=True, history=pb.Wants.HISTORY_DELTA)
        self._person = person

    async def offer(self, offer: pb.SetOffered, timeout_s: float) -> bytes | None:
        """A person is ready, and adds no nonce."""
        return b""

    def release_offer(self, offer_id: str) -> None:
        """A person holds no place free."""

    def start(self, started: pb.MatchStarted) -> None:
        self._person.start(started)

    def deliver(self, event: pb.ArenaEvent) -> None:
        if event.HasField("events_observed"):
            self._person.observe(event.events_observed.events)

    async def ask(self, fill: Callable[[pb.DecisionRequested], None], limit_ms: int) -> Answer:
        request = pb.DecisionRequested()
        fill(request)
        action = await self._person.choose(request)
        act = pb.Act(game_id=request.game_id, decision_id=request.decision_id, action_id=action)
        return Answer(act, None, 0, 0)

    def end(self, ended: pb.MatchEnded) -> None:
        self._person.end(ended)
