"""Tournaments in SQL: the event, its field, pairings and sets. The same tables on an arena and beside a file on a laptop.

What was written once stays: a pairing is issued once, has one result, and each of its sets is played once. Whoever
writes the same again changes nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, ScalarSelect, Table, delete, func, select, update

from arena.errors import ArenaError, UserError
from arena.storage.db import insert_unless_there
from arena.storage.plans import SetState
from arena.storage.tables import (
    account,
    database_time,
    game_set,
    ladder,
    now_ms,
    organiser,
    tournament,
    tournament_entrant,
    tournament_ladder,
    tournament_pairing,
    tournament_set,
)
from arena.tournaments.formats.event import Entrant, Event, Pairing, Result
from arena.tournaments.progress import STAGES, GamePlayed, SetOrder, SetPlayed, Stage, State, Step, final_of
from arena.tournaments.spec import AUDIENCES, Audience, TournamentSpec, parse

_CODE_ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_CODE_LENGTH: Final = 12


class TournamentState(StrEnum):
    """Where an event is."""

    OPEN = "OPEN"
    RUNNING = "RUNNING"
    FINISHED = "FINISHED"


@dataclass(frozen=True, slots=True)
class Tournament:
    """An event. Times are ms since 1970. ``audiences``: who may see each stage's results."""

    id: int
    spec: TournamentSpec
    source: str
    state: TournamentState
    reason: str
    audiences: Mapping[Stage, Audience]
    created_at: int
    started_at: int | None
    finished_at: int | None


@dataclass(frozen=True, slots=True)
class Participant:
    """Somebody in the field. ``seed`` None: not drawn yet, or not among those who play.

    ``bot_id`` and ``version_id`` on an arena, ``program`` and its ``fingerprint`` elsewhere.
    """

    name: str
    owner: str = ""
    team: str = ""
    seed: int | None = None
    enters: int = 1
    withdrawn: bool = False
    bot_id: int | None = None
    version_id: int | None = None
    program: str = ""
    fingerprint: str = ""


def create(connection: Connection, spec: TournamentSpec, source: str) -> int:
    """Makes the event and returns its id. Raises UserError if there is one of that name already."""
    made = insert_unless_there(
        connection,
        tournament,
        slug=spec.slug,
        name=spec.name,
        source=source,
        state=TournamentState.OPEN,
        reason="",
        main_audience=spec.publication.main,
        final_audience=spec.publication.final,
        created_at=now_ms(),
    )
    if not made:
        raise UserError(f"there is a tournament {spec.slug!r} already; give yours another slug")
    return int(connection.execute(select(tournament.c.id).where(tournament.c.slug == spec.slug)).scalar_one())


def find(connection: Connection, slug: str) -> Tournament | None:
    """The event of that slug."""
    row = connection.execute(select(tournament).where(tournament.c.slug == slug)).first()
    return None if row is None else _tournament(row)


def get(connection: Connection, slug: str) -> Tournament:
    """As :func:`find`. Raises UserError."""
    found = find(connection, slug)
    if found is None:
        raise UserError(f"there is no tournament {slug!r} here")
    return found


def locked(connection: Connection, event: Tournament) -> Tournament:
    """The event as it is now, locked till the end of the transaction: first thing before its field is counted.

    Whoever joins, leaves or starts it waits for each other, so that all of them count with the same field.
    """
    row = connection.execute(select(tournament).where(tournament.c.id == event.id).with_for_update(key_share=True))
    return _tournament(row.one())


def new_join_code(connection: Connection, tournament_id: int) -> str:
    """A code by which bots join; it replaces the one before and can be seen this once."""
    code = "".join(secrets.choice(_CODE_ALPHABET) for _ in range(_CODE_LENGTH))
    connection.execute(update(tournament).where(tournament.c.id == tournament_id).values(join_code=_digest(code)))
    return code


def by_join_code(connection: Connection, code: str) -> Tournament:
    """The event that a code lets one join. Raises UserError."""
    row = connection.execute(select(tournament).where(tournament.c.join_code == _digest(code))).first()
    if row is None:
        raise UserError("this code opens no tournament; ask its organiser for the present one")
    return _tournament(row)


