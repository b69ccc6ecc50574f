"""Whole programs as an author starts them: the raw protocol bot, a bot file, and how they end."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import grpc
import pytest

import botarena
from botarena.v1 import play_pb2 as pb

from .scripted import scripted_arena
from .table import ended, first_stream, play_game, program

SDK = Path(botarena.__file__).parents[1]
RAW = SDK / "raw_random.py"

BOT = """
import botarena

@botarena.bot("pop")
def act(view, legal, clock):
    {body}

if __name__ == "__main__":
    botarena.run(act)
"""


def bot_file(folder: Path, body: str = "return legal[0]") -> str:
    path = folder / "bot.py"
    path.write_text(BOT.format(body=body))
    return str(path)


def test_the_raw_bot_is_at_most_25_lines() -> None:
    """Formatted, not counting imports and blank lines, but counting comments and docstrings."""
    lines = [line.strip() for line in RAW.read_text().splitlines()]
    assert len([line for line in lines if line and not line.startswith(("import ", "from "))]) <= 25


async def test_the_raw_bot_plays_whole_games_and_ends_with_the_stream() -> None:
    """Hello, Ready, Act and Pong are all that it takes."""
    async with scripted_arena() as arena, program(arena, sys.executable, str(RAW)) as process:
        stream = await first_stream(arena, process)
        assert stream.metadata["authorization"] == "Bearer secret"
        await stream.welcome()
        stream.send(set_offered=pb.SetOffered(offer_id="o1"))
        assert (await stream.expect("ready")).offer_id == "o1"
        for seed in (1, 2):
            assert len(await play_game(stream, "pop", players=3, seed=seed)) > 10
        await stream.quiet()
        stream.done()
        assert await ended(process) == (0, "")


async def test_sigterm_drains_and_ends_with_0(tmp_path: Path) -> None:
    """The running game is finished first."""
    async with scripted_arena() as arena, program(arena, sys.executable, bot_file(tmp_path)) as process:
        stream = await first_stream(arena, process)
        await stream.welcome()
        stream.start("g1")
        await stream.quiet()
        process.send_signal(signal.SIGTERM)
        assert (await stream.expect("set_credit")).drain
        stream.ask("g1", 0)
        await stream.expect("act")
        stream.finish("g1", places=[2, 1], scores=[1, 2])
        stream.done()
        code, err = await ended(process)
    assert code == 0
    assert "finishing 1 running game;" in err
    assert "ended: echo, seat 1 of 2 (them, us): place 1, 2 points" in err


async def test_ctrl_c_twice_ends_with_130(tmp_path: Path) -> None:
    """At once and without a traceback, although act never returns."""
    path = bot_file(tmp_path, "import time; time.sleep(1000)")
    async with scripted_arena() as arena, program(arena, sys.executable, path) as process:
        stream = await first_stream(arena, process)
        await stream.welcome()
        stream.start("g1")
        stream.ask("g1", 0)
        await stream.quiet()
        process.send_signal(signal.SIGINT)
        await stream.expect("set_credit")
        process.send_signal(signal.SIGINT)
        code, err = await ended(process)
    assert code == 130
    assert "Traceback" not in err


async def test_a_bad_token_is_one_line_and_exit_code_3(tmp_path: Path) -> None:
    """No traceback, no second attempt."""
    async with scripted_arena() as arena, program(arena, sys.executable, bot_file(tmp_path)) as process:
        stream = await first_stream(arena, process)
        stream.end(grpc.StatusCode.UNAUTHENTICATED, "The token is not known here.")
        code, err = await ended(process)
    assert code == 3
    assert err.startswith("botarena: the arena refused the bot: The token is not known here; check ARENA_TOKEN: all")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("env", "flags", "code", "line"),
    [
        ({"ARENA_ADDRESS": ""}, [], 2, "no address: set ARENA_ADDRESS"),
        ({"ARENA_TOKEN": ""}, [], 2, "no token: set ARENA_TOKEN"),
        ({}, ["--address", "nowhere"], 2, "'nowhere' is no address"),
        ({}, ["--credit", "0"], 2, "credit is the number of games at once"),
        ({}, ["--address", "127.0.0.1:1", "--patience", "0"], 6, "no arena answers at 127.0.0.1:1"),
    ],
)
async def test_wrong_settings_say_what_to_do(
    tmp_path: Path, env: dict[str, str], flags: list[str], code: int, line: str
) -> None:
    """One line on standard error, and the exit code of the README."""
    command = (sys.executable, bot_file(tmp_path), *flags)
    async with scripted_arena() as arena, program(arena, *command, env=env) as process:
        exit_code, err = await ended(process)
    assert exit_code == code
    assert f"botarena: {line}" in err
    assert "Traceback" not in err


async def test_strict_shows_the_traceback_and_ends_with_1(tmp_path: Path) -> None:
    """For an author who is looking for a mistake."""
    path = bot_file(tmp_path, "return 1 // 0")
    async with scripted_arena() as arena, program(arena, sys.executable, path, "--strict") as process:
        stream = await first_stream(arena, process)
        await stream.welcome()
        stream.start("g1")
        stream.ask("g1", 0)
        code, err = await ended(process)
    assert code == 1
    assert "return 1 // 0" in err
    assert "ZeroDivisionError" in err


async def test_a_house_bots_game_repeats_from_its_seed() -> None:
    """`python -m bots.house` plays by the match's bot_seed alone, two processes alike; another seed differs."""

    async def game(name: str, seed: int) -> list[str]:
        async with scripted_arena() as arena, program(arena, sys.executable, "-m", "bots.house", name) as process:
            stream = await first_stream(arena, process)
            hello = await stream.welcome()
            assert (hello.bot, hello.version) == (name, "1")
            told = await play_game(stream, "pop", players=2, seed=seed, most=40)
            stream.done()
            assert (await ended(process))[0] == 0
            return told

    for name in ("random", "greedy", "flatmc-20"):
        once, again, other = await asyncio.gather(game(name, 1), game(name, 1), game(name, 2))
        assert once == again != other


async def test_an_unknown_house_bot_is_named() -> None:
    """Exit code 2, and the names that there are."""
    async with scripted_arena() as arena, program(arena, sys.executable, "-m", "bots.house", "alphago") as process:
        code, err = await ended(process)
    assert code == 2
    assert "no house bot is called 'alphago'; there are: random, greedy, heuristic, flatmc-200" in err
