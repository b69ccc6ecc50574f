"""Matchmaking with bots whose true strength is known: the real desk, book, pairing and ratings; games and time are simulated."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean, median
from typing import Final

import numpy as np

from arena.ladder.book import Book, InFlight, Member
from arena.ladder.desk import Desk, OnlineBot, Table
from arena.ladder.pairing import Pair, next_set, pair
from arena.ladder.patience import Patience
from arena.ladder.standings import START_RATING, Standing, step
from arena.ratings.bradley_terry import official_table
from arena.ratings.comparisons import Floats
from arena.ratings.entries import SetResult
from arena.ratings.simulation import TRUE_SD, play, random_tables
from arena.settings import LadderSpec, SchedulerSettings

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS
ROUND_MS: Final = 2_000
NOT_READY_MS: Final = 10_000
"""How long a set waits for a bot that does not answer its offer, before it is void."""
HOUSE: Final = {1: 1000.0, 2: 1150.0, 3: 1250.0}
"""True ratings of the house bots, by version; the first is the anchor."""
FIELD_MEAN: Final = 1200.0
FIRST: Final = 11
"""Version of the first external bot."""


@dataclass(frozen=True, slots=True)
class NewcomerError:
    """RMSE, in points against the mean of the field, of a newcomer's official rating after its first games."""

    runs: int
    games: int
    rmse: float
    bias: float


