"""A round, step by step: draw groups, play cards, choose, place, pop. Eight rounds are a game."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import ClassVar, Final, TypeVar

from engines.balloon_pop import actions, board
from engines.balloon_pop.actions import FIRST_CARD, FIRST_DRAW, FIRST_FIRST, FIRST_GROUP, NUM_ACTIONS, NUM_CHANCE
from engines.balloon_pop.board import EMPTY_BOARD, Board
from engines.balloon_pop.data import (
    BONUS_PER_FURTHER_SET,
    CARD,
    CARDS,
    DRAW,
    FIRST,
    GROUP,
    GROUP_SIZE,
    KINDS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NO_CUBES,
    OVER,
    PLACE,
    POP,
    ROUNDS,
    ROWS,
    SUPPLY,
    SYMBOL_SET_SIZE,
    Counts,
    Phase,
)
from engines.balloon_pop.determinize import state_of
from engines.balloon_pop.encoding import encoding
from engines.balloon_pop.render import render
from engines.balloon_pop.summary import SUMMARY
from engines.balloon_pop.view import View, view_from_json, view_of
from engines.encoding import Encoding
from engines.game import (
    SPECTATOR,
    Chance,
    Config,
    Game,
    GameError,
    IllegalAction,
    Json,
    MalformedAction,
    Option,
    shared_placements,
)
from engines.game import State as BaseState
from engines.game import View as BaseView

T = TypeVar("T")


class State(BaseState):
    """One position. Everything in it is public: the bag is dealt lazily, so its order does not exist yet."""

    __slots__ = (
        "bag",
        "boards",
        "bonus",
        "cards",
        "discarded",
        "first",
        "groups",
        "hands",
        "phase",
        "players",
        "points",
        "popped",
        "round",
        "simultaneous",
        "step",
        "taken",
    )

    players: int
    simultaneous: bool
    bonus: bool
    round: int
    """From 1."""
    first: int
    """The seat that is first in this round; 0 before chance has said."""
    phase: Phase
    step: int
    """How many seats have finished the phase, in its order."""
    bag: Counts
    discarded: Counts
    boards: tuple[Board, ...]
    hands: tuple[tuple[int, ...], ...]
    points: tuple[int, ...]
    cards: tuple[int, ...]
    """The card of each seat in this round, 0 before it is played."""
    groups: tuple[str, ...]
    """This round's groups as drawn, empty once placed."""
    taken: tuple[int, ...]
    """The number of each seat's group, from 1, and 0 before it has one."""
    popped: int
    """Sets that the seat that scores has popped in this round."""

    # --- Whose turn ----------------------------------------------------------------------------------------------

    @property
    def game(self) -> BalloonPop:
        return GAME

    @property
    def config(self) -> Config:
        return {"simultaneous_cards": self.simultaneous, "bonus": self.bonus}

    @property
    def is_terminal(self) -> bool:
        return self.phase == OVER

    def actors(self) -> tuple[int, ...]:
        phase = self.phase
        if phase == CARD and self.simultaneous:
            return tuple(range(self.players))
        if phase == GROUP:
            return (self.choosing_order()[self.step],)
        if phase in (CARD, PLACE, POP):
            return (self._seat_at(self.step),)
        return ()

    def choosing_order(self) -> tuple[int, ...]:
        """Seats by descending card; of equal cards the one that comes first clockwise from the first seat."""
        return tuple(sorted(self.clockwise(), key=lambda seat: -self.cards[seat]))

    def clockwise(self) -> tuple[int, ...]:
        """All seats from the first one on."""
        return (*range(self.first, self.players), *range(self.first))

    def _seat_at(self, step: int) -> int:
        return (self.first + step) % self.players

    # --- What can be done ----------------------------------------------------------------------------------------

    def legal(self, seat: int) -> tuple[int, ...]:
        if seat not in self.actors():
            return ()
        if self.phase == CARD:
            return tuple([FIRST_CARD - 1 + value for value in self.hands[seat]])
        if self.phase == GROUP:
            return tuple([FIRST_GROUP + index for index in range(self.players) if index + 1 not in self.taken])
        if self.phase == PLACE:
            length = len(self.groups[self.taken[seat] - 1])
            return board.placements(self.cards[seat], length, board.heights(self.boards[seat]))
        return tuple(board.find_sets(self.boards[seat]))

    def chance(self) -> Chance:
        if self.phase == DRAW:
            return tuple([(kind, count) for kind, count in enumerate(self.bag, FIRST_DRAW) if count])
        if self.phase == FIRST:
            return tuple([(FIRST_FIRST + seat, 1) for seat in range(self.players)])
        return ()

    # --- Doing it ------------------------------------------------------------------------------------------------

    def apply(self, joint: Mapping[int, int]) -> State:
        actors = self.actors()
        if not actors or len(joint) != len(actors) or any(seat not in joint for seat in actors):
            raise IllegalAction(f"balloon-pop: seats {list(actors)} decide now, not {sorted(joint)}")
        for seat in actors:
            self._check(seat, joint[seat])
        after = self._copy()
        for seat in actors:
            after._act(seat, joint[seat])
        after._settle()
        return after

    def _check(self, seat: int, action: int) -> None:
        if action in self.legal(seat):
            return
        if not 0 <= action < NUM_ACTIONS:
            raise MalformedAction(f"balloon-pop has actions 0 to {NUM_ACTIONS - 1}, not {action}")
        raise IllegalAction(f"balloon-pop: seat {seat} cannot play {actions.TEXTS[action]!r} now")

    def _act(self, seat: int, action: int) -> None:
        if self.phase == CARD:
            self._play_card(seat, action - FIRST_CARD + 1)
        elif self.phase == GROUP:
            self.taken = _with(self.taken, seat, action - FIRST_GROUP + 1)
            self.step += 1
        elif self.phase == PLACE:
            self._place(seat, action)
        else:
            self._pop(seat, action)

    def _play_card(self, seat: int, card: int) -> None:
        hand = self.hands[seat]
        self.hands = _with(self.hands, seat, tuple([value for value in hand if value != card]))
        self.cards = _with(self.cards, seat, card)
        self.step += 1

    def _place(self, seat: int, action: int) -> None:
        index = self.taken[seat] - 1
        group = self.groups[index]
        how = actions.EVENTS[action]
        if isinstance(how, actions.Place):
            after, dropped = board.lay(self.boards[seat], group, how)
            self.boards = _with(self.boards, seat, after)
        else:
            dropped = group
        self.discarded = _added(self.discarded, dropped)
        self.groups = _with(self.groups, index, "")
        self.step += 1

    def _pop(self, seat: int, action: int) -> None:
        mask = board.find_sets(self.boards[seat])[action]
        after, cubes = board.pop_cubes(self.boards[seat], mask)
        gain = board.set_points(action, len(cubes))
        if self.bonus and self.popped:
            gain += BONUS_PER_FURTHER_SET
        self.boards = _with(self.boards, seat, after)
        self.discarded = _added(self.discarded, cubes)
        self.points = _with(self.points, seat, self.points[seat] + gain)
        self.popped += 1

    def apply_chance(self, outcome: int) -> State:
        if self.phase == DRAW:
            return self._draw(outcome - FIRST_DRAW)
        if self.phase == FIRST and 0 <= outcome - FIRST_FIRST < self.players:
            after = self._copy()
            after.first = outcome - FIRST_FIRST
            after._begin_round()
            return after
        raise IllegalAction(f"balloon-pop: outcome {outcome} is not possible now")

    def _draw(self, kind: int) -> State:
        if not 0 <= kind < len(KINDS) or not self.bag[kind]:
            raise IllegalAction(f"balloon-pop: outcome {FIRST_DRAW + kind} is not possible now")
        after = self._copy()
        after.bag = _with(self.bag, kind, self.bag[kind] - 1)
        index = self.step // GROUP_SIZE
        after.groups = _with(self.groups, index, self.groups[index] + KINDS[kind])
        after.step += 1
        after._settle()
        return after

    # --- From one phase to the next ------------------------------------------------------------------------------

    def _begin_round(self) -> None:
        none = (0,) * self.players
        self.cards, self.taken = none, none
        self.groups = ("",) * self.players
        self._enter(DRAW)
        self._settle()

    def _settle(self) -> None:
        """Goes on to where the next cube is drawn or the next seat decides, or to the end of the game."""
        if self.phase == DRAW:
            if self.step < GROUP_SIZE * self.players and self._bag_has_cubes():
                return
            self._enter(CARD)
        seats = self.players
        if self.phase == CARD and self.step == seats:
            self._enter(GROUP)
        if self.phase == GROUP and self.step == seats:
            self._enter(PLACE)
        if self.phase == PLACE:
            while self.step < seats and not self.groups[self.taken[self._seat_at(self.step)] - 1]:
                self.step += 1
            if self.step == seats:
                self._enter(POP)
        if self.phase == POP:
            while self.step < seats and not board.find_sets(self.boards[self._seat_at(self.step)]):
                self.step += 1
                self.popped = 0
            if self.step == seats:
                self._end_round()

    def _bag_has_cubes(self) -> bool:
        """Refills an empty bag from the discard; false if there is nothing to refill it with."""
        if not any(self.bag):
            self.bag, self.discarded = self.discarded, NO_CUBES
        return any(self.bag)

    def _end_round(self) -> None:
        if self.round < ROUNDS:
            self.round += 1
            self.first = self._seat_at(1)
            self._begin_round()
            return
        self._enter(OVER)
        ends = [board.end_points(board.heights(own)) for own in self.boards]
        self.points = tuple([points + end for points, end in zip(self.points, ends, strict=True)])

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self.step = 0

    # --- The result ----------------------------------------------------------------------------------------------

    def scores(self) -> tuple[int, ...]:
        return self.points

    def placements(self) -> tuple[int, ...]:
        fewest_cubes = [-sum(board.heights(own)) for own in self.boards]
        return shared_placements(tuple(zip(self.points, fewest_cubes, strict=True)))

    # --- Seen and stored -----------------------------------------------------------------------------------------

    def view(self, seat: int | None) -> View:
        return view_of(self, seat)

    def render(self, seat: int | None) -> str:
        return render(self.view(seat), self.actors())

    def to_json(self) -> Json:
        return self.view(SPECTATOR).to_json()

    def _copy(self) -> State:
        """A copy for ``apply`` to work on before anybody else sees it."""
        new = State()
        new.players = self.players
        new.simultaneous = self.simultaneous
        new.bonus = self.bonus
        new.round = self.round
        new.first = self.first
        new.phase = self.phase
        new.step = self.step
        new.bag = self.bag
        new.discarded = self.discarded
        new.boards = self.boards
        new.hands = self.hands
        new.points = self.points
        new.cards = self.cards
        new.groups = self.groups
        new.taken = self.taken
        new.popped = self.popped
        return new


