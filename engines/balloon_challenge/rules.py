"""The rules of Balloon Challenge, from the deal to the scoring."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import chain
from random import Random
from typing import Any, ClassVar, Final

from engines.balloon_challenge import actions
from engines.balloon_challenge.actions import DEAL, DROP, NUM_ACTIONS, NUM_CHANCE, START
from engines.balloon_challenge.data import (
    BLACK,
    BONUS_COUNT,
    CARD_COLOUR,
    CARD_NAMES,
    CARD_VALUE,
    CARDS,
    CHIP_POINTS,
    CHIPS,
    COLOURS,
    EARLY_BONUS,
    HAND_SIZE,
    MAX_PLAYERS,
    MIN_PLAYERS,
    ROUNDS,
    ROW_0,
)
from engines.balloon_challenge.determinize import guess
from engines.balloon_challenge.encoding import encoding
from engines.balloon_challenge.render import render
from engines.balloon_challenge.summary import SUMMARY
from engines.balloon_challenge.view import Cards, PastRound, View, past_from_json, view_from_json
from engines.encoding import Encoding
from engines.game import (
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

NOBODY: Final = -1
NO_CONFIG: Final[Config] = {}
FULL_DECK: Final[Chance] = tuple((DEAL + card, 1) for card in range(CARDS))
NO_COUNTS: Final = (0,) * len(COLOURS)


class State(BaseState):
    """One position. Tuples over players are by seat; cards are 0..49.

    Who is in plays one card a lap, so a seat's k-th card lies in row k, and the lap is the cards that the seat to move
    has played, plus one. The chip put aside is there as long as nobody is out.
    """

    __slots__ = (
        "chips",
        "counts",
        "deck",
        "hands",
        "n",
        "out",
        "past",
        "pot",
        "round",
        "row0",
        "rows",
        "start",
        "totals",
        "turn",
    )

    def __init__(
        self,
        *,
        n: int,
        round_: int,
        start: int,
        turn: int,
        deck: Chance,
        hands: tuple[Cards, ...],
        row0: Cards,
        rows: tuple[Cards, ...],
        counts: tuple[int, ...],
        out: tuple[bool, ...],
        pot: int,
        chips: tuple[int, ...],
        totals: tuple[int, ...],
        past: tuple[PastRound, ...],
    ) -> None:
        self.n = n
        self.round = round_
        self.start = start
        """The seat that starts the round, or NOBODY before the game's first event."""
        self.turn = turn
        """The seat to move, or NOBODY at a chance event and at the end."""
        self.deck = deck
        """The undealt cards, as the outcomes of the next deal."""
        self.hands = hands
        self.row0 = row0
        self.rows = rows
        self.counts = counts
        """Cards on the table by colour, row 0 included."""
        self.out = out
        self.pot = pot
        self.chips = chips
        self.totals = totals
        self.past = past

    def _copy(self) -> State:
        """The same position, for the caller to change before anybody else sees it."""
        new = State.__new__(State)
        new.n = self.n
        new.round = self.round
        new.start = self.start
        new.turn = self.turn
        new.deck = self.deck
        new.hands = self.hands
        new.row0 = self.row0
        new.rows = self.rows
        new.counts = self.counts
        new.out = self.out
        new.pot = self.pot
        new.chips = self.chips
        new.totals = self.totals
        new.past = self.past
        return new

    # What is due

    @property
    def game(self) -> Game:
        return GAME

    @property
    def players(self) -> int:
        return self.n

    @property
    def config(self) -> Config:
        return NO_CONFIG

    @property
    def is_terminal(self) -> bool:
        return len(self.past) == ROUNDS

    def chance(self) -> Chance:
        if self.start == NOBODY:
            return tuple((START + seat, 1) for seat in range(self.n))
        return self.deck if self.turn == NOBODY and len(self.past) < ROUNDS else ()

    def actors(self) -> tuple[int, ...]:
        return () if self.turn == NOBODY else (self.turn,)

    def legal(self, seat: int) -> tuple[int, ...]:
        return (*self.hands[seat], DROP) if seat == self.turn != NOBODY else ()

    def default_action(self, seat: int) -> int:
        return DROP

    @property
    def size(self) -> int:
        """Cards on the table, row 0 included: the size of the balloon."""
        return sum(self.counts)

    @property
    def lap(self) -> int:
        """The row being played, from 1; 0 if no decision is due."""
        return 0 if self.turn == NOBODY else len(self.rows[self.turn]) + 1

    # 1. The deal

    def receiver(self) -> int | None:
        """The seat that gets the next card dealt; None if it goes face up into row 0."""
        dealt = CARDS - len(self.deck)
        return (self.start + dealt) % self.n if dealt < self.n * HAND_SIZE[self.round] else None

    def apply_chance(self, outcome: int) -> State:
        if self.start == NOBODY:
            if not START <= outcome < START + self.n:
                raise IllegalAction(f"one of {self.n} seats is to start; event {outcome} is no such outcome")
            return new_round(self.n, 1, outcome - START, self.totals, ())
        due = self.chance()
        at = bisect_left(due, (outcome,))
        if at == len(due) or due[at][0] != outcome:
            raise IllegalAction(f"event {outcome} is not among the outcomes of chance now")
        card, receiver, new = outcome - DEAL, self.receiver(), self._copy()
        new.deck = due[:at] + due[at + 1 :]
        if receiver is None:
            new.row0 = (*self.row0, card)
            new.counts = _with(self.counts, CARD_COLOUR[card], self.counts[CARD_COLOUR[card]] + 1)
        else:
            new.hands = _with(self.hands, receiver, tuple(sorted((*self.hands[receiver], card))))
        if CARDS - len(new.deck) == self.n * HAND_SIZE[self.round] + ROW_0[self.n]:
            new.turn = self.start
        return new

    # 3. Laps

    def apply(self, joint: Mapping[int, int]) -> State:
        seat = self.turn
        if len(joint) != 1 or seat not in joint or seat == NOBODY:
            due = "nobody" if seat == NOBODY else f"seat {seat}"
            raise IllegalAction(f"{due} has a decision now, not seats {sorted(joint)}")
        action = joint[seat]
        if action in self.hands[seat]:
            new = self._play(seat, action)
        elif action == DROP:
            new = self._drop(seat)
        elif 0 <= action < NUM_ACTIONS:
            raise IllegalAction(f"seat {seat} does not hold {CARD_NAMES[action]}")
        else:
            raise MalformedAction(f"actions of Balloon Challenge are 0 to {NUM_ACTIONS - 1}, not {action}")
        new.turn = new._next_in(seat)
        return new._scored() if new.turn == NOBODY else new

    def _play(self, seat: int, card: int) -> State:
        new = self._copy()
        hand = self.hands[seat]
        at = hand.index(card)
        new.hands = _with(self.hands, seat, hand[:at] + hand[at + 1 :])
        new.rows = _with(self.rows, seat, (*self.rows[seat], card))
        colour = CARD_COLOUR[card]
        count = self.counts[colour] + 1
        new.counts = _with(self.counts, colour, count)
        if count == BONUS_COUNT and colour != BLACK:
            new._take(seat, 1)
        return new

    def _drop(self, seat: int) -> State:
        new = self._copy()
        new.out = _with(self.out, seat, True)
        new._take(seat, max(0, EARLY_BONUS - self.lap))
        if not any(self.out):
            new.chips = _with(new.chips, seat, new.chips[seat] + 1)  # the chip put aside, not the pot's
        return new

    def _take(self, seat: int, wanted: int) -> None:
        """Moves chips from the pot of a state under construction: as many as are wanted, or what is left."""
        taken = min(self.pot, wanted)
        self.pot -= taken
        self.chips = _with(self.chips, seat, self.chips[seat] + taken)

    def _next_in(self, seat: int) -> int:
        """The next seat clockwise that is still in, ``seat`` itself last; NOBODY if all are out."""
        for step in range(1, self.n + 1):
            if not self.out[(seat + step) % self.n]:
                return (seat + step) % self.n
        return NOBODY

    # 4. Scoring

    def _scored(self) -> State:
        """The state after the round's scoring: the next round, or the end with the last table left as it is."""
        size = self.size
        volumes = [sum(CARD_VALUE[card] for card in hand) for hand in self.hands]
        exact = volumes.count(size)
        share = self.pot // exact if exact else 0
        chips = tuple(had + share if volume == size else had for had, volume in zip(self.chips, volumes, strict=True))
        points = tuple(
            (volume if volume <= size else 0) + CHIP_POINTS[self.round] * had
            for had, volume in zip(chips, volumes, strict=True)
        )
        totals = tuple(total + gained for total, gained in zip(self.totals, points, strict=True))
        past = (*self.past, PastRound(size, self.hands, chips, points))
        if self.round < ROUNDS:
            return new_round(self.n, self.round + 1, (self.start + 1) % self.n, totals, past)
        end = self._copy()
        end.pot, end.chips, end.totals, end.past = self.pot - exact * share, chips, totals, past
        return end

    def scores(self) -> tuple[int, ...]:
        return self.totals

    def placements(self) -> tuple[int, ...]:
        return shared_placements(self.totals)

    # Who may know what

    def view(self, seat: int | None) -> View:
        return View(
            seat=seat,
            players=self.n,
            round=self.round,
            start=None if self.start == NOBODY else self.start,
            turn=None if self.turn == NOBODY else self.turn,
            lap=self.lap,
            pot=self.pot,
            aside=not any(self.out),
            row0=self.row0,
            rows=self.rows,
            size=self.size,
            out=self.out,
            hand=() if seat is None else self.hands[seat],
            hand_sizes=tuple(map(len, self.hands)),
            chips=self.chips,
            totals=self.totals,
            past=self.past,
        )

    def sees(self, observer: int | None, actor: int | None, event: int) -> bool:
        if actor is None and event >= DEAL:
            receiver = self.receiver()
            return receiver is None or receiver == observer
        return True

    def render(self, seat: int | None) -> str:
        return render(self.view(seat))

    def to_json(self) -> Json:
        return {
            "players": self.n,
            "round": self.round,
            "start": self.start,
            "turn": self.turn,
            "hands": [list(hand) for hand in self.hands],
            "row0": list(self.row0),
            "rows": [list(row) for row in self.rows],
            "out": list(self.out),
            "pot": self.pot,
            "chips": list(self.chips),
            "totals": list(self.totals),
            "past": [scored.to_json() for scored in self.past],
        }


