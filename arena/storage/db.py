"""One database: connections, transactions, migrations. SQLite needs nothing; PostgreSQL is another URL."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Final

from sqlalchemy import Connection, Engine, Table, create_engine, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, InterfaceError, NoSuchModuleError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from arena.errors import ArenaError, Unavailable, UserError

BACKENDS: Final = ("sqlite", "postgresql")
URLS: Final = "which is sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME"
BUSY_MS: Final = 10_000
CACHE_KB: Final = 16_384
"""Pages that each connection to SQLite keeps; the default, 2 MB, is small for tables of a million matches."""
POOL_SIZE: Final = 4
READ_POOL_TIMEOUT_S: Final = 2.0
"""Reads give up long before writes do: when the database is slow, pages fail and results do not."""
WRITE_POOL_TIMEOUT_S: Final = 20.0
MIGRATION_LOCK: Final = 7_700_001
"""Key of the advisory lock around migrations on PostgreSQL."""


class Database:
    """Transactions on the database at ``url``. Make one in each process, after any fork; safe between threads."""

    def __init__(self, url: str) -> None:
        """Raises UserError if the URL names no database that this arena can use. Connects to nothing yet."""
        try:
            parsed = make_url(url)
            self.sqlite = parsed.get_backend_name() == "sqlite"
            if parsed.get_backend_name() not in BACKENDS:
                raise UserError(f"{parsed.get_backend_name()} is no database that the arena can use: {URLS}")
            self._turn = Lock()
            self._file = Path(parsed.database or "")
            if self.sqlite and parsed.database in {None, "", ":memory:"}:
                raise UserError("the arena's processes share their database: SQLite needs a file, as sqlite:///PATH")
            # SQLite's transactions see one moment as they are; PostgreSQL's only if they are told to.
            snapshot = {} if self.sqlite else {"isolation_level": "REPEATABLE READ"}
            self._reads = self._engine(url, "BEGIN", pool_timeout=READ_POOL_TIMEOUT_S, **snapshot)
            self._writes = self._engine(url, "BEGIN IMMEDIATE", pool_timeout=WRITE_POOL_TIMEOUT_S)
        except ModuleNotFoundError as error:
            raise UserError(f"{error.name} is needed for this database: pip install 'bot-arena[postgresql]'") from None
        except (ArgumentError, NoSuchModuleError) as error:
            raise UserError(f"cannot use the database URL, {URLS}: {error}") from None

    def _engine(self, url: str, begin: str, **options: Any) -> Engine:
        engine = create_engine(url, pool_size=POOL_SIZE, max_overflow=POOL_SIZE, **options)
        if self.sqlite:
            event.listen(engine, "connect", _prepare_sqlite)
            event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
        return engine

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads, and sees one moment. Raises Unavailable."""
        with _translated(), self._reads.begin() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that commits at the end of the block, or leaves no trace if it raises. Raises Unavailable.

        On SQLite it holds the one write lock from its first moment: keep it short, and never nest it.
        """
        with self._write_turn(), _translated(), self._writes.begin() as connection:
            yield connection

    @contextmanager
    def _write_turn(self) -> Iterator[None]:
        """SQLite waits for its lock by polling, which is slow and unfair: this process's threads queue here instead."""
        if not self.sqlite:
            yield
            return
        if not self._turn.acquire(timeout=WRITE_POOL_TIMEOUT_S):
            raise Unavailable("the database is too busy")
        try:
            yield
        finally:
            self._turn.release()

    def exists(self) -> bool:
        """Whether any arena was ever here. Makes nothing."""
        if self.sqlite and not self._file.is_file():
            return False
        with self.read() as connection:
            return bool(_revisions(connection))

    def upgrade(self) -> None:
        """Brings the schema up to date, under a lock, from nothing if need be. Raises ArenaError if a newer arena wrote it."""
        from alembic import command  # noqa: PLC0415 - only here, and slow to import

        from arena.storage import migrations  # noqa: PLC0415

        if self.sqlite:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._set_wal()
        with self._schema_change() as connection:
            if not self.sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
            config = migrations.config(connection)
            _refuse_newer(_revisions(connection), migrations.known_revisions(config))
            command.upgrade(config, "head")

    def refuse_newer(self) -> None:
        """For a process that finds its schema as others made it. Raises ArenaError if a newer arena did; a database that does
        not answer now is no reason not to begin.
        """
        from arena.storage import migrations  # noqa: PLC0415

        try:
            if self.exists():
                with self.read() as connection:
                    _refuse_newer(_revisions(connection), migrations.known_revisions(migrations.config(connection)))
        except Unavailable:
            return

    @contextmanager
    def _schema_change(self) -> Iterator[Connection]:
        """As :meth:`write`, but SQLite lets tables that others refer to be made anew, and checks references at the end."""
        with self._write_turn(), _translated(), self._writes.connect() as connection:
            raw: Any = connection.connection.driver_connection
            if self.sqlite:
                raw.execute("PRAGMA foreign_keys = OFF")  # does nothing within a transaction
            try:
                with connection.begin():
                    yield connection
                    if self.sqlite and (broken := connection.exec_driver_sql("PRAGMA foreign_key_check").all()):
                        raise ArenaError(f"the database refers to rows that are not there: {broken[:5]}")
            finally:
                if self.sqlite:
                    raw.execute("PRAGMA foreign_keys = ON")

    def _set_wal(self) -> None:
        """Write-ahead logging is a property of the file, and cannot be set inside a transaction."""
        with _translated():
            raw = self._writes.raw_connection()
            try:
                raw.cursor().execute("PRAGMA journal_mode = WAL")
            finally:
                raw.close()

    def close(self) -> None:
        """Closes all connections that are not in use."""
        self._reads.dispose()
        self._writes.dispose()