def participants(connection: Connection, tournament_id: int) -> tuple[Participant, ...]:
    """All who entered: those who play by seed, then the others in the order in which they came."""
    rows = connection.execute(
        select(tournament_entrant)
        .where(tournament_entrant.c.tournament_id == tournament_id)
        .order_by(tournament_entrant.c.seed.is_(None), tournament_entrant.c.seed, tournament_entrant.c.joined_at)
    )
    return tuple(Participant(**{name: getattr(row, name) for name in Participant.__dataclass_fields__}) for row in rows)


def enter(connection: Connection, tournament_id: int, entering: Participant) -> None:
    """Puts somebody into the field. Raises UserError if that name is there."""
    values = {name: getattr(entering, name) for name in Participant.__dataclass_fields__}
    made = insert_unless_there(
        connection, tournament_entrant, tournament_id=tournament_id, joined_at=now_ms(), **values
    )
    if not made:
        raise UserError(f"{entering.name} is in the field already")


def leave(connection: Connection, tournament_id: int, name: str) -> None:
    """Takes somebody out: before the start as if it had never entered, afterwards as withdrawn. Raises UserError."""
    mine = (tournament_entrant.c.tournament_id == tournament_id) & (tournament_entrant.c.name == name)
    state = select(tournament.c.state).where(tournament.c.id == tournament_id)
    started = connection.execute(state.with_for_update(key_share=True)).scalar_one()  # it may be about to start
    if started == TournamentState.FINISHED:
        raise UserError("the event is over")
    gone = (
        connection.execute(delete(tournament_entrant).where(mine))
        if started == TournamentState.OPEN
        else connection.execute(update(tournament_entrant).where(mine).values(withdrawn=True))
    )
    if gone.rowcount != 1:
        raise UserError(f"{name!r} is not in the field")


def begin(connection: Connection, tournament_id: int, field: Sequence[Participant]) -> None:
    """Draws the field and starts the event: seeds, versions and programs are pinned from here on. Raises ArenaError."""
    begun = connection.execute(
        update(tournament)
        .where(tournament.c.id == tournament_id, tournament.c.state == TournamentState.OPEN)
        .values(state=TournamentState.RUNNING, started_at=now_ms())
    )
    if begun.rowcount != 1:
        raise ArenaError("the tournament has been started already")
    known = {one.name for one in participants(connection, tournament_id)}
    for one in field:
        if one.name not in known:
            enter(connection, tournament_id, one)
            continue
        values = {name: getattr(one, name) for name in Participant.__dataclass_fields__ if name != "name"}
        connection.execute(
            update(tournament_entrant)
            .where(tournament_entrant.c.tournament_id == tournament_id, tournament_entrant.c.name == one.name)
            .values(values)
        )


def entrants(connection: Connection, tournament_id: int) -> tuple[Entrant, ...]:
    """Those who play, by seed."""
    field = participants(connection, tournament_id)
    return tuple(Entrant(one.name, one.seed, one.enters, one.withdrawn) for one in field if one.seed is not None)


def minutes(connection: Connection, event: Tournament) -> float:
    """Since the event began."""
    now = database_time(connection)
    return (now - (event.started_at or now)) / 60_000


def load(connection: Connection, event: Tournament) -> State:
    """Everything that has happened in a started event."""
    pairings: dict[Stage, list[Pairing]] = {stage: [] for stage in STAGES}
    results: dict[str, Result] = {}
    rows = connection.execute(
        select(tournament_pairing)
        .where(tournament_pairing.c.tournament_id == event.id)
        .order_by(tournament_pairing.c.number)
    )
    for row in rows:
        pairings[row.stage].append(Pairing(row.id, row.round, tuple(row.players), row.label, row.decisive))
        if row.result is not None:
            absent = frozenset(row.result["absent"])
            results[row.id] = Result(tuple(row.result["scores"]), row.result["sets"], absent)
    state = State(
        event.spec,
        Event(entrants(connection, event.id), tuple(pairings["main"]), results, event.spec.seats),
        sets=_sets(connection, event.id),
        minutes=minutes(connection, event),
    )
    if not pairings["final"]:
        return state
    names = list(dict.fromkeys(name for pairing in pairings["final"] for name in pairing.players))
    final = replace(final_of(state, names), pairings=tuple(pairings["final"]), results=results)
    return replace(state, final=final)


