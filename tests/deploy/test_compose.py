"""The compose file, as far as it can be checked without a container engine: its schema, and its commands as processes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from sqlalchemy import select

from arena import valkey
from arena.bench.processes import free_port
from arena.storage import accounts
from arena.storage.db import Database
from arena.storage.tables import bot, game_set, set_seat, worker
from tests.deploy.tools import DEPLOY
from tests.integration.harness import DEMO_BOT, until

ROOT = DEPLOY.parent
BIN = Path(sys.executable).parent
EVERYWHERE = re.compile(r"0\.0\.0\.0:(\d+)")
PATIENCE_S = 300
"""Seven processes start at once, perhaps on a busy machine."""
OURS = ("prepare", "gateway", "web", "scheduler", "worker")


class Loader(yaml.SafeLoader):
    """Compose has tags of its own, for files that change others."""


Loader.add_constructor("!override", lambda loader, node: loader.construct_sequence(node))


def composed() -> dict[str, Any]:
    """The services of compose.yaml."""
    services: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    return services


def test_compose_files_fit_the_schema() -> None:
    """Both files are what the compose specification allows."""
    command = [BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec"]
    subprocess.run([*command, DEPLOY / "compose.yaml"], check=True)
    tls = yaml.load((DEPLOY / "compose.tls.yaml").read_text(), Loader)
    document = json.dumps(tls).encode()
    subprocess.run([*command, "-"], input=document, check=True)


def test_the_dockerfile_pleases_hadolint() -> None:
    """No complaint of any weight."""
    subprocess.run([BIN / "hadolint", DEPLOY / "Dockerfile"], check=True)


def test_what_the_image_takes_is_there_and_let_through() -> None:
    """Each COPY of the Dockerfile names something that exists and that .dockerignore lets through."""
    let_through = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    sources = [
        source
        for line in (DEPLOY / "Dockerfile").read_text().splitlines()
        if line.startswith("COPY ") and "--from" not in line
        for source in line.split()[1:-1]
    ]
    assert "arena" in sources
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(
            source == name or source.startswith(f"{name}/") or name.startswith(f"{source}/") for name in let_through
        ), source


def test_services_are_confined_watched_and_published_on_loopback_alone() -> None:
    """Ours run read-only and without capabilities; all have a health check; no port is open to other machines."""
    for name, service in composed().items():
        assert "healthcheck" in service, name
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:"), port  # whatever somebody writes into .env
        for source in (volume.split(":")[0] for volume in service.get("volumes", ()) if volume.startswith("./")):
            assert (DEPLOY / source).exists(), source
        if name in OURS:
            assert service["read_only"]
            assert service["cap_drop"] == ["ALL"]
    scraped = yaml.safe_load((DEPLOY / "prometheus" / "compose.yml").read_text())["scrape_configs"]
    assert {job["job_name"] for job in scraped} == set(OURS) - {"prepare"}
    for job in scraped:
        (source,) = job["dns_sd_configs"]
        listens = composed()[source["names"][0]]["environment"].values()
        assert f"0.0.0.0:{source['port']}" in listens


@dataclass
class Machine:
    """The services as processes of this machine: same commands, same environment, other addresses."""

    folder: Path
    database_url: str
    redis_url: str
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, name: str) -> dict[str, str]:
        """Starts a service once more; its environment."""
        service = composed()[name]
        own = {
            key: EVERYWHERE.sub(lambda _: f"127.0.0.1:{free_port()}", str(value))
            for key, value in service["environment"].items()
        }
        own |= {
            "ARENA_DATABASE_URL": self.database_url,
            "ARENA_REDIS_URL": self.redis_url,
            "ARENA_DATA_DIR": str(self.folder / "data"),
            "ARENA_CONFIG": str(self.folder / "arena.toml"),
            "PATH": f"{BIN}:{os.environ['PATH']}",
        }
        with (self.folder / f"{name}-{len(self.processes)}.log").open("wb") as log:
            # As from WORKDIR: what is imported there is imported here.
            self.processes.append(
                subprocess.Popen(service["command"], env={**os.environ, **own}, cwd=ROOT, stdout=log, stderr=log)
            )
        return own

    def wait(self) -> int:
        """The exit status of what was started last."""
        return self.processes.pop().wait(PATIENCE_S)

    def well(self, name: str, environment: dict[str, str]) -> bool:
        """Whether the service's own health check is content."""
        test = composed()[name]["healthcheck"]["test"]
        ports = {
            EVERYWHERE.search(str(value))[1]: environment[key]  # type: ignore[index]
            for key, value in composed()[name]["environment"].items()
            if EVERYWHERE.search(str(value))
        }
        words = [re.sub(r"127\.0\.0\.1:(\d+)", lambda found: ports[found[1]], word) for word in test[1:]]
        assert words[0] == "python"
        return subprocess.run([sys.executable, *words[1:]], cwd=ROOT, capture_output=True, check=False).returncode == 0

    def stop(self) -> list[int]:
        """Ends all as an engine does; exit statuses, the newest process first."""
        statuses = []
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            try:
                statuses.append(process.wait(PATIENCE_S))
            except subprocess.TimeoutExpired:
                process.kill()
                statuses.append(process.wait())
        return statuses


