"""Decisions and matches a second, beside raw gRPC in the same run.

The latency of one process seat, and many concurrent matches through a gateway and the relay. Figures of one run compare;
absolute ones are this machine's.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena import metrics
from arena.bench import echo, stage
from arena.bench.echo import RoundTrips, until
from arena.bench.processes import Say, load, measure, running
from arena.bench.stage import GAME, UNHURRIED
from arena.gateway.registry import SessionRegistry, connect_redis
from arena.host.play import Finished, play_match
from arena.host.port import Port
from arena.host.processes import LocalBots, Program
from arena.host.remote import Gateways
from arena.host.seats import ScriptedSeat, Seat, SessionSeat
from arena.host.sets import GameDeal, GameJob, NotReady, SetJob, play_set
from arena.match.referee import Reply, Request
from arena.match.spec import Player
from arena.settings import Settings
from arena.supervisor import python
from botarena.v1 import play_pb2 as pb

PARTS: Final = 5
WARM_UP: Final = 200
"""Decisions of a program that do not count."""
RAW_S: Final = 1.0
RAW: Final = {
    "at_our_rhythm": (True, True),
    "back_to_back": (False, True),
    "at_our_rhythm_with_our_settings": (True, False),
    "back_to_back_with_our_settings": (False, False),
}
"""How raw gRPC is measured: whether with pauses, and whether with gRPC as it comes."""
FRAMES = ("arena_gateway_frames_total", "arena_gateway_events_total")


async def latency(decisions: int, say: Say) -> dict[str, Any]:
    """One process seat against the raw round trip over a unix socket, both sides Python, turn and turn about.

    Raw gRPC runs at the seat's rhythm, with as long a pause after each answer as the referee takes till its next question, for
    a processor that has slept answers later; and without a pause. With gRPC as everybody gets it, and as the arena sets it.
    """
    ours: list[float] = []
    pauses: list[float] = []
    raw: dict[str, list[RoundTrips]] = {name: [] for name in RAW}
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        program = Program("bare", "1", python("-m", "arena.bench.bare_bot"), Path(folder) / "bare.log")
        for part in range(PARTS):
            say(f"one seat, part {part + 1} of {PARTS}")
            # As `arena match` plays one game at a time.
            async with LocalBots(Path(folder), alone=True) as bots:
                port = await bots.start(program)
                await _seat_latencies(port, WARM_UP)
                found, pause_us = await _seat_latencies(port, decisions // PARTS)
            ours += found
            pauses.append(pause_us)
            for name, (paced, as_it_comes) in RAW.items():
                pause_us = pauses[-1] if paced else 0.0
                raw[name].append(await echo.measure(1, RAW_S, as_it_comes=as_it_comes, pause_us=pause_us))
    raw_us = {name: median(one.p50_us for one in those) for name, those in raw.items()}
    return {
        "decisions": len(ours),
        "seat_p50_us": round(median(ours), 1),
        "seat_p99_us": round(quantiles(ours, n=100)[98], 1),
        "pause_us": round(median(pauses), 1),
        "raw_p50_us": {name: round(value, 1) for name, value in raw_us.items()},
        "ratio_p50": {name: round(median(ours) / value, 2) for name, value in raw_us.items()},
        "must": "at most 1.6 times raw gRPC, goal 1.3",
    }


async def _seat_latencies(port: Port, count: int) -> tuple[list[float], float]:
    """Of one seat, the other being scripted, in us: latencies of ``count`` decisions, and the median pause before one."""
    found: list[float] = []
    pauses: list[float] = []
    ended = 0.0
    key = Ed25519PrivateKey.generate()

    class Timed(SessionSeat):
        async def decide(self, request: Request) -> Reply:
            nonlocal ended
            began = time.perf_counter()
            reply = await super().decide(request)
            pauses.append((began - ended) * 1e6)
            ended = time.perf_counter()
            found.append((ended - began) * 1e6)
            return reply

    number = 0
    while len(found) < count:
        offer = pb.SetOffered(offer_id=f"o_{number}", game=GAME, players=2, games=1)
        assert await port.offer(offer, 10) is not None
        seats: list[Seat] = [Timed(port, offer.offer_id), ScriptedSeat(lambda request: Reply(request.legal[0]))]
        await play_match(stage.spec(number), seats, key)
        seats[0].void()
        port.release_offer(offer.offer_id)
        number += 1
    return found[:count], median(pauses)


async def relay(matches: int, processes: int, seconds: float, say: Say) -> dict[str, Any]:
    """Concurrent matches of bot processes through a gateway process and the relay, beside as many raw streams."""
    say(f"raw echo from {processes} processes")
    raw = await echo.measure(processes, seconds, as_it_comes=True)
    tuned = await echo.measure(processes, seconds, as_it_comes=False)
    say(f"{matches} matches of {processes} processes through a gateway")
    ours = await _relayed(matches, processes, seconds, say)
    return ours | {
        "raw_round_trips_per_s": round(raw.rate_per_s),
        "raw_with_our_settings_per_s": round(tuned.rate_per_s),
        "raw_server_us": round(raw.server_us, 1),
        "load": load(),
        "ratio": round(ours["decisions_per_s"] / raw.rate_per_s, 2),
        "ratio_with_our_settings": round(ours["decisions_per_s"] / tuned.rate_per_s, 2),
        "must": "at least 1.0, goal 2.5; worker under 60 us",
    }


async def _relayed(matches: int, processes: int, seconds: float, say: Say) -> dict[str, Any]:
    credit = -(-2 * matches // processes)
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        chosen = stage.settings_in(Path(folder), {"limits.credit": credit})
        bots = stage.register(chosen, processes)
        tokens = [token for _, token in bots]
        async with stage.serving(chosen) as (servers, addresses):
            with running(stage.bare_bots(addresses, tokens, credit)) as programs:
                parts = {**servers, "worker": [os.getpid()], "bots": programs}
                return await _relay_rates(chosen, [bot_id for bot_id, _ in bots], matches, parts, seconds, say)


async def _relay_rates(
    chosen: Settings,
    bots: Sequence[int],
    matches: int,
    parts: Mapping[str, Sequence[int]],
    seconds: float,
    say: Say,
) -> dict[str, Any]:
    """This process as the worker of so many matches at once between the bots of these ids."""
    redis = connect_redis(chosen.redis_url or "")
    async with Gateways(SessionRegistry(redis), "bench", lambda: 1) as found:
        tables = [(bots[i % len(bots)], bots[(i + 1) % len(bots)]) for i in range(matches)]
        playing = [asyncio.create_task(_play_on(found, table, number)) for number, table in enumerate(tables)]
        await until(lambda: decisions_asked() >= 20 * matches, 120)
        say(f"measuring for {seconds:.0f} s")
        before = stage.scrape(chosen, *FRAMES)
        rate, cost = await measure(decisions_asked, parts, seconds)
        frames, events = (after - before for after, before in zip(stage.scrape(chosen, *FRAMES), before, strict=True))
        for task in playing:
            task.cancel()
        failures = [r for r in await asyncio.gather(*playing, return_exceptions=True) if isinstance(r, Exception)]
        if failures:
            raise failures[0]
    await redis.aclose()
    return {
        "matches": matches,
        "processes": len(bots),
        "decisions_per_s": round(rate),
        "cpu_us_per_decision": {part: round(cost_us, 1) for part, cost_us in cost.items()},
        "events_per_frame_to_bots": round(events / max(1, frames), 1),
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


def decisions_asked() -> int:
    """Decisions that this process has had answers to."""
    return sum(metrics.current().decisions.counts)
