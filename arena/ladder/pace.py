"""What keeps a slow ladder from holding up a fast one.

A set of a game with minutes a move is in flight for hours. Ladders are told apart by the pace of their clocks, an order of
magnitude, and each pace leaves half of the slots to the faster ones, however many bots ask for more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping


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