def insert_unless_there(connection: Connection, table: Table, **values: Any) -> bool:
    """Inserts a row unless some unique key says that it is there already; returns whether it did."""
    build = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    made = build(table).values(**values).on_conflict_do_nothing().returning(*table.primary_key.columns)
    return connection.execute(made).first() is not None


def _prepare_sqlite(raw: Any, _record: object) -> None:
    raw.isolation_level = None  # the driver begins no transactions of its own; the "begin" event does
    cursor = raw.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    cursor.execute("PRAGMA foreign_keys = ON")
    # With WAL no process crash loses a commit, and a power cut loses whole last commits, never a part of one.
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute(f"PRAGMA cache_size = -{CACHE_KB}")
    cursor.close()


def _revisions(connection: Connection) -> set[str]:
    if not connection.dialect.has_table(connection, "alembic_version"):
        return set()
    return {str(row[0]) for row in connection.execute(text("SELECT version_num FROM alembic_version"))}


def _refuse_newer(found: set[str], known: frozenset[str]) -> None:
    if unknown := found - known:
        raise ArenaError(
            f"the database was written by a newer version of the arena (schema {', '.join(sorted(unknown))}); "
            "install that version"
        )


def _damaged(why: BaseException | None) -> ArenaError:
    return ArenaError(f"the database is damaged: {why}; put it back from a backup")


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except PoolTimeout as error:
        raise Unavailable("the database is too busy") from error
    except (OperationalError, InterfaceError) as error:
        raise Unavailable(f"the database does not answer: {error.orig}") from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise Unavailable(f"the connection to the database was lost: {error.orig}") from error
        if type(error) is DatabaseError:  # the others say what of a statement is wrong
            raise _damaged(error.orig) from error
        raise
    except sqlite3.DatabaseError as error:  # while a connection is prepared, of which SQLAlchemy knows nothing yet
        if type(error) is sqlite3.DatabaseError:
            raise _damaged(error) from error
        raise
