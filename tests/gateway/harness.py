"""A real gateway with a scripted host, to test sessions, servers and SDKs against.

async with Arena() as arena:                     # or Arena(address="unix:/path/sock")
    token = arena.issue("alice")                 # dial arena.address with it
    seat = await arena.seat("alice")             # its session, once connected
    game = seat.start()                          # MatchStarted
    decision = seat.ask(game, legal=[0, 1, 2])   # DecisionRequested; returns its id
    answer = await seat.expect("act")            # what the gateway reports: a GatewayEvent's field
    seat.end(game)
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from itertools import count
from types import TracebackType
from typing import Any, Self

from arena.gateway.auth import LocalTokens
from arena.gateway.core import GatewayCore
from arena.gateway.server import Admission, Outs, PlayServer, start_play_server
from arena.gateway.session import Identity, Session, SessionLimits
from botarena.internal.v1 import relay_pb2 as rpb
from botarena.v1 import play_pb2 as pb

GAMES: Mapping[str, Iterable[int]] = {"balloon-challenge": range(2, 6), "pop": range(2, 3)}
PATIENCE_S = 10.0


async def until(
    condition: Callable[[], object] | Callable[[], Awaitable[object]], patience_s: float = PATIENCE_S
) -> None:
    """Wait until ``condition()`` is true."""
    async with asyncio.timeout(patience_s):
        while True:
            met = condition()
            if await met if isinstance(met, Awaitable) else met:
                return
            await asyncio.sleep(0.005)


class Seat:
    """What a scripted worker does with one session."""

    def __init__(self, arena: Arena, session: Session, worker: str) -> None:
        self.session = session
        self.events: asyncio.Queue[rpb.GatewayEvent] = asyncio.Queue()
        self._arena = arena
        self._worker = worker
        self._decisions = count(1)

    def send(self, event: rpb.WorkerEvent) -> None:
        """Send anything."""
        event.session = self.session.id
        self._arena.core.handle_worker_event(self._worker, event)

    def deliver(self, **event: Any) -> None:
        """Pass an event through to the bot, such as ``notice=pb.Notice(...)``."""
        self.send(rpb.WorkerEvent(deliver=pb.ArenaEvent(**event)))

    def offer(self, *, games: int = 1, timeout_ms: int = 10_000, **fields: Any) -> str:
        """Offer a set; the offer's id."""
        offer = pb.SetOffered(offer_id=secrets.token_hex(8), game="pop", players=2, games=games, **fields)
        self.send(rpb.WorkerEvent(offer=rpb.Offer(offer=offer, timeout_ms=timeout_ms)))
        return offer.offer_id

    def start(self, *, offer_id: str = "", **fields: Any) -> str:
        """Start a game; its id."""
        game_id = secrets.token_hex(8)
        started = pb.MatchStarted(
            game_id=game_id,
            offer_id=offer_id,
            **{"game": "pop", "players": 2, "config_json": "{}", "rules_version": 1, "bot_seed": 7, **fields},
        )
        self.deliver(match_started=started)
        return game_id

    def ask(
        self,
        game_id: str,
        *,
        legal: Iterable[int] = (0, 1),
        limit_ms: int = 5_000,
        elapsed_ms: int = 0,
        decision_id: int | None = None,
    ) -> int:
        """Ask for a decision; its id."""
        decision_id = next(self._decisions) if decision_id is None else decision_id
        request = pb.DecisionRequested(
            game_id=game_id,
            decision_id=decision_id,
            view=pb.View(seat=0, seq=decision_id, json="{}"),
            legal=[pb.Action(id=i, text=f"action {i}") for i in legal],
            clock=pb.Clock(bank_ms=limit_ms, limit_ms=limit_ms),
        )
        self.send(rpb.WorkerEvent(ask=rpb.Ask(request=request, limit_ms=limit_ms, elapsed_ms=elapsed_ms)))
        return decision_id

    def end(self, game_id: str, **fields: Any) -> None:
        """End a game, normally unless ``end`` says otherwise."""
        ended = pb.MatchEnded(game_id=game_id, **{"end": pb.MatchEnded.END_FINISHED, **fields})
        self.send(rpb.WorkerEvent(end=ended))

    async def expect(self, kind: str) -> Any:
        """The next report of this kind; others before it are dropped."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                event = await self.events.get()
                if event.WhichOneof("event") == kind:
                    return getattr(event, kind)

    def reports(self) -> list[str]:
        """Kinds of the reports that wait."""
        return [event.WhichOneof("event") or "" for event in list(self.events._queue)]  # type: ignore[attr-defined]


class Arena:
    """A core, a play server and one scripted worker, which is attached directly."""

    def __init__(
        self,
        address: str = "127.0.0.1:0",
        *,
        limits: SessionLimits = SessionLimits(),  # noqa: B008
        admission: Admission = Admission(),  # noqa: B008
        worker: str = "scripted",
        outs: Outs | None = None,
    ) -> None:
        self._outs = outs
        self.core = GatewayCore("test", games=GAMES, limits=limits, arena_key=b"k" * 32)
        self.tokens = LocalTokens()
        self.worker = worker
        self.seats: dict[str, Seat] = {}
        self._admission = admission
        self._address = address
        self._bots: dict[str, int] = {}
        self._server: PlayServer | None = None

    @property
    def address(self) -> str:
        """Where to dial."""
        assert self._server is not None
        return self._server.address

    def issue(self, bot: str, *, version: str = "1") -> str:
        """A token for a bot, which any number of instances may use."""
        bot_id = self._bots.setdefault(bot, len(self._bots) + 1)
        return self.tokens.issue(Identity(bot_id, hash((bot, version)), bot, version, owner=f"owner of {bot}"))

    async def seat(self, bot: str, instance: str = "0") -> Seat:
        """The session of a bot, once it is connected."""
        await until(lambda: self._connected(bot, instance))
        session = self.core.newest(self._bots[bot], instance)
        assert session is not None
        return self.seats.setdefault(session.id, Seat(self, session, self.worker))

    def _connected(self, bot: str, instance: str) -> bool:
        session = self.core.newest(self._bots[bot], instance)
        return session is not None and session.connected

    def take(self, event: rpb.GatewayEvent) -> None:
        """The worker's sink."""
        if seat := self.seats.get(event.session):
            seat.events.put_nowait(event)

    async def restart(self, *, reconnect_within_ms: int = 100) -> None:
        """Drain the server, as on SIGTERM, and serve the same address with a core that knows nothing."""
        address = self.address
        assert self._server is not None
        await self._server.stop(reconnect_within_ms=reconnect_within_ms)
        self.core.close()
        self.core = GatewayCore("test", games=GAMES, limits=self.core.limits, arena_key=b"k" * 32)
        await self._start(address)

    async def _start(self, address: str) -> None:
        self.core.start()
        self.core.attach(self.worker, self.take)
        self._server = await start_play_server(
            self.core, self.tokens, address, admission=self._admission, outs=self._outs
        )

    async def __aenter__(self) -> Self:
        await self._start(self._address)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        await self._server.stop()
        self.core.close()
