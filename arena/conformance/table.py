"""A table of a real engine at which the bot has one seat and the others play at random."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import engines
from arena.conformance.scenario import Mismatch, NotApplicable
from arena.conformance.stream import choice
from arena.gateway.catalogue import installed_games
from arena.host.wire import SeatWire
from arena.match.deal import ChanceStream, Deal, secret_from_seed
from arena.match.record import write_record
from arena.match.referee import Referee, Reply, Request, Step
from arena.match.spec import Player, Spec, TimeControl
from botarena.v1 import play_pb2 as pb

TIME_CONTROL = TimeControl(bank_ms=30_000, increment_ms=100, move_cap_ms=5_000)


def games_of(hello: pb.Hello) -> dict[str, tuple[int, ...]]:
    """The games that a bot plays and this arena has, with their numbers of players. Raises Mismatch if there are none."""
    installed = {game: tuple(players) for game, players in installed_games().items()}
    if not hello.games:
        return installed
    declared = {support.game: tuple(support.players) or installed.get(support.game, ()) for support in hello.games}
    if unknown := declared.keys() - installed.keys():
        raise Mismatch(f"declares a game that this arena does not have: {min(unknown)}")
    return declared


def spec_of(game: str, players: int, seat: int, seed: int) -> Spec:
    """A match that repeats from its seed; the bot has ``seat``."""
    rules = engines.get(game)
    return Spec(
        match_id=f"m_{seed}",
        set_id=f"s_{seed}",
        attempt=1,
        game_index=0,
        game=game,
        config=rules.complete_config(players, {}),
        seats=tuple(Player("bot" if place == seat else "random", "1", "local") for place in range(players)),
        time_control=TIME_CONTROL,
        deal=Deal("own", bytes(32), (), 1, proven=False, secret=secret_from_seed(seed)),
        rated=False,
        bot_seeds=tuple((1 << 64) - 1 - place for place in range(players)),
    )


class Table:
    """Game after game; a new one is dealt when :meth:`ask` finds the last one over.

    ``game_id`` names the running game and ``request`` is what the bot was asked last.
    """

    def __init__(self, hello: pb.Hello, *, game: str = "", name: str = "g", seed: int = 1) -> None:
        games = games_of(hello)
        if game and game not in games:
            raise NotApplicable(f"the bot does not play {game}")
        self._wants = hello.wants
        self._game = game or next(iter(games))
        self._players = games[self._game][0]
        self._name = name
        self._seed = seed
        self._number = 0
        self._rng = Random(seed)  # noqa: S311 - plays, encrypts nothing
        self._deal()

    def _deal(self) -> None:
        self._number += 1
        self.game_id = f"{self._name}_{self._number}"
        self._seat = self._number % self._players
        spec = spec_of(self._game, self._players, self._seat, self._seed + self._number)
        self._referee = Referee(spec, ChanceStream(spec.deal.seed(spec.match_id, spec.attempt, spec.set_id)).pick)
        self._wire = SeatWire(spec, self._seat, self.game_id, self._wants)
        self._started = False
        self._step: Step | None = None
        self._asked: Request | None = None
        self.request = pb.DecisionRequested()

    def ask(self) -> list[pb.ArenaEvent]:
        """What the arena sends up to and including the bot's next decision."""
        events = [] if self._started else [self.start()]
        while True:
            step = self._step or self._referee.start()
            self._step = step
            if (seen := self._wire.observed(step.events)) is not None:
                events.append(pb.ArenaEvent(events_observed=seen))
            if step.outcome is not None:
                events += [self.finish(), self.start()]
                continue
            self._asked = next((request for request in step.requests if request.seat == self._seat), None)
            if self._asked is not None:
                event = pb.ArenaEvent()
                self._wire.decision(self._asked, event.decision_requested)
                self.request = event.decision_requested
                return [*events, event]
            self._step = self._referee.advance(self._replies(step), 0)

    def start(self, *, resumed: bool = False) -> pb.ArenaEvent:
        """MatchStarted of the running game."""
        self._started = True
        started = self._wire.started(bytes(64), f"o_{self._name}")
        started.resumed = resumed
        return pb.ArenaEvent(match_started=started)

    def offer(self, offer_id: str) -> pb.ArenaEvent:
        """SetOffered of two such games."""
        started = self._wire.started(b"", offer_id)
        return pb.ArenaEvent(
            set_offered=pb.SetOffered(
                offer_id=offer_id,
                game=started.game,
                players=started.players,
                config_json=started.config_json,
                games=2,
                rated=True,
                time_control=started.time_control,
                commitments=[bytes(32), bytes(32)],
            )
        )

    def again(self) -> list[pb.ArenaEvent]:
        """What a new stream is told of the running game: it goes on, and what was asked last is asked again."""
        resent = pb.DecisionRequested()
        resent.CopyFrom(self.request)
        resent.resent = True
        return [self.start(resumed=True), pb.ArenaEvent(decision_requested=resent)]

    def take(self, act: pb.Act) -> None:
        """Plays the bot's answer. Raises Mismatch if it is none to what was asked, or not legal."""
        self.judge(act)
        assert self._asked is not None
        assert self._step is not None
        replies = self._replies(self._step)
        replies[self._seat] = self._wire.reply(self._asked, act, 0, 0)
        self._asked = None
        self._step = self._referee.advance(replies, 0)

    def judge(self, act: pb.Act) -> None:
        """Raises Mismatch if this is not a legal answer to what was asked."""
        asked = self.request
        if (act.game_id, act.decision_id) != (asked.game_id, asked.decision_id):
            raise Mismatch(
                f"answered decision {act.decision_id} of game {act.game_id!r} "
                f"where decision {asked.decision_id} of {asked.game_id!r} was open"
            )
        assert self._asked is not None
        reply = self._wire.reply(self._asked, act, 0, 0)
        if reply.fault is not None:
            raise Mismatch(f"answered {choice(act)}, which is {reply.fault.lower()}: {reply.detail}")

    def finish(self) -> pb.ArenaEvent:
        """MatchEnded of a game that is over; the next one is dealt."""
        assert self._step is not None
        assert self._step.outcome is not None
        spec, outcome = self._referee.spec, self._step.outcome
        record = write_record(spec, self._referee.events, outcome, Ed25519PrivateKey.generate())
        ended = self._wire.ended(outcome, record, reveal=True)
        self._deal()
        return pb.ArenaEvent(match_ended=ended)

    def void(self) -> pb.ArenaEvent:
        """MatchEnded of the running game without a result; the next one is dealt."""
        ended = self._wire.void()
        self._deal()
        return pb.ArenaEvent(match_ended=ended)

    def _replies(self, step: Step) -> dict[int, Reply]:
        return {request.seat: Reply(self._choose(request.legal)) for request in step.requests}

    def _choose(self, legal: Sequence[int]) -> int:
        return self._rng.choice(legal)