class BalloonPop(Game):
    """Balloon Pop, 2 to 4 players."""

    name = "balloon-pop"
    title = "Balloon Pop"
    rules_version = 1
    min_players = MIN_PLAYERS
    max_players = MAX_PLAYERS
    options: ClassVar[Mapping[str, Option]] = {
        "simultaneous_cards": Option(False, "all choose their cards at once, hidden until everybody has chosen"),
        "bonus": Option(False, "each set that a player pops in a round after the first gives 1 more point"),
    }
    num_actions = NUM_ACTIONS
    num_chance = NUM_CHANCE
    summary = SUMMARY

    def new_state(self, players: int, **config: bool | int) -> State:
        options = self.complete_config(players, config)
        state = State()
        state.players = players
        state.simultaneous = bool(options["simultaneous_cards"])
        state.bonus = bool(options["bonus"])
        state.round, state.first, state.popped = 1, 0, 0
        state.bag, state.discarded = SUPPLY, NO_CUBES
        state.boards = (EMPTY_BOARD,) * players
        state.hands = (CARDS,) * players
        state.points = state.cards = state.taken = (0,) * players
        state.groups = ("",) * players
        state._enter(FIRST)
        return state

    def from_json(self, doc: Json) -> State:
        return state_of(view_from_json(doc))

    def view_from_json(self, doc: Json) -> View:
        return view_from_json(doc)

    def determinize(self, view: BaseView, rng: Random) -> State:
        """The state itself, for nothing is hidden: what is left of chance has not happened yet."""
        if not isinstance(view, View) or view.seat is SPECTATOR:
            raise GameError("balloon-pop: only a seat's view of this game can be determinized")
        return state_of(view)

    def text(self, event: int) -> str:
        return actions.text(event)

    def parse(self, text: str) -> int:
        return actions.parse(text)

    def typed(self, event: int) -> actions.Action | actions.Outcome:
        return actions.typed(event)

    def max_events(self, players: int, config: Config) -> int:
        """Who is first; then a seat's draws, card, choice and placement a round, and its pops of two cubes at least."""
        drawn = ROUNDS * GROUP_SIZE
        return 1 + players * (drawn + 3 * ROUNDS + drawn // SYMBOL_SET_SIZE)

    def encoding(self, players: int, config: Config) -> Encoding:
        return encoding(players)

    def check_invariants(self, state: BaseState) -> None:
        assert isinstance(state, State)
        where = "".join([*state.groups, *("".join(own) for own in state.boards)])
        counts = zip(KINDS, SUPPLY, state.bag, state.discarded, strict=True)
        for kind, supply, bag, discarded in counts:
            assert bag + discarded + where.count(kind) == supply, f"{kind} cubes got lost or were made"
        for seat, own in enumerate(state.boards):
            assert max(board.heights(own)) <= ROWS, f"seat {seat} has a column that is too high"
            to_score = state.phase == PLACE or (state.phase == POP and state.clockwise().index(seat) >= state.step)
            assert to_score or not board.find_sets(own), f"seat {seat} kept a set"
            played = state.round - (state.cards[seat] == 0)
            assert len(state.hands[seat]) == len(CARDS) - played, f"seat {seat} holds a wrong number of cards"
            assert state.cards[seat] not in state.hands[seat], f"seat {seat} kept the card it played"
        numbers = [number for number in state.taken if number]
        assert len(numbers) == len(set(numbers)), "two seats have the same group"
        assert max(map(len, state.groups)) <= GROUP_SIZE, "a group is too large"


def _with(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    return (*items[:index], item, *items[index + 1 :])


def _added(counts: Counts, cubes: str) -> Counts:
    return tuple([count + cubes.count(kind) for count, kind in zip(counts, KINDS, strict=True)]) if cubes else counts


GAME: Final = BalloonPop()
