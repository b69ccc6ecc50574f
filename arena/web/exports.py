"""Exports of ladders, for anybody to take away: made when somebody asks for one, and kept for a while.

Whoever asks first is told to come again. `arena export` makes the file, as a process of its own at a low priority: the
arena's key is never in the pages' hands, and a ladder with a million matches slows none of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import time
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from arena import settings
from arena.host.processes import dies_with_parent
from arena.settings import Settings
from arena.web.content import GZIP
from arena.web.ladders import event_of, get_ladder
from arena.web.site import NotHere, NotYet, Site

KEPT_S: Final = 3600.0
NICE: Final = ("nice", "-n", "10")

log = logging.getLogger(__name__)


class Exports:
    """The files in ``exports/`` of the data folder. One is made at a time."""

    def __init__(self, chosen: Settings) -> None:
        self._folder = chosen.data_dir / "exports"
        self._settings = chosen
        self._making: asyncio.Task[None] | None = None

    def file(self, slug: str) -> Path | None:
        """The export of a ladder, however old; None if there is none. A new one is made where it is older than KEPT_S."""
        path = self._folder / f"{slug}.jsonl.gz"
        try:
            age_s = time.time() - path.stat().st_mtime
        except FileNotFoundError:
            age_s = None
        if (age_s is None or age_s > KEPT_S) and self._making is None:
            self._making = asyncio.create_task(self._make(slug, path))
            self._making.add_done_callback(self._made)
        return None if age_s is None else path

    async def close(self) -> None:
        """Makes no more; what is half made is left out."""
        if self._making is not None:
            self._making.cancel()
            await asyncio.gather(self._making, return_exceptions=True)

    async def _make(self, slug: str, path: Path) -> None:
        self._folder.mkdir(exist_ok=True)
        words = ("export", slug, "--output", str(path), "--data-dir", str(self._settings.data_dir))
        process = await asyncio.create_subprocess_exec(
            *dies_with_parent((*NICE, sys.executable, "-m", "arena", *words)),
            env={**os.environ, **settings.environment(self._settings)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            _, told = await process.communicate()
        except asyncio.CancelledError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            raise
        if process.returncode:
            log.warning("no export of %s: %s", slug, told.decode(errors="replace").strip()[-500:])

    def _made(self, task: asyncio.Task[None]) -> None:
        self._making = None
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("an export cannot be made", exc_info=error)


async def export(request: Request) -> Response:
    """``/ladders/{slug}/export``: the file that ``arena verify ladder`` reads."""
    site: Site = request.app.state.site
    slug = request.path_params["slug"]
    await site.read(lambda connection: get_ladder(connection, slug))
    if await event_of(site, slug) is not None:
        raise NotHere("the matches of an event are in its archive")
    exports: Exports = request.app.state.exports
    path = exports.file(slug)
    if path is None:
        raise NotYet("The export of this ladder is being made. Ask again in a few seconds; this page does by itself.")
    headers = {"cache-control": "public, max-age=60", "access-control-allow-origin": "*"}
    return FileResponse(path, filename=path.name, media_type=GZIP, headers=headers)
