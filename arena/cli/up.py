"""``arena up``: a whole arena on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import signal
import socket
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from redis.exceptions import RedisError

from arena import logs, settings, valkey
from arena.cli.common import DataDir, console
from arena.errors import UserError
from arena.gateway.registry import connect_redis
from arena.keys import load_or_create
from arena.ladder.entry import open_ladders
from arena.settings import Settings, split_address
from arena.storage.db import Database
from arena.supervisor import Service, Supervisor, only_one, python, wait_for

START_TIMEOUT_S = 30.0
SOCKET_PATH_MAX = 100
"""The kernel takes 107 bytes; what a client adds must fit too."""

Config = Annotated[Path | None, typer.Option("--config", help="Settings; ./arena.toml by default if it exists.")]
RedisUrl = Annotated[str | None, typer.Option("--redis-url", help="A running Redis or Valkey instead of our own.")]


def add_to(app: typer.Typer) -> None:
    app.command()(up)


def up(
    data_dir: DataDir = None,
    config: Config = None,
    redis_url: RedisUrl = None,
    workers: Annotated[int | None, typer.Option("--workers", help="Worker processes; one a core by default.")] = None,
    log_format: Annotated[
        str | None, typer.Option("--log-format", help="text, or json: a line an event, with what it is about.")
    ] = None,
) -> None:
    """Runs an arena on this machine: server, workers, house bots, pages. Ctrl-C ends all of it."""
    if config is not None:
        os.environ["ARENA_CONFIG"] = str(config.absolute())  # for all of its processes: ladders are nowhere else
    logs.configure(level="WARNING")
    chosen = settings.load(
        {"data_dir": data_dir, "redis_url": redis_url, "worker.processes": workers, "log.format": log_format},
    )
    asyncio.run(_run(chosen))


async def _run(chosen: Settings) -> None:
    stop = asyncio.Event()
    async with running(chosen, stop) as arena:
        announce(chosen)
        await stop.wait()
        console.print("Ending: what is being played is finished or played again next time.")
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, arena.kill)


def announce(chosen: Settings) -> None:
    """Says where things are."""
    console.print(f"The arena runs. Watch it at [bold]http://{chosen.web.listen}/[/bold]", highlight=False)
    console.print(
        f"Bots connect to {chosen.gateway.listen}; `arena register OWNER BOT` makes a token.", highlight=False
    )
    if chosen.web.admin_listen:
        console.print(
            f"Admin pages are at http://{chosen.web.admin_listen}/; `arena admin token` makes a token.", highlight=False
        )
    console.print(f"Data and logs are in {chosen.data_dir}. Ctrl-C ends it.", highlight=False)


@contextlib.asynccontextmanager
async def running(chosen: Settings, stop: asyncio.Event) -> AsyncIterator[Supervisor]:
    """An arena that runs while the block does; SIGINT and SIGTERM set ``stop``. Raises UserError if it cannot start."""
    with only_one(chosen.data_dir):
        check_addresses(chosen)
        prepare(chosen)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        supervisor = Supervisor(chosen.data_dir / "logs")
        try:
            await _start(supervisor, chosen, stop)
            yield supervisor
        finally:
            await supervisor.stop()


def prepare(chosen: Settings) -> None:
    """Brings data folder, key, schema and ladders up to date."""
    load_or_create(chosen.data_dir)
    database = Database(chosen.database_url)
    database.upgrade()
    with database.write() as connection:
        open_ladders(connection, chosen.ladders)
    database.close()


def check_addresses(chosen: Settings) -> None:
    """Raises UserError if somebody else has an address that this arena is to listen at."""
    workers = map(chosen.worker.metrics_address, range(chosen.worker.processes))
    for name, address in (
        ("gateway.listen", chosen.gateway.listen),
        ("gateway.metrics_listen", chosen.gateway.metrics_listen),
        ("web.listen", chosen.web.listen),
        *([("web.admin_listen", chosen.web.admin_listen)] if chosen.web.admin_listen else []),
        ("scheduler.metrics_listen", chosen.scheduler.metrics_listen),
        *(("worker.metrics_listen", worker) for worker in workers),
    ):
        if address.startswith("unix:"):
            continue
        host, port = split_address(address)
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                variable = "ARENA_" + name.upper().replace(".", "_")
                raise UserError(
                    f"cannot listen at {address}: {error.strerror}; is another arena running? "
                    f"Another address is set by {variable} or {name} in arena.toml"
                ) from None


async def _start(supervisor: Supervisor, chosen: Settings, stop: asyncio.Event) -> None:
    sockets = short_folder(chosen.data_dir)
    redis_url = chosen.redis_url
    if not redis_url:
        path = sockets / "valkey.sock"
        supervisor.start(Service("valkey", valkey.command(path)))
        await _ready(supervisor, "valkey", f"unix:{path}", stop)
        redis_url = f"unix://{path}"
    else:
        await _redis_answers(redis_url)
    relay = chosen.gateway.relay_listen
    if relay.startswith("unix:"):
        relay = f"unix:{sockets / 'relay.sock'}"
    chosen = replace(chosen, redis_url=redis_url, gateway=replace(chosen.gateway, relay_listen=relay))
    environment = settings.environment(chosen)
    for service in services(chosen, environment):
        supervisor.start(service)
    await _ready(supervisor, "gateway", chosen.gateway.listen, stop)
    await _ready(supervisor, "web", chosen.web.listen, stop)


def services(chosen: Settings, environment: Mapping[str, str]) -> list[Service]:
    """The arena's own processes, in the order of their start."""
    found = [
        Service("gateway", python("-m", "arena", "gateway"), environment),
        Service("web", python("-m", "arena", "web"), environment),
    ]
    for number in range(chosen.worker.processes):
        words = (
            "-m",
            "celery",
            "-A",
            "workers.app",
            "worker",
            "--pool=threads",
            f"--concurrency={chosen.worker.max_sets}",
        )
        flags = ("--without-gossip", "--without-mingle", "--without-heartbeat", "-n", f"worker-{number}@%h")
        own = {"ARENA_WORKER_NAME": f"worker-{number}", "ARENA_WORKER_NUMBER": str(number)}
        found.append(Service(f"worker-{number}", python(*words, *flags), {**environment, **own}, grace_s=20))
    found.append(Service("scheduler", python("-m", "arena", "scheduler"), environment))
    return found


