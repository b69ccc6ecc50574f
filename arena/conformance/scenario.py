"""What a scenario is, and what comes of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from arena.conformance.stage import Stage

Play: TypeAlias = "Callable[[Stage], Awaitable[None]]"
"""A scenario's script. Raises Mismatch or NotApplicable."""


class Level(StrEnum):
    """Whether a program that does otherwise can play at all."""

    REQUIRED = "required"
    RECOMMENDED = "recommended"


class Status(StrEnum):
    """What came of a scenario."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One thing that may happen to a bot. ``expected`` says in a sentence what it should do then."""

    name: str
    level: Level
    expected: str
    play: Play


@dataclass(frozen=True, slots=True)
class Result:
    """What the program did. ``did`` is the deviation of one that failed, else a summary; ``output`` ends what it printed."""

    scenario: Scenario
    status: Status
    did: str
    duration_s: float
    output: str = ""


class Mismatch(Exception):
    """The program did something else than it should; the message says what. ``expected`` replaces the scenario's."""

    def __init__(self, did: str, expected: str = "") -> None:
        super().__init__(did)
        self.expected = expected


class HungUp(Mismatch):
    """The program closed the stream, perhaps because it has ended."""


class NotApplicable(Exception):
    """The scenario says nothing about this program; the message says why."""


SCENARIOS: dict[str, Scenario] = {}
"""Every scenario by name, in the order in which they run; the modules of ``scenarios`` fill it."""


def add(name: str, level: Level, expected: str, play: Play) -> None:
    """Enters a scenario. Names are unique."""
    assert name not in SCENARIOS, name
    SCENARIOS[name] = Scenario(name, level, expected, play)


def required(name: str, expected: str) -> Callable[[Play], Play]:
    """Marks a script as a required scenario."""
    return _entering(name, Level.REQUIRED, expected)


def recommended(name: str, expected: str) -> Callable[[Play], Play]:
    """Marks a script as a recommended scenario."""
    return _entering(name, Level.RECOMMENDED, expected)


def _entering(name: str, level: Level, expected: str) -> Callable[[Play], Play]:
    def enter(play: Play) -> Play:
        add(name, level, expected, play)
        return play

    return enter
