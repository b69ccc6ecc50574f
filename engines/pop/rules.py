"""The rules of POP!. A round follows the script of its plan; the table's mechanics are in ``table``."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping
from itertools import combinations
from random import Random
from typing import Any, ClassVar, Final

from engines.encoding import Encoding
from engines.game import (
    Chance,
    Config,
    Game,
    GameError,
    IllegalAction,
    Json,
    Option,
    State,
    View,
    shared_placements,
)
from engines.pop import actions
from engines.pop.data import CARDS, COLOUR, EXPLOSIONS, Cards, explosions
from engines.pop.encoding import encoding
from engines.pop.plan import CHIEF, CHOOSE, DEAL, DRAW, OVER, ROW, Plan, Step, plan_for
from engines.pop.render import render
from engines.pop.summary import SUMMARY
from engines.pop.table import CHIEF_OWNER, Columns, Witnessed, place_faces, touching, witness
from engines.pop.view import PopView, make_view, view_from_json

_FIRST_ID: Final = {ROW: actions.ROW, DEAL: actions.DEAL, DRAW: actions.DRAW, CHIEF: actions.CHIEF}
_OUTCOMES: Final = {phase: ((-1, 0), *((first + card - 1, 1) for card in CARDS)) for phase, first in _FIRST_ID.items()}
"""By phase and card: (chance id, weight)."""

EMPTY: Final[Columns] = ((), (), (), (), ())


class PopState(State):
    """One position of POP!."""

    __slots__ = (
        "carried",
        "chief",
        "chosen",
        "columns",
        "deck",
        "hands",
        "pile",
        "plan",
        "round",
        "step",
        "taken",
    )

    plan: Plan
    round: int
    """From 1."""
    step: int
    """Events of this round so far: an index into ``plan.script``."""
    deck: Cards
    """Ascending: a shuffle is dealt card by card."""
    hands: tuple[Cards, ...]
    columns: Columns
    """A to E, each floor first. Between turns all floors are level."""
    chief: Cards
    """The Chief's cards of this turn."""
    chosen: tuple[Cards, ...]
    """By seat, once all have chosen and until the cards are placed; else empty."""
    taken: tuple[Cards, ...]
    """By seat the cards collected in this round."""
    pile: Cards
    """What the Chief blew up and nobody has collected yet."""
    carried: tuple[int, ...]
    """By seat the explosions of earlier rounds."""

    @classmethod
    def opening(cls, plan: Plan, number: int, carried: tuple[int, ...]) -> PopState:
        """Round ``number`` before its first card."""
        state = cls()
        state.plan = plan
        state.round = number
        state.step = 0
        state.deck = tuple(CARDS)
        state.hands = state.taken = ((),) * plan.players
        state.columns = EMPTY
        state.chief = state.pile = ()
        state.chosen = ()
        state.carried = carried
        return state

    def _copy(self) -> PopState:
        new = PopState()
        new.plan = self.plan
        new.round = self.round
        new.step = self.step
        new.deck = self.deck
        new.hands = self.hands
        new.columns = self.columns
        new.chief = self.chief
        new.chosen = self.chosen
        new.taken = self.taken
        new.pile = self.pile
        new.carried = self.carried
        return new

    # What is due

    @property
    def due(self) -> Step:
        """The event that comes next."""
        return self.plan.script[self.step]

    @property
    def game(self) -> Pop:
        return GAME

    @property
    def players(self) -> int:
        return self.plan.players

    @property
    def config(self) -> Config:
        return {"two_player_variant": self.plan.two_player_variant, "rounds": self.plan.rounds}

    @property
    def is_terminal(self) -> bool:
        return self.due.phase == OVER

    def actors(self) -> tuple[int, ...]:
        return tuple(range(self.plan.players)) if self.due.phase == CHOOSE else ()

    def legal(self, seat: int) -> tuple[int, ...]:
        if self.due.phase != CHOOSE or not 0 <= seat < len(self.hands):
            return ()
        hand = self.hands[seat]
        if self.plan.cards_each == 1:
            return tuple([card - 1 for card in hand])
        first = actions.PAIRS_FROM
        return tuple([first[low] + high for low, high in combinations(hand, 2)])

    def chance(self) -> Chance:
        phase = self.due.phase
        if phase not in _OUTCOMES:
            return ()
        outcomes = _OUTCOMES[phase]
        if phase == ROW and self.step:
            before = COLOUR[self.columns[self.step - 1][0]]
            return tuple([outcomes[card] for card in self.deck if COLOUR[card] != before])
        return tuple([outcomes[card] for card in self.deck])

    # What happens

    def apply(self, joint: Mapping[int, int]) -> PopState:
        if self.due.phase != CHOOSE:
            raise IllegalAction("nobody has to choose a card now")
        if len(joint) != self.plan.players or any(seat not in joint for seat in range(self.plan.players)):
            raise IllegalAction(f"each of the {self.plan.players} seats chooses, not {sorted(joint)}")
        new = self._copy()
        new.chosen = tuple([self._chosen(seat, joint[seat]) for seat in range(self.plan.players)])
        new.hands = tuple(
            [
                tuple([card for card in hand if card not in gone])
                for hand, gone in zip(self.hands, new.chosen, strict=True)
            ]
        )
        return new._advanced()

    def _chosen(self, seat: int, action: int) -> Cards:
        cards = actions.cards_of(action)
        hand = self.hands[seat]
        if len(cards) != self.plan.cards_each:
            raise IllegalAction(f"seat {seat} has to choose {self.plan.cards_each} card(s), not {len(cards)}")
        for card in cards:
            if card not in hand:
                raise IllegalAction(f"seat {seat} does not hold {card}: its hand is {' '.join(map(str, hand))}")
        return cards

    def apply_chance(self, outcome: int) -> PopState:
        phase = self.due.phase
        if phase not in _FIRST_ID:
            raise IllegalAction("no chance event is due")
        card = outcome - _FIRST_ID[phase] + 1
        at = bisect_left(self.deck, card)
        if at == len(self.deck) or self.deck[at] != card:
            raise IllegalAction(f"no {phase} of a card left in the deck is called {outcome}")
        new = self._copy()
        new.deck = self.deck[:at] + self.deck[at + 1 :]
        if phase == ROW:
            new.columns = self._with_first(card)
        elif phase == CHIEF:
            new.chief = (*self.chief, card)
        else:
            seat = self.due.seat
            new.hands = (*self.hands[:seat], _inserted(self.hands[seat], card), *self.hands[seat + 1 :])
        return new._advanced()

    def _with_first(self, card: int) -> Columns:
        column = self.step
        if column and COLOUR[self.columns[column - 1][0]] == COLOUR[card]:
            raise IllegalAction(f"{card} in the first row would touch its own colour")
        return (*self.columns[:column], (card,), *self.columns[column + 1 :])

    def _advanced(self) -> PopState:
        """Go to the next step, in place, on a copy that nobody else holds."""
        completes = self.due.completes
        self.step += 1
        if completes:
            self._place()
            if self.is_terminal and self.round < self.plan.rounds:
                return PopState.opening(self.plan, self.round + 1, self.scores())
        return self

    def _place(self) -> None:
        self.columns, blasts = place_faces(self.columns, _faces(self.chosen, self.chief))
        self.chosen = self.chief = ()
        for owner, gone in blasts:
            if owner == CHIEF_OWNER:
                self.pile = (*self.pile, *gone)
            else:
                taken = (*self.taken[owner], *self.pile, *gone)
                self.taken = (*self.taken[:owner], taken, *self.taken[owner + 1 :])
                self.pile = ()

    # How it stands

    def scores(self) -> tuple[int, ...]:
        return tuple([before + explosions(cards) for before, cards in zip(self.carried, self.taken, strict=True)])

    def placements(self) -> tuple[int, ...]:
        if not self.is_terminal:
            return shared_placements(tuple([-points for points in self.scores()]))
        left = [explosions(hand) for hand in self.hands]
        return shared_placements(tuple([(-points, -last) for points, last in zip(self.scores(), left, strict=True)]))

    def view(self, seat: int | None) -> PopView:
        return make_view(self, seat)

    def render(self, seat: int | None) -> str:
        return render(make_view(self, seat))

    def sees(self, observer: int | None, actor: int | None, event: int) -> bool:
        """Cards dealt and drawn are seen by who gets them; all else is open, the choices because all come at once."""
        due = self.due
        return due.phase not in (DEAL, DRAW) or observer == due.seat

    def scenes(self, joint: Mapping[int, int], outcome: int | None) -> tuple[Json, ...]:
        """The five cards of a turn before they are placed, each placement, and each wave of explosions."""
        if not self.due.completes:
            return ()
        chosen = (
            self.chosen if outcome is not None else tuple([actions.cards_of(joint[seat]) for seat in sorted(joint)])
        )
        chief = self.chief if outcome is None else (*self.chief, outcome - _FIRST_ID[CHIEF] + 1)
        return tuple([_scene(moment) for moment in witness(self.columns, _faces(chosen, chief))])

    def to_json(self) -> Json:
        return {
            "players": self.plan.players,
            "config": dict(self.config),
            "round": self.round,
            "step": self.step,
            "deck": list(self.deck),
            "hands": _lists(self.hands),
            "columns": _lists(self.columns),
            "chief": list(self.chief),
            "chosen": _lists(self.chosen),
            "taken": _lists(self.taken),
            "pile": list(self.pile),
            "carried": list(self.carried),
        }


