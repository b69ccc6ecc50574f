"""How bots come into an event on an arena: from a ladder's table, from the list, or with a join code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy import Connection, select

from arena.errors import QuotaExceeded, UserError
from arena.storage import official, queries
from arena.storage import tournaments as store
from arena.storage.accounts import HOUSE, Bot, ensure_house_bot, find_bot
from arena.storage.tables import bot_version, ladder, rating
from arena.tournaments.offline import eligible
from arena.tournaments.spec import TournamentSpec
from bots.house import catalogue

MOST_CONSIDERED: Final = 500
MOST_OF_ONE_OWNER: Final = 10
"""Bots of one account that may join one event."""
LONGEST_TEAM: Final = 40


def draw(connection: Connection, event: store.Tournament) -> tuple[store.Participant, ...]:
    """The field of an event that is about to start, seeded, eligible, each bot's newest version pinned. Raises UserError."""
    spec = event.spec
    if spec.entry.ladder:
        field = _from_ladder(connection, spec)
    elif spec.entry.join_code:
        # Of two bots of one owner or team the one that joined last counts; its newest version is what plays.
        joined = reversed(store.participants(connection, event.id))
        pinned = (_current(connection, one) for one in joined)
        field = _by_strength(connection, spec, [one for one in pinned if one is not None])
    else:
        field = _by_strength(connection, spec, [listed(connection, one.name, one.team) for one in spec.entry.bots])
    playing = eligible(spec, field)
    if spec.entry.ladder:
        playing = playing[: spec.entry.top]
    if len(playing) < 2:
        raise UserError(f"{spec.slug}: {len(playing)} bots may play; an event needs at least two")
    if spec.challenger and spec.challenger not in {one.name for one in playing}:
        raise UserError(f"{spec.slug}: its challenger {spec.challenger!r} is not in the field")
    spec.form(len(playing))
    return playing


def join(connection: Connection, event: store.Tournament, found: Bot, team: str = "") -> store.Participant:
    """Enters a bot whose owner has the event's join code; its current version when the event begins is what plays.

    Before the start a further bot of the same owner or team takes the place of the one before if only one counts;
    afterwards it is a late entry, where the format allows it. Raises UserError, and QuotaExceeded.
    """
    event = store.locked(connection, event)
    spec = event.spec
    if event.state == store.TournamentState.FINISHED:
        raise UserError(f"{spec.name} is over")
    if spec.eligibility.accounts and found.owner.lower() not in map(str.lower, spec.eligibility.accounts):
        raise UserError(f"the account {found.owner!r} is not among those who may play in {spec.name}")
    if spec.eligibility.one_per == "team" and not team:
        raise UserError("this event counts one bot for each team: say which team it plays for")
    if len(team) > LONGEST_TEAM:
        raise UserError(f"the name of a team has at most {LONGEST_TEAM} letters")
    field = store.participants(connection, event.id)
    mine = next((one for one in field if one.bot_id == found.id), None)
    if mine is not None:
        gone = " and has withdrawn: it cannot come back" if mine.withdrawn else " already"
        raise UserError(f"{found.name} is in the field of {spec.name}{gone}")
    if sum(one.owner == found.owner for one in field) >= MOST_OF_ONE_OWNER:
        raise QuotaExceeded(f"{MOST_OF_ONE_OWNER} bots of {found.owner} are in {spec.name}: take one out first")
    if len(field) >= MOST_CONSIDERED:
        raise QuotaExceeded(f"{spec.name} is full: {MOST_CONSIDERED} bots are in")
    if event.state == store.TournamentState.RUNNING:
        return enter_late(connection, event, _pinned(connection, found, team))
    entering = store.Participant(found.name, HOUSE if found.house else found.owner, team, bot_id=found.id)
    store.enter(connection, event.id, entering)
    return entering


def leave(connection: Connection, event: store.Tournament, found: Bot) -> None:
    """Takes a bot out at its owner's wish: before the start as if it had never joined, afterwards for good. Raises UserError."""
    event = store.locked(connection, event)
    if event.state == store.TournamentState.FINISHED:
        raise UserError(f"{event.spec.name} is over")
    if all(one.bot_id != found.id for one in store.participants(connection, event.id)):
        raise UserError(f"{found.name} is not in the field of {event.spec.name}")
    store.leave(connection, event.id, found.name)


