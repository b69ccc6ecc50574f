"""A position as OpenSpiel moves through it: choices that are not complete yet, and what each seat has seen so far."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

from engines import registry
from engines.game import Json, State
from engines.playout import Step, advance, choose

Log: TypeAlias = str
"""Texts of the events that a seat has seen, each with a line end."""


class Position:
    """An engine state, and ``pending``: what seats of a joint decision have chosen while others have not.

    Immutable, so a copy is the same object. Positions are linked back to the root, the only one that holds its logs (for each
    seat, and last for spectators); other logs are worked out when asked for.
    """

    __slots__ = ("_logs", "_parent", "_step", "pending", "state")

    def __init__(
        self,
        state: State,
        pending: dict[int, int],
        parent: Position | None,
        step: Step | None,
        logs: dict[int | None, Log],
    ) -> None:
        self.state = state
        self.pending = pending
        self._parent = parent
        self._step = step
        self._logs = logs

    @classmethod
    def opening(cls, state: State) -> Position:
        """The start of a game, where nobody has seen anything."""
        return cls(state, {}, None, None, dict.fromkeys((None, *range(state.players)), ""))

    def to_move(self) -> int | None:
        """The least seat that has to decide and has not; None where chance moves or the game is over."""
        for seat in self.state.actors():
            if seat not in self.pending:
                return seat
        return None

    def after(self, action: int) -> Position:
        """The position after an action of :meth:`to_move`, or a chance outcome counted from 0."""
        seat = self.to_move()
        if seat is None:
            return self._advanced(action + self.state.game.num_actions)
        chosen = {**self.pending, seat: action}
        if len(chosen) == len(self.state.actors()):
            return self._advanced(chosen)
        return Position(self.state, chosen, self._parent, self._step, self._logs)

    def after_all(self, actions: list[int]) -> Position:
        """The position after the actions of all seats."""
        return self._advanced(dict(enumerate(actions)))

    def _advanced(self, step: Step) -> Position:
        return Position(advance(self.state, step), {}, self, step, {})

    # What is known

    def observation(self, seat: int | None) -> str:
        """The view, and the seat's own choice if the decision is not complete."""
        own = self.pending.get(seat) if seat is not None else None
        chosen = "" if own is None else f"\nchosen: {self.state.game.text(own)}"
        return f"to move: {self.to_move()}\n{self.state.info_key(seat)}{chosen}"

    def knowledge(self, seat: int | None) -> str:
        """All that the seat has seen, and its observation: equal only where the seat's whole past was the same."""
        return f"{self.log(seat)}{self.observation(seat)}"

    def log(self, seat: int | None) -> Log:
        """What the seat has seen since the start; what it may not see as its first word and `` ?``."""
        unknown: list[Position] = []
        at = self
        while seat not in at._logs:
            unknown.append(at)
            assert at._parent is not None
            at = at._parent
        log = at._logs[seat]
        for position in reversed(unknown):
            log += position._seen(seat)
            position._logs[seat] = log
        return log

    def _seen(self, seat: int | None) -> Log:
        assert self._parent is not None
        before, step = self._parent.state, self._step
        assert step is not None
        if isinstance(step, int):
            return _line(before, seat, None, step)
        return "".join([_line(before, seat, actor, action) for actor, action in step.items()])

    def resampled(self, seat: int, rng: Random) -> Position:
        """A position drawn among those that ``seat`` cannot tell from this one.

        The others are taken to remember what everybody saw; choices that they have made already are drawn anew.
        """
        world = self.state.resample(seat, rng)
        pending = {
            actor: action if actor == seat else choose(world.legal(actor), rng)
            for actor, action in self.pending.items()
        }
        logs = dict.fromkeys((None, *range(world.players)), self.log(None))
        logs[seat] = self.log(seat)
        return Position(world, pending, None, None, logs)

    # Copies

    def __deepcopy__(self, memo: dict[int, Any]) -> Position:
        return self

    def __reduce__(self) -> tuple[Callable[..., Position], tuple[Any, ...]]:
        steps: list[Step] = []
        root = self
        while root._parent is not None:
            assert root._step is not None
            steps.append(root._step)
            root = root._parent
        root_doc = root.state.to_json()
        return _rebuilt, (root.state.game.name, root_doc, root._logs, steps[::-1], self.pending)

    def __str__(self) -> str:
        return json.dumps({"state": self.state.to_json(), "pending": sorted(self.pending.items())})


def _line(before: State, observer: int | None, actor: int | None, event: int) -> str:
    text = before.game.text(event)
    own = actor is not None and actor == observer
    if not own and not before.sees(observer, actor, event):
        text = f"{text.split()[0]} ?"
    who = "chance" if actor is None else f"seat {actor}"
    return f"{who}: {text}\n"


def _rebuilt(
    name: str, root: Json, logs: dict[int | None, Log], steps: list[Step], pending: dict[int, int]
) -> Position:
    position = Position(registry.get(name).from_json(root), {}, None, None, dict(logs))
    for step in steps:
        position = position._advanced(step)
    return Position(position.state, pending, position._parent, position._step, position._logs)
