"""Where sets become ratings: the ledger entry and its fold, in one transaction.

Ratings in SQL are a cache of the ledger. :func:`rebuild` writes them anew from nothing, :func:`check` compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select, update

from arena.errors import ArenaError
from arena.ladder.standings import BrokenLedger, Standing, concerned, step
from arena.ratings.entries import LedgerEntry, SetResult
from arena.storage import ledger, outbox
from arena.storage.plans import SetState, seating
from arena.storage.sets import check_held, locked_set
from arena.storage.tables import game_set, ladder, match, now_ms, rating, rating_point, result, set_seat
from arena.storage.tables import ledger as ledger_table
from arena.storage.workers import WorkerLease


@dataclass(frozen=True, slots=True)
class RatingChange:
    """A version's rating before and after a ledger entry."""

    version_id: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Settlement:
    """A finished set. ``seq`` of its ledger entry is None, and there are no changes, if it is unrated."""

    set_id: str
    ladder: str
    seq: int | None
    changes: tuple[RatingChange, ...]


POINTS_AT_ONCE: Final = 10_000
_STANDING: Final = tuple(field.name for field in fields(Standing) if field.name != "version")
_FINISH: Final = (
    update(game_set).where(game_set.c.id == bindparam("set")).values(state=SetState.FINISHED, finished_at=now_ms())
)
_SLUG: Final = select(ladder.c.slug).where(ladder.c.id == bindparam("of_ladder"))
_VERSIONS: Final = (
    select(set_seat.c.version_id).where(set_seat.c.set_id == bindparam("set")).order_by(set_seat.c.position)
)
_RESULTS: Final = (
    select(match.c.id, match.c.game_index, result.c.places)
    .outerjoin(result, result.c.match_id == match.c.id)
    .where(match.c.set_id == bindparam("set"))
    .order_by(match.c.game_index)
)
_RATINGS: Final = select(rating.c.version_id, *(rating.c[name] for name in _STANDING)).where(
    rating.c.ladder_id == bindparam("of_ladder")
)
_RATINGS_OF: Final = _RATINGS.where(rating.c.version_id.in_(bindparam("versions", expanding=True)))
_INSERT_RATING: Final = insert(rating)
_UPDATE_RATING: Final = (
    update(rating)
    .where(rating.c.ladder_id == bindparam("of_ladder"), rating.c.version_id == bindparam("of_version"))
    .values({name: bindparam(name) for name in _STANDING})
)
_INSERT_POINT: Final = insert(rating_point)


def finish_set(connection: Connection, lease: WorkerLease, set_id: str) -> Settlement:
    """Settles a set all of whose games have results: FINISHED, ledger entry, ratings, event, all or nothing.

    Asked again by the same worker it answers the same and writes nothing.
    Raises Fenced if the claim no longer stands, ArenaError if a result is missing.
    """
    row = locked_set(connection, set_id)
    slug = connection.execute(_SLUG, {"of_ladder": row.ladder_id}).scalar_one()
    if row.state == SetState.FINISHED and (row.worker_id, row.epoch) == (lease.id, lease.epoch):
        return _settled(connection, row, slug)
    check_held(row, lease)
    connection.execute(_FINISH, {"set": set_id})
    entry = result_of(connection, set_id)
    seq, changes = post(connection, row.ladder_id, entry) if row.rated else (None, ())
    if row.listed:
        about = {"set_id": set_id, "ladder": slug, "seq": seq, "changes": [asdict(change) for change in changes]}
        outbox.post(connection, "set.finished", about)
    return Settlement(set_id, slug, seq, changes)


def _settled(connection: Connection, row: Row[Any], slug: str) -> Settlement:
    """What was settled before: the worker had no answer to its commit, and asks again."""
    seq = connection.execute(select(ledger_table.c.seq).where(ledger_table.c.set_id == row.id)).scalar()
    points = connection.execute(
        select(rating_point.c.version_id, rating_point.c.before, rating_point.c.after)
        .where(rating_point.c.ladder_id == row.ladder_id, rating_point.c.seq == seq)
        .order_by(rating_point.c.version_id)
    )
    return Settlement(row.id, slug, seq, tuple(RatingChange(*point) for point in points))


