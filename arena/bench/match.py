"""Moves a second of ``arena match``, beside what others do with processes as players, turn and turn about.

The others: kaggle-environments with the same game and agents behind HTTP, python-chess with Stockfish at one node a move, and a bare loop of
JSON lines to one Python process, which referees nothing and is the limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any, Final

import engines
from arena.bench import rivals
from arena.bench.processes import Command, Say, free_port, load, running
from arena.bench.stage import GAME, UNHURRIED
from arena.errors import ArenaError
from arena.host.local_match import LocalGame, LocalMatch, play_local
from arena.host.processes import Program, dies_with_parent
from arena.supervisor import python, wait_for

CONCURRENCY: Final = 2
ROUNDS: Final = 3
FIRST_GAMES: Final = 8
KAGGLE, CHESS, LOOP = "kaggle_environments", "python_chess", "json_lines"
MUST: Final = {KAGGLE: 100.0, CHESS: 1.5}
STOCKFISH: Final = ("stockfish", "/usr/games/stockfish")
WARM_UP: Final = 100
"""Moves of the bare loop that do not count."""
LEGAL: Final = list(range(8))

OURS: Final[Mapping[str, tuple[str, ...]]] = {
    "arena": python("-m", "arena.bench.bare_bot"),
    "arena_sdk": python("-m", "arena.bench.sdk_bot"),
}
"""Bots of ``arena match``: one of the bare protocol, and one of the SDK."""

Contestant = Callable[[float], Awaitable[float]]
"""Plays for so many seconds; moves a second."""


async def match(seconds: float, stockfish: str | None, say: Say) -> dict[str, Any]:
    """All contestants that are there, ``seconds`` each in three rounds. Ratios are medians of those within a round.

    Before its first round ``arena match`` plays a few games that do not count, for it is not known yet how many take so long.
    """
    rates: dict[str, list[float]] = {}
    async with _contestants(stockfish, say) as (contestants, left_out):
        for turn in range(ROUNDS):
            for name, play in contestants.items():
                say(f"{name}, round {turn + 1} of {ROUNDS}")
                rates.setdefault(name, []).append(await play(seconds / ROUNDS))
    ratios = {
        f"{ours} to {theirs}": round(median(a / b for a, b in zip(rates[ours], rates[theirs], strict=True)), 2)
        for ours in OURS
        for theirs in (KAGGLE, CHESS, LOOP)
        if theirs in rates
    }
    return {
        "concurrency": CONCURRENCY,
        "moves_per_s": {name: round(median(values)) for name, values in rates.items()},
        "ratios": ratios,
        "left_out": left_out,
        "load": load(),
        "goals": {
            f"{ours} at least {least:g} times {theirs}": ratios[f"{ours} to {theirs}"] >= least
            for ours in OURS
            for theirs, least in MUST.items()
            if theirs in rates
        },
    }


@contextlib.asynccontextmanager
async def _contestants(stockfish: str | None, say: Say) -> AsyncIterator[tuple[dict[str, Contestant], list[str]]]:
    """Who plays, and who does not and why."""
    found: dict[str, Contestant] = {name: _arena(words) for name, words in OURS.items()}
    found[LOOP] = _json_lines
    left_out = []
    async with contextlib.AsyncExitStack() as stack:
        say("an environment with kaggle-environments and python-chess")
        try:
            interpreter = str(await asyncio.to_thread(rivals.python))
        except rivals.NotThere as error:
            yield found, [f"{KAGGLE}, {CHESS}: {error}"]
            return
        found[KAGGLE] = await stack.enter_async_context(_kaggle(interpreter))
        engine = next(filter(None, map(shutil.which, (stockfish,) if stockfish else STOCKFISH)), None)
        if engine is None:
            left_out.append(f"{CHESS}: no Stockfish; install Debian's package stockfish, or name one with --stockfish")
        else:
            found[CHESS] = _program(interpreter, rivals.program("rival_chess"), str(CONCURRENCY), engine)
        yield found, left_out


def _arena(bot: tuple[str, ...]) -> Contestant:
    """``arena match`` between two processes of a bot."""

    games_per_s = 0.0

    async def play(seconds: float) -> float:
        nonlocal games_per_s
        if not games_per_s:
            _, games_per_s = await _games(bot, FIRST_GAMES)
        moves_per_s, games_per_s = await _games(bot, max(FIRST_GAMES, int(seconds * games_per_s)))
        return moves_per_s

    return play


async def _games(bot: tuple[str, ...], games: int) -> tuple[float, float]:
    """Moves and games a second from the end of the first game to that of the last."""
    ended: list[tuple[float, int]] = []

    def on_game(game: LocalGame) -> None:
        ended.append((time.perf_counter(), game.finished.decisions))

    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        programs = tuple(Program(name, "1", bot, Path(folder) / f"{name}.log") for name in ("one", "other"))
        plan = LocalMatch(GAME, {}, programs, games, UNHURRIED, concurrency=CONCURRENCY)
        await play_local(plan, on_game)
    elapsed_s = ended[-1][0] - ended[0][0]
    return sum(decisions for _, decisions in ended[1:]) / elapsed_s, (games - 1) / elapsed_s


async def _json_lines(seconds: float) -> float:
    """Lines to one process and back; nobody checks what it says."""

    def play() -> float:
        words = python(rivals.program("json_lines"))
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            moves, began = -WARM_UP, time.perf_counter()
            while moves < 0 or time.perf_counter() - began < seconds:
                process.stdin.write(json.dumps({"legal": LEGAL}) + "\n")
                assert json.loads(process.stdout.readline())["action"] == 0
                moves += 1
                if moves == 0:
                    began = time.perf_counter()
            elapsed_s = time.perf_counter() - began
            process.stdin.close()
            return moves / elapsed_s

    return await asyncio.to_thread(play)


@contextlib.asynccontextmanager
async def _kaggle(interpreter: str) -> AsyncIterator[Contestant]:
    """Two agents' processes, and games of ours between them."""
    ports = [str(free_port()) for _ in range(2)]
    script = rivals.program("rival_kaggle")
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        # The engines alone: what else is installed beside them here would hide the packages of that environment.
        (Path(folder) / "engines").symlink_to(Path(engines.__file__).parent)
        own = {"PYTHONPATH": folder}
        with running([Command((interpreter, script, "serve", port), own) for port in ports]):
            for port in ports:
                if not await wait_for(f"127.0.0.1:{port}", 120):
                    raise TimeoutError("an agent of kaggle-environments does not listen")
            yield _program(interpreter, script, "play", *ports, environment=own)


def _program(
    interpreter: str, script: str, *words: str, environment: Mapping[str, str] = MappingProxyType({})
) -> Contestant:
    """A program that plays for so many seconds, its last argument, and prints what it did."""

    async def play(seconds: float) -> float:
        process = await asyncio.create_subprocess_exec(
            *dies_with_parent((interpreter, script, *words, str(seconds))),
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        output, errors = await process.communicate()
        if process.returncode != 0:
            raise ArenaError(f"{Path(script).name} ended with status {process.returncode}: {errors.decode()[-500:]}")
        done = json.loads(output)
        return float(done["moves"] / done["seconds"])

    return play
