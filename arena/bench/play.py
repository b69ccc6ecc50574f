"""Decisions and matches a second, beside raw gRPC in the same run.

Three parts: the latency of one process seat; many concurrent matches through a gateway and the relay; and whole matches
through everything (scheduler, Celery, SQL, ratings). Figures of one run compare; absolute ones are this machine's.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import func, select

import engines
from arena import metrics, settings, valkey
from arena.bench.echo import Echo, until, wait_streams
from arena.gateway.registry import SessionRegistry, connect_redis
from arena.host.play import Finished, play_match
from arena.host.port import Port
from arena.host.processes import LocalBots, Program, dies_with_parent
from arena.host.remote import Gateways
from arena.host.seats import ScriptedSeat, Seat, SessionSeat
from arena.host.sets import GameDeal, GameJob, NotReady, SetJob, play_set
from arena.match.deal import Deal, commitment, rules_hash, secret_from_seed
from arena.match.referee import Reply, Request
from arena.match.spec import Player, Spec, TimeControl
from arena.settings import GatewaySettings, Settings
from arena.storage import accounts
from arena.storage.db import Database
from arena.storage.tables import result
from arena.supervisor import wait_for
from botarena.v1 import play_pb2 as pb

GAME = "balloon-challenge"
BARE_BOT = ("-m", "arena.bench.bare_bot")
ECHO_BOT = ("-m", "arena.bench.echo")
UNHURRIED = TimeControl(bank_ms=3_600_000, increment_ms=0, move_cap_ms=600_000)
"""Nobody's clock is the subject here, and a swamped bot is to be slow, not lost."""

Say = Callable[[str], None]


