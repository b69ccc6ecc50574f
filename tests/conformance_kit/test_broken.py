"""Bots that are broken on purpose, each in one way: the kit finds just that, and says so."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from arena.conformance import runner, scenarios
from arena.conformance.scenario import SCENARIOS, Result, Status

HERE = Path(__file__).parent
assert scenarios.__all__  # importing them enters them

REQUIRED = (
    "hello-tcp",
    "ready",
    "ping",
    "play-pop",
    "one-frame",
    "resent",
    "unknown-kinds",
    "large-frame",
    "wrong-token",
)
RECOMMENDED = ("cut-start", "cut-act", "draining-spread", "replaced", "sigterm-game")

ILLEGAL = "is illegal: play R0 is not legal here"
AGAIN = "sent Hello where Pong was due"
NO_READY = "did not answer SetOffered with Ready within 10 s"

BROKEN = {
    "": {},
    "shows no token": {
        "hello-tcp": "sent '' as authorization",
        "play-pop": "ended with status 1 before it had a session",
    },
    "thinks before it speaks": {
        "hello-tcp": "sent no Hello within 5 s",
        "play-pop": "ended with status 1 before it had a session",
    },
    "names another offer": {"ready": "sent Ready to 'mine' where 'o_0' was offered", "play-pop": NO_READY},
    "short nonce": {"ready": "sent a nonce of 8 bytes; it must have 16 or none", "play-pop": NO_READY},
    "numbers of 32 bits": {"ping": f"answered Ping({1 << 53 | 1}) with Pong(1)"},
    "introduces itself again": {"hello-tcp": AGAIN, "ready": AGAIN, "ping": AGAIN},
    "plays what it likes": {
        "play-pop": "lost a game of pop by a fault: illegal at decision 1",
        "one-frame": ILLEGAL,
        "resent": ILLEGAL,
        "unknown-kinds": ILLEGAL,
        "large-frame": ILLEGAL,
    },
    "knows one game": {"play-pop": "by a fault: timeout", "one-frame": "for game 'g0_1', which was not open"},
    "never repeats itself": {"resent": "sent no Act within"},
    "knows all kinds": {"unknown-kinds": "closed the stream where Act was due and ended with status 1"},
    "small frames": {"large-frame": "closed the stream where Act was due"},
    "never gives up": {"wrong-token": "streams in 5 s"},
}
RUDE = {
    "": {},
    "fights back": {"replaced": "opened 1 more stream"},
    "hurries": {"draining-spread": "5 times out of 6"},
    "forgets its answer": {"cut-act": "before the break and id"},
    "drops dead": {"sigterm-game": "closed the stream where SetCredit was due and ended with status -9"},
}
AT_ONCE = 4
"""Programs at once: what they do wrong is mostly to say nothing, which takes time but no work."""


async def failures(program: str, wrong: str, names: Sequence[str], places: asyncio.Semaphore) -> dict[str, str]:
    """What a program did otherwise, by scenario."""
    command = (sys.executable, str(HERE / program), wrong)
    heard: list[Result] = []
    async with places:
        results = await runner.run(command, [SCENARIOS[name] for name in names], jobs=3, on_result=heard.append)
    assert len(heard) == len(results)
    return {result.scenario.name: result.did for result in results if result.status is Status.FAILED}


@pytest.fixture(scope="module")
def found() -> dict[tuple[str, str], dict[str, str]]:
    """The failures of every program here, by file and fault."""

    async def run() -> dict[tuple[str, str], dict[str, str]]:
        places = asyncio.Semaphore(AT_ONCE)
        jobs = {("broken.py", wrong): failures("broken.py", wrong, REQUIRED, places) for wrong in BROKEN}
        jobs |= {("rude.py", wrong): failures("rude.py", wrong, RECOMMENDED, places) for wrong in RUDE}
        return dict(zip(jobs, await asyncio.gather(*jobs.values()), strict=True))

    return asyncio.run(run())


ALL = [("broken.py", *item) for item in BROKEN.items()] + [("rude.py", *item) for item in RUDE.items()]


@pytest.mark.parametrize(
    ("program", "wrong", "expected"), ALL, ids=[f"{name} {wrong or 'right'}" for name, wrong, _ in ALL]
)
def test_a_broken_bot_fails_for_the_right_reason(
    program: str, wrong: str, expected: dict[str, str], found: dict[tuple[str, str], dict[str, str]]
) -> None:
    """In the scenarios that are about its fault, with words that say what it is, and in no other."""
    failed = found[program, wrong]
    assert failed.keys() == expected.keys(), failed
    for scenario, words in expected.items():
        assert words in failed[scenario]
