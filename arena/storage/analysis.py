"""Why a rating is what it is, and where a bot loses: for pages, calls and the command line. Read only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby, pairwise
from statistics import fmean
from typing import Any, Final

from sqlalchemy import Connection, and_, select, true

from arena.errors import ArenaError, UserError
from arena.match.clock_use import NEAR, ClockUse, clock_use
from arena.match.record import DamagedRecord, parse_record
from arena.match.spec import SeatReason
from arena.ratings.entries import SetResult
from arena.ratings.summary import Summary, summarise
from arena.storage import ledger as ledgers
from arena.storage import queries
from arena.storage.accounts import find_bot
from arena.storage.plans import seating
from arena.storage.records import RecordStore
from arena.storage.tables import account, bot, bot_version, game_set, ledger, match, rating_point, result, set_seat

MOST_GAMES: Final = 20_000
"""The newest so many games are looked at."""
SHOWN_MATCHES: Final = 5
CLOCKED_GAMES: Final = 200
"""The newest so many are replayed to see how the clock was used."""
CLOCK_PARTS: Final = (0.0, 0.1, 0.25, 0.5, 0.8, 1.0)
MOST_ENTRIES: Final = 200_000
"""The newest so many entries of a ledger are looked at for odd pairs and circles."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """One game in which two bots sat: the first's score against the second, 1, 1/2 or 0."""

    set_id: str
    match_id: str
    first_version: str
    second_version: str
    first_seat: int
    finished_at: int
    score: float
    first_reason: str


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """Two bots against each other, of the first's view; each part with its interval. Errors are taken over sets."""

    overall: Summary
    games: int
    by_version: Mapping[str, Summary]
    by_seat: Mapping[str, Summary]
    by_day: Mapping[str, Summary]


@dataclass(frozen=True, slots=True)
class Lost:
    """A part of a bot's games: how many, its mean score against the others there, and matches that it lost."""

    what: str
    games: int
    score: float
    error: float | None
    lost: int
    matches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TimeSpent:
    """How a bot used its clock in its newest ``games``: the mean share of its time (0..1) and of ``decisions`` how many
    were near their limit."""

    games: int
    decisions: int
    share: float
    near_limit: int


