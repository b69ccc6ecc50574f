"""House bots for POP!: what a choice is likely to cost, over sampled choices of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final, TypeAlias

from engines.game import Game
from engines.playout import pick
from engines.pop.actions import cards_of
from engines.pop.data import FACES, explosions
from engines.pop.rules import PopState
from engines.pop.table import CHIEF_OWNER, place_faces
from engines.pop.view import PopView

Faces: TypeAlias = list[tuple[int, int]]
"""Cards on the table with their owners."""

HEURISTIC_PLACEMENTS: Final = 60
"""What the heuristic spends, in turns placed: about 1 ms in Python."""
SEARCH_PLACEMENTS: Final = 200
WIDE_LIST: Final = 10
SEARCH_GUESSES: Final = 150
SHORT_LIST: Final = 5
"""What a search spends before its playouts: placements for a wide list, guesses to rank it, and how much of it is left."""
QUICK_CHOICES: Final = 6
"""Choices that a player of a playout looks at."""


def greedy(game: Game, view: PopView, legal: Sequence[int], rng: Random) -> int:
    """The choice that costs the least against one guess at the others' cards."""
    others = _others(game, view, rng)
    return min(legal, key=lambda action: _points(view, action, others)[_seat(view)])


def heuristic(game: Game, view: PopView, legal: Sequence[int], rng: Random) -> int:
    """The choice with the best expected lead over the others: sequential halving, the same guesses for all that are left."""
    return _halved(game, view, legal, rng, 1, HEURISTIC_PLACEMENTS)[0]


def short_list(game: Game, view: PopView, legal: Sequence[int], rng: Random) -> Sequence[int]:
    """For searches: the best choices as far as this turn goes, best first, if the others think before they choose."""
    wide = _halved(game, view, legal, rng, WIDE_LIST, SEARCH_PLACEMENTS)
    guesses = [_thoughtful_others(game, view, rng) for _ in range(SEARCH_GUESSES)]
    return sorted(wide, key=lambda action: sum(_behind(view, action, others) for others in guesses))[:SHORT_LIST]


def playout(world: PopState, seat: int, rng: Random) -> float:
    """For searches: plays this turn and the next, everybody with an eye on the turn: how many points the others then have more."""
    last, chance = world.due.turn + 1, Random(rng.random())
    round_ = world.round
    while not world.is_terminal and world.round == round_ and world.due.turn <= last:
        if outcomes := world.chance():
            world = world.apply_chance(pick(outcomes, chance))
        else:
            world = world.apply({other: quick(world, other, rng) for other in world.actors()})
    points = world.scores()
    return sum(points) / len(points) - points[seat]


def quick(world: PopState, seat: int, rng: Random) -> int:
    """For searches: the best of a few choices against one guess at what the others choose."""
    legal = world.legal(seat)
    chosen = {other: _any_cards(world, other, rng) for other in world.actors() if other != seat}
    faces = _faces(world, chosen, world.plan.cards_each, rng)

    def cost(action: int) -> int:
        _, blasts = place_faces(world.columns, [*faces, *((card, seat) for card in cards_of(action))])
        return sum(
            (2 * (owner == seat) - 1) * explosions(tuple(gone)) for owner, gone in blasts if owner != CHIEF_OWNER
        )

    return min(rng.sample(legal, min(QUICK_CHOICES, len(legal))), key=cost)


def _halved(game: Game, view: PopView, legal: Sequence[int], rng: Random, left: int, placements: int) -> list[int]:
    """The ``left`` best choices, or all, by sequential halving for about so many placements down to one."""
    choices = list(legal)
    cost = dict.fromkeys(choices, 0)
    halvings = max(1, (len(choices) - 1).bit_length())
    while len(choices) > left:
        for _ in range(max(1, placements // (halvings * len(choices)))):
            others = _others(game, view, rng)
            for action in choices:
                cost[action] += _behind(view, action, others)
        choices.sort(key=cost.__getitem__)
        del choices[max(left, (len(choices) + 1) // 2) :]
    return choices


def _seat(view: PopView) -> int:
    assert view.seat is not None
    return view.seat


def _others(game: Game, view: PopView, rng: Random) -> Faces:
    """A guess at the turn's other cards: hands dealt at random, choices at random, the Chief's hidden cards too."""
    world = game.determinize(view, rng)
    assert isinstance(world, PopState)
    chosen = {other: _any_cards(world, other, rng) for other in world.actors() if other != view.seat}
    return _faces(world, chosen, world.plan.cards_each, rng)


def _thoughtful_others(game: Game, view: PopView, rng: Random) -> Faces:
    """The same, but the others choose as players of playouts do."""
    world = game.determinize(view, rng)
    assert isinstance(world, PopState)
    chosen = {other: cards_of(quick(world, other, rng)) for other in world.actors() if other != view.seat}
    return _faces(world, chosen, world.plan.cards_each, rng)


def _any_cards(world: PopState, seat: int, rng: Random) -> Sequence[int]:
    return rng.sample(world.hands[seat], world.plan.cards_each)


def _faces(world: PopState, chosen: Mapping[int, Sequence[int]], to_come: int, rng: Random) -> Faces:
    """The turn's cards but for the ``to_come`` of one seat: the Chief's, hidden ones drawn, and those that were chosen."""
    faces = [(card, CHIEF_OWNER) for card in world.chief]
    faces += [(card, seat) for seat, cards in chosen.items() for card in cards]
    missing = FACES - len(faces) - to_come
    return faces + [(card, CHIEF_OWNER) for card in rng.sample(world.deck, missing)]


def _behind(view: PopView, action: int, others: Faces) -> int:
    """How much more this turn costs ``view.seat`` than the others on average, times the players."""
    points = _points(view, action, others)
    return points[_seat(view)] * view.players - sum(points)


def _points(view: PopView, action: int, others: Faces) -> list[int]:
    """By seat the points of this turn if ``view.seat`` plays ``action``."""
    seat = _seat(view)
    _, blasts = place_faces(view.columns, [*others, *((card, seat) for card in cards_of(action))])
    points, pile = [0] * view.players, explosions(view.pile)
    for owner, gone in blasts:
        cost = explosions(tuple(gone))
        if owner == CHIEF_OWNER:
            pile += cost
        else:
            points[owner] += pile + cost
            pile = 0
    return points


BOTS: Final = {"greedy": greedy, "heuristic": heuristic}
