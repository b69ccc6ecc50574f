"""``arena tournament``: a whole event in one file."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.live import Live
from sqlalchemy import Connection

from arena import loops, settings
from arena.cli import tournament_author
from arena.cli import tournament_views as views
from arena.cli.common import NOT_KNOWN, JsonFlag, console, print_json, programs_of, progress_console
from arena.cli.opened import open_arena
from arena.errors import UserError
from arena.host.processes import Program
from arena.settings import Settings
from arena.storage import tournaments as store
from arena.storage.accounts import Principal, authenticate
from arena.storage.db import Database
from arena.storage.records import RecordStore
from arena.tournaments import entry
from arena.tournaments.offline import LocalEvent, eligible, fingerprint
from arena.tournaments.plan import game_length
from arena.tournaments.plan import plan as make_plan
from arena.tournaments.progress import State
from arena.tournaments.runner import Moment, Runner
from arena.tournaments.showing import VIEWERS, Shown, document, viewer_of, visible_to
from arena.tournaments.spec import TournamentSpec, load
from arena.tournaments.toml import Section

tournament = typer.Typer(help="A whole event in one file: plan it, run it, show it.", no_args_is_help=True)

File = Annotated[Path, typer.Argument(metavar="FILE", help="The event's tournament.toml.")]
Arena = Annotated[
    Path | None,
    typer.Option("--data-dir", help="The data folder of the arena that plays it; without one this machine does."),
]
For = Annotated[str, typer.Option("--for", help="What this viewer may see: public, participants or organiser.")]


def add_to(app: typer.Typer) -> None:
    tournament_author.add_to(tournament)
    app.add_typer(tournament, name="tournament")


@dataclass(frozen=True, slots=True)
class Site:
    """Where an event is kept: on an arena, or in the folder beside its file."""

    file: Path
    spec: TournamentSpec
    source: str
    arena: Settings | None
    local: LocalEvent

    @classmethod
    def of(cls, file: Path, data_dir: Path | None) -> Site:
        """Raises UserError with what is wrong in the file."""
        spec, source = load(file)
        return cls(
            file, spec, source, None if data_dir is None else settings.load({"data_dir": data_dir}), LocalEvent(file)
        )

    def database(self) -> Database:
        """Raises UserError where the event was never started on this machine."""
        if self.arena is None:
            return self.local.database()
        return open_arena(self.arena)

    def event(self, connection: Connection) -> store.Tournament:
        """Raises UserError."""
        return store.get(connection, self.spec.slug)

    def fault(self, why: str) -> UserError:
        """What is wrong with the listed bots, with line and key."""
        return Section.parse(self.source, self.file).section("field").error(why, "bots")

    @property
    def records(self) -> RecordStore:
        return self.local.records if self.arena is None else RecordStore(self.arena.data_dir)

    @property
    def flag(self) -> str:
        """What a further command needs to find the event again."""
        return str(self.file) if self.arena is None else f"{self.file} --data-dir {self.arena.data_dir}"


def caller(connection: Connection) -> Principal | None:
    """Whose token is in ARENA_TOKEN; None without one: whoever can open the database is the arena's operator."""
    token = os.environ.get("ARENA_TOKEN")
    if not token:
        return None
    principal = authenticate(connection, token)
    if principal is None:
        raise UserError(NOT_KNOWN)
    return principal


def organising(connection: Connection, site: Site) -> store.Tournament:
    """The event, for somebody who may run it. Raises UserError."""
    event = site.event(connection)
    if site.arena is not None and (principal := caller(connection)) is not None:
        try:
            store.require_organiser(connection, event.id, principal.account_id)
        except UserError as error:
            why = f"{error}; ARENA_TOKEN says who you are: without it you are whoever owns the database"
            raise UserError(why) from None
    return event


