"""How slow ladders are, and what keeps a slow one from holding up a fast one.

A set of a game with minutes a move holds its worker's slot for hours. Ladders are told apart by the order of magnitude of a
player's time for a game, and each pace leaves half of the slots to the faster ones, however many bots ask for more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import log10
from typing import Final

from arena.match.spec import TimeControl

DECISIONS: Final = 40
"""How often the increment is counted: as chess servers do."""


def pace(control: TimeControl) -> int:
    """The order of magnitude of a player's time for a game: 4 for 10 to 100 s, 5 for up to a quarter of an hour, ..."""
    return int(log10(max(1, control.bank_ms + DECISIONS * control.increment_ms)))


def has_room(of: int, flying: Mapping[int, int], paces: Collection[int], slots: int) -> bool:
    """Whether another set of the pace ``of`` may be made.

    ``flying``: sets in flight by pace; ``paces``: of all ladders that are open; ``slots``: sets that all workers play at
    once. The fastest ladders are bounded by nothing but their backlog; with one faster pace all that are as slow as ``of``
    or slower share half of the slots, with two a quarter.
    """
    faster = len({one for one in paces if one < of})
    if not faster:
        return True
    slow = sum(sets for other, sets in flying.items() if other >= of)
    return slow < max(1, slots >> faster)
