"""Balloon Challenge for two by kaggle-environments, with our engine as its environment and two agents behind HTTP.

``rival_kaggle.py serve PORT`` is an agent's process; ``rival_kaggle.py play PORT PORT SECONDS`` plays between two of
them and prints what it did as JSON. The game, what an agent sees of it and what it answers (the first legal action) are those
of the other contestants; who is to move is asked, so that a step is a decision. Of the arena only the engines are used.
"""

from __future__ import annotations

import contextlib
import json
import random
import sys
import time
from typing import Any

from engines import playout
from engines.balloon_challenge import GAME

with contextlib.redirect_stdout(sys.stderr):  # it says which of its own environments lack a library
    from kaggle_environments import make, register
    from kaggle_environments.main import action_http, parse_args

PLAYERS = 2
NAME = "balloon_challenge"
SPECIFICATION = {
    "name": NAME,
    "title": "Balloon Challenge",
    "description": "Balloon Challenge for two, with all the rounds of the arena's bench.",
    "version": "1.0.0",
    "agents": [PLAYERS],
    "configuration": {
        "episodeSteps": {"description": "Most steps.", "type": "integer", "default": 10_000},
        "actTimeout": {"description": "Seconds for an action.", "type": "number", "default": 60},
        "runTimeout": {"description": "Seconds for a game.", "type": "number", "default": 3600},
    },
    "reward": {"description": "Points.", "type": "number", "default": 0},
    "observation": {
        "view": {"description": "What the seat sees.", "type": "object", "default": {}, "shared": False},
        "legal": {
            "description": "What may be chosen: ids.",
            "type": "array",
            "items": {"type": "integer"},
            "default": [],
            "shared": False,
        },
        "actions": {
            "description": "Their texts.",
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "shared": False,
        },
        "remainingOverageTime": {"description": "Seconds left.", "type": "number", "default": 60, "shared": False},
    },
    "action": {"description": "One of the legal.", "type": "integer", "default": 0},
}
chances = random.Random(1)  # noqa: S311 - not a secret


def interpreter(seats: Any, environment: Any) -> Any:
    """Plays the mover's action, and asks the next one; the game's own state stays beside kaggle's."""
    if environment.done:
        position = GAME.new_state(PLAYERS)
    else:
        (mover,) = environment.position.actors()
        position = environment.position.apply({mover: seats[mover].action})
    while outcomes := position.chance():
        position = position.apply_chance(playout.pick(outcomes, chances))
    environment.position = position
    for number, seat in enumerate(seats):
        if position.is_terminal:
            seat.status, seat.reward = "DONE", position.scores()[number]
            continue
        asked = number in position.actors()
        seat.status = "ACTIVE" if asked else "INACTIVE"
        legal = list(position.legal(number)) if asked else []
        seat.observation.view = position.view(number).to_json() if asked else {}
        seat.observation.legal = legal
        seat.observation.actions = [GAME.text(action) for action in legal]
    return seats


def agent(observation: Any, configuration: Any) -> int:
    """The first legal action."""
    return int(observation.legal[0])


register(
    NAME,
    {
        "specification": SPECIFICATION,
        "interpreter": interpreter,
        "renderer": lambda state, environment: "",
        "html_renderer": lambda: "",
        "agents": {"first": agent},
    },
)


def play(seconds: float, ports: list[str]) -> dict[str, float]:
    """Games for so long; the first one, in which connections and caches are made, does not count."""
    agents = [f"http://127.0.0.1:{port}/?agents[]=first" for port in ports]
    steps = games = 0
    make(NAME).run(agents)
    began = time.perf_counter()
    while (elapsed := time.perf_counter() - began) < seconds or not games:
        environment = make(NAME)
        environment.run(agents)
        steps += len(environment.steps) - 1
        games += 1
        if any(state.status != "DONE" for state in environment.state):
            raise SystemExit(f"a game ended with {[state.status for state in environment.state]}")
    elapsed = time.perf_counter() - began
    return {"moves": steps, "games": games, "seconds": elapsed}


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        action_http(parse_args({"action": "http-server", "port": int(sys.argv[2])}))
    else:
        print(json.dumps(play(float(sys.argv[4]), sys.argv[2:4])))
