"""The cards, the chips and the sizes: what the box and the printed rules give."""

from __future__ import annotations

from typing import Final

COLOURS: Final = "RBWYGK"
"""Red, blue, water, yellow, grey; and the black of the prince."""
COLOUR_NAMES: Final = ("red", "blue", "water", "yellow", "grey", "black")
BLACK: Final = COLOURS.index("K")

VALUES: Final = (range(8), range(8), range(8), range(8), range(8), range(10))
"""Values of each colour's cards. Canonical: the rulebook says 8 cards a colour and prints no value above 7."""

CARD_NAMES: Final = tuple(
    f"{letter}{value}" for letter, values in zip(COLOURS, VALUES, strict=True) for value in values
)
"""A card is its index in this table: R0..R7 B0..B7 W0..W7 Y0..Y7 G0..G7 K0..K9."""
CARD_COLOUR: Final = tuple(COLOURS.index(name[0]) for name in CARD_NAMES)
CARD_VALUE: Final = tuple(int(name[1:]) for name in CARD_NAMES)
CARDS: Final = len(CARD_NAMES)

MIN_PLAYERS: Final = 2
MAX_PLAYERS: Final = 5
CHIPS: Final = {2: 4, 3: 7, 4: 10, 5: 12}
"""Chips on the table by number of players; one of them is put aside for the first to drop out."""
ROUNDS: Final = 5
HAND_SIZE: Final = (0, 6, 7, 8, 9, 10)
"""Cards dealt to each player, by round 1..5."""
ROW_0: Final = {2: 5, 3: 0, 4: 0, 5: 0}
"""Cards laid face up before the first lap, by number of players."""
CHIP_POINTS: Final = (0, 2, 2, 2, 2, 3)
"""Points of a chip, by round 1..5."""
EARLY_BONUS: Final = 4
"""Who drops out in lap k takes this less k chips, never less than none."""
BONUS_COUNT: Final = 3
"""The card that brings its colour to so many on the table is worth a chip."""
