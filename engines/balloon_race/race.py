"""The game as the arena sees it: its names and options, positions made from nothing, from JSON and from a view."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import ClassVar, Final

from engines.balloon_race import actions
from engines.balloon_race.board import OFF, PADS, TILE, bits
from engines.balloon_race.data import (
    CARDS_DEALT,
    COLOURS,
    CORNERS,
    DICE,
    MAIL,
    MOVED_A_TURN,
    OBSTACLES,
    ORDER_DEAL,
    PAD_ROW,
    ROUNDS,
    SIZE,
)
from engines.balloon_race.doc import restore
from engines.balloon_race.encoding import encoding
from engines.balloon_race.position import OBSTACLE, ORDER
from engines.balloon_race.rules import RaceState
from engines.balloon_race.summary import SUMMARY
from engines.balloon_race.view import RaceView
from engines.encoding import Encoding
from engines.game import Config, Game, GameError, Json, Option, State, View


class BalloonRace(Game):
    """Wyścig balonów, for 2 to 4 players."""

    name = "balloon-race"
    title = "Wyścig balonów"
    rules_version = 1
    min_players = 2
    max_players = 4
    options: ClassVar[Mapping[str, Option]] = {
        "dice_timer_ms": Option(30_000, "time for laying the dice, in ms; 0: none, as for the youngest", 0, 600_000)
    }
    num_actions = actions.NUM_ACTIONS
    num_chance = actions.NUM_EVENTS - actions.NUM_ACTIONS
    summary = SUMMARY

    def new_state(self, players: int, **config: bool | int) -> RaceState:
        complete = self.complete_config(players, config)
        return RaceState(self, players, complete["dice_timer_ms"])

    def from_json(self, doc: Json) -> RaceState:
        state = RaceState(self, doc["players"], doc["dice_timer_ms"])
        restore(state, doc)
        return state

    def view_from_json(self, doc: Json) -> RaceView:
        nested = ("obstacles", "cards")
        fields = {name: tuple(value) if isinstance(value, list) else value for name, value in doc.items()}
        return RaceView(**fields | {name: tuple(map(tuple, doc[name])) for name in nested})

    def determinize(self, view: View, rng: Random) -> RaceState:
        if not isinstance(view, RaceView) or view.seat is None:
            raise GameError(f"only a seat's view of {self.name} can be filled in, not {view!r}")
        return self.from_json(view.to_json() | {"cards": _deal(view, rng)})

    def text(self, event: int) -> str:
        return actions.text(event)

    def parse(self, text: str) -> int:
        return actions.parse(text)

    def typed(self, event: int) -> actions.Event:
        return actions.typed(event)

    def max_events(self, players: int, config: Config) -> int:
        turns = len(ORDER_DEAL[players])
        setting_up = 2 + len(COLOURS) + CARDS_DEALT[players] + len(CORNERS)
        events = setting_up
        for obstacles in range(len(CORNERS), len(OBSTACLES) + 1):
            a_turn = 1 + 1 + DICE  # roll, assignment, at most five sixes
            moves = MOVED_A_TURN * (turns - 1) + obstacles
            events += turns + turns * a_turn + moves
        drawn_and_put = 2 * (ROUNDS - 1)
        return events + drawn_and_put

    def encoding(self, players: int, config: Config) -> Encoding:
        return encoding(players)

    def check_invariants(self, state: State) -> None:
        assert isinstance(state, RaceState)
        _check_board(state)
        assert len(set(state.cards)) == len(state.cards) <= CARDS_DEALT[state.players]
        assert len(set(state.order)) == len(state.order) <= len(ORDER_DEAL[state.players])
        assert state.mail.bit_count() + sum(state.letters) == len(MAIL), "nine mail tokens"
        assert min(state.penalties) >= 0
        assert set(state.moved) <= set(state.obstacles)
        assert len(state.dice) in (0, DICE)


def _deal(view: RaceView, rng: Random) -> list[int]:
    """All balloon cards dealt, in the order of the deal: those that the view shows, and the rest at random."""
    shown = {colour for hand in view.cards for colour in hand}
    unseen = [colour for colour in range(len(COLOURS)) if colour not in shown]
    rng.shuffle(unseen)
    return [
        hand[deal // view.players] if (hand := view.cards[deal % view.players]) else unseen.pop()
        for deal in range(view.cards_dealt)
    ]


def _check_board(state: RaceState) -> None:
    balloons = [square for square in state.balloons if square != OFF]
    obstacles = [placed >> 2 for placed in state.obstacles]
    tokens = bits({*balloons, *obstacles})
    assert tokens.bit_count() == len(balloons) + len(obstacles), "one token a square"
    assert state.tokens == tokens
    assert not tokens & state.mail, "no token stands on mail"
    values = [(placed & 3) + 1 for placed in state.obstacles] + [state.drawn] * bool(state.drawn)
    assert all(values.count(value) <= OBSTACLES.count(value) for value in values)
    if state.phase not in (OBSTACLE, ORDER):
        expected = len(CORNERS) + state.round - 1 if state.turns else 0
        assert len(values) == expected, "an obstacle more each round"
    if state.zone != OFF:
        assert not bits(obstacles) & (TILE | PADS[state.pad])
        assert PADS[state.pad] >> (SIZE * PAD_ROW + state.zone) & 1


GAME: Final = BalloonRace()
