"""What the process knows of its games, across streams: a state machine without I/O that the connection drives.

Everything here runs on the connection's event loop; only the workers have threads.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from botarena import wire
from botarena.errors import Refused, Replaced
from botarena.model import Match, Result
from botarena.program import Program
from botarena.v1 import play_pb2 as pb
from botarena.worker import AsyncThread, Decided, GameWorker

log = logging.getLogger("botarena")

NONCE_BYTES = 16
DOUBT_S = 60.0
"""So long the arena looks for a new home for games whose gateway has crashed; then they are void."""


@dataclass(slots=True)
class _Game:
    """A running game. ``asked`` is the decision that the arena waits for on this stream, if any; ``answer`` the
    latest that the bot gave, kept because a stream may break before the arena has it."""

    worker: GameWorker
    asked: int | None = None
    thinking: int | None = None
    answer: pb.Act | None = None
    last_seq: int = -1
    doubted_since: float | None = None
    """When a gateway that does not know the game took over, by ``time.monotonic()``; None once it does."""


@dataclass(slots=True)
class Session:
    """All games of one process.

    report: is handed to the workers; must carry what it gets to :meth:`decided` on the loop's thread.
    send: puts an event into the outbox of the stream that is open now.
    """

    program: Program
    report: Callable[[Decided], None]
    send: Callable[[pb.BotEvent], None]
    id: str = ""
    welcome: pb.Welcome | None = None
    draining: bool = False
    done: bool = False
    """The arena has nothing left for us."""
    reconnect_within_ms: int | None = None
    """Set by Draining: how far to spread the next connect."""
    games: dict[str, _Game] = field(default_factory=dict)
    ending: list[GameWorker] = field(default_factory=list)
    _asyncs: AsyncThread = field(default_factory=AsyncThread)

    def stream_opened(self) -> None:
        """Forgets what the old stream was waiting for: the arena asks again on the new one."""
        self.welcome = None
        self.reconnect_within_ms = None
        for game in self.games.values():
            game.asked = None

    def drain(self) -> None:
        """Asks the arena for no new games; it closes the stream when none runs any more."""
        self.draining = True
        if self.welcome is not None:
            self.send(pb.BotEvent(set_credit=pb.SetCredit(drain=True)))

    def handle(self, event: pb.ArenaEvent) -> None:
        """Takes in one event. Raises Replaced or Refused where the arena says not to come back."""
        kind = event.WhichOneof("event")
        handler = _HANDLERS.get(kind or "")
        if handler is not None:  # kinds newer than this SDK are ignored
            handler(self, getattr(event, kind or ""))

    def decided(self, outcome: Decided) -> None:
        """Takes in what a bot decided, and sends it if this stream waits for it."""
        game = self.games.get(outcome.game_id)
        if game is None:
            return
        game.answer = outcome.act
        if game.thinking == outcome.act.decision_id:
            game.thinking = None
        self._answer(game)

    def settle(self) -> None:
        """Ends games that were in doubt for too long; to be called about once a second."""
        oldest = time.monotonic() - DOUBT_S
        for game_id, game in list(self.games.items()):
            if game.doubted_since is not None and game.doubted_since < oldest:
                self._drop(game_id)

    def _drop(self, game_id: str) -> None:
        """Ends a game whose end this process has missed."""
        game = self.games.pop(game_id)
        log.warning("a game of %s ended while this process was not connected", game.worker.match.game)
        self._end(game, Result("unknown", game.worker.match.seat))

    def _answer(self, game: _Game) -> None:
        if game.answer is not None and game.asked == game.answer.decision_id:
            game.asked = None
            self.send(pb.BotEvent(act=game.answer))

    def _end(self, game: _Game, result: Result) -> None:
        game.worker.end(result)
        self.ending = [worker for worker in self.ending if worker.alive]
        self.ending.append(game.worker)

    def _on_welcome(self, message: pb.Welcome) -> None:
        """What the arena says is running, is; the rest is over. Only where it made a new session, because the gateway
        that had the old one is gone, the workers may still bring our games to it."""
        same_session = message.session == self.id
        self.id, self.welcome = message.session, message
        log.info("playing as %s version %s", message.bot, message.version)
        for game_id in self.games.keys() - set(message.running_games):
            if same_session:
                self._drop(game_id)
            else:
                self.games[game_id].doubted_since = time.monotonic()
        if self.draining:
            self.drain()

    def _on_offer(self, message: pb.SetOffered) -> None:
        if not self.draining:
            self.send(pb.BotEvent(ready=pb.Ready(offer_id=message.offer_id, nonce=os.urandom(NONCE_BYTES))))

    def _on_match_started(self, message: pb.MatchStarted) -> None:
        if game := self.games.get(message.game_id):  # goes on after a reconnect; the bot has never noticed
            game.doubted_since = None
            return
        match = wire.match_from(message)
        log.info("%s %s", "goes on:" if match.resumed else "started:", _title(match))
        self.games[match.game_id] = _Game(GameWorker(self.program, match, self._asyncs, self.report))

    def _on_events(self, message: pb.EventsObserved) -> None:
        game = self.games.get(message.game_id)
        if game is None or not self.program.wants_events:
            return
        # After a reconnect the arena may tell again what we have heard.
        events = [wire.event_from(event) for event in message.events if event.seq > game.last_seq]
        if events:
            game.last_seq = events[-1].seq
            game.worker.observe(events)

    def _on_decision(self, message: pb.DecisionRequested) -> None:
        game = self.games.get(message.game_id)
        if game is None:
            log.warning("asked for a decision in a game that never started here: %s", message.game_id)
            return
        game.asked = message.decision_id
        if game.answer is not None and game.answer.decision_id == message.decision_id:
            self._answer(game)
        elif game.thinking != message.decision_id:
            game.thinking = message.decision_id
            game.worker.decide(message)

    def _on_act_result(self, message: pb.ActResult) -> None:
        code = wire.enum_name(pb.ActResult.Code, message.code, "CODE_")
        level = logging.DEBUG if code in ("duplicate", "stale") else logging.ERROR
        log.log(level, "the arena says %s to decision %d: %s", code, message.decision_id, message.detail)

    def _on_match_ended(self, message: pb.MatchEnded) -> None:
        game = self.games.pop(message.game_id, None)
        if game is None:
            return
        result = wire.result_from(game.worker.match, message, self.welcome.arena_key if self.welcome else b"")
        log.info("ended: %s: %s", _title(game.worker.match), _verdict(result))
        self._end(game, result)

    def _on_notice(self, message: pb.Notice) -> None:
        kind = wire.enum_name(pb.Notice.Kind, message.kind, "KIND_")
        log.log(logging.WARNING if kind in ("flood", "seat_failed") else logging.INFO, "%s: %s", kind, message.text)

    def _on_draining(self, message: pb.Draining) -> None:
        match message.reason:
            case pb.Draining.REASON_REPLACED:
                raise Replaced(
                    "a newer process of this bot took over, so this one stops; "
                    "to run several at once give each its own --instance"
                )
            case pb.Draining.REASON_REVOKED:
                raise Refused("the token was revoked: make a new one with `arena token create`")
            case pb.Draining.REASON_DONE:
                self.done = True
            case _:
                log.info("the arena's server restarts; reconnecting")
                self.reconnect_within_ms = message.reconnect_within_ms

    def _on_ping(self, message: pb.Ping) -> None:
        self.send(pb.BotEvent(pong=pb.Pong(nonce=message.nonce)))


_HANDLERS: dict[str, Callable[..., None]] = {
    "welcome": Session._on_welcome,
    "set_offered": Session._on_offer,
    "match_started": Session._on_match_started,
    "events_observed": Session._on_events,
    "decision_requested": Session._on_decision,
    "act_result": Session._on_act_result,
    "match_ended": Session._on_match_ended,
    "notice": Session._on_notice,
    "draining": Session._on_draining,
    "ping": Session._on_ping,
}


def _title(match: Match) -> str:
    names = ", ".join(player.bot or "?" for player in match.seats)
    return f"{match.game}, seat {match.seat} of {match.players}" + (f" ({names})" if names else "")


def _verdict(result: Result) -> str:
    if result.outcome != "finished":
        return "void, it is going to be played again"
    reason = result.reasons[result.seat] if result.reasons else "normal"
    return f"place {result.place}, {result.score} points" + ("" if reason == "normal" else f" ({reason})")