def new_round(n: int, round_: int, start: int, totals: tuple[int, ...], past: tuple[PastRound, ...]) -> State:
    """A round before its deal: all chips back on the table, one of them put aside."""
    return State(
        n=n,
        round_=round_,
        start=start,
        turn=NOBODY,
        deck=FULL_DECK,
        hands=((),) * n,
        row0=(),
        rows=((),) * n,
        counts=NO_COUNTS,
        out=(False,) * n,
        pot=CHIPS[n] - 1,
        chips=(0,) * n,
        totals=totals,
        past=past,
    )


def position(
    *,
    n: int,
    round_: int,
    start: int,
    turn: int,
    hands: tuple[Cards, ...],
    row0: Cards,
    rows: tuple[Cards, ...],
    out: tuple[bool, ...],
    pot: int,
    chips: tuple[int, ...],
    totals: tuple[int, ...],
    past: tuple[PastRound, ...],
) -> State:
    """A state from its parts; the deck is whatever lies nowhere else."""
    table = [*row0, *chain.from_iterable(rows)]
    gone = {*table, *chain.from_iterable(hands)}
    return State(
        n=n,
        round_=round_,
        start=start,
        turn=turn,
        deck=tuple((DEAL + card, 1) for card in range(CARDS) if card not in gone),
        hands=hands,
        row0=row0,
        rows=rows,
        counts=_by_colour(table),
        out=out,
        pot=pot,
        chips=chips,
        totals=totals,
        past=past,
    )