def post(connection: Connection, ladder_id: int, entry: LedgerEntry) -> tuple[int, tuple[RatingChange, ...]]:
    """Appends an entry to a ladder's ledger and folds it into the ratings. Returns its number and what changed."""
    seq = ledger.append(connection, ladder_id, entry)  # locks the ladder, so that what is read next is the last word
    before = _stored(connection, ladder_id, concerned(entry))
    changed = step(before, seq, entry)
    added = [standing for version, standing in changed.items() if version not in before]
    kept = [standing for version, standing in changed.items() if version in before]
    if added:
        connection.execute(_INSERT_RATING, [_row(ladder_id, standing) for standing in added])
    if kept:
        connection.execute(_UPDATE_RATING, [_update(ladder_id, standing) for standing in kept])
    changes = _changes(before, changed.values())
    if changes:
        connection.execute(_INSERT_POINT, [_point(ladder_id, seq, change) for change in changes])
    return seq, changes


def rebuild(connection: Connection, ladder_id: int) -> int:
    """Writes a ladder's ratings anew from its ledger; returns the number of entries. Raises BrokenLedger.

    Takes some minutes for a million sets, and on SQLite nobody else writes meanwhile: workers lose their leases.
    """
    connection.execute(select(ladder.c.id).where(ladder.c.id == ladder_id).with_for_update())
    connection.execute(delete(rating).where(rating.c.ladder_id == ladder_id))
    connection.execute(delete(rating_point).where(rating_point.c.ladder_id == ladder_id))
    standings: dict[int, Standing] = {}
    points: list[dict[str, float]] = []
    seq = 0
    for posted in ledger.entries(connection, ladder_id):
        if posted.seq != seq + 1:
            raise BrokenLedger(f"entry {seq + 1} is missing: the next one is {posted.seq}")
        seq = posted.seq
        changed = step(standings, seq, posted.entry)
        points += [_point(ladder_id, seq, change) for change in _changes(standings, changed.values())]
        standings.update(changed)
        if len(points) >= POINTS_AT_ONCE:
            connection.execute(_INSERT_POINT, points)
            points.clear()
    if points:
        connection.execute(_INSERT_POINT, points)
    if standings:
        connection.execute(_INSERT_RATING, [_row(ladder_id, standing) for standing in standings.values()])
    connection.execute(update(ladder).where(ladder.c.id == ladder_id).values(seq=seq, cursor=seq))
    return seq


def check(connection: Connection) -> tuple[str, ...]:
    """Everything about the ladders that is not as it must be, as sentences; nothing if all is well."""
    found: list[str] = []
    for row in connection.execute(select(ladder).order_by(ladder.c.slug)).all():
        found += [f"{row.slug}: {problem}" for problem in _check_ladder(connection, row.id, row.seq, row.cursor)]
    return (*found, *_check_sets(connection))


def _check_ladder(connection: Connection, ladder_id: int, seq: int, cursor: int) -> Iterable[str]:
    if cursor != seq:
        yield f"the ratings are at entry {cursor}, the ledger at {seq}"
    standings: dict[int, Standing] = {}
    last = 0
    try:
        for posted in ledger.entries(connection, ladder_id):
            if posted.seq != last + 1:
                raise BrokenLedger(f"entry {last + 1} is missing")
            last = posted.seq
            if isinstance(posted.entry, SetResult) and posted.entry != result_of(connection, posted.entry.set_id):
                yield f"entry {last} does not say what the results of set {posted.entry.set_id} say"
            standings.update(step(standings, last, posted.entry))
    except (BrokenLedger, ArenaError) as error:
        yield str(error)
        return
    if last != seq:
        yield f"the ledger ends with entry {last} instead of {seq}"
    stored = _stored(connection, ladder_id, None)
    for version in sorted(stored.keys() | standings.keys()):
        if stored.get(version) != standings.get(version):
            yield f"version {version} stands at {stored.get(version)}, but by the ledger at {standings.get(version)}"


