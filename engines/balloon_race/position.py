"""The parts of a position of Wyścig balonów: what is on the table, in whose hands, and what is due."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from engines.balloon_race.board import OFF, bits
from engines.balloon_race.data import COLOURS, MAIL, ORDER_DEAL
from engines.game import State

if TYPE_CHECKING:
    from engines.balloon_race.race import BalloonRace

PAD, ZONE, BALLOON, CARD, ORDER, OBSTACLE, ROLL = "pad", "zone", "balloon", "card", "order", "obstacle", "roll"
"""Phases in which a chance event is due, named by the first word of its texts."""
PUT, ASSIGN, TO, MOVE = "put", "assign", "to", "move"
"""Phases in which a seat decides, named by the first word of its texts."""
OVER: Final = "over"
DECISIONS: Final = frozenset((PUT, ASSIGN, TO, MOVE))


def turns_of(players: int, order: tuple[int, ...]) -> tuple[int, ...]:
    """The seats of a round's turns; none before all order cards are dealt."""
    if len(order) < len(ORDER_DEAL[players]):
        return ()
    return tuple([deal % players for _, deal in sorted((card, deal) for deal, card in enumerate(order))])


class Position(State):
    """What is on the table. Nobody changes a field of a position that somebody else may hold; :meth:`_copy` first."""

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

    def _copy(self) -> Self:
        new = self.__new__(type(self))
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
