"""How Wyścig balonów is played: one position, and what each decision and each chance outcome makes of it.

From top to bottom: what may happen next, setting up, a round, a turn (dice, flights, obstacles), the end, what is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from engines.balloon_race import actions as act
from engines.balloon_race.board import OFF, PADS, SLIDES, TILE, assignments, distance, drift, free_flights, token
from engines.balloon_race.data import (
    CARDS_DEALT,
    COLOURS,
    CORNERS,
    DIRECTIONS,
    FLIGHT,
    FREE_DIE,
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
from engines.balloon_race.position import (
    ASSIGN,
    BALLOON,
    CARD,
    DECISIONS,
    MOVE,
    OBSTACLE,
    ORDER,
    OVER,
    PAD,
    PUT,
    ROLL,
    TO,
    ZONE,
    Position,
    turns_of,
)
from engines.balloon_race.render import render
from engines.balloon_race.view import RaceView, view_of
from engines.game import Chance, Config, IllegalAction, Json, MalformedAction, shared_placements

TEMPLATE: Final = tuple(range(len(COLOURS)))
"""The colours as on the movement template, from left to right."""
STEPS: Final = tuple(SIZE * down + right for down, right in DIRECTIONS)


class RaceState(Position):
    """One position, and what becomes of it."""

    __slots__ = ()

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