def _by_colour(cards: Sequence[int]) -> tuple[int, ...]:
    colours = [CARD_COLOUR[card] for card in cards]
    return tuple(map(colours.count, range(len(COLOURS))))


def _with(values: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    """``values`` with the one at index ``at`` replaced."""
    return (*values[:at], value, *values[at + 1 :])


class BalloonChallenge(Game):
    """See ``summary`` for the rules."""

    name = "balloon-challenge"
    title = "Balloon Challenge"
    rules_version = 1
    min_players = MIN_PLAYERS
    max_players = MAX_PLAYERS
    options: ClassVar[Mapping[str, Option]] = {}
    num_actions = NUM_ACTIONS
    num_chance = NUM_CHANCE
    summary = SUMMARY

    def new_state(self, players: int, **config: bool | int) -> State:
        self.complete_config(players, config)
        return new_round(players, 1, NOBODY, totals=(0,) * players, past=())

    def from_json(self, doc: Json) -> State:
        return position(
            n=doc["players"],
            round_=doc["round"],
            start=doc["start"],
            turn=doc["turn"],
            hands=tuple(map(tuple, doc["hands"])),
            row0=tuple(doc["row0"]),
            rows=tuple(map(tuple, doc["rows"])),
            out=tuple(doc["out"]),
            pot=doc["pot"],
            chips=tuple(doc["chips"]),
            totals=tuple(doc["totals"]),
            past=tuple(map(past_from_json, doc["past"])),
        )

    def view_from_json(self, doc: Json) -> View:
        return view_from_json(doc)

    def determinize(self, view: BaseView, rng: Random) -> State:
        if not isinstance(view, View):
            raise GameError(f"not a view of Balloon Challenge: {view!r}")
        return position(
            n=view.players,
            round_=view.round,
            start=NOBODY if view.start is None else view.start,
            turn=NOBODY if view.turn is None else view.turn,
            hands=guess(view, rng),
            row0=view.row0,
            rows=view.rows,
            out=view.out,
            pot=view.pot,
            chips=view.chips,
            totals=view.totals,
            past=view.past,
        )

    def text(self, event: int) -> str:
        return actions.text_of(event)

    def parse(self, text: str) -> int:
        return actions.id_of(text)

    def typed(self, event: int) -> actions.Event:
        return actions.typed_of(event)

    def max_events(self, players: int, config: Config) -> int:
        """The start player, all cards dealt, all of a hand played, and dropping out."""
        return 1 + sum(players * (2 * HAND_SIZE[round_] + 1) + ROW_0[players] for round_ in range(1, ROUNDS + 1))

    def encoding(self, players: int, config: Config) -> Encoding:
        return encoding(players)

    def check_invariants(self, state: BaseState) -> None:
        """50 cards, the chips of so many players, and rows that only who is in goes on with."""
        assert isinstance(state, State)
        table = [*state.row0, *chain.from_iterable(state.rows)]
        cards = [*table, *chain.from_iterable(state.hands), *(event - DEAL for event, _ in state.deck)]
        assert sorted(cards) == list(range(CARDS)), "each of the 50 cards is in one place"
        assert state.counts == _by_colour(table), "counts by colour are those of the table"
        on_table = state.pot + (not any(state.out)) + sum(state.chips)
        assert on_table == CHIPS[state.n], "chips are kept"
        assert min(state.pot, *state.chips) >= 0, "no chips out of nothing"
        assert (state.turn == NOBODY) == bool(state.is_terminal or state.chance()), "somebody decides, or nobody does"
        assert state.turn == NOBODY or not state.out[state.turn], "who is out does not move"
        in_rows = {len(row) for row, out in zip(state.rows, state.out, strict=True) if not out}
        assert not in_rows or max(in_rows) - min(in_rows) <= 1, "who is in plays one card a lap"
        assert state.totals == tuple(sum(scored.points[seat] for scored in state.past) for seat in range(state.n))


GAME: Final = BalloonChallenge()
