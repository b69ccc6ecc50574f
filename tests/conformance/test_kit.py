"""The kit finds what it is for: each check fails a game into which a fault of its kind was put."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from engines import GameError, conformance
from engines.balloon_challenge import GAME, State
from engines.balloon_challenge.rules import BalloonChallenge
from engines.conformance import Case, Violation, check_game

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


def result(change: Callable[..., Any]) -> Wrap:
    """A method whose result goes through ``change(self, result)``."""
    return lambda method: lambda self, *args, **kwargs: change(self, method(self, *args, **kwargs))


def instead(body: Callable[..., Any]) -> Wrap:
    """A method that is replaced."""
    return lambda method: body


def spoil(state: State) -> None:
    state.pot -= 1


def spoiling(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that changes its state."""
    return lambda self, *args: (method(self, *args), spoil(self))[0]


def shaky(self: State, after: State) -> State:
    after.pot += random.choice((0, 1))
    return after


def tolerant(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that takes what it should refuse, and does nothing."""

    def call(self: State, given: Any) -> State:
        try:
            return method(self, given)
        except GameError:
            return self

    return call


def lenient(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, text: method(self, text.strip())


def forgetful(self: State, doc: dict[str, Any]) -> dict[str, Any]:
    return {**doc, "pot": 0}


def mixed_up(self: BalloonChallenge, world: State) -> State:
    world.hands = world.hands[::-1]
    return world


def overpaid(self: BalloonChallenge, world: State) -> State:
    world.totals = tuple(total + 1 for total in world.totals)
    return world


FAULTS: dict[str, tuple[str, type, str, Wrap]] = {
    "two ids with one text": ("ids", BalloonChallenge, "text", instead(lambda self, event: "play R0")),
    "a text with spaces is taken": ("ids", BalloonChallenge, "parse", lenient),
    "unknown options are taken": ("config", BalloonChallenge, "complete_config", instead(lambda self, n, given: {})),
    "chance ids descend": ("positions", State, "chance", result(lambda self, due: due[::-1])),
    "weights of nothing": ("positions", State, "chance", result(lambda self, due: tuple((i, 0) for i, _ in due))),
    "legal ids descend": ("positions", State, "legal", result(lambda self, ids: ids[::-1])),
    "everybody decides": ("positions", State, "actors", instead(lambda self: tuple(range(self.n)))),
    "places 2, 2, 3": ("positions", State, "placements", result(lambda self, places: tuple(p + 1 for p in places))),
    "the worst is first": ("positions", State, "placements", instead(lambda self: tuple(range(1, self.n + 1)))),
    "a timer without an action": ("positions", State, "timer_ms", instead(lambda self, seat: 5)),
    "cards appear": ("positions", State, "apply_chance", result(shaky)),
    "a game without an end": ("bound", State, "apply", instead(lambda self, joint: self)),
    "a bound too low": ("bound", BalloonChallenge, "max_events", instead(lambda self, players, config: 100)),
    "a die of its own": ("replay", State, "apply", result(shaky)),
    "apply changes the old state": ("immutable", State, "apply", spoiling),
    "JSON forgets": ("json", State, "to_json", result(forgetful)),
    "any chance outcome is taken": ("refusals", State, "apply_chance", tolerant),
    "any decision is taken": ("refusals", State, "apply", tolerant),
    "one key for all views": ("views", State, "info_key", instead(lambda self, seat: "key")),
    "a view of nobody": ("views", State, "view", result(lambda self, view: replace(view, seat=None))),
    "a spectator sees a hand": ("hidden_events", State, "view", result(lambda self, v: replace(v, hand=self.hands[0]))),
    "a view tells the deck": ("hidden_events", State, "view", result(lambda self, v: replace(v, pot=hash(self.deck)))),
    "worlds with another hand": ("resampling", BalloonChallenge, "determinize", result(mixed_up)),
    "scores tell the hands": ("resampling", State, "scores", instead(lambda self: tuple(map(sum, self.hands)))),
    "a world for a spectator": ("resampling", BalloonChallenge, "determinize", instead(lambda *_: GAME.new_state(3))),
    "worlds that end wrong": ("worlds_play", BalloonChallenge, "determinize", result(overpaid)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_kit_finds(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check fails with this fault and says so as a Violation or as the game's own assertion."""
    name, owner, method, wrap = FAULTS[fault]
    check = getattr(conformance, f"check_{name}")
    check(Case(GAME, 3))
    monkeypatch.setattr(owner, method, wrap(getattr(owner, method)))
    with pytest.raises(AssertionError):
        check(Case(GAME, 3))


def test_every_check_is_shown_to_fail() -> None:
    """No check of the kit is without a fault that it finds."""
    assert {f"check_{name}" for name, *_ in FAULTS.values()} == {check.__name__ for check in conformance.CHECKS}


def test_check_game_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    """check_game passes a good game, and names the case and the check of a bad one."""
    check_game(GAME, players=2)
    monkeypatch.setattr(BalloonChallenge, "max_events", lambda *_: 100)
    with pytest.raises(Violation, match="balloon-challenge 4p: check_bound: a game must end"):
        check_game(GAME, players=4)
