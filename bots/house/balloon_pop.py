"""House bots for Balloon Pop: the points that a placement pops at once, and what the board it leaves is good for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from heapq import nlargest
from itertools import combinations
from random import Random
from typing import Final

from engines.balloon_pop import board
from engines.balloon_pop.actions import EVENTS, FIRST_CARD, FIRST_GROUP, Place
from engines.balloon_pop.board import Board
from engines.balloon_pop.data import BONUS_PER_FURTHER_SET, CARD, CARD_RULES, GROUP, PLACE, POP, ROUNDS, CardRule
from engines.balloon_pop.rules import State
from engines.balloon_pop.view import View
from engines.game import Game
from engines.playout import choose, pick

PAIR: Final = 0.45
TRIPLE: Final = 1.3
"""What two and three connected cubes of a colour are worth while they can still be reached, in points."""

SYMBOL: Final = 0.55
"""What a symbol that can still be reached is worth."""

CUBE: Final = -0.06
"""What any cube on the board costs: it is in the way."""

END: Final = 0.15
"""How much the points for empty columns and rows count in round 1; at the end they count in full."""

SEARCHED: Final = 6
"""Placements that a search tries."""

QUICK_CHOICES: Final = 4
"""Placements that a player of a playout looks at."""

FLEXIBLE: Final = 0.3
"""What it costs to give away a card that allows any orientation, and again if it may drop a cube."""


def greedy(game: Game, view: View, legal: Sequence[int], rng: Random) -> int:
    """The group and placement that pop the most points at once, the greatest set first; any card."""
    if view.phase == CARD:
        return rng.choice(legal)
    own = view.boards[_seat(view)]
    if view.phase == GROUP:
        card = view.cards[_seat(view)]

        def value(action: int) -> int:
            return max(_popped_at_once(laid) for laid in _layings(own, card, view.groups[action - FIRST_GROUP]))
    elif view.phase == PLACE:
        group = view.groups[view.taken[_seat(view)] - 1]

        def value(action: int) -> int:
            return _popped_at_once(_laid(own, group, action))
    else:
        sets = board.find_sets(own)

        def value(action: int) -> int:
            return board.set_points(action, sets[action].bit_count())

    return max(legal, key=lambda action: (value(action), rng.random()))


def heuristic(game: Game, view: View, legal: Sequence[int], rng: Random) -> int:
    """Points and the worth of the board left, over all orders of popping; cards by the groups they can hope for."""
    seat = _seat(view)
    own, further = view.boards[seat], BONUS_PER_FURTHER_SET if view.bonus else 0
    if view.phase == CARD:
        return _best_card(view, seat, legal, further)
    if view.phase == GROUP:
        card = view.cards[seat]
        boards = {action: _layings(own, card, view.groups[action - FIRST_GROUP]) for action in legal}
        return max(legal, key=lambda action: _best_value(boards[action], view.round, further))
    if view.phase == PLACE:
        group = view.groups[view.taken[seat] - 1]
        return max(legal, key=lambda action: _value(_laid(own, group, action), view.round, 0, further))
    values = _pop_values(own, view.round, further if view.popped else 0, further)
    return max(legal, key=values.__getitem__)


def short_list(game: Game, view: View, legal: Sequence[int], rng: Random) -> Sequence[int]:
    """For searches: what the heuristic would do first; of placements only those that leave the best board."""
    first = heuristic(game, view, legal, rng)
    if view.phase == PLACE:
        seat, further = _seat(view), BONUS_PER_FURTHER_SET if view.bonus else 0
        own, group = view.boards[seat], view.groups[view.taken[seat] - 1]
        legal = nlargest(SEARCHED, legal, key=lambda action: _value(_laid(own, group, action), view.round, 0, further))
    return [first, *(action for action in legal if action != first)]


def playout(world: State, seat: int, rng: Random) -> float:
    """For searches: the rest of this round and all of the next: points and what the own board is then worth.

    What the others do to their boards does not matter, so that they do anything.
    """
    last, chance = world.round + 1, Random(rng.random())
    while not world.is_terminal and world.round <= last:
        if outcomes := world.chance():
            world = world.apply_chance(pick(outcomes, chance))
        else:
            joint = {
                actor: _quick(world, actor, rng) if actor == seat else choose(world.legal(actor), rng)
                for actor in world.actors()
            }
            world = world.apply(joint)
    return world.points[seat] + (0.0 if world.is_terminal else _worth(world.boards[seat], world.round))


def _quick(world: State, seat: int, rng: Random) -> int:
    """The best of a few placements by the board they leave; the best pop; the better group on a quick look; any card."""
    legal, own = world.legal(seat), world.boards[seat]
    further = BONUS_PER_FURTHER_SET if world.bonus else 0
    if world.phase == PLACE:
        group = world.groups[world.taken[seat] - 1]
        tried = rng.sample(legal, min(QUICK_CHOICES, len(legal)))
        return max(tried, key=lambda action: _value(_laid(own, group, action), world.round, 0, further))
    if world.phase == GROUP:
        card = world.cards[seat]

        def hope(action: int) -> float:
            group = world.groups[action - FIRST_GROUP]
            places = board.placements(card, len(group), board.heights(own)) if group else ()
            tried = rng.sample(places, min(QUICK_CHOICES, len(places)))
            return max((_value(_laid(own, group, place), world.round, 0, further) for place in tried), default=0.0)

        return max(legal, key=hope)
    if world.phase == POP:
        values = _pop_values(own, world.round, further if world.popped else 0, further)
        return max(legal, key=values.__getitem__)
    return choose(legal, rng)


BOTS: Final = {"greedy": greedy, "heuristic": heuristic}


def _seat(view: View) -> int:
    assert view.seat is not None, "a spectator does not play"
    return view.seat


def _laid(own: Board, group: str, action: int) -> Board:
    """The board after a placement, or as it is after ``discard``."""
    how = EVENTS[action]
    return board.lay(own, group, how)[0] if isinstance(how, Place) else own


def _layings(own: Board, card: int, group: str, *, roughly: bool = False) -> set[Board]:
    """The boards that a card and a group can lead to, before anything pops; ``roughly``: not all, for a quick look."""
    if not group:
        return {own}
    actions = board.placements(card, len(group), board.heights(own))
    return {_laid(own, group, action) for action in actions if not (roughly and _is_turned_and_dropped(action))}


def _is_turned_and_dropped(action: int) -> bool:
    how = EVENTS[action]
    return isinstance(how, Place) and how.reversed and how.drop > 0


def _popped_at_once(own: Board) -> int:
    """Points of the greatest set on a board, 0 without one."""
    sets = board.find_sets(own)
    return max((board.set_points(pop, cubes.bit_count()) for pop, cubes in sets.items()), default=0)


# --- The heuristic -----------------------------------------------------------------------------------------------


def _best_card(view: View, seat: int, legal: Sequence[int], further: int) -> int:
    """The card with the best group it can hope for, less what it would be good for later."""
    own = view.boards[seat]
    by_rule: dict[CardRule, list[float]] = {}
    for action in legal:
        card = action - FIRST_CARD + 1
        if CARD_RULES[card] not in by_rule:
            boards = [_layings(own, card, group, roughly=True) for group in view.groups]
            by_rule[CARD_RULES[card]] = [_best_value(laid, view.round, further) for laid in boards]

    def value(action: int) -> float:
        card = action - FIRST_CARD + 1
        rule = CARD_RULES[card]
        later = FLEXIBLE * ((rule.vertical and rule.horizontal) + bool(rule.may_drop))
        return _hoped_for(by_rule[rule], _before(view, seat, card)) - later

    return max(legal, key=value)


def _before(view: View, seat: int, card: int) -> float:
    """How many seats will choose before ``seat`` if it plays ``card``, any card of a hand being equally likely."""
    expected = 0.0
    for other, (hand, played) in enumerate(zip(view.hands, view.cards, strict=True)):
        if other == seat:
            continue
        earlier = (other - view.first) % len(view.hands) < (seat - view.first) % len(view.hands)
        cards = (played,) if played else hand
        expected += sum(theirs > card or (theirs == card and earlier) for theirs in cards) / len(cards)
    return expected


def _hoped_for(values: Sequence[float], before: float) -> float:
    """The mean of the best value left after ``before`` groups went to others, each equally likely."""
    whole = int(before)
    part = before - whole
    left = len(values) - whole
    value = _mean(map(max, combinations(values, left)))
    return value if not part else (1 - part) * value + part * _mean(map(max, combinations(values, left - 1)))


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def _best_value(boards: Iterable[Board], round_: int, further: int) -> float:
    return max(_value(laid, round_, 0, further) for laid in boards)


def _pop_values(own: Board, round_: int, now: int, further: int) -> dict[int, float]:
    """The value of popping each set first: ``now`` more points for it, ``further`` more for each set after it."""
    values = {}
    for pop, cubes in board.find_sets(own).items():
        left, _ = board.pop_cubes(own, cubes)
        points = board.set_points(pop, cubes.bit_count()) + now
        values[pop] = points + _value(left, round_, further, further)
    return values


@lru_cache(maxsize=1 << 13)
def _value(own: Board, round_: int, now: int, further: int) -> float:
    """Points of the best order of popping, and the worth of the board it leaves."""
    if board.find_sets(own):
        return max(_pop_values(own, round_, now, further).values())
    return _worth(own, round_)


def _worth(own: Board, round_: int) -> float:
    """What a board at rest promises for the rounds after ``round_``."""
    filled = board.heights(own)
    ends = board.end_points(filled)
    left = (ROUNDS - round_) / (ROUNDS - 1)
    if not left:
        return float(ends)
    colours, neutral, symbols = board.masks(own)
    free = 0
    for column, height in enumerate(filled):
        free |= 1 << column * board.STRIDE + height
    beside_free = board.grown(free)
    promise = 0.0
    for colour in colours:
        for part in board.parts(colour | neutral, 2):
            if part & beside_free:
                promise += TRIPLE if part.bit_count() > 2 else PAIR
    promise += SYMBOL * (symbols & beside_free).bit_count() + CUBE * sum(filled)
    return ends * (1 - (1 - END) * left) + promise
