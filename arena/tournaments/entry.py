"""How bots come into an event on an arena: from a ladder's table, from the list, or with a join code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection, select

from arena.errors import UserError
from arena.storage import official, queries
from arena.storage import tournaments as store
from arena.storage.accounts import HOUSE, Bot, Principal, bot_of, ensure_house_bot, find_bot
from arena.storage.tables import bot_version, ladder, rating
from arena.tournaments.offline import eligible
from arena.tournaments.spec import TournamentSpec
from bots.house import catalogue

MOST_CONSIDERED = 500


def draw(connection: Connection, event: store.Tournament) -> tuple[store.Participant, ...]:
    """The field of an event that is about to start, seeded, eligible, each bot's newest version pinned. Raises UserError."""
    spec = event.spec
    if spec.entry.ladder:
        field = _from_ladder(connection, spec)
    elif spec.entry.join_code:
        # Of two bots of one owner or team the one that joined last counts; its newest version is what plays.
        joined = reversed(store.participants(connection, event.id))
        field = _by_strength(connection, spec, [listed(connection, one.name, one.team) for one in joined])
    else:
        field = _by_strength(connection, spec, [listed(connection, one.name, one.team) for one in spec.entry.bots])
    playing = eligible(spec, field)
    if spec.entry.ladder:
        playing = playing[: spec.entry.top]
    if len(playing) < 2:
        raise UserError(f"{spec.slug}: {len(playing)} bots may play; an event needs at least two")
    spec.form(len(playing))
    return playing


def join(connection: Connection, code: str, principal: Principal, bot_name: str, team: str) -> store.Tournament:
    """Enters a bot of the token's account. Before the start a new bot of the same owner or team replaces the old one
    if only one counts; afterwards it is a late entry, where the format allows it. Raises UserError."""
    event = store.by_join_code(connection, code)
    spec = event.spec
    found = bot_of(connection, principal, bot_name)
    if spec.eligibility.accounts and principal.account.lower() not in map(str.lower, spec.eligibility.accounts):
        raise UserError(f"the account {principal.account!r} is not among those who may play in {spec.name}")
    if spec.eligibility.one_per == "team" and not team:
        raise UserError("this event counts one bot for each team: say which team it plays for")
    entering = _pinned(connection, found, team)
    if event.state == store.TournamentState.FINISHED:
        raise UserError(f"{spec.name} is over")
    if event.state == store.TournamentState.RUNNING:
        enter_late(connection, event, entering)
    else:
        store.enter(connection, event.id, entering)
    return event


def enter_late(connection: Connection, event: store.Tournament, entering: store.Participant) -> store.Participant:
    """Enters somebody into a running event: it plays from the next round on. Raises UserError if that cannot be."""
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
        raise UserError(f"there is no bot {name!r} on this arena")
    return _pinned(connection, found, team)


def _pinned(connection: Connection, found: Bot, team: str = "") -> store.Participant:
    """The bot with its current version. Raises UserError if it has none."""
    mine = (bot_version.c.bot_id == found.id) & bot_version.c.retired_at.is_(None)
    version = connection.execute(
        select(bot_version.c.id).where(mine).order_by(bot_version.c.id.desc()).limit(1)
    ).scalar()
    if version is None:
        raise UserError(f"{found.name} has never connected, or is retired: it has no version to be pinned")
    owner = HOUSE if found.house else found.owner
    return store.Participant(found.name, owner, team, bot_id=found.id, version_id=version)


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
