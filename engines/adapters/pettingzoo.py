"""Every installed game as a PettingZoo environment. Needs the extra ``pettingzoo``.

    from engines.adapters.pettingzoo import env, parallel_env

    aec = env("balloon-challenge", players=3, render_mode="ansi")
    aec.reset(seed=42)
    for agent in aec.agent_iter():
        observation, reward, termination, truncation, info = aec.last()
        action = None if termination else aec.action_space(agent).sample(observation["action_mask"])
        aec.step(action)

Agents are ``player_0`` and so on, actions the engine's ids. Chance events happen by themselves, drawn with the environment's
generator, which ``reset(seed=...)`` seeds. Rewards are ``State.returns`` at the end and 0 before it.

An observation is a dict: ``observation``, int32 numbers laid out by the game's ``Encoding`` (:func:`layout` names the blocks), and
``action_mask``, int8, all 0 for an agent that does not decide now. A game that declares no encoding is observed through a ``Tally``.
Seats that decide at the same time do so one after the other in the AEC form, and none sees what those before it chose; in the
parallel form they act at once. An action that is not legal ends the game: its agent gets -1, the others 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Any, Final, TypeAlias

import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from engines import registry
from engines.adapters.pettingzoo_table import Observation, Table
from engines.game import State
from engines.playout import advance, random_step

Action: TypeAlias = int | None
"""None from an agent whose game is over."""

ILLEGAL_REWARD: Final = -1.0
RENDER_MODES: Final = ("ansi", "human")


def env(
    game: str, players: int | None = None, render_mode: str | None = None, **config: bool | int
) -> AECEnv[str, Observation, Action]:
    """A game as an AEC environment. ``players`` None: its least number. Raises UnknownGame, BadConfig."""
    return OrderEnforcingWrapper(RawEnv(game, players, render_mode, **config))


def parallel_env(
    game: str, players: int | None = None, render_mode: str | None = None, **config: bool | int
) -> ParallelEnv[str, Observation, Action]:
    """A game as a parallel environment. Raises UnknownGame, BadConfig.

    Where seats decide at the same time each step is such a decision; other games go through PettingZoo's
    ``turn_based_aec_to_parallel``. Either way the actions of agents that do not decide are ignored.
    """
    rules = registry.get(game)
    if decides_at_once(rules.new_state(players or rules.min_players, **config)):
        return SimultaneousEnv(game, players, render_mode, **config)
    return turn_based_aec_to_parallel(env(game, players, render_mode, **config))


def layout(game: str, players: int | None = None, **config: bool | int) -> dict[str, slice]:
    """Where in ``observation`` each block of the game's encoding lies."""
    return _table(game, players, config).encoding.slices()


def decides_at_once(state: State) -> bool:
    """Whether several seats decide at the same time somewhere in a random game that goes on from ``state``."""
    rng = Random(0)  # noqa: S311 - the answer is to be the same each time
    while not state.is_terminal and len(state.actors()) < 2:
        state = advance(state, random_step(state, rng))
    return not state.is_terminal


class _Environment(EzPickle):
    """What both forms share: spaces, agents' names, pictures."""

    metadata: dict[str, Any]

    def __init__(self, game: str, players: int | None, render_mode: str | None, **config: bool | int) -> None:
        EzPickle.__init__(self, game, players, render_mode, **config)
        if render_mode not in (None, *RENDER_MODES):
            raise ValueError(f"render_mode is {' or '.join(RENDER_MODES)}, not {render_mode!r}")
        self.render_mode = render_mode
        self.table = _table(game, players, config)
        self.metadata = {
            "name": self.table.game.name,
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(self.table.players)]
        self.seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._observation_spaces = {agent: _observation_space(self.table) for agent in self.possible_agents}
        self._action_spaces = {agent: spaces.Discrete(self.table.game.num_actions) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Dict:
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        return self._action_spaces[agent]

    def render(self) -> str | None:
        """What the agent to move sees, everybody's view at the end: returned in mode ``ansi``, printed in mode ``human``."""
        picture = self.table.state.render(self.table.to_move())
        if self.render_mode == "human":
            print(picture)
        return picture if self.render_mode == "ansi" else None

    def close(self) -> None:
        """There is nothing to release."""

    def _rewards(self, offenders: Iterable[int] = ()) -> dict[str, float]:
        """Rewards of a step: of the result where the game is over, for an action that was not legal, or none."""
        values = [0.0] * self.table.players
        for seat in offenders:
            values[seat] = ILLEGAL_REWARD
        if self.table.state.is_terminal:
            values = list(self.table.state.returns())
        return dict(zip(self.possible_agents, values, strict=True))

    def __str__(self) -> str:
        return str(self.metadata["name"])


class RawEnv(_Environment, AECEnv[str, Observation, Action]):  # type: ignore[misc,unused-ignore] # untyped base
    """The AEC form, without the wrapper that tells of calls in a wrong order."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """A new game; ``options`` are of no account."""
        self.table.reset(seed)
        self.agents = list(self.possible_agents)
        self.rewards = self._rewards()
        self._cumulative_rewards = self._rewards()
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._select()

    def observe(self, agent: str) -> Observation:
        seat = self.seats[agent]
        return self.table.observe(seat, decides=agent == self.agent_selection and not any(self.terminations.values()))

    def step(self, action: Action) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        seat = self.seats[agent]
        legal = self.table.is_legal(seat, action)
        if legal:
            self.table.choose(seat, action)
        self._cumulative_rewards[agent] = 0.0
        self.rewards = self._rewards(() if legal else (seat,))
        self._accumulate_rewards()
        if not legal or self.table.state.is_terminal:
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self._select()
        if self.render_mode == "human":
            self.render()

    def _select(self) -> None:
        seat = self.table.to_move()
        assert seat is not None, "no game is over before it begins"
        self.agent_selection = self.possible_agents[seat]


class SimultaneousEnv(_Environment, ParallelEnv[str, Observation, Action]):  # type: ignore[misc,unused-ignore] # untyped base
    """The parallel form of a game where seats decide at the same time. A decision of some takes a step too."""

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """A new game; ``options`` are of no account."""
        self.table.reset(seed)
        self.agents = list(self.possible_agents)
        return self._observations(over=False), {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, Action]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        table, agents = self.table, self.agents
        if not agents:
            return {}, {}, {}, {}, {}
        joint = {seat: actions[self.possible_agents[seat]] for seat in table.state.actors()}
        offenders = [seat for seat, action in joint.items() if not table.is_legal(seat, action)]
        if not offenders:
            for seat, action in joint.items():
                table.choose(seat, action)
        over = bool(offenders) or table.state.is_terminal
        if over:
            self.agents = []
        if self.render_mode == "human":
            self.render()
        return (
            self._observations(over),
            self._rewards(offenders),
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, False),
            {agent: {} for agent in agents},
        )

    def _observations(self, over: bool) -> dict[str, Observation]:
        actors = () if over else self.table.state.actors()
        return {agent: self.table.observe(seat, decides=seat in actors) for agent, seat in self.seats.items()}


def _table(game: str, players: int | None, config: Mapping[str, bool | int]) -> Table:
    rules = registry.get(game)
    return Table(rules, rules.min_players if players is None else players, config)


def _observation_space(table: Table) -> spaces.Dict:
    low, high = (np.array(bounds, np.int32) for bounds in (table.encoding.low, table.encoding.high))
    return spaces.Dict(
        {
            "observation": spaces.Box(low, high, dtype=np.int32),
            "action_mask": spaces.Box(0, 1, (table.game.num_actions,), np.int8),
        }
    )
