"""Many bots that are connected and do nothing: what a gateway needs to hold them, and how soon all of them answer.

The gateway is a process as an operator runs it, with its registry in Redis; this process is the worker that asks.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena.bench import stage
from arena.bench.echo import until
from arena.bench.processes import Command, Say, Spending, load, memory_kib, raise_file_limit, running
from arena.gateway.registry import SessionRegistry, connect_redis
from arena.host.remote import Gateways
from arena.host.seats import SessionSeat
from arena.match.deal import ChanceStream
from arena.match.record import commitment_receipt
from arena.match.referee import Referee, Step
from arena.match.spec import Spec
from arena.settings import Settings
from arena.supervisor import python

OWN_FILES = 512
"""Files that a process of the arena has open beside its connections, and then some."""
ALL_ANSWER_S = 5.0
MEMORY_KIB = 1024 * 1024
SLICE = 50
"""Requests that are made without looking at the streams in between."""
KEY = Ed25519PrivateKey.generate()
PATIENCE_S = 120.0
"""How long the slowest answer is waited for, so that the figure is there when the goal is missed."""


@dataclass(frozen=True, slots=True)
class Question:
    """A match and its first step."""

    spec: Spec
    receipt: bytes
    step: Step


async def idle(sessions: int, clients: int, a_connection: int, rest_s: float, say: Say) -> dict[str, Any]:
    """Connects the bots, lets them rest, and asks each for one decision. Raises UserError if files are too few."""
    raise_file_limit(sessions // a_connection + OWN_FILES)
    others = {
        "limits.connections_per_address": sessions,
        "limits.starts_per_s": sessions,
        "limits.start_burst": sessions,
    }
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        chosen = stage.settings_in(Path(folder), others)
        say(f"{sessions} accounts, bots and tokens")
        bots = stage.register(chosen, sessions)
        async with stage.serving(chosen) as (servers, [address]):
            before_kib = memory_kib(servers["gateway"][0])
            say(f"{sessions} bots connect from {clients} processes")
            began = time.monotonic()
            tokens = [token for _, token in bots]
            with running(_clients(Path(folder), address, tokens, clients, a_connection)) as playing:
                await until(lambda: _connected(chosen) >= sessions, 60 + sessions / 20, every_s=2.0)
                connect_s = time.monotonic() - began
                say(f"all are there; {rest_s:.0f} s of rest")
                rest = await _rest(servers, rest_s)
                say("one request for each")
                asked = await _ask_all(
                    chosen, [bot_id for bot_id, _ in bots], {**servers, "worker": [os.getpid()], "bots": playing}
                )
                gateway = servers["gateway"][0]
                resident_kib, peak_kib = memory_kib(gateway), memory_kib(gateway, "VmHWM")
    return {
        "sessions": sessions,
        "bots_a_connection": a_connection,
        "connect_s": round(connect_s, 1),
        "gateway_kib": {"without": before_kib, "with": resident_kib, "peak": peak_kib},
        "kib_a_session": round((resident_kib - before_kib) / sessions, 1),
        "idle_core_share": rest,
        **asked,
        "load": load(),
        "goals": {
            "all answer within 5 s": asked["answered"] == sessions and asked["all_answered_s"] <= ALL_ANSWER_S,
            "the gateway stays under 1 GiB": peak_kib < MEMORY_KIB,
        },
    }


def _connected(chosen: Settings) -> float:
    [sessions] = stage.scrape(chosen, "arena_gateway_sessions")
    return sessions


def _clients(folder: Path, address: str, tokens: Sequence[str], clients: int, a_connection: int) -> list[Command]:
    """Processes with a share of the tokens each, in files, for they are too many for an environment."""
    commands = []
    for number in range(clients):
        path = folder / f"tokens-{number}"
        path.write_text("\n".join(tokens[number::clients]))
        commands.append(Command(python("-m", "arena.bench.idle_bots", address, str(a_connection), str(path))))
    return commands


async def _rest(servers: Mapping[str, Sequence[int]], seconds: float) -> dict[str, float]:
    """Of a core, what each kind of process uses while nobody plays: pings, leases in the registry, revoked tokens."""
    spending = Spending(servers)
    await asyncio.sleep(seconds)
    return {kind: round(spent_s / seconds, 3) for kind, spent_s in spending.read_s().items()}


async def _ask_all(chosen: Settings, bots: Sequence[int], parts: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """One decision of each bot, all asked at once: how many answered and when, and what each part spent on that."""
    redis = connect_redis(chosen.redis_url or "")
    registry = SessionRegistry(redis)
    began = time.monotonic()
    listed = len(await registry.list_online())
    list_s = time.monotonic() - began
    async with Gateways(registry, "bench", lambda: 1) as gateways:
        began = time.monotonic()
        seats = [SessionSeat(await gateways.acquire(bot_id, "0"), "") for bot_id in bots]
        find_s = time.monotonic() - began
        requests = [await _request(number) for number in range(len(seats))]
        spending = Spending(parts)
        took = await _answers(seats, requests)
        spent_s = spending.read_s()
        for seat in seats:
            seat.void()
    await redis.aclose()
    return {
        "registry_listed": listed,
        "registry_list_s": round(list_s, 2),
        "found_s": round(find_s, 2),
        "answered": len(took),
        "answer_p50_s": round(median(took), 2),
        "answer_p99_s": round(quantiles(took, n=100)[98], 2),
        "all_answered_s": round(took[-1], 2),
        "cpu_us_per_answer": {part: round(used_s / len(took) * 1e6) for part, used_s in spent_s.items()},
    }


async def _answers(seats: Sequence[SessionSeat], requests: Sequence[Question]) -> list[float]:
    """Asks every seat its question; seconds until each answer, sorted. Raises what went wrong with one."""
    began = time.monotonic()
    asking = []
    for seat, question in zip(seats, requests, strict=True):
        asking.append(asyncio.create_task(_ask(seat, question, began)))
        if len(asking) % SLICE == 0:
            await asyncio.sleep(0)  # the stream to the gateway must not be starved: it would be taken for dead
    done, late = await asyncio.wait(asking, timeout=PATIENCE_S)
    for task in late:
        task.cancel()
    if failures := [error for task in done if (error := task.exception()) is not None]:
        raise failures[0]
    return sorted(task.result() for task in done)


async def _request(number: int) -> Question:
    """A match's first question, with what comes before it."""
    spec = stage.spec(number)
    step = Referee(spec, ChanceStream(spec.deal.seed(spec.match_id, spec.attempt, spec.set_id)).pick).start()
    await asyncio.sleep(0)
    return Question(spec, commitment_receipt(KEY, spec.match_id, spec.deal.commitment), step)


async def _ask(seat: SessionSeat, question: Question, began: float) -> float:
    """Starts a match for one seat and asks its first decision; seconds since ``began`` when it was answered."""
    request = question.step.requests[0]
    seat.start(question.spec, request.seat, question.receipt)
    seat.observe(question.step.events)
    reply = await seat.decide(request)
    assert reply.fault is None, reply
    return time.monotonic() - began
