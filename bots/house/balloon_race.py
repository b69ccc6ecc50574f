"""House bots for Wyścig balonów: one by its own points, one by its lead over the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import nlargest
from random import Random
from typing import Final, TypeAlias

from engines.balloon_race.board import OFF, PADS, bits, distance, drift, step
from engines.balloon_race.data import FLIGHT, FREE_DIE, MAIL_POINTS, ORDER_CARDS, PAD_ROW, SIZE, SQUARES
from engines.balloon_race.rules import RaceState
from engines.balloon_race.view import RaceView
from engines.game import Game
from engines.playout import choose, pick

Value: TypeAlias = Callable[[RaceState], float]
"""How good a position is for the seat that is asked."""

SHORT_LIST: Final = 6
"""Actions for which it looks through the sixes that still wait, and that a search tries."""
PLAYED_TURNS: Final = 3
"""Turns that a playout goes on for."""
QUICK_CHOICES: Final = 16
"""Actions that a player of a playout looks at."""
FINISH: Final = 6.0
"""What winning at once is worth beyond the lead, and losing at once costs."""
MAIL_IN_REACH: Final = 0.6
"""What a mail token that one die of one balloon reaches is worth to whoever is next."""

REACH: Final = tuple(
    bits(end for way in range(FREE_DIE - 1) if (end := step(square, way, FLIGHT)) != OFF) for square in range(SQUARES)
)
"""By square: where the dice 1..5 take a balloon that nothing stops."""


def greedy(game: Game, view: RaceView, legal: Sequence[int], rng: Random) -> int:
    """The action after which its own mail, penalties and distance stand best; obstacles at random."""
    if view.phase in ("put", "move"):
        return rng.choice(legal)
    state, seat = _world(game, view, rng)
    return max(legal, key=lambda action: _points(state.apply({seat: action}), seat))


def heuristic(game: Game, view: RaceView, legal: Sequence[int], rng: Random) -> int:
    """Looks through sixes, weighs its lead over what the others may hold, and thinks of who is next."""
    return short_list(game, view, legal, rng)[0]


def short_list(game: Game, view: RaceView, legal: Sequence[int], rng: Random) -> Sequence[int]:
    """For searches: the actions that look best, the heuristic's first."""
    state, seat = _world(game, view, rng)
    mine_next = _next_turn(view) == seat
    if view.phase in ("put", "move"):
        sign = -1 if mine_next else 1
        return nlargest(SHORT_LIST, legal, key=lambda action: sign * _threat(state.apply({seat: action})))

    def value(after: RaceState) -> float:
        return _lead(after, seat) + (MAIL_IN_REACH if mine_next else -MAIL_IN_REACH) * _mail_in_reach(after)

    return _best(state, seat, legal, value)


def playout(world: RaceState, seat: int, rng: Random) -> float:
    """For searches: the rest of this turn and all of the next few, everybody choosing the best of a few actions: the lead then."""
    end, chance = _turns_done(world) + PLAYED_TURNS, Random(rng.random())
    while not world.is_terminal and _turns_done(world) < end:
        if outcomes := world.chance():
            world = world.apply_chance(pick(outcomes, chance))
        else:
            (actor,) = world.actors()
            world = world.apply({actor: _quick(world, actor, rng)})
    return _lead(world, seat)


def _turns_done(world: RaceState) -> int:
    return world.round * len(ORDER_CARDS) + world.turn


def _quick(world: RaceState, seat: int, rng: Random) -> int:
    """The best of a few actions by the lead at once; obstacles at random."""
    legal = world.legal(seat)
    if world.phase in ("put", "move"):
        return choose(legal, rng)
    tried = rng.sample(legal, min(QUICK_CHOICES, len(legal)))
    return max(tried, key=lambda action: _lead(world.apply({seat: action}), seat))


def _world(game: Game, view: RaceView, rng: Random) -> tuple[RaceState, int]:
    """A position to try things in, and whose seat it is. Only what the view shows is used of it."""
    world = game.determinize(view, rng)
    assert isinstance(world, RaceState)
    assert view.seat is not None
    return world, view.seat


def _points(state: RaceState, seat: int) -> int:
    """The score of ``seat`` if the race ended like this."""
    zone = SIZE * PAD_ROW + state.zone
    away = sum(distance(state.balloons[colour], zone) for colour in state.hand(seat))
    return MAIL_POINTS * state.letters[seat] - state.penalties[seat] - away


def _lead(state: RaceState, seat: int) -> float:
    """Points ahead of the best opponent, whose balloon may be any that ``seat`` does not hold."""
    zone = SIZE * PAD_ROW + state.zone
    hand = state.hand(seat)
    others = [distance(square, zone) for colour, square in enumerate(state.balloons) if colour not in hand]
    away = len(hand) * sum(others) / len(others)
    best = max(
        MAIL_POINTS * state.letters[other] - state.penalties[other] for other in range(state.players) if other != seat
    )
    lead = _points(state, seat) - (best - away)
    if any(PADS[state.pad] >> square & 1 for square in state.balloons):
        return lead + (FINISH if lead > 0 else -FINISH)
    return lead


def _best(state: RaceState, seat: int, legal: Sequence[int], value: Value) -> list[int]:
    """The best few of ``legal``, best first: all are judged before the sixes that wait have flown, the best few after."""
    after = {action: state.apply({seat: action}) for action in legal}
    worth = {action: value(position) for action, position in after.items()}
    best = nlargest(SHORT_LIST, legal, key=worth.__getitem__)
    return sorted(best, key=lambda action: -_through_sixes(after[action], seat, value))


def _through_sixes(state: RaceState, seat: int, value: Value) -> float:
    """The value after each six that is due has flown where it is best at once."""
    while state.phase == "to":
        here = state
        state = max((here.apply({seat: action}) for action in here.legal(seat)), key=value)
    return value(state)


def _next_turn(view: RaceView) -> int | None:
    """The seat whose turn is next; None if the order cards are dealt anew before it, or at a ``put`` the first turn's."""
    seats = [deal % view.players for _, deal in sorted((card, deal) for deal, card in enumerate(view.order))]
    following = view.turn if view.phase == "put" else view.turn + 1
    return seats[following] if following < len(seats) else None


def _mail_in_reach(state: RaceState) -> int:
    """Mail tokens that one die takes a balloon to, counted for each balloon."""
    return sum((state.mail & REACH[square]).bit_count() for square in state.balloons)


def _threat(state: RaceState) -> int:
    """Penalties that await whoever flies next: the sum over all balloons and the dice 1..5."""
    return sum(drift(square, die, state.tokens)[1] for square in state.balloons for die in range(1, FREE_DIE))


BOTS: Final = {"greedy": greedy, "heuristic": heuristic}
