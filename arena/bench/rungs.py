"""Whether each house bot beats the one below it, at a game's least number of players.

Bots play as functions over the native engine, without processes and clocks. A set is one deal from every seat: the stronger bot
sits at each seat in turn, the weaker one at all others, as in the arena's sets with a shared deal. The sign test over sets asks
how likely so many sets won among those not drawn would be if the two were equal.

A rung is looked at after 16, 32, 64, ... sets and ends as soon as p < 0.001. Each look is another chance of a wrong verdict, so
that a verdict over seven looks is wrong less than seven times in a thousand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import comb
from random import Random
from typing import Final, NamedTuple

import engines
from arena.match.deal import ChanceStream
from arena.pools import process_pool
from arena.ratings.summary import Summary, pairwise_scores, summarise
from bots.house import NAMES, find, games_of

FIRST_LOOK: Final = 16
ENOUGH: Final = 0.001


class Played(NamedTuple):
    """One game from the upper bot's side: its mean over opponents of 1, 1/2 or 0, and its place."""

    score: float
    won: bool
    drawn: bool


@dataclass(slots=True)
class Rung:
    """The results of ``upper`` against ``lower``: a tuple of games a set."""

    game: str
    lower: str
    upper: str
    sets: list[tuple[Played, ...]] = field(default_factory=list)

    @property
    def p_value(self) -> float:
        """One-sided sign test over sets; 1 where no set has a winner."""
        scores = self._scores()
        return sign_test(sum(score > 0.5 for score in scores), sum(score < 0.5 for score in scores))

    @property
    def summary(self) -> Summary:
        """Elo difference and its error over sets."""
        return summarise(self._scores())

    def counts(self) -> tuple[int, int, int]:
        """Games that the upper bot won, drew (shared the first place or neither was ahead) and lost."""
        games = [game for played in self.sets for game in played]
        won, drawn = sum(game.won for game in games), sum(game.drawn for game in games)
        return won, drawn, len(games) - won - drawn

    def _scores(self) -> list[float]:
        return [sum(game.score for game in played) / len(played) for played in self.sets]


def sign_test(wins: int, losses: int) -> float:
    """How likely at least ``wins`` of them all would be if each were as likely as a loss."""
    total = wins + losses
    return float(sum(comb(total, count) for count in range(wins, total + 1)) / 2**total)


def rungs(game: str) -> list[Rung]:
    """The rungs of a game, from the lowest, without results."""
    bots = [name for name in NAMES if game in games_of(name)]
    return [Rung(game, lower, upper) for lower, upper in pairwise(bots)]


def looks(sets: int) -> Iterator[int]:
    """After how many sets a rung is looked at: 16, twice as many each time, and ``sets``."""
    look = FIRST_LOOK
    while look < sets:
        yield look
        look *= 2
    yield sets


def climb(rung: Rung, games: int, seed: int, jobs: int, on_set: Callable[[Rung], None]) -> None:
    """Plays a rung until it holds or there have been ``games`` games; ``on_set`` hears of each set. Repeats with ``seed``."""
    per_set = engines.get(rung.game).min_players
    with process_pool(jobs) as pool:
        for look in looks(max(1, games // per_set)):
            numbers = range(len(rung.sets), look)
            for played in pool.map(play_set, *_columns(rung, seed, numbers)):
                rung.sets.append(played)
                on_set(rung)
            if rung.p_value < ENOUGH:
                return


def _columns(rung: Rung, seed: int, numbers: range) -> Iterable[Iterable[object]]:
    count = len(numbers)
    return [rung.game] * count, [rung.lower] * count, [rung.upper] * count, [seed] * count, numbers


def play_set(game: str, lower: str, upper: str, seed: int, number: int) -> tuple[Played, ...]:
    """Set ``number`` of a rung."""
    players = engines.get(game).min_players
    deal = hashlib.sha256(f"rungs {game} {seed} {number}".encode()).digest()
    return tuple(
        _play(game, [upper if at == seat else lower for at in range(players)], seat, deal) for seat in range(players)
    )


def _play(name: str, bots: list[str], seat: int, deal: bytes) -> Played:
    """One game, seen from ``seat``."""
    from bots.house.players import chooser  # noqa: PLC0415 - the bots' rules, only where they play

    game, chance = engines.get(name), ChanceStream(deal)
    choosers = [chooser(find(bot), name) for bot in bots]
    rngs = [Random(f"{deal.hex()} {seat} {at}") for at in range(len(bots))]  # noqa: S311 - to repeat
    state = game.new_state(len(bots))
    while not state.is_terminal:
        if outcomes := state.chance():
            state = state.apply_chance(chance.pick(outcomes))
            continue
        joint = {}
        for at in state.actors():
            legal = state.legal(at)
            joint[at] = legal[0] if len(legal) == 1 else choosers[at](game, state.view(at), legal, rngs[at])
        state = state.apply(joint)
    places = state.placements()
    score = pairwise_scores(places)[seat]
    return Played(score, won=score > 0.5, drawn=score == 0.5)
