"""The web process: it listens, serves, and ends when it is asked to."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator

import uvicorn

from arena.errors import UserError
from arena.settings import Settings
from arena.web.app import build
from arena.web.security import Guard


async def serve(settings: Settings) -> None:
    """Serves the pages at ``settings.web.listen`` until SIGTERM or SIGINT. Raises UserError if it cannot listen."""
    host, _, port = settings.web.listen.rpartition(":")
    app = build(settings)
    config = uvicorn.Config(
        Guard(app),  # around everything, Starlette's own page for errors included
        host=host.strip("[]"),
        port=int(port),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    server = _Server(config)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        app.state.site.hub.close()  # live streams never end by themselves, and the server waits for them
        app.state.watched.close()
        app.state.doors.lounge.hush()
        server.ask_to_stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        await server.serve()
    except SystemExit:
        raise UserError(f"cannot listen on {settings.web.listen}") from None
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


class _Server(uvicorn.Server):
    """Signals are ours: uvicorn would raise them again after the end, and the process would look killed."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def ask_to_stop(self) -> None:
        """Ends serving, gracefully the first time."""
        self.force_exit = self.should_exit
        self.should_exit = True