class Pop(Game):
    """POP!: guard the entrance, and let others set off the explosions."""

    name = "pop"
    title = "POP!"
    rules_version = 1
    min_players = 2
    max_players = 5
    options: ClassVar = {
        "two_player_variant": Option(True, "with two players: draw a card each turn and choose two"),
        "rounds": Option(1, "rounds of a match", low=1, high=3),
    }
    num_actions = actions.NUM_ACTIONS
    num_chance = actions.NUM_CHANCE
    summary = SUMMARY

    def new_state(self, players: int, **config: bool | int) -> PopState:
        full = self.complete_config(players, config)
        plan = plan_for(players, bool(full["two_player_variant"]), int(full["rounds"]))
        return PopState.opening(plan, 1, (0,) * players)

    def from_json(self, doc: Json) -> PopState:
        config = self.complete_config(doc["players"], doc["config"])
        state = PopState()
        state.plan = plan_for(doc["players"], bool(config["two_player_variant"]), int(config["rounds"]))
        state.round = doc["round"]
        state.step = doc["step"]
        state.deck = tuple(doc["deck"])
        state.hands = _tuples(doc["hands"])
        state.columns = _tuples(doc["columns"])
        state.chief = tuple(doc["chief"])
        state.chosen = _tuples(doc["chosen"])
        state.taken = _tuples(doc["taken"])
        state.pile = tuple(doc["pile"])
        state.carried = tuple(doc["carried"])
        return state

    def view_from_json(self, doc: Json) -> PopView:
        return view_from_json(doc)

    def determinize(self, view: View, rng: Random) -> PopState:
        """Shuffle the cards that the view does not show and deal them to the other hands and the deck.

        The deck keeps no order, and nothing that a seat sees depends on another's hand, so every such deal is
        equally likely but for what the others' choices give away.
        """
        if not isinstance(view, PopView) or view.seat is None:
            raise GameError("only the view of a seat of pop can be completed")
        state = PopState()
        state.plan = plan_for(view.players, view.two_player_variant, view.rounds)
        state.round = view.round
        state.step = view.step
        state.columns = view.columns
        state.chief = view.chief
        state.chosen = view.chosen
        state.taken = view.taken
        state.pile = view.pile
        state.carried = tuple(
            [points - explosions(cards) for points, cards in zip(view.points, view.taken, strict=True)]
        )
        shown = {*view.hand, *view.left, *view.chief, *view.pile}
        shown.update(*view.columns, *view.chosen, *view.taken)
        unseen = [card for card in CARDS if card not in shown]
        rng.shuffle(unseen)
        state.hands = tuple([_hand_in(view, seat, unseen) for seat in range(view.players)])
        state.deck = tuple(sorted(unseen))
        return state

    def text(self, event: int) -> str:
        return actions.text(event)

    def parse(self, text: str) -> int:
        return actions.parse(text)

    def typed(self, event: int) -> Any:
        return actions.typed(event)

    def max_events(self, players: int, config: Config) -> int:
        """Exact: every match of a configuration has the same number of events."""
        plan = plan_for(players, bool(config["two_player_variant"]), int(config["rounds"]))
        choices = sum(step.phase == CHOOSE for step in plan.script)
        return plan.rounds * (len(plan.script) - 1 - choices + choices * players)

    def encoding(self, players: int, config: Config) -> Encoding:
        return encoding(players, int(config["rounds"]))

    def check_invariants(self, state: State) -> None:
        """All 50 cards, 80 explosions, in one place each; nothing on the table touches; hands as the script says."""
        assert isinstance(state, PopState)
        places = (state.deck, *state.hands, *state.columns, state.chief, *state.chosen, *state.taken, state.pile)
        cards = [card for place in places for card in place]
        assert sorted(cards) == list(CARDS), f"not the 50 cards: {sorted(cards)}"
        assert sum(EXPLOSIONS) == 80
        assert not touching(list(state.columns), [0] * 5), f"{state.columns} should have exploded"
        sizes = [0] * state.players
        for step in state.plan.script[: state.step]:
            for seat in range(state.players):
                sizes[seat] += step.phase in (DEAL, DRAW) and step.seat == seat
                sizes[seat] -= state.plan.cards_each * (step.phase == CHOOSE)
        assert [len(hand) for hand in state.hands] == sizes, f"hands of {sizes} cards expected, not {state.hands}"