async def _redis_answers(url: str) -> None:
    """Raises UserError if it does not, before an arena seems to run in which nothing is ever played."""
    redis = connect_redis(url)
    try:
        await redis.ping()
    except RedisError as error:
        raise UserError(
            f"no Redis answers at {url.rpartition('@')[2]}: {error}; redis_url in arena.toml names it"
        ) from None
    finally:
        await redis.aclose()


async def _ready(supervisor: Supervisor, name: str, address: str, stop: asyncio.Event) -> None:
    """Waits for a service to listen. Raises UserError with the end of its log if it does not, or what another one refuses."""
    waiting = asyncio.ensure_future(wait_for(address, START_TIMEOUT_S))
    stopping = asyncio.ensure_future(stop.wait())
    refusing = asyncio.ensure_future(supervisor.refusals.get())
    await asyncio.wait((waiting, stopping, refusing), return_when=asyncio.FIRST_COMPLETED)
    for task in (stopping, refusing):
        task.cancel()
    if refusing.done() and not refusing.cancelled() and not stop.is_set():
        waiting.cancel()
        last = supervisor.log_of(refusing.result()).read_text(errors="replace").splitlines()[-1:]
        raise UserError(f"{refusing.result()}: {''.join(last).removeprefix('arena: ')}")
    if stop.is_set() or waiting.result():
        waiting.cancel()
        return
    tail = "\n".join(supervisor.log_of(name).read_text(errors="replace").splitlines()[-15:])
    raise UserError(f"{name} does not listen at {address}; its log ends:\n{tail}")


def short_folder(data_dir: Path) -> Path:
    """A folder for sockets that belongs to this data folder: in it, or where its path is too long for a socket, outside."""
    inside = data_dir.absolute() / "run"
    if len(str(inside)) + len("/valkey.sock") > SOCKET_PATH_MAX:
        name = hashlib.sha256(str(inside).encode()).hexdigest()[:12]
        inside = Path(tempfile.gettempdir()) / f"arena-{name}"
    inside.mkdir(mode=0o700, parents=True, exist_ok=True)
    return inside
