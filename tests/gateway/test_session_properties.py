"""What holds for a session whatever happens, in whatever order."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from arena.gateway.core import GatewayCore
from arena.gateway.session import Identity, Reason, SessionLimits
from botarena.v1 import play_pb2 as pb
from tests.gateway.harness import GAMES
from tests.gateway.test_session import MS, S, Table

LIMIT_MS = 1_000


class Chaos:
    """A table at which anything may happen, and a record of what was asked and answered."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.table = Table(credit=3, limits=SessionLimits(frozen_us=5 * S))
        self.games: dict[str, int] = {}
        self.asked: Counter[tuple[str, int]] = Counter()
        self.alone: set[tuple[str, int]] = set()
        """Questions for some of whose time the bot was not here."""
        self.away = False
        self.number = 0

    def step(self) -> None:
        """Something happens."""
        steps = [self.start, self.ask, self.ask, self.ask_again, self.act, self.act, self.act, self.nonsense, self.read]
        steps += [self.end, self.wait, self.wait, self.toggle_bot, self.toggle_worker, self.offer, self.ready]
        self.random.choice(steps)()
        if not self.table.session.connected:
            self.alone.update(self.games.items())

    def pick(self) -> str:
        return self.random.choice(list(self.games)) if self.games else "none"

    def start(self) -> None:
        if len(self.games) < 3 and not self.away:
            self.number += 1
            self.games[game := f"g{self.number}"] = 0
            self.table.start(game, offer=f"o{self.random.randint(1, 3)}")

    def ask(self) -> None:
        game = self.pick()
        if game in self.games and not self.away:
            self.games[game] += 1
            self.put(game)

    def ask_again(self) -> None:
        game = self.pick()
        if self.games.get(game) and not self.away:
            self.put(game)

    def put(self, game: str) -> None:
        self.asked[game, self.games[game]] += 1
        self.table.ask(game, self.games[game], limit_ms=LIMIT_MS)

    def act(self) -> None:
        game = self.pick()
        if self.table.session.connected:
            self.table.act(game, self.games.get(game, 0) + self.random.choice((0, 0, 0, -1, 1)) & 0xFFFF)

    def nonsense(self) -> None:
        if self.table.session.connected:
            self.table.bot(*[pb.BotEvent(pong=pb.Pong(nonce=12345))] * self.random.randint(1, 60))

    def read(self) -> None:
        self.table.read()

    def end(self) -> None:
        game = self.pick()
        if game in self.games and not self.away:
            del self.games[game]
            self.table.end(game)

    def wait(self) -> None:
        self.table.after(self.random.choice((1, 30 * MS, 400 * MS, 2 * S, 11 * S)))

    def toggle_bot(self) -> None:
        if self.table.session.connected:
            self.table.vanish()
        else:
            self.table.connect()

    def toggle_worker(self) -> None:
        self.away = not self.away
        if self.away:
            self.table.do(self.table.session.worker_down("w", self.table.now_us))

    def offer(self) -> None:
        if not self.away:
            self.table.offer(f"o{self.random.randint(1, 3)}")

    def ready(self) -> None:
        if self.table.session.connected:
            self.table.ready(f"o{self.random.randint(1, 3)}")


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_whatever_happens(seed: int) -> None:
    """No question has two different outcomes or more reports than times it was asked; no answer is over its limit.

    That time ran out for some of which the bot was away is no outcome yet: it may have been elsewhere, and be asked here again.
    """
    chaos = Chaos(seed)
    for _ in range(150):
        chaos.step()
    reports: Counter[tuple[str, int]] = Counter()
    outcomes: dict[tuple[str, int], str] = {}
    for event in chaos.table.up:
        kind = event.WhichOneof("event")
        if kind not in ("act", "expired"):
            continue
        what = event.act.act if kind == "act" else event.expired
        key = (what.game_id, what.decision_id)
        reports[key] += 1
        if kind == "act" or key not in chaos.alone:
            assert outcomes.setdefault(key, kind) == kind
        assert kind == outcomes.get(key, kind)
        if kind == "act":
            assert event.act.elapsed_us <= LIMIT_MS * 1000
        else:
            assert event.expired.elapsed_ms >= LIMIT_MS
    assert reports <= chaos.asked
    for closed in chaos.table.closed:
        assert closed.failure is None or closed.failure.reason in (Reason.FLOOD, Reason.DEAD_PEER, Reason.SLOW_READER)


FRAMES = st.one_of(
    st.binary(max_size=200), st.lists(st.binary(max_size=20)).map(lambda parts: b"\x0a" + b"".join(parts))
)


@settings(max_examples=200, deadline=None)
@given(frames=st.lists(FRAMES, max_size=5))
def test_r2_no_bytes_crash_the_core(frames: list[bytes]) -> None:
    """Any frame either does something or ends its own stream, and says why."""

    async def feed() -> None:
        core = GatewayCore("test", games=GAMES)
        core.start()
        connection = core.connect(Identity(1, 1, "alice", "1", "ann"), pb.Hello())
        for frame in frames:
            core.receive(connection, frame)
        assert connection.ending is None or connection.ending.failure is not None
        core.close()

    asyncio.run(feed())
