"""Who takes part in ``arena bench engine``: our games in three forms, and the games of OpenSpiel and PettingZoo driven the same way.

A contestant plays one uniformly random game at a time and says what happened in it. Frameworks that are not installed are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from random import Random
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import engines
from engines.playout import advance, choose, events, random_step

Form: TypeAlias = Literal["native", "openspiel", "pettingzoo", "OpenSpiel C++", "OpenSpiel Python", "PettingZoo"]
"""How the game is driven: ours by itself or through an adapter, or one of a framework's own."""

OPENSPIEL_CPP: Final = ("leduc_poker", "hearts", "gin_rummy", "oware")
OPENSPIEL_PYTHON: Final = ("python_tic_tac_toe", "python_liars_poker")
PETTINGZOO: Final = ("tictactoe_v3", "connect_four_v3", "rps_v2")
"""PettingZoo's classic games that need nothing but pygame. Those on rlcard, and chess, are several times slower than these."""


class Played(NamedTuple):
    """What happened in one game. ``events``: decisions, each seat's own, and chance outcomes, as OpenSpiel's plies count."""

    decisions: int
    events: int


Playout: TypeAlias = Callable[[Random], Played]


@dataclass(frozen=True, slots=True)
class Contestant:
    """A game in one form. ``playout`` plays it once."""

    game: str
    form: Form
    players: int
    playout: Playout


def contestants(games: Sequence[str]) -> tuple[list[Contestant], list[str]]:
    """Those that can take part, ``games`` being ours, each at its least and greatest number of players; and who is left out, why."""
    found, left_out = [], []
    for entry in _entries(games):
        try:
            found.append(entry.build())
        except ImportError as error:
            left_out.append(f"{entry.form} {entry.game}: {error}")
    return found, left_out


@dataclass(frozen=True, slots=True)
class _Entry:
    game: str
    form: Form
    build: Callable[[], Contestant]


def _entries(games: Sequence[str]) -> Iterator[_Entry]:
    for name in games:
        game = engines.get(name)
        for players in sorted({game.min_players, game.max_players}):
            yield _Entry(name, "native", partial(_native, name, players))
            yield _Entry(name, "openspiel", partial(_adapted_openspiel, name, players))
            yield _Entry(name, "pettingzoo", partial(_adapted_pettingzoo, name, players))
    for name in OPENSPIEL_CPP:
        yield _Entry(name, "OpenSpiel C++", partial(_openspiel, name, "OpenSpiel C++"))
    for name in OPENSPIEL_PYTHON:
        yield _Entry(name, "OpenSpiel Python", partial(_openspiel, name, "OpenSpiel Python"))
    for name in PETTINGZOO:
        yield _Entry(name, "PettingZoo", partial(_pettingzoo, name))


# Ours


def _native(name: str, players: int) -> Contestant:
    game = engines.get(name)

    def playout(rng: Random) -> Played:
        state, decisions, count = game.new_state(players), 0, 0
        while not state.is_terminal:
            step = random_step(state, rng)
            happened = events(step)
            count += happened
            if not isinstance(step, int):
                decisions += happened
            state = advance(state, step)
        return Played(decisions, count)

    return Contestant(name, "native", players, playout)


def _adapted_openspiel(name: str, players: int) -> Contestant:
    import pyspiel  # type: ignore[import-not-found,import-untyped,unused-ignore] # noqa: PLC0415 - an extra

    from engines.adapters.openspiel import short_name  # noqa: PLC0415

    game = pyspiel.load_game(short_name(name), {"players": players})
    return Contestant(name, "openspiel", players, _spiel_playout(game))


def _adapted_pettingzoo(name: str, players: int) -> Contestant:
    from engines.adapters.pettingzoo import env  # noqa: PLC0415 - an extra

    return Contestant(name, "pettingzoo", players, _zoo_playout(env(name, players)))


# Theirs


def _openspiel(name: str, form: Form) -> Contestant:
    import pyspiel  # noqa: PLC0415 - an extra

    if form == "OpenSpiel Python":
        import_module("open_spiel.python.games")  # registers them
    game = pyspiel.load_game(name)
    return Contestant(name, form, game.num_players(), _spiel_playout(game))


def _pettingzoo(name: str) -> Contestant:
    env = import_module(f"pettingzoo.classic.{name}").env()
    env.reset()
    return Contestant(name, "PettingZoo", len(env.agents), _zoo_playout(env))


def _spiel_playout(game: Any) -> Playout:
    def playout(rng: Random) -> Played:
        state, decisions, chances = game.new_initial_state(), 0, 0
        while not state.is_terminal():
            if state.is_chance_node():
                chances += 1
                state.apply_action(_drawn(state.chance_outcomes(), rng))
            else:
                decisions += 1
                state.apply_action(choose(state.legal_actions(), rng))
        return Played(decisions, decisions + chances)

    return playout


def _drawn(outcomes: Sequence[tuple[int, float]], rng: Random) -> int:
    left = rng.random()
    for outcome, probability in outcomes:
        left -= probability
        if left < 0:
            return outcome
    return outcomes[-1][0]


def _zoo_playout(env: Any) -> Playout:
    """PettingZoo tells of no chance event, so that agents' steps are all that counts."""

    def playout(rng: Random) -> Played:
        env.reset(seed=rng.getrandbits(31))
        steps = 0
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            steps += 1
            if isinstance(observation, dict):
                env.step(choose(observation["action_mask"].nonzero()[0].tolist(), rng))
            else:
                env.step(int(rng.random() * env.action_space(agent).n))
        return Played(steps, steps)

    return playout
