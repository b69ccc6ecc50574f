"""Games of an environment of its own by kaggle-environments, whose two agents are processes behind HTTP.

``rival_kaggle.py serve PORT`` is an agent's process; ``rival_kaggle.py play PORT PORT SECONDS`` plays between two of
them and prints what it did as JSON. The agents choose the first legal action, as every bot of the bench does, and take
turns, so that a step is a decision.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from typing import Any

with contextlib.redirect_stdout(sys.stderr):  # it says which of its own environments lack a library
    from kaggle_environments import make, register
    from kaggle_environments.main import action_http, parse_args

STEPS = 50
LEGAL = list(range(8))
NAME = "turns"
SPECIFICATION = {
    "name": NAME,
    "title": "Turns",
    "description": "Each chooses in turn; nothing comes of it.",
    "version": "1.0.0",
    "agents": [2],
    "configuration": {
        "episodeSteps": {"description": "Most steps.", "type": "integer", "default": STEPS + 10},
        "actTimeout": {"description": "Seconds for an action.", "type": "number", "default": 60},
        "runTimeout": {"description": "Seconds for a game.", "type": "number", "default": 3600},
    },
    "reward": {"description": "Points.", "type": "number", "default": 0},
    "observation": {
        "legal": {
            "description": "What may be chosen.",
            "type": "array",
            "items": {"type": "integer"},
            "default": LEGAL,
        },
        "remainingOverageTime": {"description": "Seconds left.", "type": "number", "default": 60, "shared": False},
    },
    "action": {"description": "One of the legal.", "type": "integer", "default": 0},
}


def interpreter(state: Any, environment: Any) -> Any:
    """The next agent's turn, till all steps are played."""
    if environment.done:
        state[0].status, state[1].status = "ACTIVE", "INACTIVE"
        return state
    mover = 0 if state[0].status == "ACTIVE" else 1
    state[mover].reward = (state[mover].reward or 0) + state[mover].action
    over = len(environment.steps) >= STEPS
    state[mover].status = "DONE" if over else "INACTIVE"
    state[1 - mover].status = "DONE" if over else "ACTIVE"
    return state


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