def newcomer_error(
    runs: int,
    *,
    players: int,
    games: int,
    shared: bool,
    seed: int,
    field_size: int = 50,
    on_run: Callable[[], None] = lambda: None,
) -> NewcomerError:
    """A newcomer among established bots plays sets that pairing makes for it, and is then rated officially."""
    rng = np.random.default_rng(seed)
    misses = []
    for _ in range(runs):
        truth = np.array([*HOUSE.values(), *rng.normal(FIELD_MEAN, TRUE_SD, field_size + 1)])
        tables = random_tables(len(truth) - 1, players, 60 * field_size // players, rng)
        places = play(truth[tables], players, rng, shared=shared)
        results = [
            SetResult(str(number), tuple(table), tuple(map(tuple, games)))
            for number, (table, games) in enumerate(zip((tables + 1).tolist(), places.tolist(), strict=True))
        ]
        results += _newcomer_sets(truth, results, players, games // players, shared=shared, rng=rng)
        table = official_table(results, {1: HOUSE[1]})
        rated = {row.version: row.rating for row in table.rows}
        new = len(truth)
        mean_miss = fmean(rated[version] - truth[version - 1] for version in rated if version != new)
        misses.append(rated[new] - truth[new - 1] - mean_miss)
        on_run()
    errors = np.array(misses)
    return NewcomerError(runs, games, float(np.sqrt((errors**2).mean())), float(errors.mean()))


def _newcomer_sets(
    truth: Floats, history: list[SetResult], players: int, sets: int, *, shared: bool, rng: np.random.Generator
) -> list[SetResult]:
    """The newcomer's first sets: everybody else is established, known to the official table, and free."""
    new = len(truth)
    rated = official_table(history, {1: HOUSE[1]}).rows
    standings = {
        row.version: Standing(row.version, row.rating, k2=10, games=row.sets * players, anchor=row.version == 1)
        for row in rated
    }
    standings[new] = Standing(new, START_RATING)
    book = _book(players)
    book.members = {
        version: Member(version, version, version, version in HOUSE, standing)
        for version, standing in standings.items()
    }
    book.settle()
    played: list[SetResult] = []
    for number in range(sets):
        # As if all others had more games: the set is made for the newcomer.
        candidates = [book.candidate(version, 1, 0 if version == new else 10_000) for version in book.members]
        versions = next_set(candidates, players, book.meetings, (), int(rng.integers(2**63)), house_only=False)
        assert versions is not None
        book.count(versions, 0, 0)
        at_table = truth[[version - 1 for version in versions]]
        [places] = play(at_table[None, :], players, rng, shared=shared).tolist()
        played.append(SetResult(f"new{number}", versions, tuple(map(tuple, places))))
        for version, standing in step(standings, number + 1, played[-1]).items():
            standings[version] = standing
            member = book.members[version]
            book.members[version] = Member(version, member.bot, member.owner, member.house, standing)
    return played


def _book(players: int) -> Book:
    return Book(1, LadderSpec("simulated", "balloon-challenge", players, {}), pair_sets_a_day=200)


@dataclass(frozen=True, slots=True)
class DayOfPlay:
    """What a day of matchmaking gave.

    ``top_pairs`` of different owners among the ten truly best, slow ones apart; ``unmet`` of them that did not meet, and
    when the last of the others had met (hours); ``unmet_slow``: pairs of the ten that have a slow bot and did not meet. Waits are means by bot, from a free seat to the next set, in seconds. ``external_share``: of a
    set's opponents that are no house bots. ``sets_of_slow``: of the bots that take ten times as long.
    """

    players: int
    bots: int
    sets: int
    top_pairs: int
    unmet: int
    unmet_slow: int
    all_met_hours: float
    median_wait_s: float
    longest_wait_s: float
    fewest_sets: int
    median_sets: float
    sets_of_slow: float
    void_sets: int
    external_share: float


@dataclass(slots=True)
class _Arena:
    """Bots, what is in flight, and the clock. Externals of versions FIRST, FIRST + 1, ...; the last one may be dead."""

    book: Book
    truth: dict[int, float]
    minutes: dict[int, float]
    dead: frozenset[int]
    rng: np.random.Generator
    patience: Patience = field(default_factory=Patience)
    flying: dict[str, InFlight] = field(default_factory=dict)
    ends: list[tuple[int, str]] = field(default_factory=list)
    free_since: dict[int, int] = field(default_factory=dict)
    waits: dict[int, list[int]] = field(default_factory=dict)
    sets: Counter[int] = field(default_factory=Counter)
    first_met: dict[Pair, int] = field(default_factory=dict)
    opponents: Counter[bool] = field(default_factory=Counter)
    made: int = 0
    void: int = 0

    def seat(self, table: Table, now: int) -> None:
        """A set that the desk made begins; it lasts as long as its slowest bot makes it."""
        versions = [seat.version_id for seat in table.seats]
        set_id = f"s{self.made}"
        self.made += 1
        lasts = max(self.minutes.get(version, 0.0) for version in versions) * self.rng.lognormal(0, 0.3) * 60_000
        if self.dead & set(versions):
            lasts = NOT_READY_MS
        seats = tuple((seat.version_id, seat.instance) for seat in table.seats)
        self.flying[set_id] = InFlight(set_id, 1, self.book.pace, False, table.house_only, seats)
        heapq.heappush(self.ends, (now + int(lasts), set_id))
        for version in versions:
            if version >= FIRST:
                self.waits.setdefault(version, []).append(now - self.free_since[version])

    def finish(self, set_id: str, at: int) -> None:
        """A set ends: void if a dead bot was asked, else with a result that moves ratings."""
        versions = tuple(version for version, _ in self.flying.pop(set_id).seats)
        self.free_since.update((version, at) for version in versions)
        if silent := self.dead & set(versions):
            self.void += 1
            self.patience.not_ready(silent, at)
            return
        ratings = np.array([[self.truth[version] for version in versions]])
        [places] = play(ratings, len(versions), self.rng, shared=False).tolist()
        self.book.seq += 1
        standings = {version: member.standing for version, member in self.book.members.items()}
        result = SetResult(set_id, versions, tuple(map(tuple, places)))
        for version, standing in step(standings, self.book.seq, result).items():
            member = self.book.members[version]
            self.book.members[version] = Member(version, member.bot, member.owner, member.house, standing)
        self.sets.update(set(versions))
        for a, b in combinations(versions, 2):
            self.first_met.setdefault(pair(a, b), at)
        for version in versions:
            if version >= FIRST:
                self.opponents.update(other >= FIRST for other in versions if other != version)


def day_of_play(
    *,
    players: int,
    seed: int,
    bots: int = 50,
    slow: int = 2,
    dead: int = 1,
    minutes: float = 4.0,
    hours: float = 24.0,
    on_hour: Callable[[], None] = lambda: None,
) -> DayOfPlay:
    """A day of a ladder that starts empty: ``bots`` external bots with one seat each, of whom every fifth shares its owner.

    A set lasts ``minutes`` in the median, with one of ``slow`` bots ten times as long; ``dead`` bots never answer an offer.
    """
    arena = _open(players, bots, slow, dead, minutes, np.random.default_rng(seed))
    online = [OnlineBot(version, version, "0", 1) for version in arena.book.members if version >= FIRST]
    settings = SchedulerSettings()
    for now in range(0, int(hours * HOUR_MS), ROUND_MS):
        while arena.ends and arena.ends[0][0] <= now:
            at, set_id = heapq.heappop(arena.ends)
            arena.finish(set_id, at)
        arena.patience.look(arena.flying.values(), now)
        desk = Desk(online, tuple(arena.flying.values()), settings, arena.patience, now)
        while (table := desk.table(arena.book, int(arena.rng.integers(2**63)))) is not None:
            arena.seat(table, now)
        if now % HOUR_MS == 0:
            on_hour()
    return _report(arena, players, bots, slow)


def _open(players: int, bots: int, slow: int, dead: int, minutes: float, rng: np.random.Generator) -> _Arena:
    book = _book(players)
    for version, rating in HOUSE.items():
        standing = Standing(version, rating, anchor=version == 1)
        book.members[version] = Member(version, version, 1, True, standing)
    versions = range(FIRST, FIRST + bots)
    for version in versions:
        owner = version - 1 if version % 5 == 0 and version > FIRST else version
        book.members[version] = Member(version, version, owner, False, Standing(version, START_RATING))
    truth = HOUSE | {version: float(rng.normal(FIELD_MEAN, TRUE_SD)) for version in versions}
    pace = {version: minutes * (10 if version >= FIRST + bots - dead - slow else 1) for version in versions}
    silent = frozenset(versions[bots - dead :])
    return _Arena(book, truth, pace, silent, rng, free_since=dict.fromkeys(versions, 0))


def _report(arena: _Arena, players: int, bots: int, slow: int) -> DayOfPlay:
    alive = [version for version in arena.minutes if version not in arena.dead]
    steady = alive[: len(alive) - slow]
    best = sorted(alive, key=lambda version: -arena.truth[version])[:10]
    owner = {version: arena.book.members[version].owner for version in best}
    every = [pair(a, b) for a, b in combinations(best, 2) if owner[a] != owner[b]]
    pairs = [(a, b) for a, b in every if a in steady and b in steady]
    met = [arena.first_met[one] for one in pairs if one in arena.first_met]
    waits = [fmean(arena.waits.get(version) or [DAY_MS]) / 1000 for version in alive]
    return DayOfPlay(
        players=players,
        bots=bots,
        sets=arena.made,
        top_pairs=len(pairs),
        unmet=len(pairs) - len(met),
        unmet_slow=sum(one not in arena.first_met for one in every if one not in pairs),
        all_met_hours=round(max(met, default=0) / HOUR_MS, 2),
        median_wait_s=round(median(waits), 1),
        longest_wait_s=round(max(waits), 1),
        fewest_sets=min(arena.sets[version] for version in steady),
        median_sets=median(arena.sets[version] for version in steady),
        sets_of_slow=fmean([arena.sets[version] for version in alive[len(steady) :]] or [0]),
        void_sets=arena.void,
        external_share=round(arena.opponents[True] / max(1, sum(arena.opponents.values())), 4),
    )
