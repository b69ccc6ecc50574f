"""Where an event without an arena is kept: ``NAME.tournament/`` beside its file, with state, records, key and logs."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from arena.errors import UserError
from arena.host.house import HOUSE
from arena.host.processes import Program
from arena.keys import load_or_create
from arena.storage import tournaments as store
from arena.storage.db import Database
from arena.storage.records import RecordStore
from arena.tournaments.local import LocalBackend
from arena.tournaments.spec import TournamentSpec


class LocalEvent:
    """The folder of one event."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.folder = file.with_suffix(".tournament")
        self.logs = self.folder / "logs"
        self.records = RecordStore(self.folder)

    @property
    def exists(self) -> bool:
        """Whether it was started once."""
        return (self.folder / "state.db").exists()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Holds the event for this process; a killed one lets go at once. Raises UserError if another runs it."""
        self.logs.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UserError(f"{self.file} is being run by another process") from None
            yield

    def database(self) -> Database:
        """Its state. Raises UserError unless it was started."""
        if not self.exists:
            raise UserError(f"{self.file} has not been run here; start it with: arena tournament run {self.file}")
        return self._open()

    def _open(self) -> Database:
        self.folder.mkdir(parents=True, exist_ok=True)
        database = Database(f"sqlite:///{self.folder / 'state.db'}")
        database.upgrade()
        return database

    def start(
        self, spec: TournamentSpec, source: str, programs: Sequence[Program]
    ) -> tuple[Database, store.Tournament]:
        """Writes the event and its field down, programs pinned. Raises UserError."""
        if not spec.entry.bots:
            raise UserError(
                f"{self.file}: a field from a ladder or a join code needs an arena; say which with --data-dir"
            )
        field = tuple(
            store.Participant(
                name=bot.name,
                owner=program.owner,
                team=bot.team,
                seed=seed,
                program=bot.program,
                fingerprint=fingerprint(program),
            )
            for seed, (bot, program) in enumerate(zip(spec.entry.bots, programs, strict=True), 1)
        )
        field = eligible(spec, field)
        spec.form(len(field))
        database = self._open()
        with database.write() as connection:
            event_id = store.create(connection, spec, source)
            store.begin(connection, event_id, field)
        return database, self.tournament(database)

    def tournament(self, database: Database) -> store.Tournament:
        """The one event of the folder."""
        with database.read() as connection:
            return store.newest(connection, 1)[0]

    def backend(
        self, event: store.Tournament, field: Sequence[store.Participant], programs: Sequence[Program]
    ) -> LocalBackend:
        """Plays with the programs of the field, which must be what they were. Raises UserError where one has changed."""
        for one, program in zip(field, programs, strict=True):
            if fingerprint(program) != one.fingerprint:
                raise UserError(
                    f"{one.name} is not the program that it was when the event began: submissions are frozen. Put the old "
                    f"one back, or take it out with: arena tournament withdraw {self.file} {one.name}"
                )
        by_name = {one.name: program for one, program in zip(field, programs, strict=True)}
        return LocalBackend(event.spec, by_name, self.records, load_or_create(self.folder))


def fingerprint(program: Program) -> str:
    """SHA-256 of a program's command and of the files that it names: other content is another version."""
    digest = hashlib.sha256(f"{program.version}\0".encode())
    for word in program.command[1:] if program.owner == HOUSE else program.command:
        digest.update(f"{word}\0".encode())
        path = Path(word)
        if program.owner != HOUSE and path.is_file():
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def eligible(spec: TournamentSpec, field: Sequence[store.Participant]) -> tuple[store.Participant, ...]:
    """Those of the field, in order of seed, who may play: one for each owner or team if so asked. Seeds close up."""
    rules = spec.eligibility
    accounts = {name.lower() for name in rules.accounts}
    counted: set[str] = set()
    found: list[store.Participant] = []
    for one in field:
        group = {"owner": one.owner, "team": one.team or one.name, "bot": one.name}[rules.one_per].lower()
        house = one.owner == HOUSE
        if house and not rules.house:
            continue
        if accounts and not house and one.owner.lower() not in accounts:
            continue
        if group in counted and not house:
            continue
        counted.add(group)
        found.append(replace(one, seed=len(found) + 1))
    return tuple(found)