async def latency(decisions: int, say: Say) -> dict[str, Any]:
    """One process seat against the raw round trip over a unix socket, both sides Python, turn and turn about."""
    ours: list[float] = []
    raw: list[float] = []
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        program = Program("bare", "1", (sys.executable, *BARE_BOT), Path(folder) / "bare.log")
        async with LocalBots(Path(folder)) as bots, _echo(f"unix:{folder}/echo.sock", 1) as echo:
            port = await bots.start(program)
            echo.running = False
            for part in range(5):
                say(f"one seat, part {part + 1} of 5")
                ours += await _seat_latencies(port, decisions // 5)
                raw += await _raw_latencies(folder, decisions // 5)
    return {
        "decisions": len(ours),
        "seat_p50_us": round(median(ours), 1),
        "seat_p99_us": round(quantiles(ours, n=100)[98], 1),
        "raw_p50_us": round(median(raw), 1),
        "raw_p99_us": round(quantiles(raw, n=100)[98], 1),
        "ratio_p50": round(median(ours) / median(raw), 2),
        "must": "at most 1.6, goal 1.3",
    }


async def _seat_latencies(port: Port, count: int) -> list[float]:
    """Latencies of ``count`` decisions of one seat in us, the other seat being scripted."""
    found: list[float] = []
    key = Ed25519PrivateKey.generate()

    class Timed(SessionSeat):
        async def decide(self, request: Request) -> Reply:
            began = time.perf_counter()
            reply = await super().decide(request)
            found.append((time.perf_counter() - began) * 1e6)
            return reply

    number = 0
    while len(found) < count:
        offer = pb.SetOffered(offer_id=f"o_{number}", game=GAME, players=2, games=1)
        assert await port.offer(offer, 10) is not None
        seats: list[Seat] = [Timed(port, offer.offer_id), ScriptedSeat(lambda request: Reply(request.legal[0]))]
        await play_match(_spec(number), seats, key)
        seats[0].void()
        port.release_offer(offer.offer_id)
        number += 1
    return found[:count]


async def _raw_latencies(folder: str, count: int) -> list[float]:
    address = f"unix:{folder}/raw-{time.monotonic_ns()}.sock"
    async with _echo(address, 1) as echo:
        echo.round_trips_us.clear()
        await until(lambda: len(echo.round_trips_us) >= count, 60)
        return echo.round_trips_us[:count]


@contextlib.asynccontextmanager
async def _echo(address: str, clients: int) -> AsyncIterator[Echo]:
    """An echo server with so many client processes, all of them answering."""
    echo = Echo()
    await echo.start(address)
    with _processes([ECHO_BOT] * clients, [{"ARENA_ADDRESS": address}] * clients):
        await wait_streams(echo, clients)
        yield echo
        await echo.stop()


async def relay(matches: int, processes: int, seconds: float, say: Say) -> dict[str, Any]:
    """Concurrent matches of bot processes through a gateway process and the relay, beside as many raw streams."""
    say(f"raw echo from {processes} processes")
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        async with _echo(f"unix:{folder}/echo.sock", processes) as echo:
            before = echo.count
            began, cpu = time.monotonic(), time.process_time()
            await asyncio.sleep(seconds)
            raw_rate = (echo.count - before) / (time.monotonic() - began)
            raw_cpu_us = (time.process_time() - cpu) / max(1, echo.count - before) * 1e6
    say(f"{matches} matches of {processes} processes through a gateway")
    ours = await _relayed(matches, processes, seconds, say)
    return ours | {
        "raw_round_trips_per_s": round(raw_rate),
        "raw_server_us": round(raw_cpu_us, 1),
        "ratio": round(ours["decisions_per_s"] / raw_rate, 2),
        "must": "at least 1.0, goal 2.5; worker under 60 us",
    }


async def _relayed(matches: int, processes: int, seconds: float, say: Say) -> dict[str, Any]:
    credit = -(-2 * matches // processes)
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder, contextlib.ExitStack() as stack:
        chosen, environment = _settings(Path(folder), credit)
        bots = _register(chosen, processes)
        stores = stack.enter_context(_processes([valkey.command(Path(folder) / "valkey.sock")], [{}], python=False))
        gateways = stack.enter_context(_processes([("-m", "arena", "gateway")], [environment]))
        await wait_for(chosen.gateway.listen, 30)
        own = [{"ARENA_ADDRESS": chosen.gateway.listen, "ARENA_TOKEN": token} for _, token in bots]
        programs = stack.enter_context(_processes([(*BARE_BOT, str(credit))] * processes, own))
        redis = connect_redis(chosen.redis_url or "")
        async with Gateways(SessionRegistry(redis), "bench", lambda: 1) as found:
            tables = [(bots[i % processes][0], bots[(i + 1) % processes][0]) for i in range(matches)]
            playing = [asyncio.create_task(_play_on(found, table, number)) for number, table in enumerate(tables)]
            await until(lambda: decisions_asked() >= 20 * matches, 120)
            say(f"measuring for {seconds:.0f} s")
            parts = {"worker": [os.getpid()], "gateway": gateways, "valkey": stores, "bots": programs}
            frames = _frames(chosen)
            measured = await measure(decisions_asked, parts, seconds)
            frames = [after - before for before, after in zip(frames, _frames(chosen), strict=True)]
            for task in playing:
                task.cancel()
            failures = [r for r in await asyncio.gather(*playing, return_exceptions=True) if isinstance(r, Exception)]
            if failures:
                raise failures[0]
        await redis.aclose()
    rate, cost = measured
    return {
        "matches": matches,
        "processes": processes,
        "decisions_per_s": round(rate),
        "cpu_us_per_decision": {part: round(cost_us, 1) for part, cost_us in cost.items()},
        "events_per_frame_to_bots": round(frames[1] / max(1, frames[0]), 1),
    }


async def _play_on(gateways: Gateways, table: tuple[int, int], number: int) -> None:
    """Plays sets between two bots, one after the other, for nobody."""
    key = Ed25519PrivateKey.generate()
    for turn in range(1_000_000):
        game = GameJob(f"m_{number}_{turn}", 0, 1, (0, 1))
        job = SetJob(
            set_id=f"s_{number}_{turn}",
            attempt=1,
            game=GAME,
            config={},
            players=(Player("a", "1", "bench"), Player("b", "1", "bench")),
            games=(game,),
            time_control=UNHURRIED,
            deal_mode="own",
            rated=False,
            seed=number,
        )
        ports = _BenchPorts(gateways, table)
        try:
            await play_set(job, ports, _NoJournal(), key)
        except NotReady:  # 500 offers at once may take longer than one bot has to answer
            continue
        finally:
            ports.release()


class _BenchPorts:
    """The sessions of two bots at a gateway."""

    def __init__(self, gateways: Gateways, table: tuple[int, int]) -> None:
        self._gateways = gateways
        self._table = table
        self._acquired: dict[int, Port] = {}

    async def open(self, position: int) -> Port:
        if position not in self._acquired:
            self._acquired[position] = await self._gateways.acquire(self._table[position], "0")
        return self._acquired[position]

    async def close_game(self) -> None:
        pass

    def release(self) -> None:
        for position in self._acquired:
            self._gateways.release(self._table[position], "0")


class _NoJournal:
    """Results that nobody wants."""

    async def begin(self, deals: Sequence[GameDeal]) -> None:
        pass

    async def finished(self, game: GameJob, finished: Finished) -> Mapping[int, pb.RatingChange]:
        return {}


async def whole(processes: int, seconds: float, say: Say) -> dict[str, Any]:
    """Whole matches a second through everything: scheduler, Celery, SQL and ratings included."""
    say(f"an arena with {processes} bots")
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder, contextlib.ExitStack() as stack:
        chosen, environment = _settings(Path(folder), 32)
        (Path(folder) / "arena.toml").write_text(f'[[ladders]]\ngame = "{GAME}"\nplayers = 2\n')
        environment = {name: value for name, value in environment.items() if "REDIS" not in name} | {
            "ARENA_WEB_LISTEN": f"127.0.0.1:{free_port()}",
            "ARENA_SCHEDULER_METRICS_LISTEN": f"127.0.0.1:{free_port()}",
            "ARENA_WORKER_METRICS_LISTEN": f"127.0.0.1:{free_port()}",
            "ARENA_WORKER_PROCESSES": "1",
            "ARENA_SCHEDULER_HOUSE_SETS": "0",
            "ARENA_SCHEDULER_BACKLOG": "64",
            "ARENA_CONFIG": str(Path(folder) / "arena.toml"),
        }
        bots = _register(chosen, processes)
        arena = stack.enter_context(_processes([("-m", "arena", "up")], [environment]))
        await wait_for(chosen.gateway.listen, 60)
        own = [{"ARENA_ADDRESS": chosen.gateway.listen, "ARENA_TOKEN": token} for _, token in bots]
        stack.enter_context(_processes([(*BARE_BOT, "32")] * processes, own))
        database = Database(chosen.database_url)
        stack.callback(database.close)
        await until(lambda: results(database) >= 2 * processes, 120)
        say(f"measuring for {seconds:.0f} s")
        servers = {f"{command_name(pid)}-{pid}": [pid] for pid in descendants(arena[0])}
        rate, cost_us = await measure(lambda: results(database), servers, seconds)
    by_kind: dict[str, float] = {}
    for name, cost in cost_us.items():
        kind = name.rpartition("-")[0]
        by_kind[kind] = by_kind.get(kind, 0.0) + cost / 1000
    server_ms = sum(cost for kind, cost in by_kind.items())
    return {
        "bots": processes,
        "matches_per_s": round(rate, 1),
        "server_cpu_ms_per_match": {kind: round(cost, 2) for kind, cost in sorted(by_kind.items()) if cost >= 0.01},
        "matches_per_s_per_core": round(1000 / server_ms, 1) if server_ms else None,
        "goal": "150 a core",
    }


async def measure(
    count: Callable[[], int], parts: Mapping[str, Sequence[int]], seconds: float
) -> tuple[float, dict[str, float]]:
    """Events a second, and processor time an event in us for each part, over ``seconds``."""
    before, spent = count(), {part: sum(map(cpu_s, pids)) for part, pids in parts.items()}
    began = time.monotonic()
    await asyncio.sleep(seconds)
    counted, elapsed_s = max(1, count() - before), time.monotonic() - began
    costs = {part: (sum(map(cpu_s, pids)) - spent[part]) / counted * 1e6 for part, pids in parts.items()}
    return counted / elapsed_s, costs


def decisions_asked() -> int:
    """Decisions that this process has had answers to."""
    return sum(metrics.current().decisions.counts)


def results(database: Database) -> int:
    """Matches with a result."""
    with database.read() as connection:
        return int(connection.execute(select(func.count()).select_from(result)).scalar_one())


def cpu_s(pid: int) -> float:
    """Processor time of a process so far; 0 if it is gone."""
    try:
        values = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")


def descendants(pid: int) -> list[int]:
    """All processes below ``pid``."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, task.read_text().split()):
                found += [child, *descendants(child)]
    return found


def command_name(pid: int) -> str:
    """What a process of the arena is, from its command."""
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        for kind in ("celery", "gateway", "web", "scheduler", "valkey-server", "bots.house"):
            if any(word.endswith(kind) for word in words):
                return {"celery": "worker", "valkey-server": "valkey", "bots.house": "house"}.get(kind, kind)
    return "other"


def _frames(chosen: Settings) -> list[int]:
    """Frames that the gateway has written to bots, and events in them."""
    with urllib.request.urlopen(f"http://{chosen.gateway.metrics_listen}/metrics") as page:
        lines = page.read().decode().splitlines()
    found = {line.split()[0]: float(line.split()[1]) for line in lines if line.startswith("arena_gateway_")}
    return [int(found["arena_gateway_frames_total"]), int(found["arena_gateway_events_total"])]


def _settings(folder: Path, credit: int) -> tuple[Settings, dict[str, str]]:
    chosen = Settings(
        data_dir=folder,
        redis_url=f"unix://{folder / 'valkey.sock'}",
        gateway=GatewaySettings(listen=f"127.0.0.1:{free_port()}", metrics_listen=f"127.0.0.1:{free_port()}"),
    )
    return chosen, settings.environment(chosen) | {"ARENA_LIMITS_CREDIT": str(credit)}


def _register(chosen: Settings, count: int) -> list[tuple[int, str]]:
    """So many bots of different owners: (bot id, token)."""
    database = Database(chosen.database_url)
    database.upgrade()
    with database.write() as connection:
        made = [accounts.register(connection, f"owner{number}", f"bare{number}") for number in range(count)]
    database.close()
    return [(bot.id, token) for bot, token in made]


def _spec(number: int) -> Spec:
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


@contextlib.contextmanager
def _processes(
    commands: Sequence[Sequence[str]], environments: Sequence[Mapping[str, str]], *, python: bool = True
) -> Iterator[list[int]]:
    """Processes while the block runs; gives their ids. ``python``: the commands are arguments of this Python."""
    own = [sys.executable] if python else []
    started = [
        subprocess.Popen(
            dies_with_parent([*own, *command]),
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for command, environment in zip(commands, environments, strict=True)
    ]
    try:
        yield [process.pid for process in started]
    finally:
        for process in started:
            process.send_signal(signal.SIGTERM)
        for process in started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port() -> int:
    """A port of the loopback interface that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