def _check_sets(connection: Connection) -> Iterable[str]:
    """Each rated set that is final has one entry of its ledger, a result or a void; each finished set all results."""
    final = {SetState.FINISHED: "RESULT", SetState.VOID: "VOID", SetState.ERRORED: "VOID"}
    entries: dict[str, list[str]] = {}
    named = ledger_table.c.payload["set"].as_string()
    for set_id, kind in connection.execute(
        select(named, ledger_table.c.kind).where(ledger_table.c.kind.in_(["RESULT", "VOID"]))
    ):
        entries.setdefault(set_id, []).append(kind)
    for row in connection.execute(select(game_set.c.id, game_set.c.state, game_set.c.rated)):
        wanted = [final[SetState(row.state)]] if row.rated and row.state in final else []
        if entries.get(row.id, []) != wanted:
            yield f"set {row.id} is {row.state}, and its ledger entries are {entries.get(row.id, [])}"
    games = (
        select(match.c.set_id, func.count().label("games"), func.count(result.c.match_id).label("results"))
        .outerjoin(result, result.c.match_id == match.c.id)
        .group_by(match.c.set_id)
        .subquery()
    )
    unfinished = connection.execute(
        select(games)
        .join(game_set, game_set.c.id == games.c.set_id)
        .where(game_set.c.state == SetState.FINISHED, games.c.games != games.c.results)
    )
    for row in unfinished:
        yield f"set {row.set_id} is FINISHED with {row.results} results of {row.games} games"


def result_of(connection: Connection, set_id: str) -> SetResult:
    """What the results of a set amount to, with places turned from seats to positions. Raises ArenaError."""
    versions = connection.execute(_VERSIONS, {"set": set_id}).scalars().all()
    games = connection.execute(_RESULTS, {"set": set_id}).all()
    if missing := [game.id for game in games if game.places is None]:
        raise ArenaError(f"set {set_id} is not over: no result yet of {', '.join(missing)}")
    places = []
    for game in games:
        seat_of = {position: seat for seat, position in enumerate(seating(len(versions), game.game_index))}
        places.append(tuple(game.places[seat_of[position]] for position in range(len(versions))))
    return SetResult(set_id, tuple(versions), tuple(places))


def _stored(connection: Connection, ladder_id: int, versions: tuple[int, ...] | None) -> dict[int, Standing]:
    """The standings in SQL, of some versions or of all (None)."""
    if versions == ():
        return {}
    if versions is None:
        rows = connection.execute(_RATINGS, {"of_ladder": ladder_id})
    else:
        rows = connection.execute(_RATINGS_OF, {"of_ladder": ladder_id, "versions": versions})
    return {row[0]: Standing(*row) for row in rows}


def _row(ladder_id: int, standing: Standing) -> dict[str, float]:
    values = {name: getattr(standing, name) for name in _STANDING}
    return {"ladder_id": ladder_id, "version_id": standing.version, **values}


def _update(ladder_id: int, standing: Standing) -> dict[str, float]:
    values = {name: getattr(standing, name) for name in _STANDING}
    return {"of_ladder": ladder_id, "of_version": standing.version, **values}


def _changes(before: Mapping[int, Standing], after: Iterable[Standing]) -> tuple[RatingChange, ...]:
    """What a chart shows: each version that played, entered or was moved, with its rating before and after."""
    return tuple(
        RatingChange(standing.version, before.get(standing.version, standing).rating, standing.rating)
        for standing in sorted(after, key=lambda standing: standing.version)
    )


def _point(ladder_id: int, seq: int, change: RatingChange) -> dict[str, float]:
    return {
        "ladder_id": ladder_id,
        "version_id": change.version_id,
        "seq": seq,
        "before": change.before,
        "after": change.after,
    }
