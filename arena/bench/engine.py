"""Speed of the engines, beside games of OpenSpiel and PettingZoo that are driven the same way.

Contestants take turns in rounds, and what is compared was measured in the same round, so that ratios hold where the machine
is busy with other things too. Rates are per second of this process's CPU time.
"""

from __future__ import annotations

import cProfile
import io
import platform
import pstats
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import median
from typing import Any, Final

from arena.bench.contestants import Contestant

ROUNDS: Final = 5
BASELINE: Final = "python_tic_tac_toe"


@dataclass(frozen=True, slots=True)
class Rates:
    """What a contestant did in one round, per second."""

    playouts: float
    decisions: float
    events: float


@dataclass(slots=True)
class Result:
    """A contestant and its rates, round by round."""

    contestant: Contestant
    rounds: list[Rates] = field(default_factory=list)

    @property
    def events(self) -> float:
        """Median of events per second."""
        return median(rates.events for rates in self.rounds)


def measure(
    contestants: Sequence[Contestant], seconds: float, on_turn: Callable[[Contestant], None], seed: int = 0
) -> list[Result]:
    """Lets each play random games for about ``seconds`` in all; ``on_turn`` hears whose turn ends."""
    results = [Result(contestant) for contestant in contestants]
    for contestant in contestants:
        contestant.playout(Random(seed))  # noqa: S311 - tables that are built when first needed
    for number in range(ROUNDS):
        for result in results:
            rng = Random(seed + number)  # noqa: S311
            result.rounds.append(_rates(result.contestant, seconds / ROUNDS, rng))
            on_turn(result.contestant)
    return results


def _rates(contestant: Contestant, seconds: float, rng: Random) -> Rates:
    playouts = decisions = events = 0
    began = time.process_time()
    end = began + seconds
    now = began
    while now < end:
        played = contestant.playout(rng)
        playouts += 1
        decisions += played.decisions
        events += played.events
        now = time.process_time()
    took = now - began
    return Rates(playouts / took, decisions / took, events / took)


def ratio(result: Result, other: Result) -> float:
    """Median over the rounds of events per second as a multiple of ``other``'s."""
    return median(mine.events / theirs.events for mine, theirs in zip(result.rounds, other.rounds, strict=True))


def report(results: Sequence[Result], seconds: float, left_out: Sequence[str]) -> dict[str, Any]:
    """The JSON document of a run. Ratios are null where what they compare with did not take part."""
    baseline = next((result for result in results if result.contestant.game == BASELINE), None)
    zoo = [result for result in results if result.contestant.form == "PettingZoo"]
    fastest = max(zoo, key=lambda result: result.events, default=None)
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "seconds": seconds,
        "rounds": ROUNDS,
        "baseline": BASELINE if baseline else None,
        "pettingzoo_fastest": fastest.contestant.game if fastest else None,
        "contestants": [_row(result, baseline, fastest) for result in results],
        "left_out": list(left_out),
    }


def _row(result: Result, baseline: Result | None, fastest: Result | None) -> dict[str, Any]:
    contestant = result.contestant
    return {
        "game": contestant.game,
        "form": contestant.form,
        "players": contestant.players,
        "playouts_per_s": _spread([rates.playouts for rates in result.rounds]),
        "decisions_per_s": _spread([rates.decisions for rates in result.rounds]),
        "events_per_s": _spread([rates.events for rates in result.rounds]),
        "to_baseline": round(ratio(result, baseline), 3) if baseline else None,
        "to_pettingzoo_fastest": round(ratio(result, fastest), 3) if fastest else None,
    }


def _spread(rates: Sequence[float]) -> dict[str, float]:
    return {name: round(of(rates), 1) for name, of in (("median", median), ("min", min), ("max", max))}


def profile(contestant: Contestant, seconds: float, rows: int = 25) -> str:
    """Where the time of random games goes: the functions that take the most by themselves."""
    profiler, rng = cProfile.Profile(), Random(0)  # noqa: S311
    end = time.process_time() + seconds
    profiler.enable()
    while time.process_time() < end:
        contestant.playout(rng)
    profiler.disable()
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).strip_dirs().sort_stats("tottime").print_stats(rows)
    return text.getvalue()
