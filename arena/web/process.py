"""The web process: it listens, serves, and ends when it is asked to."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Literal

import uvicorn
from starlette.types import ASGIApp

from arena.errors import UserError
from arena.settings import Settings, is_loopback, split_address
from arena.web import admin
from arena.web.app import build
from arena.web.security import Guard
from arena.web.site import Site


async def serve(settings: Settings) -> None:
    """Serves the pages at ``settings.web.listen`` until SIGTERM or SIGINT. Raises UserError if it cannot listen.

    The admin pages are at ``settings.web.admin_listen``, if that is set.
    """
    app = build(settings)
    server = _server(app, settings.web.listen)
    behind = _open_admin_server(app.state.site, settings) if settings.web.admin_listen else None
    loop = asyncio.get_running_loop()

    def stop() -> None:
        app.state.site.hub.close()  # live streams never end by themselves, and the server waits for them
        app.state.watched.close()
        app.state.doors.lounge.hush()
        server.ask_to_stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        async with contextlib.AsyncExitStack() as stack:
            if behind is not None:
                await stack.enter_async_context(behind)
            await server.serve()
    except SystemExit:
        raise UserError(f"cannot listen on {settings.web.listen}") from None
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


def _server(app: ASGIApp, address: str, lifespan: Literal["on", "off"] = "on") -> _Server:
    host, port = split_address(address)
    config = uvicorn.Config(
        Guard(app),  # around everything, Starlette's own page for errors included
        host=host,
        port=port,
        lifespan=lifespan,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    return _Server(config)


def _open_admin_server(site: Site, settings: Settings) -> AbstractAsyncContextManager[None]:
    """Listens, and serves the admin pages while the block runs. Raises UserError if it cannot listen, or may not there."""
    address = settings.web.admin_listen
    if not (is_loopback(address) or settings.gateway.trusted_network):
        raise UserError(
            f"web.admin_listen {address} is not a loopback address: reach it through a tunnel or a proxy with TLS, or set "
            "gateway.trusted_network if nobody but us can reach it; see deploy/README.md"
        )
    server = _server(admin.build(site), address, lifespan="off")
    try:
        bound = server.config.bind_socket()
    except SystemExit:
        raise UserError(f"cannot listen on {address} (web.admin_listen)") from None

    @contextlib.asynccontextmanager
    async def serving() -> AsyncIterator[None]:
        running = asyncio.create_task(server.serve(sockets=[bound]))
        try:
            yield
        finally:
            server.ask_to_stop()
            await running

    return serving()


class _Server(uvicorn.Server):
    """Signals are ours: uvicorn would raise them again after the end, and the process would look killed."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def ask_to_stop(self) -> None:
        """Ends serving, gracefully the first time."""
        self.force_exit = self.should_exit
        self.should_exit = True
