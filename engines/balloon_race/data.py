"""What is in the box: the board, the tokens, the dice and the cards, as named tables.

A square is an int, ``15 * row + column``; row 0 is the start edge, row 14 the landing edge. A balloon's colour is its
place on the movement template, 0..4 from left to right. The printed board is not described in the rulebook: where
mail, frame and tiles lie is canonical data of this arena.
"""

from __future__ import annotations

from typing import Final

SIZE: Final = 15
"""Rows and columns of the board."""
SQUARES: Final = SIZE * SIZE

COLOURS: Final = "RGYPB"
"""Red, green, yellow, pink and blue: the movement template from left to right."""

DIRECTIONS: Final = ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))
"""The eight directions as (rows, columns), turning from the die 1 on; the die ``d`` below 6 flies along ``d - 1``."""
FREE_DIE: Final = 6
"""The die whose player chooses the way."""
FLIGHT: Final = 2
"""Squares that a balloon flies in a turn."""
DICE: Final = 5

START_TILE: Final = tuple(range(5, 10))
"""Squares of the start tile, (0,5) to (0,9)."""
PAD_ROW: Final = 14
PAD_WIDTH: Final = 5
PAD_OFFSETS: Final = SIZE - PAD_WIDTH + 1
"""The landing pad may begin at columns 0..10."""

MAIL: Final = tuple(SIZE * row + column for row in (3, 7, 11) for column in (3, 7, 11))
"""The city squares, each with a mail token at first."""

FRAME: Final = (4, 10)
"""First and last row, and column, inside the yellow frame."""
CORNERS: Final = tuple(SIZE * row + column for row in FRAME for column in FRAME)
"""Where the first four obstacles go, in this order."""
RING: Final = tuple(
    SIZE * row + column
    for row in range(FRAME[0], FRAME[1] + 1)
    for column in range(FRAME[0], FRAME[1] + 1)
    if row in FRAME or column in FRAME
)
"""The 24 squares along the inner edge of the frame, where later obstacles are put; ascending."""

OBSTACLES: Final = (1, 1, 2, 2, 3, 3, 4, 4)
"""Values of the obstacle tokens: how far each moves."""
MOVED_A_TURN: Final = 2
"""Obstacles moved at the end of a turn, except that the last player of the round moves all."""

ROUNDS: Final = 5
"""After five rounds all eight obstacles have been placed."""

ORDER_CARDS: Final = ("First", "Second", "Third", "Last")
"""Names of the order cards 1..4."""
ORDER_DEAL: Final = {
    2: ((1, 2), (1, 2), (3, 4), (3, 4)),
    3: ((1, 2, 4), (1, 2, 4), (1, 2, 4)),
    4: ((1, 2, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4)),
}
"""By number of players: among which cards each deal of a round chooses; deals go to seats in turn, with two players twice."""
CARDS_DEALT: Final = {2: 4, 3: 3, 4: 4}
"""By number of players: balloon cards dealt in all, to seats in turn."""

MAIL_POINTS: Final = 3
TIMEOUT_PENALTIES: Final = 5
"""One for each die that was not placed in time; ours: it is all of them or none."""