def _faces(chosen: tuple[Cards, ...], chief: Cards) -> list[tuple[int, int]]:
    """A turn's five cards with their owners."""
    faces = [(card, seat) for seat, cards in enumerate(chosen) for card in cards]
    return faces + [(card, CHIEF_OWNER) for card in chief]


def _scene(moment: Witnessed) -> Json:
    return {
        "columns": _lists(moment.columns),
        "floors": list(moment.floors),
        "slots": [list(slot) if slot else None for slot in moment.slots],
        "placed": list(moment.placed) if moment.placed else None,
        "doomed": sorted(moment.doomed),
    }


def _hand_in(view: PopView, seat: int, unseen: list[int]) -> Cards:
    """The hand of ``seat``: as shown, else taken from the end of ``unseen``."""
    if seat == view.seat:
        return view.hand
    if view.left:
        return (view.left[seat],)
    return tuple(sorted([unseen.pop() for _ in range(view.hand_sizes[seat])]))


def _inserted(hand: Cards, card: int) -> Cards:
    cards = list(hand)
    insort(cards, card)
    return tuple(cards)


def _lists(groups: tuple[Cards, ...]) -> list[list[int]]:
    return [list(group) for group in groups]


def _tuples(groups: list[list[int]]) -> tuple[Cards, ...]:
    return tuple([tuple(group) for group in groups])


GAME: Final = Pop()
