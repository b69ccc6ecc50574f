"""Whole games of the real engines, refereed by the arena's own gateway and host behind a unix socket."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena.conformance.scenario import Level, Mismatch, NotApplicable, add, required
from arena.conformance.stage import CONNECT_S, Stage
from arena.conformance.table import games_of, spec_of
from arena.errors import Unavailable
from arena.gateway.catalogue import installed_games
from arena.gateway.local import LocalGateway
from arena.gateway.session import Identity
from arena.host.play import play_match
from arena.host.port import Port
from arena.host.seats import ScriptedSeat, Seat, SessionSeat
from arena.host.wire import time_control_message
from arena.match.referee import Reply, Request
from arena.match.spec import Spec
from botarena.internal.v1 import relay_pb2 as relay
from botarena.v1 import play_pb2 as pb

HOST: Final = "conformance"
READY_S: Final = 10.0
AT_ONCE: Final = 4


class _BotSeat(SessionSeat):
    """Remembers the first fault of its bot."""

    fault = ""

    async def decide(self, request: Request) -> Reply:
        reply = await super().decide(request)
        if reply.fault is not None and not self.fault:
            self.fault = f"{reply.fault.lower()} at decision {request.decision_id}"
            self.fault += f" ({reply.detail})" if reply.detail else ""
        return reply


@asynccontextmanager
async def _hosted(stage: Stage) -> AsyncIterator[tuple[Port, pb.Hello]]:
    """The program as a bot of the real gateway core in this process."""
    async with LocalGateway(str(stage.folder / "local.sock")) as gateway:
        token = gateway.issue(Identity(bot_id=1, version_id=1, bot="conformance", version="1", owner="local"))
        await stage.launch(gateway.address, token)
        session_id = await _session(stage, gateway, token)
        session = gateway.core.session(session_id)
        assert session is not None

        def send(event: relay.WorkerEvent) -> None:
            gateway.core.handle_worker_event(HOST, event)

        port = Port(session_id, send)
        gateway.core.attach(HOST, port.handle)
        watcher = asyncio.create_task(_watch(stage, port))
        try:
            yield port, session.hello
        finally:
            watcher.cancel()
            gateway.core.detach(HOST)


async def _session(stage: Stage, gateway: LocalGateway, token: str) -> str:
    opening = asyncio.create_task(gateway.wait_session(token, CONNECT_S))
    ending = asyncio.create_task(stage.ended_within(CONNECT_S))
    await asyncio.wait((opening, ending), return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    if not opening.done():
        opening.cancel()
        raise Mismatch(f"ended with status {stage.exit_status} before it had a session")
    try:
        return opening.result()
    except Unavailable:
        raise Mismatch(f"opened no session within {CONNECT_S:g} s") from None


async def _watch(stage: Stage, port: Port) -> None:
    while not await stage.ended_within(3600):
        pass
    port.bot_ended()


async def _play(port: Port, spec: Spec, seat: int, offer_id: str = "") -> str:
    """One match against random players, and what to say of it. Raises Mismatch if the bot fails."""
    rng = Random(spec.match_id)  # noqa: S311 - plays, encrypts nothing
    bot = _BotSeat(port, offer_id)
    others: list[Seat] = [ScriptedSeat(lambda request: Reply(rng.choice(request.legal))) for _ in spec.seats]
    seats: list[Seat] = [*others[:seat], bot, *others[seat + 1 :]]
    finished = await play_match(spec, seats, Ed25519PrivateKey.generate())
    bot.end(finished.outcome, finished.record, reveal=True)
    if bot.fault:
        raise Mismatch(f"lost a game of {spec.game} by a fault: {bot.fault}")
    return f"{spec.game} with {len(spec.seats)}: place {finished.outcome.places[seat]}"


async def _offered(port: Port, spec: Spec) -> str:
    """Offers a set of one game and waits for Ready; its id. Raises Mismatch."""
    offer = pb.SetOffered(
        offer_id=f"o_{secrets.token_hex(8)}",
        game=spec.game,
        players=len(spec.seats),
        games=1,
        time_control=time_control_message(spec.time_control),
        commitments=[spec.deal.commitment],
    )
    if await port.offer(offer, READY_S) is None:
        raise Mismatch(f"did not answer SetOffered with Ready within {READY_S:g} s")
    return offer.offer_id


def _whole_games(name: str) -> None:
    async def play(stage: Stage) -> None:
        async with _hosted(stage) as (port, hello):
            if name not in (games := games_of(hello)):
                raise NotApplicable(f"the bot does not play {name}")
            sizes = games[name]
            for seed, players in enumerate(dict.fromkeys((sizes[0], sizes[-1]))):
                spec = spec_of(name, players, seed % players, seed)
                offer_id = await _offered(port, spec)
                stage.notes.append(await _play(port, spec, seed % players, offer_id))

    add(
        f"play-{name}",
        Level.REQUIRED,
        f"plays whole games of {name} without a fault, if it says that it plays it",
        play,
    )


for _name in installed_games():
    _whole_games(_name)


@required("several-at-once", "plays several games at once on its one stream, and mixes none up")
async def several_at_once(stage: Stage) -> None:
    async with _hosted(stage) as (port, hello):
        games = list(games_of(hello).items())
        specs = []
        for number in range(AT_ONCE):
            game, sizes = games[number % len(games)]
            specs.append(spec_of(game, sizes[0], number % sizes[0], 100 + number))
        port.wants = hello.wants  # which a worker learns from Ready; here nothing is offered, whatever the credit is
        stage.notes += await asyncio.gather(
            *(_play(port, spec, number % len(spec.seats)) for number, spec in enumerate(specs)),
        )
