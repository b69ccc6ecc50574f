"""What the scheduler knows of one ladder: who is on it, who has met whom, and what is in flight."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from statistics import fmean, pstdev
from typing import Final

from sqlalchemy import Connection, select

import engines
from arena.ladder.pairing import Candidate, Pair, pair
from arena.ladder.standings import START_RATING, Standing
from arena.match.spec import TimeControl
from arena.ratings import elo
from arena.ratings.entries import SetResult
from arena.settings import LadderSpec
from arena.storage import ledger
from arena.storage.official import OfficialErrors, errors
from arena.storage.tables import account, bot, bot_version, game_set, ladder, rating, set_seat

DAY_MS: Final = 24 * 60 * 60 * 1000
SLACK_MS: Final = 10 * 60 * 1000
"""What a claim may last beyond the players' own time: offers, frozen clocks, a busy machine."""
LEAST_SPREAD: Final = 100.0
UNLIMITED: Final = 1_000_000
"""Free seats of a house bot."""


@dataclass(frozen=True, slots=True)
class Member:
    """A version on the ladder, as far as pairing asks."""

    version: int
    bot: int
    owner: int
    house: bool
    standing: Standing


@dataclass(frozen=True, slots=True)
class InFlight:
    """A set that is QUEUED or CLAIMED, with its ladder's pace; ``seats`` are (version, instance) by position.

    A challenge's or a trial's set is not ``rated``: it takes seats, and is no meeting.
    """

    set_id: str
    ladder_id: int
    pace: int
    queued: bool
    house_only: bool
    seats: tuple[tuple[int, str], ...]
    rated: bool = True


@dataclass(slots=True)
class Book:
    """One ladder. Meetings count from the moment a set is made.

    ``by_name``: only bots that name it join, because there is a faster one for the same game and players.
    """

    ladder_id: int
    spec: LadderSpec
    pair_sets_a_day: int
    by_name: bool = False
    seq: int = -1
    members: dict[int, Member] = field(default_factory=dict)
    meetings: Counter[Pair] = field(default_factory=Counter)
    official: OfficialErrors = field(default_factory=lambda: OfficialErrors(0, {}))
    _opponents: dict[int, Counter[int]] = field(default_factory=dict)
    _guesses: dict[int, tuple[int, float, float]] = field(default_factory=dict)
    _mean: float = START_RATING
    _spread: float = elo.PRIOR_SE
    _remembered: int = 0
    _today: deque[tuple[int, Pair]] = field(default_factory=deque)
    _met_today: Counter[Pair] = field(default_factory=Counter)
    _full: set[Pair] = field(default_factory=set)

    def refresh(self, connection: Connection, seq: int) -> None:
        """Reads the standings again if the ledger has grown to ``seq``."""
        if seq == self.seq:
            return
        rows = connection.execute(
            select(rating, bot_version.c.bot_id, bot.c.account_id, account.c.house)
            .join(bot_version, bot_version.c.id == rating.c.version_id)
            .join(bot, bot.c.id == bot_version.c.bot_id)
            .join(account, account.c.id == bot.c.account_id)
            .where(rating.c.ladder_id == self.ladder_id)
        )
        self.members = {
            row.version_id: Member(
                row.version_id,
                row.bot_id,
                row.account_id,
                row.house,
                Standing(
                    row.version_id,
                    row.rating,
                    row.k2,
                    games=row.games,
                    half_points=row.half_points,
                    anchor=row.anchor,
                    last_seq=row.last_seq,
                ),
            )
            for row in rows
        }
        self.seq = seq
        self.official = errors(connection, self.ladder_id, self.official.official_id) or self.official
        self.settle()

    def settle(self) -> None:
        """A newcomer is expected to be like the members that are established."""
        known = [
            member.standing.rating
            for member in self.members.values()
            if not member.standing.provisional(self.spec.players)
        ]
        self._mean = fmean(known) if known else START_RATING
        self._spread = min(elo.PRIOR_SE, max(LEAST_SPREAD, pstdev(known))) if len(known) >= 10 else elo.PRIOR_SE

    def remember(self, connection: Connection, now: int, most: int) -> bool:
        """Counts the meetings of up to ``most`` further ledger entries; whether there may be more. After :meth:`refresh`."""
        read = 0
        for posted in islice(ledger.entries(connection, self.ladder_id, self._remembered), most):
            read += 1
            self._remembered = posted.seq
            if isinstance(posted.entry, SetResult):
                self.count(posted.entry.versions, posted.created_at, now)
        return read == most

    def count(self, versions: Sequence[int], made_at: int, now: int) -> None:
        """Counts the meetings of a set."""
        for a, b in combinations(sorted(set(versions)), 2):
            self.meetings[pair(a, b)] += 1
            self._opponents.setdefault(a, Counter())[b] += 1
            self._opponents.setdefault(b, Counter())[a] += 1
            first, second = self.members[a], self.members[b]
            if made_at > now - DAY_MS and not first.house and not second.house:
                bots = pair(first.bot, second.bot)
                self._today.append((made_at, bots))
                self._met_today[bots] += 1
                if self._met_today[bots] >= self.pair_sets_a_day:
                    self._full.add(bots)

    def closed(self, versions: Iterable[int], now: int) -> frozenset[Pair]:
        """Pairs among ``versions`` whose bots have had their sets of the last 24 hours. Never a house bot's."""
        while self._today and self._today[0][0] <= now - DAY_MS:
            bots = self._today.popleft()[1]
            self._met_today[bots] -= 1
            self._full.discard(bots)
        if not self._full:
            return frozenset()
        of_bot: dict[int, list[int]] = {}
        for version in versions:
            of_bot.setdefault(self.members[version].bot, []).append(version)
        return frozenset(
            pair(a, b) for one, other in self._full for a in of_bot.get(one, ()) for b in of_bot.get(other, ())
        )

    def house(self) -> list[int]:
        """The newest version of each house bot."""
        newest: dict[int, int] = {}
        for member in self.members.values():
            if member.house:
                newest[member.bot] = max(member.version, newest.get(member.bot, 0))
        return sorted(newest.values())

    def candidate(self, version: int, seats: int, games_in_flight: int, *, patient: bool = False) -> Candidate:
        """A member as pairing sees it."""
        member = self.members[version]
        rating, standard_error = self._estimate(member.standing)
        return Candidate(
            version=version,
            owner=member.owner,
            house=member.house,
            anchor=member.standing.anchor,
            rating=rating,
            standard_error=standard_error,
            games=member.standing.games + games_in_flight,
            last_seq=member.standing.last_seq,
            seats=seats,
            patient=patient,
        )

    def _estimate(self, standing: Standing) -> tuple[float, float]:
        """Where a member stands, as far as is known: a newcomer's live rating is still on its way."""
        players = self.spec.players
        if standing.anchor:
            return standing.rating, 0.0
        if standing.version in self.official.by_version:
            error, games = self.official.by_version[standing.version]
            return standing.rating, elo.standard_error(max(0, standing.games - games), players, before=error)
        if not standing.provisional(players):
            return standing.rating, standing.standard_error(players)
        games, rating, error = self._guesses.get(standing.version, (-1, 0.0, 0.0))
        if games != standing.games:
            rating, error = self._guess(standing)
            self._guesses[standing.version] = (standing.games, rating, error)
        return rating, error

    def _guess(self, standing: Standing) -> tuple[float, float]:
        """From all that a newcomer has scored, against those it has met; sets in flight count as the others did."""
        met = self._opponents.get(standing.version, Counter())
        comparisons = standing.games * (self.spec.players - 1)
        share = comparisons / max(1, met.total())
        opponents = [(self.members[other].standing.rating, times * share) for other, times in met.items()]
        return elo.posterior(standing.half_points / 2, opponents, self.spec.players, mean=self._mean, sd=self._spread)

    @property
    def pace(self) -> int:
        """Of its time control."""
        return self.spec.time_control.pace

    def budget_ms(self) -> int:
        """How long a claim of a set may last: all clocks run down in every game, and some slack."""
        control, config = self.spec.time_control, self.spec.config
        events = engines.get(self.spec.game).max_events(self.spec.players, config)
        timers = [value for name, value in config.items() if name.endswith("_ms")]
        game_ms = self.spec.players * control.bank_ms + events * max(control.increment_ms, *timers, 0)
        return self.spec.players * game_ms + SLACK_MS


