"""House bots for POP!: what a choice is likely to cost, over sampled choices of the others."""

from __future__ import annotations

from collections.abc import Sequence
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

GREEDY_WORLDS: Final = 3
PLACEMENTS_A_DECISION: Final = 200
"""What the heuristic spends, in turns placed: about 3 ms in Python."""
SHORT_LIST: Final = 6
"""Choices that a search tries."""
QUICK_CHOICES: Final = 6
"""Choices that a player of a playout looks at."""


def greedy(game: Game, view: PopView, legal: Sequence[int], rng: Random) -> int:
    """The choice that costs the least in a few guesses at the others' cards."""
    worlds = [_others(game, view, rng) for _ in range(GREEDY_WORLDS)]

    def cost(action: int) -> int:
        return sum(_points(view, action, others)[_seat(view)] for others in worlds)

    return min(legal, key=cost)


def heuristic(game: Game, view: PopView, legal: Sequence[int], rng: Random) -> int:
    """The choice with the best expected lead over the others: sequential halving, the same guesses for all that are left."""
    return _halved(game, view, legal, rng, 1)[0]


def short_list(game: Game, view: PopView, legal: Sequence[int], rng: Random) -> Sequence[int]:
    """For searches: the choices that are best as far as this turn goes, the heuristic's first."""
    best = _halved(game, view, legal, rng, SHORT_LIST)
    first = _halved(game, view, best, rng, 1)[0]
    return [first, *(action for action in best if action != first)]


def playout(world: PopState, seat: int, rng: Random) -> float:
    """For searches: plays the round to its end, everybody with an eye on the turn: how many points the others then have more."""
    round_, chance = world.round, Random(rng.random())
    while world.round == round_ and not world.is_terminal:
        if outcomes := world.chance():
            world = world.apply_chance(pick(outcomes, chance))
        else:
            world = world.apply({other: quick(world, other, rng) for other in world.actors()})
    points = world.scores()
    return sum(points) / len(points) - points[seat]


def quick(world: PopState, seat: int, rng: Random) -> int:
    """For searches: the best of a few choices against one guess at what the others choose."""
    legal = world.legal(seat)
    faces = [(card, CHIEF_OWNER) for card in world.chief]
    for other, hand in enumerate(world.hands):
        if other != seat:
            faces += [(card, other) for card in rng.sample(hand, world.plan.cards_each)]
    missing = FACES - len(faces) - world.plan.cards_each
    faces += [(card, CHIEF_OWNER) for card in rng.sample(world.deck, missing)]

    def cost(action: int) -> int:
        _, blasts = place_faces(world.columns, [*faces, *((card, seat) for card in cards_of(action))])
        return sum(
            (2 * (owner == seat) - 1) * explosions(tuple(gone)) for owner, gone in blasts if owner != CHIEF_OWNER
        )

    return min(rng.sample(legal, min(QUICK_CHOICES, len(legal))), key=cost)


def _halved(game: Game, view: PopView, legal: Sequence[int], rng: Random, left: int) -> list[int]:
    """The ``left`` best choices, or all, by sequential halving; the best one first if there is only one left."""
    seat = _seat(view)
    choices = list(legal)
    cost = dict.fromkeys(choices, 0)
    halvings = max(1, (len(choices) - 1).bit_length())
    while len(choices) > left:
        for _ in range(max(1, PLACEMENTS_A_DECISION // (halvings * len(choices)))):
            others = _others(game, view, rng)
            for action in choices:
                points = _points(view, action, others)
                cost[action] += points[seat] * view.players - sum(points)
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
    faces = [(card, CHIEF_OWNER) for card in view.chief]
    for seat, hand in enumerate(world.hands):
        if seat != view.seat:
            faces += [(card, seat) for card in rng.sample(hand, world.plan.cards_each)]
    missing = FACES - len(faces) - world.plan.cards_each
    return faces + [(card, CHIEF_OWNER) for card in rng.sample(world.deck, missing)]


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
