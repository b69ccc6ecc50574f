"""Who plays the next set. Pure: the same candidates, meetings and seed give the same table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop
from random import Random
from typing import Final, TypeAlias

from arena.ladder.standings import PROVISIONAL_SE, SETTLED_SE
from arena.ratings import elo

UNIFORM_SHARE: Final = 0.1
"""Part of established bots' sets whose opponents are drawn regardless of ratings, so that everybody stays comparable.
A newcomer is tied to the others by the anchor at its table."""
ANCHOR_SHARE_OF_TWO: Final = 0.5
"""At a table of two an anchor for a newcomer leaves nobody else: it gets one in this part of its sets only."""

CHOICE: Final = 2
"""Free external bots for each seat to be filled, that a patient bot waits for."""
MOST_WEIGHED: Final = 1_000
"""Free bots that are weighed for a table."""

Pair: TypeAlias = tuple[int, int]
"""Two versions, the lesser id first."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version that could play now.

    ``games`` and ``seats``: played, and free to be taken, with the sets in flight counted. House bots are always free.
    ``patient``: it would rather wait than play with whoever happens to be free at this moment.
    """

    version: int
    owner: int
    house: bool
    anchor: bool
    rating: float
    standard_error: float
    games: int
    last_seq: int
    seats: int
    patient: bool = False

    @property
    def known(self) -> bool:
        """Whether a newcomer's rating can be tied to it: the anchor, or a house bot that is settled."""
        return self.anchor or (self.house and self.standard_error < SETTLED_SE)

    @property
    def provisional(self) -> bool:
        """Whether an anchor should be at its table."""
        return self.standard_error >= PROVISIONAL_SE


def pair(a: int, b: int) -> Pair:
    """The two in the order in which pairs are written."""
    return (a, b) if a < b else (b, a)


def next_set(
    candidates: Sequence[Candidate],
    players: int,
    meetings: Mapping[Pair, int],
    closed: Collection[Pair],
    seed: int,
    *,
    house_only: bool,
) -> tuple[int, ...] | None:
    """The versions of the next set by position; None if no legal table is worth playing.

    The set is made for the external bot with the fewest games, then the longest idle, that finds a table; a patient one
    wants a choice of opponents. ``closed`` pairs may not meet. Without external bots, house bots play each other if ``house_only`` allows it and the rating of
    one of them is not settled.
    """
    rng = Random(seed)  # noqa: S311 - reproducible on purpose
    free = [bot for bot in candidates if bot.house or bot.seats > 0]
    choice: _Choice | None = None
    waiting = [(bot.games, bot.last_seq, bot.version, bot) for bot in free if not bot.house]
    heapify(waiting)
    while waiting:
        made_for = heappop(waiting)[-1]
        if made_for.patient:
            choice = choice or _Choice(candidates, players)
            if not choice.has(made_for):
                continue
        if table := _table(made_for, free, players, meetings, closed, rng):
            return table
    house = [bot for bot in free if bot.house]
    unsettled = [bot for bot in house if bot.standard_error >= SETTLED_SE]
    if not house_only or not unsettled or len(house) < 2:
        return None
    neediest = min(unsettled, key=lambda bot: (bot.games, bot.last_seq, bot.version))
    return _table(neediest, house, players, meetings, closed, rng)


class _Choice:
    """Whether a patient bot has :data:`CHOICE` free external bots of other owners a seat, or all that there are.

    Bots become free one by one: seated at once, each would find nobody but the house, and hardly ever one of its equals.
    """

    def __init__(self, candidates: Sequence[Candidate], players: int) -> None:
        self._enough = CHOICE * (players - 1)
        self._all = Counter(bot.owner for bot in candidates if not bot.house)
        self._free = Counter(bot.owner for bot in candidates if not bot.house and bot.seats > 0)
        self._totals = self._all.total(), self._free.total()

    def has(self, bot: Candidate) -> bool:
        others, free = self._totals[0] - self._all[bot.owner], self._totals[1] - self._free[bot.owner]
        return free >= min(others, self._enough)


def _table(
    made_for: Candidate,
    free: Sequence[Candidate],
    players: int,
    meetings: Mapping[Pair, int],
    closed: Collection[Pair],
    rng: Random,
) -> tuple[int, ...] | None:
    table = [made_for]
    uniform = rng.random() < UNIFORM_SHARE and not made_for.provisional
    wants_anchor = made_for.provisional and (players > 2 or rng.random() < ANCHOR_SHARE_OF_TWO)
    house = [bot for bot in free if bot.house]
    pool = [bot for bot in _thinned(free, house, rng) if _may_join(bot, made_for, closed)]
    weights = {bot.version: 1.0 if uniform else _weight(made_for, bot, meetings) for bot in (*pool, *house)}
    while len(table) < players:
        open_to = pool
        if wants_anchor and len(table) == 1 and (anchors := [bot for bot in pool if bot.known]):
            open_to = anchors
        # Fewer house bots than seats: some sit twice, rather than that nobody plays at large tables.
        open_to = open_to or house
        if not open_to:
            return None
        [drawn] = rng.choices(open_to, [weights[bot.version] for bot in open_to])
        table.append(drawn)
        pool = [bot for bot in pool if _may_join(bot, drawn, closed)]
    if len({bot.version for bot in table}) == 1:
        return None
    rng.shuffle(table)
    return tuple(bot.version for bot in table)


def _thinned(free: Sequence[Candidate], house: Sequence[Candidate], rng: Random) -> Sequence[Candidate]:
    """The bots among whom opponents are drawn: all, or of very many a sample, in which there are enough near ones too."""
    if len(free) <= MOST_WEIGHED:
        return free
    sample = rng.sample(free, MOST_WEIGHED)
    return [*house, *(bot for bot in sample if not bot.house)]


def _may_join(bot: Candidate, other: Candidate, closed: Collection[Pair]) -> bool:
    """Nobody sits twice, and no two of one owner, house bots excepted."""
    return (
        bot.version != other.version
        and (bot.house or bot.owner != other.owner)
        and (not closed or pair(bot.version, other.version) not in closed)
    )


def _weight(made_for: Candidate, opponent: Candidate, meetings: Mapping[Pair, int]) -> float:
    difference = abs(made_for.rating - opponent.rating)
    sd = (made_for.standard_error**2 + opponent.standard_error**2) ** 0.5
    met = meetings.get(pair(made_for.version, opponent.version), 0)
    return _information(round(difference), round(sd)) ** 6 / (1 + met)


@lru_cache(maxsize=100_000)
def _information(difference: int, sd: int) -> float:
    """To whole points, so that thousands of pairs share the work."""
    return elo.information(difference, sd)
