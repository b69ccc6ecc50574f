"""A guess at what a seat cannot see: the other hands and the deck, all arrangements equally likely.

No rule makes a player show or follow anything, and cards are dealt from one shuffle; so the cards that a seat does not
see are uniformly spread over the other hands and the deck, whatever was played.
"""

from __future__ import annotations

from random import Random

from engines.balloon_challenge.data import CARDS, ROUNDS
from engines.balloon_challenge.view import Cards, View
from engines.game import GameError


def guess(view: View, rng: Random) -> tuple[tuple[Cards, ...], Cards]:
    """Hands by seat, and the deck, ascending each. Raises GameError for a spectator's view."""
    if view.seat is None:
        raise GameError("a spectator's view has no hand to start from; determinize the view of a seat")
    unseen = set(range(CARDS)).difference(view.row0, view.hand, *view.rows)
    if len(view.past) == ROUNDS:  # the last scoring has shown all hands
        hands = view.past[-1].hands
        return hands, tuple(sorted(unseen.difference(*hands)))
    shuffled = sorted(unseen)
    rng.shuffle(shuffled)
    guessed: list[Cards] = []
    for seat, size in enumerate(view.hand_sizes):
        if seat == view.seat:
            guessed.append(view.hand)
            continue
        guessed.append(tuple(sorted(shuffled[:size])))
        del shuffled[:size]
    return tuple(guessed), tuple(sorted(shuffled))