@pytest.fixture
def machine(tmp_path: Path, postgresql: str) -> Iterator[Machine]:
    """PostgreSQL with an empty database, Valkey on a TCP port with the flags that compose.yaml gives it."""
    plain = postgresql.replace("+psycopg", "")
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS composed WITH (FORCE)")
        connection.execute("CREATE DATABASE composed")
    port = free_port()
    flags = composed()["valkey"]["command"][1:]
    server = subprocess.Popen(
        [valkey.binary(), "--bind", "127.0.0.1", "--port", str(port), *flags], stdout=subprocess.DEVNULL, cwd=tmp_path
    )
    (tmp_path / "arena.toml").write_text('[[ladders]]\ngame = "balloon-challenge"\nplayers = 2\n')
    running = Machine(tmp_path, postgresql.replace("/postgres?", "/composed?"), f"redis://127.0.0.1:{port}/0")
    yield running
    for process in running.processes:
        process.kill()
        process.wait()
    server.terminate()
    server.wait(30)


@contextlib.contextmanager
def bots(database: Database, gateways: list[str]) -> Iterator[None]:
    """A bot at each gateway."""
    running = []
    for number, address in enumerate(gateways):
        with database.write() as connection:
            token = accounts.register(connection, f"owner-{number}", f"bot-{number}")[1]
        environment = {**os.environ, "ARENA_ADDRESS": address, "ARENA_TOKEN": token}
        running.append(
            subprocess.Popen(
                [sys.executable, str(DEMO_BOT), "--name", f"bot-{number}", "--credit", "4"], env=environment
            )
        )
    yield
    for process in running:
        process.terminate()
        process.wait(30)


def played(database: Database) -> tuple[set[str], set[str]]:
    """(workers that finished a set, bots in those sets)."""
    with database.read() as connection:
        rows = connection.execute(
            select(worker.c.name, bot.c.name)
            .select_from(game_set)
            .join(worker, worker.c.id == game_set.c.worker_id)
            .join(set_seat, set_seat.c.set_id == game_set.c.id)
            .join(bot, bot.c.id == set_seat.c.bot_id)
            .where(game_set.c.state == "FINISHED")
        ).all()
    return {row[0] for row in rows}, {row[1] for row in rows}


def scrape(environment: dict[str, str]) -> str:
    """What a web process tells Prometheus."""
    with urllib.request.urlopen(f"http://{environment['ARENA_WEB_LISTEN']}/metrics") as response:
        text: str = response.read().decode()
    return text


def test_two_of_each_play_on_one_postgresql(machine: Machine) -> None:
    """Two gateways, workers and web processes and a scheduler, started as compose.yaml starts them: bots at either
    gateway play, both workers finish sets, both web processes tell the same, health checks are content, all end well,
    and every rating is what the ledger gives."""
    machine.start("prepare")
    assert machine.wait() == 0
    gateways, webs, workers = ([machine.start(name) for _ in range(2)] for name in ("gateway", "web", "worker"))
    scheduler = machine.start("scheduler")
    services = [("gateway", one) for one in gateways] + [("web", one) for one in webs]
    services += [("worker", one) for one in workers] + [("scheduler", scheduler)]
    for service in services:
        until(
            lambda service=service: machine.well(*service), PATIENCE_S, f"the health check of {service[0]} is content"
        )
    database = Database(machine.database_url)
    with bots(database, [one["ARENA_GATEWAY_LISTEN"] for one in gateways]):

        def everybody() -> bool:
            finished_by, names = played(database)
            return len(finished_by) == 2 and {"bot-0", "bot-1"} <= names

        until(everybody, PATIENCE_S, "both workers finish sets, and both bots play")
        for web in webs:
            until(lambda web=web: scrape(web).count("\narena_sessions{") == 2, PATIENCE_S, "both gateways are seen")
            assert "\narena_workers 2.0" in scrape(web)
    database.close()
    assert set(machine.stop()) == {0}, [path.read_text()[-2000:] for path in machine.folder.glob("*.log")]
    environment = {**os.environ, **scheduler}
    done = subprocess.run(
        [BIN / "arena", "ladder", "check"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
