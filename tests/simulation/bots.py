"""Simulated bots: what they do wrong, if anything, and what they watch while they play."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import grpc

from botarena.v1 import play_pb2 as pb
from tests.simulation.network import ClientWire

FAULTS: dict[str, frozenset[str]] = {
    "good": frozenset(),
    "house": frozenset(),
    "twice": frozenset(),
    "mover": frozenset(),
    "slow": frozenset({"TIMEOUT", "DISCONNECT"}),
    "illegal": frozenset({"ILLEGAL"}),
    "vanishing": frozenset({"DISCONNECT", "TIMEOUT"}),
}
"""Kinds of bots, and the faults for which they have themselves to blame."""
MOVES_EVERY_S = 5.0
"""A mover that moves more often than it answers has used up its time by itself (seed 323765: three times within one decision)."""


@dataclass
class SeenGame:
    """A game as a bot saw it: ids by event number, None where it was not shown."""

    seat: int
    events: dict[tuple[int, int], int | None] = field(default_factory=dict)
    over: bool = False


class SimBot:
    """One process of a bot. ``dial`` gives a stream to some gateway, ``complain`` takes what must not happen."""

    def __init__(
        self,
        name: str,
        kind: str,
        credit: int,
        dial: Callable[[str], ClientWire],
        rng: Random,
        complain: Callable[[str], None],
        finished: Callable[[SimBot, pb.MatchEnded], None],
    ) -> None:
        self.name = name
        self.kind = kind
        self.games: dict[str, SeenGame] = {}
        self.matches: dict[str, SeenGame] = {}
        self._credit = credit
        self._dial = dial
        self._rng = rng
        self._complain = complain
        self._finished = finished
        self._wire: ClientWire | None = None
        self._away_s = 0.0
        self._moved_at = -MOVES_EVERY_S

    @property
    def _moved_s(self) -> float:
        """How long ago it moved because it wanted to."""
        return asyncio.get_running_loop().time() - self._moved_at

    async def run(self) -> None:
        """Connects, and comes back whenever it is cut off, as an SDK does."""
        failures = 0
        while True:
            wire = self._wire = self._dial(self.name)
            try:
                self._send(wire, pb.BotEvent(hello=pb.Hello(credit=self._credit)))
                while True:
                    frame = pb.PlayResponse.FromString(await wire.read())
                    failures = 0
                    for event in frame.events:
                        self._on_event(wire, event)
            except grpc.aio.AioRpcError:
                wire.cancel()
                failures += 1
            pause, self._away_s = self._away_s, 0.0
            await asyncio.sleep(pause or self._rng.uniform(0.02, min(0.5 * 2 ** (failures - 1), 4.0)))

    def move(self, away_s: float = 0.1) -> None:
        """Leaves its stream and opens another."""
        if self._wire is not None:
            self._leave(self._wire, away_s)

    def _send(self, wire: ClientWire, *events: pb.BotEvent) -> None:
        wire.send(pb.PlayRequest(events=events).SerializeToString())

    def _say(self, wire: ClientWire, *events: pb.BotEvent) -> None:
        if self._wire is wire:
            with contextlib.suppress(grpc.aio.AioRpcError):
                self._send(wire, *events)

    def _on_event(self, wire: ClientWire, event: pb.ArenaEvent) -> None:
        match event.WhichOneof("event"):
            case "welcome":
                for game_id in list(self.games):
                    if game_id not in event.welcome.running_games:
                        del self.games[game_id]
            case "set_offered":
                self._later(0.005, wire, pb.BotEvent(ready=pb.Ready(offer_id=event.set_offered.offer_id)))
            case "ping":
                self._say(wire, pb.BotEvent(pong=pb.Pong(nonce=event.ping.nonce)))
            case "match_started":
                self.games.setdefault(event.match_started.game_id, SeenGame(event.match_started.seat))
            case "events_observed":
                self._observe(event.events_observed)
            case "decision_requested":
                self._decide(wire, event.decision_requested)
            case "match_ended":
                self._end(event.match_ended)

    def _observe(self, observed: pb.EventsObserved) -> None:
        game = self.games.get(observed.game_id)
        if game is None:
            self._complain(f"{self.name} observes a game that it does not play")
            return
        for one in observed.events:
            actor = -1 if one.actor == pb.ObservedEvent.ACTOR_CHANCE else one.seat
            game.events[one.seq, actor] = one.id if one.HasField("id") else None
            if one.HasField("id") == one.text.endswith(" ?"):
                self._complain(f"{self.name} sees half of a hidden event: {one}")

    def _end(self, ended: pb.MatchEnded) -> None:
        game = self.games.pop(ended.game_id, None)
        if ended.end == pb.MatchEnded.END_FINISHED:
            self._finished(self, ended)
            if game is not None:
                self.matches[ended.match_id] = game

    def _decide(self, wire: ClientWire, asked: pb.DecisionRequested) -> None:
        game = self.games.get(asked.game_id)
        if game is None or asked.view.seat != game.seat or len(asked.legal) < 2:
            self._complain(f"{self.name} is asked what is not its business: {asked.game_id}")
            return
        good = pb.Act(game_id=asked.game_id, decision_id=asked.decision_id, action_id=self._rng.choice(asked.legal).id)
        think_s = self._rng.uniform(0.1, 0.9)
        errs = self._rng.random() < 0.04
        match self.kind:
            case "slow" if errs:
                self._later(4.0, wire, pb.BotEvent(act=good))
            case "illegal" if errs:
                legal = {action.id for action in asked.legal}
                bad = next(i for i in range(10_000) if i not in legal)
                self._later(think_s, wire, pb.BotEvent(act=pb.Act(**_key(asked), action_id=bad)))
            case "vanishing" if errs:
                self._leave(wire, self._rng.choice((5.0, 5.0, 80.0)))
            case "mover" if errs and self._moved_s > MOVES_EVERY_S:
                self._moved_at = asyncio.get_running_loop().time()
                self._leave(wire, self._rng.uniform(0.05, 0.4))
            case "twice":
                second = pb.Act(**_key(asked), action_id=9_999)
                stale = pb.Act(game_id=asked.game_id, decision_id=asked.decision_id - 1, action_id=0)
                foreign = pb.Act(game_id="g_somebody_elses", decision_id=1, action_id=0)
                self._later(think_s, wire, *(pb.BotEvent(act=act) for act in (foreign, stale, good, second)))
            case _:
                self._later(think_s, wire, pb.BotEvent(act=good))

    def _later(self, delay_s: float, wire: ClientWire, *events: pb.BotEvent) -> None:
        asyncio.get_running_loop().call_later(delay_s, self._say, wire, *events)

    def _leave(self, wire: ClientWire, away_s: float) -> None:
        self._away_s = away_s
        wire.cancel()


def _key(asked: pb.DecisionRequested) -> dict[str, object]:
    return {"game_id": asked.game_id, "decision_id": asked.decision_id}