def write(connection: Connection, tournament_id: int, step: Step) -> None:
    """Writes a step down: withdrawals, results and new pairings, those that are not there yet."""
    for name in sorted(step.withdrawn):
        leave(connection, tournament_id, name)
    for pairing_id, result in step.results.items():
        settle(connection, tournament_id, pairing_id, result)
    issued = connection.execute(
        select(func.count()).select_from(tournament_pairing).where(tournament_pairing.c.tournament_id == tournament_id)
    ).scalar_one()
    for number, (stage, pairing) in enumerate(step.pairings, issued):
        insert_unless_there(
            connection,
            tournament_pairing,
            tournament_id=tournament_id,
            id=pairing.id,
            stage=stage,
            number=number,
            round=pairing.round,
            players=list(pairing.players),
            label=pairing.label,
            decisive=pairing.decisive,
        )


def settle(connection: Connection, tournament_id: int, pairing_id: str, result: Result) -> None:
    """Gives a pairing its result, unless it has one."""
    document = {"scores": list(result.scores), "sets": result.sets, "absent": sorted(result.absent)}
    connection.execute(
        update(tournament_pairing)
        .where(
            tournament_pairing.c.tournament_id == tournament_id,
            tournament_pairing.c.id == pairing_id,
            tournament_pairing.c.result.is_(None),
        )
        .values(result=document)
    )


def record_set(connection: Connection, tournament_id: int, order: SetOrder, played: SetPlayed) -> bool:
    """Keeps a set that was played; False, and no change, if it is there already."""
    insert_unless_there(connection, tournament_set, **_key(tournament_id, order), tries=0)
    games = [{name: getattr(game, name) for name in GamePlayed.__dataclass_fields__} for game in played.games]
    written = connection.execute(
        update(tournament_set)
        .where(*_is(tournament_id, order), tournament_set.c.played_at.is_(None))
        .values(games=games, played_at=now_ms())
    )
    return written.rowcount == 1


@dataclass(frozen=True, slots=True)
class Attempt:
    """The set that is being played for an order on an arena. ``tries``: how many were made so far, this one too."""

    set_id: str
    tries: int


def attempt_of(connection: Connection, tournament_id: int, order: SetOrder) -> Attempt | None:
    """The newest set made for an order; None if there is none."""
    row = connection.execute(
        select(tournament_set.c.set_id, tournament_set.c.tries).where(*_is(tournament_id, order))
    ).first()
    return None if row is None or row.set_id is None else Attempt(row.set_id, row.tries)


def name_set(connection: Connection, tournament_id: int, order: SetOrder, set_id: str) -> None:
    """Notes, in the transaction that makes it, which set is played for an order."""
    insert_unless_there(connection, tournament_set, **_key(tournament_id, order), tries=0)
    connection.execute(
        update(tournament_set).where(*_is(tournament_id, order)).values(set_id=set_id, tries=tournament_set.c.tries + 1)
    )


def finish(connection: Connection, tournament_id: int, reason: str) -> None:
    """The event is over."""
    connection.execute(
        update(tournament)
        .where(tournament.c.id == tournament_id, tournament.c.state == TournamentState.RUNNING)
        .values(state=TournamentState.FINISHED, reason=reason, finished_at=now_ms())
    )


