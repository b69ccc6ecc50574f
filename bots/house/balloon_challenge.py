"""House bots for Balloon Challenge: one that looks at the score now, and one that thinks of what to keep.

``playout`` is for searches: how a round goes on among heuristic players, and what it is then worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Final

from engines.balloon_challenge import GAME, State, View
from engines.balloon_challenge.actions import DROP
from engines.balloon_challenge.data import (
    BLACK,
    BONUS_COUNT,
    CARD_COLOUR,
    CARD_VALUE,
    CHIP_POINTS,
    EARLY_BONUS,
    HAND_SIZE,
)
from engines.game import Game

HIGH_FIRST: Final = 0.01
"""Points for each point of value played: of plays worth the same, the one that gets rid of more."""


def greedy(game: Game, view: View, legal: Sequence[int], rng: Random) -> int:
    """Does what would score most if the round were over right after it; of equals, plays the highest card."""
    volume, chip = _volume(view.hand), CHIP_POINTS[view.round]

    def worth(action: int) -> tuple[int, int]:
        if action == DROP:
            return _safe(volume, view.size) + chip * _drop_bonus(view, view.lap), -1
        value = CARD_VALUE[action]
        return _safe(volume - value, view.size + 1) + chip * _is_third(view, action), value

    return max(legal, key=worth)


def heuristic(game: Game, view: View, legal: Sequence[int], rng: Random) -> int:
    """With company, plays high cards until the rest will fit; without, plans exactly what to keep."""
    company = _company(view)
    if not company:
        return max(legal, key=partial(_worth_alone, view))
    if _volume(view.hand) <= view.size + company:
        return DROP
    return max(view.hand, key=lambda card: (_is_third(view, card), CARD_VALUE[card]))


def _company(view: View) -> int:
    """Opponents still in who are likely to play another card: they have played fewer than in the round before."""
    return sum(
        not out
        and seat != view.seat
        and (not view.past or HAND_SIZE[view.round - 1] - len(view.past[-1].hands[seat]) > len(view.rows[seat]))
        for seat, out in enumerate(view.out)
    )


def _worth_alone(view: View, action: int) -> float:
    """Points of the round after ``action``, if this seat goes on as well as it can and nobody else plays a card."""
    if action == DROP:
        return _end(view, 0, _safe(_volume(view.hand), view.size))
    sums = _sums([CARD_VALUE[card] for card in view.hand if card != action])
    ends = (_end(view, plays, _greatest(sums[-plays], view.size + plays)) for plays in range(1, len(sums) + 1))
    return max(ends) + CHIP_POINTS[view.round] * _is_third(view, action) + HIGH_FIRST * CARD_VALUE[action]


def _end(view: View, plays: int, volume: int) -> int:
    """Points of dropping out after so many more cards, with a volume that fits, if nobody else plays one.

    The pot of an exact volume counts only where nobody is left to take it by dropping out.
    """
    last_one = sum(view.out) == view.players - 1
    exact = view.pot if last_one and volume == view.size + plays else 0
    return volume + CHIP_POINTS[view.round] * (exact or _drop_bonus(view, view.lap + plays))


def playout(world: State, seat: int, rng: Random) -> float:
    """Plays the round to its end, everybody as ``heuristic`` does: the points by which ``seat`` then leads the mean."""
    while world.actors():
        view = world.view(world.turn)
        world = world.apply({world.turn: heuristic(GAME, view, world.legal(world.turn), rng)})
    return world.scores()[seat] - sum(world.scores()) / world.players


def _sums(values: Sequence[int]) -> list[int]:
    """By number of cards kept: an int whose bit v says whether so many of the values can sum to v."""
    sums = [1] + [0] * len(values)
    for count, value in enumerate(values, 1):
        for kept in range(count, 0, -1):
            sums[kept] |= sums[kept - 1] << value
    return sums


def _greatest(sums: int, most: int) -> int:
    """The greatest sum that is no more than ``most``; 0 if there is none, as a burst balloon scores."""
    return max(0, (sums & ((2 << most) - 1)).bit_length() - 1)


def _volume(cards: Sequence[int]) -> int:
    return sum(CARD_VALUE[card] for card in cards)


def _safe(volume: int, size: int) -> int:
    return volume if volume <= size else 0


def _drop_bonus(view: View, lap: int) -> int:
    """Chips for dropping out in ``lap``, as things are now."""
    return view.aside + min(view.pot, max(0, EARLY_BONUS - lap))


def _is_third(view: View, card: int) -> bool:
    """Whether playing this card brings a chip."""
    colour = CARD_COLOUR[card]
    if colour == BLACK or not view.pot:
        return False
    return sum(CARD_COLOUR[other] == colour for row in (view.row0, *view.rows) for other in row) == BONUS_COUNT - 1


BOTS: Final = {"greedy": greedy, "heuristic": heuristic}
