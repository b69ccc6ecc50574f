"""One game as PettingZoo's environments hold it: a position where somebody decides, and what each seat observes there."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from random import Random
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engines.encoding import Block, Encoding
from engines.game import Game, State
from engines.playout import Step, advance, pick

Observation: TypeAlias = dict[str, NDArray[Any]]


class Table:
    """A game that plays its chance events by itself, so that seats decide in every position but the last."""

    state: State

    def __init__(self, game: Game, players: int, config: Mapping[str, bool | int]) -> None:
        self.game = game
        self.players = players
        self.opening = game.new_state(players, **config)
        self.pending: dict[int, int] = {}
        """What seats of a joint decision have chosen while others have not."""
        own = game.encoding(players, self.opening.config)
        self._tally = Tally(game, players) if own is None else None
        self.encoding = own if own is not None else Tally.encoding(game, players, self.opening.config)
        self._size = self.encoding.size
        self._rng = Random()  # noqa: S311 - chance of a game for programs that learn

    def reset(self, seed: int | None) -> None:
        """A new game; ``seed`` None: with the generator as it is."""
        if seed is not None:
            self._rng = Random(seed)  # noqa: S311
        self.pending = {}
        self.state = self.opening
        if self._tally is not None:
            self._tally.clear()
        self._play_chance()

    def to_move(self) -> int | None:
        """The least seat that has to decide and has not; None at the end."""
        return next((seat for seat in self.state.actors() if seat not in self.pending), None)

    def choose(self, seat: int, action: SupportsIndex | None) -> None:
        """``seat`` takes a legal action; once all that decide have chosen the game goes on."""
        assert action is not None
        self.pending[seat] = index(action)
        if len(self.pending) == len(self.state.actors()):
            joint, self.pending = self.pending, {}
            self._advance(joint)
            self._play_chance()

    def is_legal(self, seat: int, action: SupportsIndex | None) -> bool:
        """Whether ``seat`` may take ``action``, which may be one of NumPy's integers, now."""
        return action in self.state.legal(seat)

    def observe(self, seat: int, decides: bool) -> Observation:
        """What ``seat`` observes, with a mask of zeros unless it ``decides``."""
        mask = np.zeros(self.game.num_actions, np.int8)
        if decides:
            mask[list(self.state.legal(seat))] = 1
        seen = self.state.view(seat) if self._tally is None else self._tally.counts(seat)
        numbers = np.fromiter(self.encoding.encode(seen), np.int32, self._size)
        return {"observation": numbers, "action_mask": mask}

    def _play_chance(self) -> None:
        while outcomes := self.state.chance():
            self._advance(pick(outcomes, self._rng))

    def _advance(self, step: Step) -> None:
        if self._tally is not None:
            self._tally.add(self.state, step)
        self.state = advance(self.state, step)


class Tally:
    """The observation of a game without an encoding: how often a seat has seen each event, by who brought it about.

    One row an actor, the seat itself first, then clockwise, chance last; one column an event id, and a last one for those that
    the seat could not see.
    """

    def __init__(self, game: Game, players: int) -> None:
        self._players = players
        self._columns = _columns(game)
        self.clear()

    @staticmethod
    def encoding(game: Game, players: int, config: Mapping[str, bool | int]) -> Encoding:
        """One block, which takes counts where other games' blocks take a view."""
        most = game.max_events(players, config)
        return Encoding((Block("events", (players + 1) * _columns(game), 0, most, lambda counts: counts),))

    def clear(self) -> None:
        """Nothing has been seen yet."""
        self._counts = [[0] * ((self._players + 1) * self._columns) for _ in range(self._players)]

    def counts(self, seat: int) -> list[int]:
        """The counts of a seat."""
        return self._counts[seat]

    def add(self, before: State, step: Step) -> None:
        """``step`` is about to happen in ``before``."""
        happened = {None: step} if isinstance(step, int) else dict(step)
        for observer, counts in enumerate(self._counts):
            for actor, event in happened.items():
                row = self._players if actor is None else (actor - observer) % self._players
                seen = actor == observer or before.sees(observer, actor, event)
                counts[row * self._columns + (event if seen else self._columns - 1)] += 1


def _columns(game: Game) -> int:
    return game.num_actions + game.num_chance + 1
