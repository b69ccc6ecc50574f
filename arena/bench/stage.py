"""An arena to be measured: its settings, its processes, its bots."""

from __future__ import annotations

import contextlib
import urllib.request
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from sqlalchemy import func, select

import engines
from arena import settings, valkey
from arena.bench.processes import Command, free_port, running
from arena.cli.up import prepare, services
from arena.errors import ArenaError
from arena.match.deal import Deal, commitment, rules_hash, secret_from_seed
from arena.match.spec import Player, Spec, TimeControl
from arena.settings import Settings
from arena.storage import accounts
from arena.storage.db import Database
from arena.storage.tables import result
from arena.supervisor import Service, python, wait_for

GAME = "balloon-challenge"
UNHURRIED = TimeControl(bank_ms=3_600_000, increment_ms=0, move_cap_ms=600_000)
"""Nobody's clock is the subject of a bench, and a swamped bot is to be slow, not lost."""
START_S = 120.0


def settings_in(folder: Path, others: Mapping[str, object]) -> Settings:
    """Settings of an arena in ``folder``, on free ports of the loopback interface, with one ladder.

    ``others`` are settings by their dotted names.
    """
    toml = folder / "arena.toml"
    toml.write_text(f'[[ladders]]\ngame = "{GAME}"\nplayers = 2\n')
    listen = ("gateway.listen", "gateway.metrics_listen", "scheduler.metrics_listen", "worker.metrics_listen")
    chosen = {
        "data_dir": folder,
        "redis_url": f"unix://{folder / 'valkey.sock'}",
        **{name: f"127.0.0.1:{free_port()}" for name in listen},
        **others,
    }
    return settings.load(chosen, environ={}, path=toml)


@contextlib.asynccontextmanager
async def serving(
    chosen: Settings, *, gateways: int = 1, workers: int = 0
) -> AsyncIterator[tuple[dict[str, list[int]], list[str]]]:
    """The processes of an arena without pages, each kind's ids by its name, and where bots are served.

    Without workers there is no scheduler either. What they print is in ``processes.log`` of the data folder. Raises
    ArenaError if a gateway does not start.
    """
    prepare(chosen)
    log = chosen.data_dir / "processes.log"
    environment = settings.environment(chosen) | {"ARENA_CONFIG": str(chosen.data_dir / "arena.toml")}
    started = {service.name: service for service in services(chosen, environment)}
    gateway = [_gateway(started["gateway"], chosen, number) for number in range(gateways)]
    commands = {
        "valkey": [Command(valkey.command(chosen.data_dir / "valkey.sock"))],
        "gateway": [Command(service.command, service.environment) for service in gateway],
    }
    if workers:
        made = [started[f"worker-{number}"] for number in range(workers)]
        commands["worker"] = [Command(service.command, service.environment) for service in made]
        commands["scheduler"] = [Command(started["scheduler"].command, started["scheduler"].environment)]
    addresses = [service.environment["ARENA_GATEWAY_LISTEN"] for service in gateway]
    with contextlib.ExitStack() as stack:
        found = {kind: stack.enter_context(running(those, log)) for kind, those in commands.items()}
        for address in addresses:
            if not await wait_for(address, START_S):
                raise ArenaError(f"no gateway listens at {address}; it printed:\n{log.read_text()[-2000:]}")
        yield found, addresses


def _gateway(service: Service, chosen: Settings, number: int) -> Service:
    """The gateway of that number: the first is as it is set, each other one has ports and a socket of its own."""
    if number == 0:
        return service
    own = {
        "ARENA_GATEWAY_LISTEN": f"127.0.0.1:{free_port()}",
        "ARENA_GATEWAY_METRICS_LISTEN": f"127.0.0.1:{free_port()}",
        "ARENA_GATEWAY_RELAY_LISTEN": f"unix:{chosen.data_dir / f'relay-{number}.sock'}",
    }
    return Service(f"gateway-{number}", service.command, {**service.environment, **own})


def bare_bots(addresses: Sequence[str], tokens: Sequence[str], credit: int) -> list[Command]:
    """A process of the bare protocol for each token, at the gateways in turn."""
    return [
        Command(
            python("-m", "arena.bench.bare_bot", str(credit)),
            {"ARENA_ADDRESS": addresses[number % len(addresses)], "ARENA_TOKEN": token},
        )
        for number, token in enumerate(tokens)
    ]


def register(chosen: Settings, count: int) -> list[tuple[int, str]]:
    """So many bots of different owners in one transaction: (bot id, token)."""
    database = Database(chosen.database_url)
    database.upgrade()
    with database.write() as connection:
        made = [accounts.register(connection, f"owner{number}", f"bare{number}") for number in range(count)]
    database.close()
    return [(bot.id, token) for bot, token in made]


def results(database: Database) -> int:
    """Matches with a result."""
    with database.read() as connection:
        return int(connection.execute(select(func.count()).select_from(result)).scalar_one())


def scrape(chosen: Settings, *names: str) -> list[float]:
    """Metrics of the first gateway that have no labels."""
    with urllib.request.urlopen(f"http://{chosen.gateway.metrics_listen}/metrics") as page:
        lines = page.read().decode().splitlines()
    found = dict(line.split() for line in lines if line.startswith(names))
    return [float(found[name]) for name in names]


def spec(number: int) -> Spec:
    """A match of two that nobody rates; the number is its deal."""
    rules, secret = engines.get(GAME), secret_from_seed(number)
    committed = commitment(f"m_{number}", 1, rules_hash(rules), secret)
    return Spec(
        match_id=f"m_{number}",
        set_id=f"s_{number}",
        attempt=1,
        game_index=0,
        game=GAME,
        config={},
        seats=(Player("bare", "1", "bench"), Player("scripted", "1", "bench")),
        time_control=UNHURRIED,
        deal=Deal("own", committed, (), 1, False, secret),
        rated=False,
        bot_seeds=(0, 0),
    )