def enter_late(connection: Connection, event: store.Tournament, entering: store.Participant) -> store.Participant:
    """Enters somebody into a running event: it plays from the next round on. Raises UserError if that cannot be."""
    if store.locked(connection, event).state == store.TournamentState.FINISHED:
        raise UserError(f"{event.spec.name} is over")
    state = store.load(connection, event)
    if not state.form.late_entries:
        raise UserError(f"nobody can enter a {event.spec.format} once it has begun")
    if state.final.pairings:
        raise UserError("the final has begun: it is too late to enter")
    field = [one for one in store.participants(connection, event.id) if one.seed is not None]
    if len(eligible(event.spec, [*field, entering])) <= len(eligible(event.spec, field)):
        raise UserError(f"{entering.name} may not play: one bot counts for each {event.spec.eligibility.one_per}")
    late = replace(entering, seed=len(field) + 1, enters=state.main.last_round + 1)
    store.enter(connection, event.id, late)
    return late


def listed(connection: Connection, name: str, team: str = "") -> store.Participant:
    """A bot of the arena, or of its house, by name. Raises UserError."""
    found = find_bot(connection, name)
    if found is None and catalogue.is_house(name):
        known = catalogue.find(name)
        ensure_house_bot(connection, known.name)
        found = find_bot(connection, known.name)
    if found is None:
        raise UserError(f"there is no bot {name!r} on this arena; `arena register` and `arena bot create` make bots")
    return _pinned(connection, found, team)


def _current(connection: Connection, joined: store.Participant) -> store.Participant | None:
    """Somebody who has joined, pinned to its current version; None of a bot that has none, which cannot play."""
    version = _version(connection, joined.bot_id) if joined.bot_id is not None else None
    return None if version is None else replace(joined, version_id=version)


def _pinned(connection: Connection, found: Bot, team: str = "") -> store.Participant:
    """The bot with its current version. Raises UserError if it has none."""
    version = _version(connection, found.id)
    if version is None:
        raise UserError(f"{found.name} has never connected, or is retired: it has no version to be pinned")
    owner = HOUSE if found.house else found.owner
    return store.Participant(found.name, owner, team, bot_id=found.id, version_id=version)


def _version(connection: Connection, bot_id: int) -> int | None:
    """A bot's current version."""
    mine = (bot_version.c.bot_id == bot_id) & bot_version.c.retired_at.is_(None)
    return connection.execute(select(bot_version.c.id).where(mine).order_by(bot_version.c.id.desc()).limit(1)).scalar()


def _from_ladder(connection: Connection, spec: TournamentSpec) -> list[store.Participant]:
    """The best version of each bot: of the official table if there is one, else of the live one."""
    held = queries.get_ladder(connection, spec.entry.ladder)
    page = official.latest(connection, held.id, MOST_CONSIDERED)
    rows: Sequence[official.OfficialVersion | queries.TableRow] = (
        page.rows if page else queries.leaderboard(connection, spec.entry.ladder, MOST_CONSIDERED)
    )
    found: dict[str, store.Participant] = {}
    for row in rows:
        bot = find_bot(connection, row.bot)
        if bot is not None and row.bot not in found:
            owner = HOUSE if row.house else row.owner
            found[row.bot] = store.Participant(row.bot, owner, bot_id=bot.id, version_id=row.version_id)
    return list(found.values())


def _by_strength(
    connection: Connection, spec: TournamentSpec, field: Sequence[store.Participant]
) -> list[store.Participant]:
    """Seeded by the ratings of the ladder that plays the first game, where there are some; else in the order given.

    Whoever does not count for its owner or team is left out first, so that strength does not choose between them.
    """
    counted = eligible(spec, field)
    game = spec.games[0]
    rows = connection.execute(
        select(rating.c.version_id, rating.c.rating)
        .join(ladder, ladder.c.id == rating.c.ladder_id)
        .where(ladder.c.game == game.game, ladder.c.players == game.players, ladder.c.active)
    )
    known: dict[int, float] = {}
    for version_id, points in rows:
        known[version_id] = max(points, known.get(version_id, points))
    return sorted(counted, key=lambda one: -known.get(one.version_id or 0, float("-inf")))