def publish(connection: Connection, tournament_id: int, stage: Stage, audience: Audience) -> None:
    """Says who may see a stage's results; what becomes public is on the arena's pages from then on."""
    if audience not in AUDIENCES:
        raise UserError(f"{audience!r} is none of {', '.join(AUDIENCES)}")
    column = "main_audience" if stage == "main" else "final_audience"
    connection.execute(update(tournament).where(tournament.c.id == tournament_id).values({column: audience}))
    of_stage = (
        select(tournament_set.c.set_id)
        .join(
            tournament_pairing,
            (tournament_pairing.c.tournament_id == tournament_set.c.tournament_id)
            & (tournament_pairing.c.id == tournament_set.c.pairing_id),
        )
        .where(tournament_set.c.tournament_id == tournament_id, tournament_pairing.c.stage == stage)
    )
    connection.execute(update(game_set).where(game_set.c.id.in_(of_stage)).values(listed=audience == "public"))


def add_organiser(connection: Connection, tournament_id: int, account_name: str) -> None:
    """Lets an account run this one event. Raises UserError if there is no such account."""
    found = connection.execute(select(account.c.id).where(account.c.name_key == account_name.lower())).scalar()
    if found is None:
        raise UserError(f"there is no account {account_name!r}")
    insert_unless_there(connection, organiser, tournament_id=tournament_id, account_id=found, created_at=now_ms())


def organisers(connection: Connection, tournament_id: int) -> tuple[str, ...]:
    """The names of the accounts that may run the event."""
    rows = connection.execute(
        select(account.c.name)
        .join(organiser, organiser.c.account_id == account.c.id)
        .where(organiser.c.tournament_id == tournament_id)
        .order_by(organiser.c.created_at, account.c.id)
    )
    return tuple(rows.scalars())


def require_organiser(connection: Connection, tournament_id: int, account_id: int) -> None:
    """Raises UserError unless the account is an organiser of the event, now."""
    mine = (organiser.c.tournament_id == tournament_id) & (organiser.c.account_id == account_id)
    if connection.execute(select(organiser.c.account_id).where(mine)).first() is None:
        raise UserError("this account is no organiser of this tournament")


_BUSY: Final = (
    select(tournament_entrant.c.bot_id)
    .join(tournament, tournament.c.id == tournament_entrant.c.tournament_id)
    .where(
        tournament.c.state == TournamentState.RUNNING,
        tournament_entrant.c.seed.is_not(None),
        tournament_entrant.c.withdrawn.is_(False),
        tournament_entrant.c.bot_id.is_not(None),
    )
)


def busy_bots(connection: Connection) -> frozenset[int]:
    """Bots that play in an event that runs: ladders leave them alone meanwhile."""
    return frozenset(connection.execute(_BUSY).scalars())


def on_ladder(connection: Connection, ladder_slug: str) -> str | None:
    """The slug of the event that plays on a ladder; None if none does."""
    return connection.execute(
        select(tournament.c.slug)
        .join(tournament_ladder, tournament_ladder.c.tournament_id == tournament.c.id)
        .join(ladder, ladder.c.id == tournament_ladder.c.ladder_id)
        .where(ladder.c.slug == ladder_slug)
    ).scalar()


def newest(connection: Connection, limit: int, before: int | None = None) -> tuple[Tournament, ...]:
    """At most ``limit`` events, the newest first, of those whose id is less than ``before``."""
    query = select(tournament).order_by(tournament.c.id.desc()).limit(limit)
    rows = connection.execute(query if before is None else query.where(tournament.c.id < before))
    return tuple(_tournament(row) for row in rows)


def sizes(connection: Connection, tournament_ids: Iterable[int]) -> dict[int, int]:
    """How many are in the field of each event: all who have joined before it starts, then those who were drawn."""
    drawn = tournament_entrant.c.seed.is_not(None) | (tournament.c.state == TournamentState.OPEN)
    rows = connection.execute(
        select(tournament_entrant.c.tournament_id, func.count().label("entrants"))
        .join(tournament, tournament.c.id == tournament_entrant.c.tournament_id)
        .where(tournament_entrant.c.tournament_id.in_(list(tournament_ids)), drawn)
        .group_by(tournament_entrant.c.tournament_id)
    )
    return {row.tournament_id: row.entrants for row in rows}


