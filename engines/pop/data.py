"""Canonical data of POP!: the 50 cards and what the table needs for each number of players."""

from __future__ import annotations

from typing import Final, TypeAlias

Cards: TypeAlias = tuple[int, ...]
"""Card numbers 1..50; wherever the order means nothing, ascending."""

CARDS: Final = range(1, 51)
COLUMNS: Final = "ABCDE"
COLOURS: Final = "RYGBP"
"""Red, yellow, green, blue, purple: the colours of cards 1, 2, 3, 4, 5, of 6, 7, 8, 9, 10, and so on."""

HAND: Final = 9
"""Cards dealt to each player at the start of a round."""
TURNS: Final = 8
"""Turns of a round."""
FACES: Final = 5
"""Cards placed in a turn, one in each column."""
ARROWS_TO_REVERSE: Final = 3
"""From so many arrows among the five on, the cards are placed from column E to column A."""


def _explosions(card: int) -> int:
    if card <= 5 or card >= 46:
        return 3
    return 2 if 16 <= card <= 20 or 31 <= card <= 35 else 1


COLOUR: Final = ("", *(COLOURS[(card - 1) % 5] for card in CARDS))
"""By card; index 0 is unused in this table and the next two."""
EXPLOSIONS: Final = (0, *(_explosions(card) for card in CARDS))
ARROW: Final = (False, *(card <= 10 or card >= 41 for card in CARDS))

CHIEF_CARDS: Final = {
    (2, False): (1, 2),
    (2, True): (1, 0),
    (3, False): (1, 1),
    (4, False): (1, 0),
    (5, False): (0, 0),
}
"""(players, two-player variant) to the Chief's cards of a turn: (face up, face down)."""


def explosions(cards: Cards) -> int:
    """Explosion symbols on ``cards``: what they cost whoever collects them."""
    return sum([EXPLOSIONS[card] for card in cards])
