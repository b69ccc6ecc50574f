"""Who is connected, and the handing out of their seats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from arena.gateway.registry import OnlineSession
from arena.ladder.book import UNLIMITED, Book, InFlight
from arena.ladder.pace import has_room
from arena.ladder.pairing import Candidate, next_set
from arena.ladder.patience import Patience
from arena.settings import SchedulerSettings
from arena.storage.plans import NewSeat


@dataclass(frozen=True, slots=True)
class OnlineBot:
    """One connected process of a bot.

    ``games`` maps the games that it plays to numbers of players (empty: every number); no games means every game.
    ``ladders`` are those that it plays on, by slug; none means all but those that want to be named.
    ``credit`` is how many matches it takes at once in all: what is in flight the scheduler knows by itself.
    """

    bot_id: int
    version_id: int
    instance: str
    credit: int
    games: Mapping[str, Collection[int]] = field(default_factory=dict)
    ladders: Collection[str] = ()

    @classmethod
    def of(cls, session: OnlineSession) -> OnlineBot:
        """A session of the registry."""
        about = (session.bot_id, session.version_id, session.instance, session.credit)
        return cls(*about, session.games, session.ladders)

    def joins(self, book: Book) -> bool:
        """Whether the process plays on this ladder."""
        if self.ladders and book.spec.slug not in self.ladders:
            return False
        return self.plays(book.spec.game, book.spec.players) and (bool(self.ladders) or not book.by_name)

    def plays(self, game: str, players: int) -> bool:
        """Whether the process said that it plays this."""
        if not self.games:
            return True
        return game in self.games and (not self.games[game] or players in self.games[game])


@dataclass(frozen=True, slots=True)
class Table:
    """A set to be made."""

    seats: tuple[NewSeat, ...]
    house_only: bool


class Desk:
    """One round's seats, handed out to the ladders."""

    def __init__(
        self,
        online: Sequence[OnlineBot],
        flying: Sequence[InFlight],
        settings: SchedulerSettings,
        patience: Patience,
        now: int,
        *,
        slots: int = UNLIMITED,
        paces: Collection[int] = (),
        retired: Collection[int] = (),
    ) -> None:
        """``patience`` has looked at ``flying`` at the time ``now``; bots that rest are as good as away.

        ``slots``: sets that all workers play at once; ``paces``: of the open ladders; ``retired`` versions are only seated
        where they are named.
        """
        self._settings = settings
        self._patience = patience
        self._now = now
        self._slots = slots
        self._paces = paces
        self._retired = retired
        self._held: set[int] = set()
        online = [bot for bot in online if not patience.rests(bot.version_id, now)]
        self._online = online
        self._processes: dict[int, list[OnlineBot]] = {}
        for bot in online:
            self._processes.setdefault(bot.version_id, []).append(bot)
        taken = Counter(seat for one in flying for seat in one.seats)
        self._free = {
            (bot.version_id, bot.instance): bot.credit - taken[bot.version_id, bot.instance] for bot in online
        }
        self._queued = Counter(one.ladder_id for one in flying if one.queued)
        self._by_pace = Counter(one.pace for one in flying)
        self._house_sets = sum(one.house_only for one in flying)
        self._known: dict[int, tuple[Book, dict[int, Candidate]]] = {}
        self._games: Counter[tuple[int, int]] = Counter()
        for one in flying:
            for version, _ in one.seats:
                self._games[one.ladder_id, version] += len(one.seats)

    def table(self, book: Book, seed: int) -> Table | None:
        """A new set of a ladder; None if there is no room for it, its backlog is full, or nobody is free."""
        if not self._has_room(book):
            return None
        candidates = [
            one for one in self._candidates(book) if one.version not in self._retired and one.version not in self._held
        ]
        external = [bot.version for bot in candidates if not bot.house]
        versions = next_set(
            candidates,
            book.spec.players,
            book.meetings,
            book.closed(external, self._now),
            seed,
            house_only=self._house_sets < self._settings.house_sets,
        )
        if versions is None:
            return None
        book.count(versions, self._now, self._now)
        return self._seat(book, versions)

    def named(self, book: Book, versions: Sequence[int]) -> Table | None:
        """A set of these versions, by position; None unless there is room and all have free seats, as many as they need."""
        if not self._has_room(book):
            return None
        known = {candidate.version: candidate for candidate in self._candidates(book)}
        needed = Counter(versions)
        if any(version not in known or known[version].seats < seats for version, seats in needed.items()):
            return None
        return self._seat(book, versions)

    def hold(self, book: Book, versions: Sequence[int], owner: int) -> None:
        """Gives those of ``versions`` that are the ``owner``'s to no ladder in this round: a table of all of them waits for
        their seats. Unless it could never be made of the processes that are connected.
        """
        needed = Counter(version for version in versions if not book.members[version].house)
        credit = Counter[int]()
        for bot in self._online:
            if bot.joins(book):
                credit[bot.version_id] += bot.credit
        if needed <= credit:
            self._held.update(version for version in needed if book.members[version].owner == owner)

    def _has_room(self, book: Book) -> bool:
        if self._queued[book.ladder_id] >= self._settings.backlog:
            return False
        return has_room(book.pace, self._by_pace, self._paces, self._slots)

    def _candidates(self, book: Book) -> list[Candidate]:
        if book.ladder_id not in self._known:
            external = {bot.version_id for bot in self._online if bot.version_id in book.members and bot.joins(book)}
            known = {version: self._candidate(book, version) for version in (*sorted(external), *book.house())}
            self._known[book.ladder_id] = (book, known)
        return list(self._known[book.ladder_id][1].values())

    def _candidate(self, book: Book, version: int) -> Candidate:
        games = self._games[book.ladder_id, version]
        if book.members[version].house:
            return book.candidate(version, UNLIMITED, games)
        seats = sum(max(0, free) for free in self._able(book, version).values())
        return book.candidate(version, seats, games, patient=self._patience.patient(book.ladder_id, version, self._now))

    def _able(self, book: Book, version: int) -> dict[str, int]:
        """Free seats, by instance, of a version's processes that play what the ladder plays."""
        return {bot.instance: self._free[version, bot.instance] for bot in self._processes[version] if bot.joins(book)}

    def _seat(self, book: Book, versions: Sequence[int]) -> Table:
        seats = tuple(self._take(book, version) for version in versions)
        house_only = all(book.members[version].house for version in versions)
        self._queued[book.ladder_id] += 1
        self._by_pace[book.pace] += 1
        self._house_sets += house_only
        for version in versions:
            self._games[book.ladder_id, version] += len(versions)
        for other, known in self._known.values():
            known.update((version, self._candidate(other, version)) for version in versions if version in known)
        return Table(seats, house_only)

    def _take(self, book: Book, version: int) -> NewSeat:
        """A seat at the bot's process that has most of them free."""
        member = book.members[version]
        if member.house:
            return NewSeat(version, member.bot)
        able = self._able(book, version)
        instance = max(able, key=lambda name: able[name])
        self._free[version, instance] -= 1
        return NewSeat(version, member.bot, instance)