def marker(connection: Connection, slug: str) -> tuple[Any, ...]:
    """Equal as long as nothing in the event has changed; cheap. Empty if there is no such event."""

    def count(table: Table, *where: ColumnElement[bool]) -> ScalarSelect[int]:
        mine = table.c.tournament_id == tournament.c.id
        return select(func.count()).select_from(table).where(mine, *where).scalar_subquery()

    row = connection.execute(
        select(
            tournament.c.id,
            tournament.c.state,
            tournament.c.main_audience,
            tournament.c.final_audience,
            count(tournament_entrant),
            count(tournament_entrant, tournament_entrant.c.withdrawn),
            # Somebody may leave before the start and another join: as many, and not the same.
            select(func.max(tournament_entrant.c.joined_at))
            .where(tournament_entrant.c.tournament_id == tournament.c.id)
            .scalar_subquery(),
            count(tournament_pairing),
            count(tournament_pairing, tournament_pairing.c.result.is_not(None)),
            count(tournament_set, tournament_set.c.played_at.is_not(None)),
        ).where(tournament.c.slug == slug)
    ).first()
    return () if row is None else tuple(row)


def set_ids(connection: Connection, tournament_id: int) -> dict[tuple[str, int], str]:
    """The arena's sets that were played, by pairing and number; none of an event on a laptop."""
    rows = connection.execute(
        select(tournament_set.c.pairing_id, tournament_set.c.number, tournament_set.c.set_id).where(
            tournament_set.c.tournament_id == tournament_id,
            tournament_set.c.played_at.is_not(None),
            tournament_set.c.set_id.is_not(None),
        )
    )
    return {(row.pairing_id, row.number): row.set_id for row in rows}


def playing(connection: Connection, tournament_id: int) -> frozenset[str]:
    """The pairings a set of which is being played on an arena now."""
    rows = connection.execute(
        select(tournament_set.c.pairing_id)
        .join(game_set, game_set.c.id == tournament_set.c.set_id)
        .where(
            tournament_set.c.tournament_id == tournament_id,
            tournament_set.c.played_at.is_(None),
            game_set.c.state == SetState.CLAIMED,
        )
    )
    return frozenset(rows.scalars())


def _sets(connection: Connection, tournament_id: int) -> dict[str, dict[int, SetPlayed]]:
    found: dict[str, dict[int, SetPlayed]] = {}
    rows: Iterable[Any] = connection.execute(
        select(tournament_set.c.pairing_id, tournament_set.c.number, tournament_set.c.games)
        .where(tournament_set.c.tournament_id == tournament_id, tournament_set.c.played_at.is_not(None))
        .order_by(tournament_set.c.pairing_id, tournament_set.c.number)
    )
    for row in rows:
        found.setdefault(row.pairing_id, {})[row.number] = SetPlayed(tuple(_game(one) for one in row.games))
    return found


def _game(document: Mapping[str, Any]) -> GamePlayed:
    return GamePlayed(
        match_id=document["match_id"],
        places=tuple(document["places"]),
        scores=tuple(document["scores"]),
        reasons=tuple(document["reasons"]),
        record=document["record"],
        duration_ms=document["duration_ms"],
    )


def _tournament(row: Any) -> Tournament:
    return Tournament(
        id=row.id,
        spec=parse(row.source, Path(f"{row.slug}.toml")),
        source=row.source,
        state=TournamentState(row.state),
        reason=row.reason,
        audiences={"main": row.main_audience, "final": row.final_audience},
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def _key(tournament_id: int, order: SetOrder) -> dict[str, Any]:
    return {"tournament_id": tournament_id, "pairing_id": order.pairing.id, "number": order.number}


def _is(tournament_id: int, order: SetOrder) -> tuple[Any, ...]:
    return tuple(tournament_set.c[name] == value for name, value in _key(tournament_id, order).items())


def _digest(code: str) -> str:
    return sha256(code.replace("-", "").upper().encode()).hexdigest()
