"""A guess at what a seat cannot see: the other hands and the deck, all arrangements equally likely.

No rule makes a player show or follow anything, and cards are dealt from one shuffle; so the cards that a seat does not
see are uniformly spread over the other hands and the deck, whatever was played.
"""

from __future__ import annotations

from itertools import islice
from random import Random

from engines.balloon_challenge.data import CARDS, ROUNDS
from engines.balloon_challenge.view import Cards, View
from engines.game import GameError


def guess(view: View, rng: Random) -> tuple[Cards, ...]:
    """Hands by seat; the deck is what is left. Raises GameError for a spectator's view."""
    if view.seat is None:
        raise GameError("a spectator's view has no hand to start from; determinize the view of a seat")
    if len(view.past) == ROUNDS:  # the last scoring has shown all hands
        return view.past[-1].hands
    unseen = sorted(set(range(CARDS)).difference(view.row0, view.hand, *view.rows))
    rng.shuffle(unseen)
    shuffled = iter(unseen)
    return tuple(
        view.hand if seat == view.seat else tuple(sorted(islice(shuffled, size)))
        for seat, size in enumerate(view.hand_sizes)
    )