@tournament.command()
def plan(
    file: File,
    data_dir: Arena = None,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Sets played at once.")] = None,
    ms_a_decision: Annotated[float, typer.Option(min=0, help="How long a bot thinks, for the likely duration.")] = 50,
    as_json: JsonFlag = False,
) -> None:
    """Prints the schedule and how long it takes, without playing."""
    site = Site.of(file, data_dir)
    names = _field_names(site)
    lengths = [game_length(game, site.spec.time_control) for game in site.spec.games]
    lanes = concurrency or _lanes(site)
    likely = make_plan(
        site.spec, names, lanes=lanes, seconds=lambda game: lengths[game].decisions * ms_a_decision / 1000
    )
    longest = make_plan(site.spec, names, lanes=lanes, seconds=lambda game: lengths[game].longest_s, level=True)
    if as_json:
        print_json({"field": names, "concurrency": lanes, "likely": asdict(likely), "longest": asdict(longest)})
    else:
        console.print(views.plan_view(likely, longest), highlight=False)


@tournament.command()
def run(
    file: File,
    data_dir: Arena = None,
    now: Annotated[bool, typer.Option("--now", help="Starts at once, whatever the file says.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Starts the event and plays it to its end; versions are pinned from here on. Ctrl-C keeps what was played."""
    site = Site.of(file, data_dir)
    if not now:
        _wait(site.spec)
    if site.arena is None:
        with site.local.alone():
            if site.local.exists:
                raise UserError(f"{file} was started before; go on with: arena tournament resume {site.flag}")
            programs = _programs(
                site, [one.program for one in site.spec.entry.bots], [one.name for one in site.spec.entry.bots]
            )
            site.local.start(site.spec, site.source, programs)
            _play(site, as_json=as_json)
        return
    database = open_arena(site.arena)
    with database.write() as connection:
        if store.find(connection, site.spec.slug) is None:
            store.create(connection, site.spec, site.source)
        event = store.locked(connection, organising(connection, site))
        if event.state != store.TournamentState.OPEN:
            raise UserError(f"{file} was started before; go on with: arena tournament resume {site.flag}")
        store.begin(connection, event.id, entry.draw(connection, event))
    _play(site, as_json=as_json)


@tournament.command()
def resume(file: File, data_dir: Arena = None, as_json: JsonFlag = False) -> None:
    """Goes on with an event that was interrupted. It goes on as it began, whatever its file says now."""
    site = Site.of(file, data_dir)
    if site.arena is None:
        site.local.database().close()
        with site.local.alone():
            _play(site, as_json=as_json)
    else:
        _play(site, as_json=as_json)


@tournament.command()
def status(file: File, data_dir: Arena = None, viewer: For = "organiser", as_json: JsonFlag = False) -> None:
    """Shows where the event stands, or what somebody else may see of it."""
    site = Site.of(file, data_dir)
    database = site.database()
    with database.read() as connection:
        shown = _shown(connection, site, viewer)
    _print(shown, as_json=as_json)


@tournament.command()
def archive(
    file: File,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
    data_dir: Arena = None,
    viewer: For = "public",
) -> None:
    """Writes results, records and pages that open without a server, of what the viewer may see."""
    from arena.tournaments.archive import write_archive  # noqa: PLC0415 - templates, needed here only

    site = Site.of(file, data_dir)
    with site.database().read() as connection:
        shown = _shown(connection, site, viewer)
    pages = write_archive(shown, folder, site.records)
    console.print(f"{pages} pages; open {folder / 'index.html'}", highlight=False)


@tournament.command()
def publish(
    file: File,
    stage: Annotated[str, typer.Argument(help="main or final.")],
    audience: Annotated[str, typer.Argument(help="hidden, participants or public.")],
    data_dir: Arena = None,
) -> None:
    """Says who may see a stage's results from now on, as when a final is revealed."""
    if stage not in ("main", "final"):
        raise UserError(f"{stage!r} is none of main, final")
    site = Site.of(file, data_dir)
    with site.database().write() as connection:
        event = organising(connection, site)
        store.publish(connection, event.id, stage, audience)  # type: ignore[arg-type]
    console.print(f"{stage}: {audience}")


@tournament.command()
def withdraw(
    file: File, name: Annotated[str, typer.Argument(help="Whom to take out.")], data_dir: Arena = None
) -> None:
    """Takes somebody out of the event; what is left of its pairings goes to the others."""
    site = Site.of(file, data_dir)
    with site.database().write() as connection:
        store.leave(connection, organising(connection, site).id, name)
    console.print(f"{name} is out")


@tournament.command()
def enter(
    file: File,
    name: Annotated[str, typer.Argument(help="Its name; on an arena, a bot that is there.")],
    program: Annotated[str, typer.Option("--program", help="How it is started on this machine.")] = "",
    team: Annotated[str, typer.Option("--team", help="The team it plays for.")] = "",
    data_dir: Arena = None,
) -> None:
    """Enters somebody late: it plays from the next round on, with no points so far, where the format allows it."""
    site = Site.of(file, data_dir)
    database = site.database()
    with database.write() as connection:
        event = organising(connection, site)
        if site.arena is None:
            word = program or name
            made = _programs(site, [word], [name])[0]
            entering = store.Participant(name, made.owner, team, program=word, fingerprint=fingerprint(made))
        else:
            entering = entry.listed(connection, name, team)
        late = entry.enter_late(connection, event, entering)
    console.print(f"{late.name} plays from round {late.enters} on")


@tournament.command()
def create(
    file: File,
    data_dir: Annotated[Path, typer.Option("--data-dir", help="The arena's data folder.")],
    organiser: Annotated[list[str], typer.Option("--organiser", help="An account that may run it.")] = [],  # noqa: B006
) -> None:
    """Opens an event on an arena before it starts, so that bots can join; prints its join code if it has one."""
    site = Site.of(file, data_dir)
    with site.database().write() as connection:
        event_id = store.create(connection, site.spec, site.source)
        for name in organiser:
            store.add_organiser(connection, event_id, name)
        code = store.new_join_code(connection, event_id) if site.spec.entry.join_code else ""
    console.print(f"{site.spec.slug} is open")
    if code:
        console.print(f"join code, shown this once: [bold]{code}[/bold]", highlight=False)


@tournament.command()
def code(file: File, data_dir: Annotated[Path, typer.Option("--data-dir", help="The arena's data folder.")]) -> None:
    """Makes a new join code; the old one opens nothing any more."""
    site = Site.of(file, data_dir)
    with site.database().write() as connection:
        console.print(store.new_join_code(connection, organising(connection, site).id), highlight=False)


@tournament.command()
def organiser(
    file: File,
    account: Annotated[str, typer.Argument(help="The account that may run it too.")],
    data_dir: Annotated[Path, typer.Option("--data-dir", help="The arena's data folder.")],
) -> None:
    """Lets an account run this one event."""
    site = Site.of(file, data_dir)
    with site.database().write() as connection:
        event = organising(connection, site)
        store.add_organiser(connection, event.id, account)
        console.print(", ".join(store.organisers(connection, event.id)), highlight=False)


def _play(site: Site, *, as_json: bool) -> None:
    """Plays a started event with a live table, and prints how it ended."""
    database = site.database()
    with database.read() as connection:
        event = organising(connection, site)
        field = [one for one in store.participants(connection, event.id) if one.seed is not None]
    if event.state == store.TournamentState.OPEN:
        raise UserError(f"{site.file} has not been started; start it with: arena tournament run {site.flag}")
    lanes = event.spec.concurrency or _lanes(site)
    try:
        with Live(console=progress_console, transient=True, auto_refresh=False) as screen:
            shown = _Refresh(screen)
            if site.arena is None:
                loops.run(_run_local(site, database, event, field, lanes, shown))
            else:
                from arena.cli.tournament_arena import run_on_arena  # noqa: PLC0415 - Redis and Celery, needed here only

                loops.run(run_on_arena(site.arena, database, event, field, lanes, shown))
    except KeyboardInterrupt:
        progress_console.print(f"to go on: arena tournament resume {site.flag}", highlight=False)
        raise
    with database.read() as connection:
        _print(_shown(connection, site, "organiser"), as_json=as_json)


class _Refresh:
    """Draws the live table, a few times a second at most."""

    def __init__(self, screen: Live) -> None:
        self._screen = screen
        self._drawn = 0.0

    def __call__(self, moment: Moment) -> None:
        if self._screen.console.is_terminal and time.monotonic() - self._drawn > 0.5:
            self._screen.update(views.live(moment), refresh=True)
            self._drawn = time.monotonic()


async def _run_local(
    site: Site,
    database: Database,
    event: store.Tournament,
    field: Sequence[store.Participant],
    lanes: int,
    on_change: _Refresh,
) -> State:
    playing = [one for one in field if not one.withdrawn]
    programs = _programs(site, [one.program for one in playing], [one.name for one in playing])
    async with site.local.backend(event, playing, programs) as backend:
        return await Runner(database, event, backend, concurrency=lanes, on_change=on_change).run()


def _programs(site: Site, words: Sequence[str], names: Sequence[str]) -> list[Program]:
    """The programs of entrants, in the file's folder, under the entrants' names. Raises UserError."""
    if missing := [name for word, name in zip(words, names, strict=True) if not word]:
        raise site.fault(f"{missing[0]} needs a program to be played on this machine")
    try:
        found = programs_of([_beside(site.file, word) for word in words], site.local.logs)
    except UserError as error:
        raise site.fault(str(error)) from None
    return [
        replace(program, name=name, log=site.local.logs / f"{name}.log")
        for program, name in zip(found, names, strict=True)
    ]


def _beside(file: Path, word: str) -> str:
    """A Python file is looked for beside the event's file."""
    beside = file.parent / word
    return str(beside) if word.endswith(".py") and " " not in word and beside.is_file() else word


def _field_names(site: Site) -> tuple[str, ...]:
    """The field as it would be drawn now, by seed."""
    if site.arena is not None:
        with open_arena(site.arena).read() as connection:
            event = store.find(connection, site.spec.slug)
            if event is None:
                event = store.Tournament(
                    0,
                    site.spec,
                    site.source,
                    store.TournamentState.OPEN,
                    "",
                    {"main": "public", "final": "public"},
                    0,
                    None,
                    None,
                )
            return tuple(one.name for one in entry.draw(connection, event))
    if not site.spec.entry.bots:
        raise UserError(f"{site.file}: a field from a ladder or a join code needs an arena; say which with --data-dir")
    listed = site.spec.entry.bots
    try:
        _programs(site, [one.program for one in listed], [one.name for one in listed])
    except UserError as error:
        raise UserError(f"{error}; for bots of an arena, say which with --data-dir") from None
    field = [store.Participant(one.name, one.name, one.team) for one in listed]
    return tuple(one.name for one in eligible(site.spec, field))


def _lanes(site: Site) -> int:
    """Sets at once: half the cores of this machine, since each has two bots that think; an arena has more of them."""
    if site.spec.concurrency:
        return site.spec.concurrency
    cores = os.cpu_count() or 1
    return max(1, cores // 2) if site.arena is None else 8 * cores


def _wait(spec: TournamentSpec) -> None:
    """Until the event starts."""
    if spec.start is None:
        return
    while (left := (spec.start - datetime.now(UTC)).total_seconds()) > 0:
        progress_console.print(f"starts in {views.clock(left)}", end="\r", highlight=False)
        time.sleep(min(left, 1.0))


def _shown(connection: Connection, site: Site, viewer: str) -> Shown:
    """What the viewer sees; a token's account sees no more than it may."""
    if viewer not in VIEWERS:
        raise UserError(f"{viewer!r} is none of {', '.join(VIEWERS)}")
    event = site.event(connection)
    field = store.participants(connection, event.id)
    seen = viewer
    if site.arena is not None and (principal := caller(connection)) is not None:
        allowed = viewer_of(principal.account, field, store.organisers(connection, event.id))
        seen = min(viewer, allowed, key=VIEWERS.index)
    state = None if event.state == store.TournamentState.OPEN else store.load(connection, event)
    return Shown(event, field, state, visible_to(event, seen))


def _print(shown: Shown, *, as_json: bool) -> None:
    if as_json:
        print_json(document(shown))
    else:
        console.print(views.event_view(shown), highlight=False)
