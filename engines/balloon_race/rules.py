"""How Wyścig balonów is played: one position, and what each decision and each chance outcome makes of it.

From top to bottom: the parts of a position, what may happen next, setting up, a round, a turn (dice, flights,
obstacles), the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from engines.balloon_race import actions as act
from engines.balloon_race.board import OFF, PADS, SLIDES, TILE, assignments, bits, distance, drift, free_flights, token
from engines.balloon_race.data import (
    CARDS_DEALT,
    COLOURS,
    CORNERS,
    DIRECTIONS,
    FLIGHT,
    FREE_DIE,
    MAIL,
    MAIL_POINTS,
    MOVED_A_TURN,
    OBSTACLES,
    ORDER_DEAL,
    PAD_OFFSETS,
    PAD_ROW,
    PAD_WIDTH,
    RING,
    ROUNDS,
    SIZE,
    START_TILE,
    TIMEOUT_PENALTIES,
)
from engines.balloon_race.doc import to_doc
from engines.balloon_race.render import render
from engines.balloon_race.view import RaceView, view_of
from engines.game import Chance, Config, IllegalAction, Json, MalformedAction, State, shared_placements

if TYPE_CHECKING:
    from engines.balloon_race.race import BalloonRace

PAD, ZONE, BALLOON, CARD, ORDER, OBSTACLE, ROLL = "pad", "zone", "balloon", "card", "order", "obstacle", "roll"
"""Phases in which a chance event is due, named by the first word of its texts."""
PUT, ASSIGN, TO, MOVE = "put", "assign", "to", "move"
"""Phases in which a seat decides, named by the first word of its texts."""
OVER: Final = "over"
DECISIONS: Final = frozenset((PUT, ASSIGN, TO, MOVE))

TEMPLATE: Final = tuple(range(len(COLOURS)))
"""The colours as on the movement template, from left to right."""
STEPS: Final = tuple(SIZE * down + right for down, right in DIRECTIONS)


def turns_of(players: int, order: tuple[int, ...]) -> tuple[int, ...]:
    """The seats of a round's turns; none before all order cards are dealt."""
    if len(order) < len(ORDER_DEAL[players]):
        return ()
    return tuple([deal % players for _, deal in sorted((card, deal) for deal, card in enumerate(order))])