def mark_by_name(books: Iterable[Book]) -> None:
    """Ladders that have a faster one for the same game and number of players are only for bots that name them."""
    books = tuple(books)
    fastest: dict[tuple[str, int], int] = {}
    for book in books:
        key = book.spec.game, book.spec.players
        fastest[key] = min(book.pace, fastest.get(key, book.pace))
    for book in books:
        book.by_name = book.pace > fastest[book.spec.game, book.spec.players]


_IN_FLIGHT: Final = (
    select(
        game_set.c.id,
        game_set.c.ladder_id,
        game_set.c.state,
        game_set.c.rated,
        game_set.c.house_only,
        set_seat.c.version_id,
        set_seat.c.instance,
        ladder.c.bank_ms,
        ladder.c.increment_ms,
        ladder.c.move_cap_ms,
    )
    .join(set_seat, set_seat.c.set_id == game_set.c.id)
    .join(ladder, ladder.c.id == game_set.c.ladder_id)
    .where(game_set.c.state.in_(["QUEUED", "CLAIMED"]))
    .order_by(game_set.c.id, set_seat.c.position)
)


def in_flight(connection: Connection) -> tuple[InFlight, ...]:
    """All sets that are queued or being played."""
    found: dict[str, InFlight] = {}
    for row in connection.execute(_IN_FLIGHT):
        before = found[row.id].seats if row.id in found else ()
        seats = (*before, (row.version_id, row.instance))
        pace = TimeControl(row.bank_ms, row.increment_ms, row.move_cap_ms).pace
        queued = row.state == "QUEUED"
        found[row.id] = InFlight(row.id, row.ladder_id, pace, queued, row.house_only, seats, row.rated)
    return tuple(found.values())
