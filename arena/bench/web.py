"""How the pages carry: requests a second and how long they take, beside a static file, and many live viewers.

One real web process is asked over loopback by a client with a few connections, each with one request at a time. Times
are what the client waits; rates are compared by the process's CPU time too, which holds where the machine is busy with
other things.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import select

from arena import live, valkey
from arena.bench.filled import Filled, fill, reopen, settle
from arena.bench.processes import free_port
from arena.errors import ArenaError
from arena.loops import run
from arena.settings import LadderSpec, standard_ladders
from arena.storage import matches as stored_matches
from arena.storage import outbox, queries, tables

CONNECTIONS: Final = 4
STATIC: Final = "static file"
CACHED: Final = "ladder, cached"
GOAL_P99_MS: Final = 100.0
GOAL_TO_STATIC: Final = 0.5
PATIENCE_S: Final = 60.0
SETTLE_S: Final = 1.0
"""A set settles on the watched ladder so often."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A kind of page: its name, and an address of it, each time it is asked for another one."""

    name: str
    address: Callable[[random.Random], str]


def measure(
    folder: Path, bots: int, matches: int, seconds: float, viewers: int, on_stage: Callable[[str], None]
) -> dict[str, Any]:
    """The JSON document of a run. Raises ArenaError if a page does not answer.

    ``folder`` is empty, or holds the arena of an earlier run.
    """
    began = time.monotonic()
    filled = reopen(folder) if (folder / "arena.db").exists() else fill(folder, bots, matches, 1, on_stage)
    filled_s = time.monotonic() - began
    with filled.database.read() as connection:
        stored = queries.counters(connection).matches
    socket_path = folder / "v.sock"
    with _process(valkey.command(socket_path), {}), _web(folder, f"unix://{socket_path}") as server:
        pages = []
        for visit in _visits(filled):
            on_stage(visit.name)
            pages.append(run(_load(server, visit, seconds)))
        on_stage(f"{viewers} viewers")
        watched = run(_watch(server, filled, f"unix://{socket_path}", viewers, seconds * 3)) if viewers else None
    filled.database.close()
    static = next(page["cpu_ms"] for page in pages if page["page"] == STATIC)
    for page in pages:
        page["to_static"] = round(static / page["cpu_ms"], 3)
    return {
        "bench": "web",
        "bots": len(filled.bots),
        "matches": stored,
        "filled_s": round(filled_s, 1),
        "connections": CONNECTIONS,
        "seconds": seconds,
        "pages": pages,
        "viewers": watched,
        "goals": {
            "every page's p99 under 100 ms": all(page["p99_ms"] < GOAL_P99_MS for page in pages),
            "a cached leaderboard at half the static file's rate": all(
                page["to_static"] >= GOAL_TO_STATIC for page in pages if page["page"] == CACHED
            ),
        },
    }