class RaceState(State):
    """One position. Fields are for the modules of this package and for tests; nobody changes them after construction."""

    __slots__ = (
        "_options",
        "balloons",
        "cards",
        "dice",
        "dice_timer_ms",
        "drawn",
        "game",
        "letters",
        "mail",
        "moved",
        "obstacles",
        "order",
        "pad",
        "penalties",
        "phase",
        "players",
        "round",
        "tokens",
        "turn",
        "turns",
        "waiting",
        "zone",
    )

    game: BalloonRace
    players: int
    dice_timer_ms: int
    phase: str
    round: int
    pad: int
    """First column of the pad, or OFF."""
    zone: int
    """Column of the landing zone, or OFF."""
    balloons: tuple[int, ...]
    """Square by colour, or OFF."""
    cards: tuple[int, ...]
    """Colours in the order dealt, to seats in turn."""
    order: tuple[int, ...]
    """Order cards of this round as dealt, to seats in turn."""
    turns: tuple[int, ...]
    """The seats of this round's turns, once all order cards are dealt."""
    turn: int
    obstacles: tuple[int, ...]
    """``board.token`` of each, ascending."""
    moved: tuple[int, ...]
    """Those of ``obstacles`` that have moved in this turn, ascending."""
    drawn: int
    """Value of the obstacle about to be put, or 0."""
    mail: int
    """Set of squares with mail."""
    tokens: int
    """Set of squares with a balloon or an obstacle: what stops a balloon."""
    dice: tuple[int, ...]
    """The sorted throw; from the assignment on the die of each balloon, by colour; empty between turns."""
    waiting: tuple[int, ...]
    """Balloons that still move in this turn, in order."""
    penalties: tuple[int, ...]
    letters: tuple[int, ...]
    """Mail tokens a seat."""
    _options: tuple[int, ...] | None
    """Legal actions of the seat that decides, once worked out."""

    def __init__(self, game: BalloonRace, players: int, dice_timer_ms: int) -> None:
        self.game = game
        self.players = players
        self.dice_timer_ms = dice_timer_ms
        self.phase = PAD
        self.round = 1
        self.pad = self.zone = OFF
        self.balloons = (OFF,) * len(COLOURS)
        self.cards = self.order = self.turns = ()
        self.turn = 0
        self.obstacles = self.moved = ()
        self.drawn = 0
        self.mail = bits(MAIL)
        self.tokens = 0
        self.dice = self.waiting = ()
        self.penalties = self.letters = (0,) * players
        self._options = None

    def _copy(self) -> RaceState:
        new: RaceState = RaceState.__new__(RaceState)
        new.game = self.game
        new.players = self.players
        new.dice_timer_ms = self.dice_timer_ms
        new.phase = self.phase
        new.round = self.round
        new.pad = self.pad
        new.zone = self.zone
        new.balloons = self.balloons
        new.cards = self.cards
        new.order = self.order
        new.turns = self.turns
        new.turn = self.turn
        new.obstacles = self.obstacles
        new.moved = self.moved
        new.drawn = self.drawn
        new.mail = self.mail
        new.tokens = self.tokens
        new.dice = self.dice
        new.waiting = self.waiting
        new.penalties = self.penalties
        new.letters = self.letters
        new._options = None
        return new

    # What may happen next

    @property
    def config(self) -> Config:
        return {"dice_timer_ms": self.dice_timer_ms}

    @property
    def is_terminal(self) -> bool:
        return self.phase == OVER

    def actors(self) -> tuple[int, ...]:
        return (self.turns[self.turn],) if self.phase in DECISIONS else ()

    def legal(self, seat: int) -> tuple[int, ...]:
        if self.phase not in DECISIONS or seat != self.turns[self.turn]:
            return ()
        if self._options is None:
            self._options = self._choices()
        return self._options

    def _choices(self) -> tuple[int, ...]:
        if self.phase == MOVE:
            return self._obstacle_moves()
        if self.phase == ASSIGN:
            return assignments(self.dice)
        if self.phase == TO:
            return free_flights(self.balloons[self.waiting[0]], self.tokens)
        return tuple([act.FIRST_PUT + square for square in RING if not self.tokens >> square & 1])

    def timer_ms(self, seat: int) -> int | None:
        return self.dice_timer_ms or None if self.phase == ASSIGN and seat == self.turns[self.turn] else None

    def timeout_action(self, seat: int) -> int | None:
        return act.TIMEOUT if self.timer_ms(seat) else None

    def chance(self) -> Chance:
        if self.phase == ROLL:
            return act.ROLLS
        if self.phase == OBSTACLE:
            return tuple([(event, self._obstacles_left(event - act.FIRST_OBSTACLE + 1)) for event in self._outcomes()])
        return tuple([(event, 1) for event in self._outcomes()])

    def _outcomes(self) -> Sequence[int]:
        """Ids of the due chance event's outcomes, ascending."""
        phase = self.phase
        if phase == ROLL:
            return range(act.FIRST_ROLL, act.NUM_EVENTS)
        if phase == ORDER:
            among = ORDER_DEAL[self.players][len(self.order)]
            return [act.FIRST_ORDER + card - 1 for card in among if card not in self.order]
        if phase == OBSTACLE:
            values = sorted(set(OBSTACLES))
            return [act.FIRST_OBSTACLE + value - 1 for value in values if self._obstacles_left(value)]
        if phase == BALLOON:
            return [act.FIRST_BALLOON + colour for colour in TEMPLATE if self.balloons[colour] == OFF]
        if phase == CARD:
            return [act.FIRST_CARD + colour for colour in TEMPLATE if colour not in self.cards]
        if phase == PAD:
            return range(act.FIRST_PAD, act.FIRST_PAD + PAD_OFFSETS)
        if phase == ZONE:
            return range(act.FIRST_ZONE + self.pad, act.FIRST_ZONE + self.pad + PAD_WIDTH)
        return ()

    def _obstacles_left(self, value: int) -> int:
        """Tokens of that value in the supply."""
        return OBSTACLES.count(value) - sum((placed & 3) + 1 == value for placed in self.obstacles)

    def apply(self, joint: Mapping[int, int]) -> RaceState:
        if self.phase not in DECISIONS:
            raise IllegalAction(f"no seat decides now: the phase is {self.phase!r}")
        seat = self.turns[self.turn]
        if len(joint) != 1 or seat not in joint:
            raise IllegalAction(f"seat {seat} decides now, and no other: not {sorted(joint)}")
        action = joint[seat]
        if not 0 <= action < act.NUM_ACTIONS:
            raise MalformedAction(f"actions of balloon-race are 0..{act.NUM_ACTIONS - 1}, not {action}")
        if action not in self.legal(seat) and action != self.timeout_action(seat):
            raise IllegalAction(f"{act.text(action)!r} is not legal now")
        new = self._copy()
        if self.phase == MOVE:
            new._move_obstacle(action)
        elif self.phase == ASSIGN:
            new._assign(action)
        elif self.phase == TO:
            new._land(action - act.FIRST_TO)
            new._fly()
        else:
            new._place_obstacle(action - act.FIRST_PUT)
            new.phase = ROLL
        return new

    def apply_chance(self, outcome: int) -> RaceState:
        if outcome not in self._outcomes():
            raise IllegalAction(f"chance outcome {outcome} cannot come out: the phase is {self.phase!r}")
        new = self._copy()
        phase = self.phase
        if phase == ROLL:
            new.dice = act.THROWS[outcome - act.FIRST_ROLL]
            new.phase = ASSIGN
        elif phase == ORDER:
            new._deal_order(outcome - act.FIRST_ORDER + 1)
        elif phase == OBSTACLE:
            new._draw_obstacle(outcome - act.FIRST_OBSTACLE + 1)
        elif phase == BALLOON:
            new._set_balloon(outcome - act.FIRST_BALLOON)
        elif phase == CARD:
            new._deal_card(outcome - act.FIRST_CARD)
        elif phase == PAD:
            new.pad = outcome - act.FIRST_PAD
            new.phase = ZONE
        else:
            new.zone = outcome - act.FIRST_ZONE
            new.phase = BALLOON
        return new

    # Setting up

    def _set_balloon(self, colour: int) -> None:
        placed = len(COLOURS) - self.balloons.count(OFF)
        self._set(colour, START_TILE[placed])
        if placed + 1 == len(COLOURS):
            self.phase = CARD

    def _set(self, colour: int, square: int) -> None:
        self.balloons = (*self.balloons[:colour], square, *self.balloons[colour + 1 :])
        self.tokens |= 1 << square

    def _deal_card(self, colour: int) -> None:
        self.cards += (colour,)
        if len(self.cards) == CARDS_DEALT[self.players]:
            self.phase = ORDER

    # A round: order cards, from the second round on a new obstacle, then a turn for each order card

    def _deal_order(self, card: int) -> None:
        self.order += (card,)
        if len(self.order) == len(ORDER_DEAL[self.players]):
            self.turns = turns_of(self.players, self.order)
            self.phase = OBSTACLE

    def _draw_obstacle(self, value: int) -> None:
        self.drawn = value
        if self.round > 1:
            self.phase = PUT
            return
        self._place_obstacle(CORNERS[len(self.obstacles)])
        if len(self.obstacles) == len(CORNERS):
            self.phase = ROLL

    def _place_obstacle(self, square: int) -> None:
        self.obstacles = tuple(sorted((*self.obstacles, token(square, self.drawn))))
        self.tokens |= 1 << square
        self.drawn = 0

    def _end_turn(self) -> None:
        self.dice = self.moved = ()
        self.turn += 1
        landed = any(PADS[self.pad] >> square & 1 for square in self.balloons)
        round_over = self.turn == len(self.turns)
        if landed or (round_over and self.round == ROUNDS):
            self.phase = OVER
        elif round_over:
            self.round += 1
            self.turn = 0
            self.order = self.turns = ()
            self.phase = ORDER
        else:
            self.phase = ROLL

    # A turn: the dice are assigned, the balloons fly, obstacles move

    def _assign(self, action: int) -> None:
        if action == act.TIMEOUT:  # the throw is sorted: the lowest value goes to the first of the template
            self._charge(TIMEOUT_PENALTIES)
            self.waiting = TEMPLATE
        else:
            number, leftwards = divmod(action - act.FIRST_ASSIGN, 2)
            self.dice = act.ASSIGNMENTS[number]
            self.waiting = TEMPLATE[::-1] if leftwards else TEMPLATE
        self._fly()

    def _fly(self) -> None:
        """Moves the waiting balloons until one has a choice; after the last, obstacles move."""
        while self.waiting:
            colour = self.waiting[0]
            square = self.balloons[colour]
            die = self.dice[colour]
            if die == FREE_DIE:
                choices = free_flights(square, self.tokens)
                if choices:
                    self.phase = TO
                    self._options = choices
                    return
                self._charge(FLIGHT)
            else:
                square, penalties = drift(square, die, self.tokens)
                if penalties:
                    self._charge(penalties)
            self._land(square)
        self.phase = MOVE
        self._go_on_with_obstacles()

    def _land(self, square: int) -> None:
        """The first of the waiting balloons ends its movement on ``square``."""
        colour = self.waiting[0]
        self.waiting = self.waiting[1:]
        self.tokens ^= 1 << self.balloons[colour]
        self._set(colour, square)
        if self.mail >> square & 1:
            self.mail ^= 1 << square
            self.letters = self._add(self.letters, 1)

    def _charge(self, penalties: int) -> None:
        self.penalties = self._add(self.penalties, penalties)

    def _add(self, counts: tuple[int, ...], number: int) -> tuple[int, ...]:
        """``counts`` with ``number`` more for the seat whose turn it is."""
        seat = self.turns[self.turn]
        return (*counts[:seat], counts[seat] + number, *counts[seat + 1 :])

    def _obstacle_moves(self) -> tuple[int, ...]:
        blocked = self.tokens | self.mail | TILE | PADS[self.pad]
        moved = self.moved
        return tuple(
            [
                action
                for obstacle in self.obstacles
                if obstacle not in moved
                for action, path in SLIDES[obstacle]
                if not path & blocked
            ]
        )

    def _move_obstacle(self, action: int) -> None:
        rest, less_one = divmod(action - act.FIRST_MOVE, act.OBSTACLE_VALUES)
        square, direction = divmod(rest, len(DIRECTIONS))
        value = less_one + 1
        target = square + value * STEPS[direction]
        arrived = token(target, value)
        left_behind = token(square, value)
        self.obstacles = tuple(sorted([arrived if placed == left_behind else placed for placed in self.obstacles]))
        self.moved = tuple(sorted((*self.moved, arrived)))
        self.tokens ^= 1 << square | 1 << target
        self._go_on_with_obstacles()

    def _go_on_with_obstacles(self) -> None:
        last_card = self.turn + 1 == len(self.turns)
        due = len(self.obstacles) if last_card else MOVED_A_TURN
        if len(self.moved) < due:
            self._options = self._obstacle_moves()
            if self._options:
                return
        self._options = None
        self._end_turn()

    # The end

    def hand(self, seat: int) -> tuple[int, ...]:
        """Colours of the balloon cards of ``seat``."""
        return self.cards[seat :: self.players]

    def _distances(self, seat: int) -> list[int]:
        zone = SIZE * PAD_ROW + self.zone
        return [distance(self.balloons[colour], zone) for colour in self.hand(seat)]

    def scores(self) -> tuple[int, ...]:
        """Points a seat; before the end without the distances, which would tell the balloon cards."""
        points = [MAIL_POINTS * mail - penalties for mail, penalties in zip(self.letters, self.penalties, strict=True)]
        if self.phase == OVER:
            points = [own - sum(self._distances(seat)) for seat, own in enumerate(points)]
        return tuple(points)

    def placements(self) -> tuple[int, ...]:
        scores = self.scores()
        if self.phase != OVER:
            return shared_placements(scores)
        return shared_placements(tuple([(own, -min(self._distances(seat))) for seat, own in enumerate(scores)]))

    # What is known

    def view(self, seat: int | None) -> RaceView:
        return view_of(self, seat)

    def sees(self, observer: int | None, actor: int | None, event: int) -> bool:
        """Balloon cards are dealt face down; all else is open."""
        return self.phase != CARD or observer == len(self.cards) % self.players

    def render(self, seat: int | None) -> str:
        return render(self.view(seat))

    def to_json(self) -> Json:
        return to_doc(self)
