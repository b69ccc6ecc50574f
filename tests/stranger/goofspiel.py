"""Goofspiel, as small as a game for the arena can be: chance, simultaneous decisions, an option."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

import engines
from engines.game import Chance, Config, GameError, IllegalAction, Json, MalformedAction, Option, shared_placements

MOST = 13


@dataclass(frozen=True, slots=True)
class View(engines.View):
    """Everything is public but the bids of the others while one's own is due."""

    seat: int | None
    players: int
    cards: int
    prizes: tuple[int, ...]
    bids: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Bid:
    value: int


@dataclass(frozen=True, slots=True)
class Prize:
    value: int


@dataclass(frozen=True, slots=True)
class State(engines.State):
    """``prizes`` turned up so far; ``bids`` by round, then seat."""

    n: int
    cards: int
    prizes: tuple[int, ...] = ()
    bids: tuple[tuple[int, ...], ...] = ()

    @property
    def game(self) -> engines.Game:
        return GAME

    @property
    def players(self) -> int:
        return self.n

    @property
    def config(self) -> Config:
        return {"cards": self.cards}

    @property
    def is_terminal(self) -> bool:
        return len(self.bids) == self.cards

    def actors(self) -> tuple[int, ...]:
        return tuple(range(self.n)) if len(self.prizes) > len(self.bids) else ()

    def legal(self, seat: int) -> tuple[int, ...]:
        if seat not in self.actors():
            return ()
        spent = {bids[seat] for bids in self.bids}
        return tuple(value - 1 for value in range(1, self.cards + 1) if value not in spent)

    def chance(self) -> Chance:
        if self.is_terminal or self.actors():
            return ()
        return tuple((MOST + value - 1, 1) for value in range(1, self.cards + 1) if value not in self.prizes)

    def apply(self, joint: Mapping[int, int]) -> State:
        if not joint or tuple(sorted(joint)) != self.actors():
            raise IllegalAction(f"seats {self.actors()} bid now, not {sorted(joint)}")
        for seat, action in joint.items():
            if not 0 <= action < MOST:
                raise MalformedAction(f"actions are 0 to {MOST - 1}, not {action}")
            if action not in self.legal(seat):
                raise IllegalAction(f"seat {seat} has no card {action + 1}")
        return State(self.n, self.cards, self.prizes, (*self.bids, tuple(joint[s] + 1 for s in range(self.n))))

    def apply_chance(self, outcome: int) -> State:
        if (outcome, 1) not in self.chance():
            raise IllegalAction(f"chance {outcome} is not due")
        return State(self.n, self.cards, (*self.prizes, outcome - MOST + 1), self.bids)

    def scores(self) -> tuple[int, ...]:
        """The highest bid takes the prize; if it was made twice, nobody does."""
        won = [0] * self.n
        for prize, bids in zip(self.prizes, self.bids, strict=False):
            if bids.count(max(bids)) == 1:
                won[bids.index(max(bids))] += prize
        return tuple(won)

    def placements(self) -> tuple[int, ...]:
        return shared_placements(self.scores())

    def view(self, seat: int | None) -> View:
        return View(seat, self.n, self.cards, self.prizes, self.bids)

    def render(self, seat: int | None) -> str:
        return f"prizes {self.prizes}\nbids   {self.bids}\nscores {self.scores()}"

    def to_json(self) -> Json:
        return {"n": self.n, "cards": self.cards, "prizes": list(self.prizes), "bids": [list(b) for b in self.bids]}


class Goofspiel(engines.Game):
    name = "goofspiel"
    title = "Goofspiel"
    rules_version = 1
    min_players = 2
    max_players = 3
    options = {"cards": Option(5, "Cards of each player, and prizes.", low=3, high=MOST)}  # noqa: RUF012
    num_actions = MOST
    num_chance = MOST
    summary = "Everybody bids a card at once for the prize that is turned up; the highest single bid takes it."

    def new_state(self, players: int, **config: bool | int) -> State:
        return State(players, self.complete_config(players, config)["cards"])

    def from_json(self, doc: Json) -> State:
        return State(doc["n"], doc["cards"], tuple(doc["prizes"]), tuple(map(tuple, doc["bids"])))

    def view_from_json(self, doc: Json) -> View:
        return View(doc["seat"], doc["players"], doc["cards"], tuple(doc["prizes"]), tuple(map(tuple, doc["bids"])))

    def determinize(self, view: engines.View, rng: Random) -> State:
        assert isinstance(view, View)
        if view.seat is None:
            raise GameError("a spectator has no seat to search for")
        return State(view.players, view.cards, view.prizes, view.bids)

    def text(self, event: int) -> str:
        typed = self.typed(event)
        return f"{type(typed).__name__.lower()} {typed.value}"

    def parse(self, text: str) -> int:
        for event in range(self.num_actions + self.num_chance):
            if self.text(event) == text:
                return event
        raise MalformedAction(f"{text!r} is not like 'bid 3'")

    def typed(self, event: int) -> Bid | Prize:
        if not 0 <= event < 2 * MOST:
            raise MalformedAction(f"events are 0 to {2 * MOST - 1}, not {event}")
        return Bid(event + 1) if event < MOST else Prize(event - MOST + 1)

    def max_events(self, players: int, config: Config) -> int:
        return int(config["cards"]) * (1 + players)


GAME = Goofspiel()