def _visits(filled: Filled) -> list[Visit]:
    """The pages, with addresses of what is stored: each request another one, so that no cache helps, unless it says so."""
    slugs = sorted(filled.ladders)
    with filled.database.read() as connection:
        names = connection.execute(select(tables.bot.c.name).where(tables.bot.c.id.in_(filled.bots.values()))).scalars()
        of_bots = list(names)
        of_matches = list(connection.execute(select(tables.result.c.match_id).limit(20_000)).scalars())
        of_sets = list(connection.execute(select(tables.game_set.c.id).limit(20_000)).scalars())
        cursors = [""]
        for _ in range(40):
            cursors.append(stored_matches.recent_matches(connection, cursor=cursors[-1])[1])
    pages = max(1, len(of_bots) // 100)
    return [
        Visit(STATIC, lambda _: "/static/arena.css"),
        Visit(CACHED, lambda _: f"/ladders/{slugs[0]}"),
        Visit("home, cached", lambda _: "/"),
        Visit("status, cached", lambda _: "/status"),
        Visit("ladders, cached", lambda _: "/ladders"),
        Visit("API: table, cached", lambda _: f"/api/v1/ladders/{slugs[0]}/table"),
        Visit("ladder, any page", lambda rng: f"/ladders/{rng.choice(slugs)}?page={rng.randrange(pages)}"),
        Visit("ladder, search", lambda rng: f"/ladders/{rng.choice(slugs)}?q={rng.randrange(10_000):04}"),
        Visit("bot", lambda rng: f"/bots/{rng.choice(of_bots)}"),
        Visit("match", lambda rng: f"/matches/{rng.choice(of_matches)}"),
        Visit("set", lambda rng: f"/sets/{rng.choice(of_sets)}"),
        Visit("matches", lambda rng: f"/matches?cursor={rng.choice(cursors)}&ladder={rng.choice(slugs)}"),
        Visit("matches of a bot", lambda rng: f"/matches?bot={rng.choice(of_bots)}"),
        Visit("API: bot", lambda rng: f"/api/v1/bots/{rng.choice(of_bots)}"),
        Visit("metrics", lambda _: "/metrics"),
    ]


@dataclass(frozen=True, slots=True)
class Server:
    """The web process and where it listens."""

    host: str
    port: int
    pid: int

    def cpu_s(self) -> float:
        """CPU time that it has used: Linux has a clock for each process, of this number."""
        return time.clock_gettime(~self.pid << 3 | 2)


async def _load(server: Server, visit: Visit, seconds: float) -> dict[str, Any]:
    """Requests for so long, over some connections."""
    rng = random.Random(visit.name)  # noqa: S311 - addresses
    taken: list[float] = []
    size = 0

    async def ask_again_and_again(until: float) -> None:
        nonlocal size
        async with _connected(server) as (reader, writer):
            while time.perf_counter() < until:
                began = time.perf_counter()
                size = await _get(reader, writer, visit.address(rng))
                taken.append(time.perf_counter() - began)

    async with _connected(server) as (reader, writer):
        await _get(reader, writer, visit.address(rng))
    began, used = time.perf_counter(), server.cpu_s()
    await asyncio.gather(*(ask_again_and_again(began + seconds) for _ in range(CONNECTIONS)))
    took, used = time.perf_counter() - began, server.cpu_s() - used
    taken.sort()
    return {
        "page": visit.name,
        "requests": len(taken),
        "per_s": round(len(taken) / took, 1),
        "cpu_ms": round(used / len(taken) * 1000, 3),
        "p50_ms": round(_quantile(taken, 0.5) * 1000, 2),
        "p99_ms": round(_quantile(taken, 0.99) * 1000, 2),
        "bytes": size,
    }


async def _get(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: str) -> int:
    """Asks once; the length of the answer's body. Raises ArenaError unless it is 200."""
    writer.write(f"GET {address} HTTP/1.1\r\nhost: bench\r\naccept-encoding: gzip\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise ArenaError(f"{address}: {head[:40]!r}")
    lowered = head.lower()
    at = lowered.find(b"content-length: ")
    if at >= 0:
        length = int(lowered[at + 16 : lowered.index(b"\r", at)])
        await reader.readexactly(length)
        return length
    raise ArenaError(f"{address}: an answer without a length")


async def _watch(server: Server, filled: Filled, redis_url: str, viewers: int, seconds: float) -> dict[str, Any]:
    """Many live viewers of one ladder, on which a set settles each second: how late each hears of it."""
    spec = next(spec for spec in standard_ladders() if spec.slug == min(filled.ladders))
    heard: list[float] = []
    everybody = asyncio.Event()
    settled_at = 0.0
    connected = 0

    async def view() -> None:
        nonlocal connected
        async with _connected(server) as (reader, writer):
            writer.write(f"GET /live?topic=ladder:{spec.slug}/0 HTTP/1.1\r\nhost: bench\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            if b" 200 " not in head:
                raise ArenaError(f"a viewer is refused: {head[:60]!r}")
            connected += 1
            if connected == viewers:
                everybody.set()
            while True:
                line = await reader.readuntil(b"\n")
                if line.startswith(b"data: ") and settled_at:
                    heard.append(time.perf_counter() - settled_at)

    watching = [asyncio.create_task(view()) for _ in range(viewers)]
    try:
        async with asyncio.timeout(PATIENCE_S):
            await everybody.wait()
        rng = random.Random(2)  # noqa: S311 - a made-up arena
        publish = live.publisher(redis_url)
        rounds, used, until = 0, server.cpu_s(), time.perf_counter() + seconds
        while time.perf_counter() < until:
            await asyncio.to_thread(_settle_and_tell, filled, spec, rng, publish)
            settled_at, rounds = time.perf_counter(), rounds + 1
            await asyncio.sleep(SETTLE_S)
        used = server.cpu_s() - used
        broken = sum(one.done() for one in watching)
    finally:
        for one in watching:
            one.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
    heard.sort()
    return {
        "viewers": viewers,
        "sets_settled": rounds,
        "updates": len(heard),
        "updates_per_s": round(len(heard) / seconds, 1),
        "cpu_share": round(used / seconds, 3),
        "broken": broken,
        "p50_ms": round(_quantile(heard, 0.5) * 1000, 1),
        "p99_ms": round(_quantile(heard, 0.99) * 1000, 1),
    }


def _settle_and_tell(filled: Filled, spec: LadderSpec, rng: random.Random, publish: Callable[[Any], None]) -> None:
    settle(filled, spec, rng)
    with filled.database.write() as connection:
        events = outbox.pending(connection)
        outbox.discard(connection, events)
    for event in events:
        publish(event)


def _quantile(ordered: list[float], q: float) -> float:
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else 0.0


@contextlib.asynccontextmanager
async def _connected(server: Server) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(server.host, server.port, limit=2**22)
    try:
        yield reader, writer
    finally:
        writer.close()


@contextlib.contextmanager
def _web(folder: Path, redis_url: str) -> Iterator[Server]:
    """The command ``arena web``, once it answers. It may open as many sockets as the system lets anybody."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    port = free_port()
    environment = {
        "ARENA_DATA_DIR": str(folder),
        "ARENA_REDIS_URL": redis_url,
        "ARENA_WEB_LISTEN": f"127.0.0.1:{port}",
        "ARENA_LIMITS_API_REQUESTS_PER_S": "1000000",
        "ARENA_LIMITS_API_BURST": "1000000",
        "ARENA_WEB_STREAMS_PER_ADDRESS": "1000000",
    }
    with _process([sys.executable, "-m", "arena", "web"], environment) as process:
        deadline = time.monotonic() + PATIENCE_S
        while not _listens(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise ArenaError("the web process does not answer")
            time.sleep(0.1)
        yield Server("127.0.0.1", port, process.pid)


def _listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


@contextlib.contextmanager
def _process(command: Sequence[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
