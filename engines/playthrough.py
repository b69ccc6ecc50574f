"""Readable random games, kept in tests/golden: whatever changes in a game's rules or texts shows there as a diff.

python -m engines.playthrough balloon-challenge --players 3     # one to the terminal
python -m engines.playthrough --write                           # all of them into tests/golden
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from engines import registry
from engines.conformance import Case, cases
from engines.game import Game, State
from engines.playout import Step, advance, random_step

GOLDEN = Path(__file__).parent.parent / "tests" / "golden"
WIDTH = 110
DECISIONS_PER_PICTURE = 8
SHOWN_LEGAL = 40


def playthrough(case: Case) -> str:
    """One seeded random game as text: events, and now and then what the seat to move sees and may do."""
    return "\n".join((_title(case), *_body(case))) + "\n"


def _title(case: Case) -> str:
    options = "".join(f", {key}={value}" for key, value in sorted(case.config.items()))
    return f"{case.game.title}, {case.players} players{options}, seed {case.seed}"


def _body(case: Case) -> Iterator[str]:
    state, rng, decisions = case.new_state(), Random(case.seed), 0  # noqa: S311 - a golden file needs a seed
    run: list[str] = []
    while not state.is_terminal:
        step = random_step(state, rng)
        if isinstance(step, int):
            run.append(_chance_text(state, step))
        else:
            yield from _chance_lines(run)
            run.clear()
            if decisions % DECISIONS_PER_PICTURE == 0:
                yield from _picture(state, state.actors()[decisions // DECISIONS_PER_PICTURE % len(state.actors())])
            yield from _decision_lines(state, step)
            decisions += 1
        state = advance(state, step)
    yield from _chance_lines(run)
    yield from ("", "=" * WIDTH, state.render(None), "=" * WIDTH, "")
    yield f"scores {state.scores()}, placements {state.placements()}"


def _chance_text(state: State, outcome: int) -> str:
    weights = dict(state.chance())
    odds = f" [{weights[outcome]} of {sum(weights.values())}]" if len(set(weights.values())) > 1 else ""
    return state.game.text(outcome) + odds


def _chance_lines(run: list[str]) -> Iterator[str]:
    if run:
        yield from textwrap.wrap("chance: " + ", ".join(run), WIDTH, subsequent_indent="        ")


def _decision_lines(state: State, step: Step) -> Iterator[str]:
    assert not isinstance(step, int)
    for seat, action in step.items():
        timer = state.timer_ms(seat)
        limit = "" if timer is None else f", within {timer} ms"
        yield f"seat {seat}: {state.game.text(action)}   ({len(state.legal(seat))} legal{limit})"


def _picture(state: State, seat: int) -> Iterator[str]:
    texts = [state.game.text(action) for action in state.legal(seat)]
    shown = texts[:SHOWN_LEGAL] + ["..."] * (len(texts) > SHOWN_LEGAL)
    yield from ("", f"--- as seat {seat} sees it " + "-" * (WIDTH - 23), state.render(seat))
    yield from textwrap.wrap(f"legal ({len(texts)}): " + ", ".join(shown), WIDTH, subsequent_indent="  ")
    yield from ("-" * WIDTH, "")


def golden(game: Game) -> dict[str, str]:
    """Files of a game by name: one a number of players and variant, without variants that change nothing there."""
    files: dict[str, str] = {}
    bodies: set[tuple[int, str]] = set()
    for case in cases(game):
        body = "\n".join(_body(case))
        if (case.players, body) not in bodies:
            bodies.add((case.players, body))
            options = "".join(f"-{key}-{value}".lower() for key, value in case.config.items())
            files[f"{game.name}-{case.players}p{options}.txt"] = f"{_title(case)}\n{body}\n"
    return files


def write(games: Sequence[str], folder: Path = GOLDEN) -> None:
    """Writes the files of ``games``, and removes those that they have no more."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in games:
        files = golden(registry.get(name))
        for stale in {path.name for path in folder.glob(f"{name}-[0-9]p*.txt")}.difference(files):
            (folder / stale).unlink()
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m engines.playthrough", description="Readable random games.")
    parser.add_argument("game", nargs="?", choices=registry.names(), help="this game; not given: all of them")
    parser.add_argument("--players", type=int, help="number of players; not given: the game's least")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="into tests/golden instead of to the terminal")
    args = parser.parse_args()
    games = [args.game] if args.game else registry.names()
    if args.write:
        write(games)
        return
    for game in map(registry.get, games):
        print(playthrough(Case(game, args.players or game.min_players, seed=args.seed)), end="")


if __name__ == "__main__":
    main()
