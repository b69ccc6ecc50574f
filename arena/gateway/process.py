"""The gateway as a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import signal
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

from prometheus_client import REGISTRY

from arena import loops, metrics
from arena.endless import again_and_again
from arena.errors import Unavailable
from arena.gateway.calls import Paced
from arena.gateway.catalogue import installed_games
from arena.gateway.core import GatewayCore
from arena.gateway.limits import Guesses
from arena.gateway.metrics import GatewayCollector
from arena.gateway.registry import RegistryPublisher, SessionRegistry, connect_redis
from arena.gateway.relay import start_relay_server
from arena.gateway.server import Admission, start_play_server
from arena.gateway.services import add_services
from arena.gateway.session import SessionLimits
from arena.gateway.tls import play_credentials, relay_server_credentials
from arena.gateway.tokens import StoredTokens
from arena.keys import load_or_create
from arena.settings import Settings
from arena.storage.db import Database
from arena.storage.records import RecordStore

log = logging.getLogger(__name__)

REVOKED_POLL_S = 2.0
WILDCARDS = frozenset({"0.0.0.0", "[::]"})  # noqa: S104 - recognised, not listened at
DRAIN_WITHIN_MS = 5_000


def session_limits(settings: Settings) -> SessionLimits:
    """The limits of a session as they are set."""
    limits = settings.limits
    return SessionLimits(
        frame_bytes=limits.frame_bytes,
        max_credit=limits.credit,
        messages_per_s=limits.messages_per_s,
        message_burst=limits.message_burst,
    )


def admission(settings: Settings) -> Admission:
    """Who gets as far as a session, as it is set."""
    limits = settings.limits
    return Admission(
        hello_s=limits.hello_ms / 1000,
        streams_per_address=limits.connections_per_address,
        starts_per_s=limits.starts_per_s,
        start_burst=limits.start_burst,
        bad_tokens=limits.bad_tokens,
    )


async def serve(
    settings: Settings,
    *,
    started: Callable[[str], None] | None = None,
) -> None:
    """Serve bots and workers until SIGTERM or SIGINT, then send the bots away and end.

    ``started`` is called with the address of the bots' server. Raises UserError if an address cannot be had.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with contextlib.AsyncExitStack() as ends:
        core, address = await _start(settings, ends)
        if started is not None:
            started(address)
        await stop.wait()
        log.info("%s sends %d bots away", core.name, len(core.sessions))


async def _start(settings: Settings, ends: contextlib.AsyncExitStack) -> tuple[GatewayCore, str]:
    """Starts everything, and says to ``ends`` what ends it, in turn; the address of the bots' server."""
    core = GatewayCore(
        f"gateway-{secrets.token_hex(4)}",
        games=installed_games(),
        limits=session_limits(settings),
        arena_key=load_or_create(settings.data_dir).public_key().public_bytes_raw(),
    )
    collector = GatewayCollector(core)
    REGISTRY.register(collector)
    ends.callback(REGISTRY.unregister, collector)
    core.start()
    ends.callback(core.close)
    database = Database(settings.database_url)
    ends.callback(database.close)
    database.refuse_newer()
    tokens = StoredTokens(database, settings.limits.versions_per_account)
    redis = connect_redis(settings.redis_url) if settings.redis_url else None
    registry = None
    if redis is not None:
        ends.push_async_callback(redis.aclose)
        registry = SessionRegistry(redis)
    trusted = settings.gateway.trusted_network
    relay = await start_relay_server(
        core,
        _fresh(settings.gateway.relay_listen),
        credentials=relay_server_credentials(settings.relay),
        trusted_network=trusted,
    )
    ends.push_async_callback(relay.stop)
    if registry is not None:
        publisher = RegistryPublisher(core, registry, advertised(settings, relay.address))
        publisher.start()
        ends.push_async_callback(publisher.close)
    metrics.serve(settings.gateway.metrics_listen)
    guesses = Guesses(settings.limits.bad_tokens)
    services = partial(
        add_services, database=database, records=RecordStore(settings.data_dir), registry=registry, guesses=guesses
    )
    play = await start_play_server(
        core,
        tokens,
        _fresh(settings.gateway.listen),
        admission=admission(settings),
        credentials=play_credentials(settings.gateway),
        trusted_network=trusted,
        services=(services,),
        interceptors=(Paced(settings.limits.api_requests_per_s, settings.limits.api_burst),),
        guesses=guesses,
        outs=registry,
    )
    ends.push_async_callback(play.stop, reconnect_within_ms=DRAIN_WITHIN_MS)
    for watch in (_cut_revoked(core, tokens), metrics.watch_loop()):
        ends.push_async_callback(_end, asyncio.create_task(watch))
    log.info("%s serves bots at %s and workers at %s", core.name, play.address, relay.address)
    return core, play.address


async def _end(watch: asyncio.Task[None]) -> None:
    watch.cancel()
    await asyncio.gather(watch, return_exceptions=True)


def run(settings: Settings) -> None:
    """:func:`serve` on a fast event loop where there is one."""
    loops.run(serve(settings))


def advertised(settings: Settings, bound: str) -> str:
    """Where workers are told to dial: as it is set, or where the relay listens; "everywhere" is this host's name."""
    host, _, port = bound.rpartition(":")
    if settings.gateway.relay_address:
        return settings.gateway.relay_address
    return f"{socket.gethostname()}:{port}" if host in WILDCARDS else bound


async def _cut_revoked(core: GatewayCore, tokens: StoredTokens) -> None:
    async def cut() -> None:
        try:
            core.revoke(await tokens.revoked(core.principals))
        except Unavailable as error:
            log.warning("revoked tokens are not known: %s", error)

    await again_and_again(cut, pause_s=REVOKED_POLL_S, what="cutting revoked tokens", log=log)


def _fresh(address: str) -> str:
    """The address, with the folder of a unix socket there and what a killed process left in its place gone."""
    if address.startswith("unix:"):
        path = Path(address.removeprefix("unix:"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
    return address
