"""Decisions and matches a second, beside raw gRPC in the same run.

The latency of one process seat, and many concurrent matches through a gateway and the relay. Figures of one run compare;
absolute ones are this machine's.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena.bench import echo, stage
from arena.bench.echo import RoundTrips, until
from arena.bench.processes import Command, Say, alive, load, measure, running
from arena.bench.stage import GAME
from arena.errors import ArenaError
from arena.host.play import play_match
from arena.host.port import Port
from arena.host.processes import LocalBots, Program
from arena.host.seats import ScriptedSeat, Seat, SessionSeat
from arena.match.referee import Reply, Request
from arena.supervisor import python
from botarena.v1 import play_pb2 as pb

PARTS: Final = 9
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
FRAMES: Final = ("arena_gateway_frames_total", "arena_gateway_events_total")
ANSWERS: Final = "arena_gateway_answer_seconds_count"


async def latency(decisions: int, say: Say) -> dict[str, Any]:
    """One process seat against the raw round trip over a unix socket, both sides Python, turn and turn about.

    Raw gRPC runs at the seat's rhythm, with as long a pause after each answer as the referee takes till its next question, for
    a processor that has slept answers later; and without a pause. With gRPC as everybody gets it, and as the arena sets it.
    A ratio is the median of the parts', each of what ran within the same seconds: a machine may be twice as fast a minute later.
    """
    ours: list[list[float]] = []
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
            ours.append(found)
            pauses.append(pause_us)
            for name, (paced, as_it_comes) in RAW.items():
                pause_us = pauses[-1] if paced else 0.0
                raw[name].append(await echo.measure(1, RAW_S, as_it_comes=as_it_comes, pause_us=pause_us))
    ours_us = [median(found) for found in ours]
    ratios = {
        name: [seat_us / one.p50_us for seat_us, one in zip(ours_us, those, strict=True)] for name, those in raw.items()
    }
    together = [us for found in ours for us in found]
    return {
        "decisions": len(together),
        "seat_p50_us": round(median(ours_us), 1),
        "seat_p99_us": round(quantiles(together, n=100)[98], 1),
        "pause_us": round(median(pauses), 1),
        "raw_p50_us": {name: round(median(one.p50_us for one in those), 1) for name, those in raw.items()},
        "ratio_p50": {name: round(median(those), 2) for name, those in ratios.items()},
        "ratio_p50_of_parts": {name: [round(one, 2) for one in those] for name, those in ratios.items()},
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


async def relay(matches: int, processes: int, workers: int, seconds: float, say: Say) -> dict[str, Any]:
    """Concurrent matches of bot processes through a gateway process and the relay, beside as many raw streams.

    Raw gRPC runs before and after, for the machine may have changed in between: its rate is the mean of both.
    """
    raw, tuned = await _raw_rates(processes, seconds, say)
    say(f"{matches} matches of {processes} processes through a gateway")
    ours = await _relayed(matches, processes, workers, seconds, say)
    raw_after, tuned_after = await _raw_rates(processes, seconds, say)
    raw_per_s = (raw.rate_per_s + raw_after.rate_per_s) / 2
    tuned_per_s = (tuned.rate_per_s + tuned_after.rate_per_s) / 2
    return ours | {
        "raw_round_trips_per_s": round(raw_per_s),
        "raw_round_trips_per_s_before_and_after": [round(raw.rate_per_s), round(raw_after.rate_per_s)],
        "raw_with_our_settings_per_s": round(tuned_per_s),
        "raw_server_us": round((raw.server_us + raw_after.server_us) / 2, 1),
        "load": load(),
        "ratio": round(ours["decisions_per_s"] / raw_per_s, 2),
        "ratio_with_our_settings": round(ours["decisions_per_s"] / tuned_per_s, 2),
        "must": "at least 1.0, goal 2.5; worker under 60 us",
    }


async def _raw_rates(processes: int, seconds: float, say: Say) -> tuple[RoundTrips, RoundTrips]:
    """Round trips as gRPC comes, and with the arena's settings."""
    say(f"raw echo from {processes} processes")
    raw = await echo.measure(processes, seconds, as_it_comes=True)
    return raw, await echo.measure(processes, seconds, as_it_comes=False)


async def _relayed(matches: int, processes: int, workers: int, seconds: float, say: Say) -> dict[str, Any]:
    credit = -(-2 * matches // processes)
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        chosen = stage.settings_in(Path(folder), {"limits.credit": credit})
        bots = stage.register(chosen, processes)
        ids, tokens = [str(bot_id) for bot_id, _ in bots], [token for _, token in bots]
        words = ("-m", "arena.bench.relay_worker", str(chosen.redis_url), str(matches))
        playing = [Command(python(*words, str(part), str(workers), *ids)) for part in range(workers)]
        log = Path(folder) / "workers.log"
        async with stage.serving(chosen) as (servers, addresses):
            with (
                running(stage.bare_bots(addresses, tokens, credit)) as programs,
                running(playing, log) as started,
            ):

                def answered() -> int:
                    return int(stage.scrape(chosen, ANSWERS)[0])

                await _steady(lambda: answered() >= 20 * matches, started, log)
                say(f"measuring for {seconds:.0f} s")
                before = stage.scrape(chosen, *FRAMES)
                parts = {**servers, "worker": started, "bots": programs}
                rate, cost = await measure(answered, parts, seconds)
                frames, events = (
                    after - earlier for after, earlier in zip(stage.scrape(chosen, *FRAMES), before, strict=True)
                )
                await _steady(lambda: True, started, log)
    return {
        "matches": matches,
        "processes": processes,
        "workers": workers,
        "decisions_per_s": round(rate),
        "cpu_us_per_decision": {part: round(cost_us, 1) for part, cost_us in cost.items()},
        "events_per_frame_to_bots": round(events / max(1, frames), 1),
    }


async def _steady(condition: Callable[[], bool], workers: Sequence[int], log: Path) -> None:
    """Waits for a condition. Raises ArenaError if a worker ends, TimeoutError."""
    await until(lambda: condition() or not all(map(alive, workers)), 120, every_s=0.2)
    if not all(map(alive, workers)):
        raise _ended(log)


def _ended(log: Path) -> ArenaError:
    return ArenaError(f"a worker of the bench has ended; it printed:\n{log.read_text()[-2000:]}")
