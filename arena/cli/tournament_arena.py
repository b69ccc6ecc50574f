"""The part of ``arena tournament`` that talks to a running arena: Redis for who is connected, SQL for everything else."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from arena.cli.common import progress_console
from arena.cli.up import short_folder
from arena.doorbell import Doorbell
from arena.gateway.registry import SessionRegistry, connect_redis
from arena.ladder.desk import OnlineBot
from arena.settings import Settings
from arena.storage import tournaments as store
from arena.storage.db import Database
from arena.storage.leadership import Leadership, keep_lead, resign, take_lead
from arena.tournaments.progress import State
from arena.tournaments.remote import ArenaBackend
from arena.tournaments.runner import Moment, Runner


async def run_on_arena(
    chosen: Settings,
    database: Database,
    event: store.Tournament,
    field: Sequence[store.Participant],
    lanes: int,
    on_change: Callable[[Moment], None],
) -> State:
    """Plays a started event on the arena; one runner leads, and another may take over 15 s after it was killed."""
    redis_url = chosen.redis_url or f"unix://{short_folder(chosen.data_dir) / 'valkey.sock'}"
    redis = connect_redis(redis_url)
    registry = SessionRegistry(redis)
    leadership = await _lead(database, event)

    def guard(connection: Connection) -> None:
        keep_lead(connection, leadership)

    async def online() -> Sequence[OnlineBot]:
        sessions = await registry.list_online()
        return list(map(OnlineBot.of, sessions))

    backend = ArenaBackend(database, event, field, online=online, ring=Doorbell(redis_url).ring, guard=guard)
    try:
        await backend.open()
        return await Runner(database, event, backend, concurrency=lanes, on_change=on_change, guard=guard).run()
    finally:
        await redis.aclose()
        with database.write() as connection:
            resign(connection, leadership)


async def _lead(database: Database, event: store.Tournament) -> Leadership:
    holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
    told = False
    while True:
        with database.write() as connection:
            leadership = take_lead(connection, f"tournament:{event.id}", holder)
        if leadership is not None:
            return leadership
        if not told:
            progress_console.print("another runner plays this event; waiting for it to end or to be gone for 15 s")
            told = True
        await asyncio.sleep(1)
