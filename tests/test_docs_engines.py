"""docs/engines.md does what it says: its code runs in one go, and what it shows as results comes out."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from random import Random
from typing import Any

import engines
from engines.playout import choose, pick

PAGE = Path(__file__).parents[1] / "docs" / "engines.md"
BLOCK = re.compile(r"```(pycon|python)\n(.*?)```", re.DOTALL)


def run_page() -> dict[str, Any]:
    """Runs all blocks in their order in one namespace, and returns that. Raises on a result that differs."""
    names: dict[str, Any] = {}
    runner = doctest.DebugRunner(verbose=False)
    for number, (kind, code) in enumerate(BLOCK.findall(PAGE.read_text(encoding="utf-8")), 1):
        if kind == "python":
            exec(compile(code, f"{PAGE.name} block {number}", "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(code, names, f"block {number}", PAGE.name, 0)
        runner.run(test, clear_globs=False)
        names.update(test.globs)
    return names


def test_the_page_is_true() -> None:
    """Every block runs, and every shown result is what comes out."""
    assert callable(run_page()["search"])


def test_the_search_of_the_page_plays_every_game() -> None:
    """The page's search finds a legal action at each decision of the first few of every registered game."""
    search = run_page()["search"]
    for name in engines.names():
        game, rng = engines.get(name), Random(1)
        state, decisions = game.new_state(game.min_players), 0
        while decisions < 4:
            if outcomes := state.chance():
                state = state.apply_chance(pick(outcomes, rng))
                continue
            joint = {seat: choose(state.legal(seat), rng) for seat in state.actors()}
            seat = min(joint)
            if len(state.legal(seat)) <= 12:
                joint[seat] = search(game, state.view(seat), seat, rng, worlds=1)
                assert joint[seat] in state.legal(seat)
            state, decisions = state.apply(joint), decisions + 1