@dataclass(frozen=True, slots=True)
class Weakness:
    """Where a bot loses, the worst part of each kind first. A game is lost whose score is below one half.

    ``by_clock``: of the games of ``clock``, by how much of its time the bot used, and those with decisions near the limit.
    """

    games: int
    score: float
    by_seat: tuple[Lost, ...]
    by_opponent: tuple[Lost, ...]
    by_reason: tuple[Lost, ...]
    clock: TimeSpent
    by_clock: tuple[Lost, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What a ledger entry did to a rating, and why: a set with places by position and game, or another kind of entry."""

    seq: int
    at: int
    before: float
    after: float
    kind: str
    set_id: str | None
    opponents: tuple[str, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Seat:
    version_id: int
    bot_id: int
    name: str
    label: str


@dataclass(frozen=True, slots=True)
class _Game:
    """A game by seat."""

    set_id: str
    match_id: str
    finished_at: int
    seats: tuple[_Seat, ...]
    places: Sequence[int]
    reasons: Sequence[str]
    record_digest: str

    def score(self, mine: int, other: int) -> float:
        a, b = self.places[mine], self.places[other]
        return 1.0 if a < b else 0.5 if a == b else 0.0


def head_to_head(connection: Connection, slug: str, first: str, second: str) -> HeadToHead:
    """How two bots do against each other on a ladder. Raises UserError."""
    met = meetings(connection, slug, first, second)

    def parts(key: Callable[[Meeting], str]) -> dict[str, Summary]:
        found: dict[str, list[Meeting]] = {}
        for one in met:
            found.setdefault(key(one), []).append(one)
        return {name: _summary((one.set_id, one.score) for one in found[name]) for name in sorted(found)}

    return HeadToHead(
        overall=_summary((one.set_id, one.score) for one in met),
        games=len(met),
        by_version=parts(lambda one: f"{one.first_version} - {one.second_version}"),
        by_seat=parts(lambda one: str(one.first_seat)),
        by_day=parts(lambda one: datetime.fromtimestamp(one.finished_at / 1000, UTC).strftime("%Y-%m-%d")),
    )


def meetings(connection: Connection, slug: str, first: str, second: str) -> tuple[Meeting, ...]:
    """The games in which both bots sat, newest first. Raises UserError."""
    one, other = _bot_id(connection, first), _bot_id(connection, second)
    if one == other:
        raise UserError("a bot has no games against itself")
    found = []
    for game in _games(connection, slug, one):
        for mine, seat in enumerate(game.seats):
            for theirs, opponent in enumerate(game.seats):
                if (seat.bot_id, opponent.bot_id) == (one, other):
                    score, reason = game.score(mine, theirs), game.reasons[mine]
                    labels = (seat.label, opponent.label)
                    found.append(Meeting(game.set_id, game.match_id, *labels, mine, game.finished_at, score, reason))
    return tuple(found)


def weakness(connection: Connection, slug: str, name: str, records: RecordStore) -> Weakness:
    """Where a bot loses on a ladder. Raises UserError if it has played nothing there."""
    bot_id = _bot_id(connection, name)
    spent: list[tuple[str, str, float, ClockUse]] = []
    seats: dict[str, list[tuple[str, str, float]]] = {}
    opponents: dict[str, list[tuple[str, str, float]]] = {}
    reasons: dict[str, list[tuple[str, str, float]]] = {}
    every = []
    for game in _games(connection, slug, bot_id):
        for mine, seat in enumerate(game.seats):
            if seat.bot_id != bot_id:
                continue
            others = [k for k in range(len(game.seats)) if k != mine]
            score = sum(game.score(mine, k) for k in others) / len(others)
            one = (game.set_id, game.match_id, score)
            every.append(one)
            if len(every) <= CLOCKED_GAMES and (used := _clock_use(records, game)):
                spent.append((*one, used[mine]))
            seats.setdefault(f"seat {mine}", []).append(one)
            reasons.setdefault(game.reasons[mine], []).append(one)
            for k in others:
                opponent = f"{game.seats[k].name} {game.seats[k].label}"
                opponents.setdefault(opponent, []).append((game.set_id, game.match_id, game.score(mine, k)))
    if not every:
        raise UserError(f"{name!r} has played nothing on {slug}")
    return Weakness(
        games=len(every),
        score=sum(score for _, _, score in every) / len(every),
        by_seat=_worst_first(seats),
        by_opponent=_worst_first(opponents),
        by_reason=_worst_first({reason: games for reason, games in reasons.items() if reason != SeatReason.NORMAL}),
        clock=TimeSpent(
            games=len(spent),
            decisions=sum(used.decisions for *_, used in spent),
            share=round(fmean(used.share for *_, used in spent), 4) if spent else 0.0,
            near_limit=sum(used.near for *_, used in spent),
        ),
        by_clock=_worst_first(_by_clock(spent)),
    )


def _clock_use(records: RecordStore, game: _Game) -> tuple[ClockUse, ...]:
    """By seat; nothing if the record is not kept any more or cannot be replayed by this arena's rules."""
    try:
        return clock_use(parse_record(records.read(game.record_digest)))
    except (ArenaError, DamagedRecord):
        return ()


def _by_clock(spent: Iterable[tuple[str, str, float, ClockUse]]) -> dict[str, list[tuple[str, str, float]]]:
    parts: dict[str, list[tuple[str, str, float]]] = {}
    for set_id, match_id, score, used in spent:
        game = (set_id, match_id, score)
        lower, upper = next((a, b) for a, b in pairwise(CLOCK_PARTS) if used.share <= b)
        parts.setdefault(f"used {lower:.0%} to {upper:.0%} of its time", []).append(game)
        if used.near:
            parts.setdefault(f"decisions near the limit ({NEAR:.0%} of it or more)", []).append(game)
    return parts


def changes(
    connection: Connection, slug: str, version_id: int, after: int = 0, limit: int = 1000
) -> tuple[Change, ...]:
    """What each ledger entry from ``after + 1`` did to a version's rating, oldest first. Raises UserError."""
    held = queries.get_ladder(connection, slug)
    rows = connection.execute(
        select(rating_point, ledger.c.kind, ledger.c.payload, ledger.c.created_at)
        .join(ledger, and_(ledger.c.ladder_id == rating_point.c.ladder_id, ledger.c.seq == rating_point.c.seq))
        .where(rating_point.c.ladder_id == held.id, rating_point.c.version_id == version_id, rating_point.c.seq > after)
        .order_by(rating_point.c.seq)
        .limit(min(limit, queries.MAX_POINTS))
    ).all()
    named = names(connection, {version for row in rows for version in row.payload.get("versions", ())})
    return tuple(_change(row, version_id, named) for row in rows)


def _change(row: Any, version_id: int, named: Mapping[int, str]) -> Change:
    seated = row.payload.get("versions", [])
    return Change(
        seq=row.seq,
        at=row.created_at,
        before=row.before,
        after=row.after,
        kind=row.kind,
        set_id=row.payload.get("set"),
        opponents=tuple(named[version] for version in seated if version != version_id),
        places=tuple(game[seated.index(version_id)] for game in row.payload["places"]) if seated else (),
    )


def results_of(connection: Connection, slug: str) -> tuple[dict[int, str], list[SetResult]]:
    """Names by version, and a ladder's newest results, oldest first. Raises UserError if there are none."""
    held = queries.get_ladder(connection, slug)
    entries = ledgers.entries(connection, held.id, max(0, held.entries - MOST_ENTRIES))
    results = [one.entry for one in entries if isinstance(one.entry, SetResult)]
    if not results:
        raise UserError("nothing was played yet")
    return names(connection, {version for one in results for version in one.versions}), results


def names(connection: Connection, versions: Iterable[int], *, house: bool = True) -> dict[int, str]:
    """Bot and label of each version; ``house``: also of the house's."""
    rows = connection.execute(
        select(bot_version.c.id, bot.c.name, bot_version.c.label)
        .join(bot, bot.c.id == bot_version.c.bot_id)
        .join(account, account.c.id == bot.c.account_id)
        .where(bot_version.c.id.in_(list(versions)), true() if house else ~account.c.house)
    )
    return {row.id: f"{row.name} {row.label}" for row in rows}


def _bot_id(connection: Connection, name: str) -> int:
    found = find_bot(connection, name)
    if found is None:
        raise UserError(f"there is no bot {name!r}")
    return found.id


def _games(connection: Connection, slug: str, bot_id: int) -> tuple[_Game, ...]:
    """A bot's rated games on a ladder whose sets are final, newest sets first."""
    held = queries.get_ladder(connection, slug)
    mine = select(set_seat.c.set_id).where(set_seat.c.bot_id == bot_id)
    rows = connection.execute(
        select(match.c.set_id, match.c.game_index, result)
        .join(match, match.c.id == result.c.match_id)
        .join(game_set, game_set.c.id == match.c.set_id)
        .where(result.c.ladder_id == held.id, game_set.c.state == "FINISHED", game_set.c.rated, game_set.c.id.in_(mine))
        .order_by(result.c.finished_at.desc(), result.c.match_id)
        .limit(MOST_GAMES)
    ).all()
    seats = connection.execute(
        select(set_seat, bot.c.name, bot_version.c.label)
        .join(game_set, game_set.c.id == set_seat.c.set_id)
        .join(bot, bot.c.id == set_seat.c.bot_id)
        .join(bot_version, bot_version.c.id == set_seat.c.version_id)
        .where(game_set.c.ladder_id == held.id, set_seat.c.set_id.in_(mine))
        .order_by(set_seat.c.set_id, set_seat.c.position)
    )
    tables = {
        set_id: [_Seat(seat.version_id, seat.bot_id, seat.name, seat.label) for seat in seated]
        for set_id, seated in groupby(seats, key=lambda seat: seat.set_id)
    }
    return tuple(
        _Game(
            row.set_id,
            row.match_id,
            row.finished_at,
            tuple(tables[row.set_id][position] for position in seating(held.spec.players, row.game_index)),
            row.places,
            row.reasons,
            row.record_digest,
        )
        for row in rows
    )


def _summary(scores: Iterable[tuple[str, float]]) -> Summary:
    """Of (set, score): sets are the unit, each as heavy as it has games here."""
    by_set: dict[str, list[float]] = {}
    for set_id, score in scores:
        by_set.setdefault(set_id, []).append(score)
    return summarise([fmean(games) for games in by_set.values()], [float(len(games)) for games in by_set.values()])


def _worst_first(parts: Mapping[str, Sequence[tuple[str, str, float]]]) -> tuple[Lost, ...]:
    found = []
    for what, games in parts.items():
        summary = _summary((set_id, score) for set_id, _, score in games)
        lost = [match_id for _, match_id, score in games if score < 0.5]
        found.append(
            Lost(what, len(games), round(summary.score, 4), summary.error, len(lost), tuple(lost[:SHOWN_MATCHES]))
        )
    return tuple(sorted(found, key=lambda part: (part.score, -part.games)))
