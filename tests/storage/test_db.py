"""Connections, transactions, migrations."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, MetaData, create_engine, insert, select, text, update

from arena.errors import ArenaError, Unavailable, UserError
from arena.storage import db, migrations
from arena.storage.db import Database, insert_unless_there
from arena.storage.tables import leader, metadata, now_ms


def test_migrations_make_exactly_the_tables(database: Database) -> None:
    """Nobody changed tables.py without a migration, or the other way round."""
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


EARLIER = sorted(path.stem[:4] for path in Path(migrations.__file__).parent.glob("versions/0*.py"))[:-1]


def fill(connection: Connection) -> dict[str, int]:
    """One row in each table that is there, referring to the others'; returns how many rows each has."""
    there = MetaData()
    there.reflect(connection)
    made: dict[str, dict[str, object]] = {}
    for table in there.sorted_tables:
        if table.name == "alembic_version":
            continue
        row: dict[str, object] = {}
        for column in table.columns:
            if column.foreign_keys:
                target = next(iter(column.foreign_keys)).column
                row[column.name] = made[target.table.name][target.name]
            elif not column.nullable:
                row[column.name] = {bytes: b"", str: "{}", dict: {}}.get(column.type.python_type, 1)
        connection.execute(insert(table).values(row))
        made[table.name] = row
    return dict.fromkeys(made, 1)


@pytest.mark.parametrize("revision", EARLIER)
def test_a_database_in_use_is_brought_up_to_date(tmp_path: Path, revision: str) -> None:
    """From each earlier schema with rows in every table, referring to each other, no row and no reference is lost."""
    database = Database(f"sqlite:///{tmp_path / 'arena.db'}")
    with database.write() as connection:
        command.upgrade(migrations.config(connection), revision)
    with database.write() as connection:
        rows = fill(connection)
    database.upgrade()
    with database.write() as connection:
        assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
        for table, count in rows.items():
            assert connection.execute(text(f"SELECT count(*) FROM {table}")).scalar() == count, table
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    database.close()


def test_r83_an_older_arena_refuses_a_newer_schema(database: Database) -> None:
    """A database that a later version has migrated is left alone, and the message says why."""
    with database.write() as connection:
        current = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ArenaError, match="newer version of the arena"):
        database.upgrade()
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :current"), {"current": current})
    database.upgrade()


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database with nothing in it, of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'arena.db'}"
        return
    server = create_engine(request.getfixturevalue("postgresql"), isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text("CREATE DATABASE empty"))
        yield str(request.getfixturevalue("postgresql")).replace("/postgres?", "/empty?")
        connection.execute(text("DROP DATABASE empty WITH (FORCE)"))
    server.dispose()


UPGRADE = """
import sys
from alembic import command
from arena.storage import migrations
from arena.storage.db import Database
print("ready", flush=True)
sys.stdin.readline()
Database(sys.argv[1]).upgrade()
"""


def test_r83_processes_that_start_together_migrate_once(empty: str) -> None:
    """Many upgrades at the same moment all succeed."""
    starting = [
        subprocess.Popen([sys.executable, "-c", UPGRADE, empty], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    for process in starting:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    for process in starting:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    assert [process.wait(60) for process in starting] == [0] * 4


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads wait for a moment only."""
    monkeypatch.setattr(db, "READ_POOL_TIMEOUT_S", 0.2)


@pytest.mark.usefixtures("hasty")
def test_r80_reads_give_up_first(database: Database) -> None:
    """With all connections taken, those for writing too, a read fails soon; a result waits, and is written."""

    def write() -> None:
        with database.write() as connection:
            connection.execute(insert(leader).values(role="r", holder="h", epoch=1, lease_until=0))

    with ExitStack() as taken, ThreadPoolExecutor(1) as pool:
        for _ in range(2 * db.POOL_SIZE):
            taken.enter_context(database.read())
        for _ in range(1 if database.sqlite else 2 * db.POOL_SIZE):
            taken.enter_context(database.write())
        writing = pool.submit(write)
        with pytest.raises(Unavailable), database.read():
            pass
        assert not writing.done()
        taken.close()
        writing.result()
    with database.read() as connection:
        assert connection.execute(select(leader.c.holder)).scalar_one() == "h"


def test_r80_a_read_waits_a_tenth_of_what_a_result_may() -> None:
    """As it is set: pages fail within two seconds."""
    assert db.READ_POOL_TIMEOUT_S == db.WRITE_POOL_TIMEOUT_S / 10 == 2


def test_the_databases_clock_is_in_milliseconds(database: Database) -> None:
    """now_ms agrees with this machine's clock, in the same unit, and goes on within a transaction's life."""
    with database.read() as connection:
        assert abs(connection.execute(select(now_ms())).scalar_one() - time.time() * 1000) < 5_000


def test_a_failed_block_leaves_no_trace(database: Database) -> None:
    """What a write did before it raised is gone."""

    def fail() -> None:
        with database.write() as connection:
            connection.execute(insert(leader).values(role="r", holder="h", epoch=1, lease_until=0))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with database.read() as connection:
        assert connection.execute(select(leader)).all() == []


def test_insert_unless_there(database: Database) -> None:
    """It says whether it inserted, and leaves the older row as it is."""
    with database.write() as connection:
        assert insert_unless_there(connection, leader, role="r", holder="first", epoch=1, lease_until=0)
        assert not insert_unless_there(connection, leader, role="r", holder="second", epoch=2, lease_until=0)
        assert connection.execute(select(leader.c.holder)).scalar_one() == "first"


def test_concurrent_increments_are_all_counted(database: Database) -> None:
    """Read, think, write in one transaction under a row lock loses no update on either kind of database."""
    with database.write() as connection:
        connection.execute(insert(leader).values(role="r", holder="h", epoch=0, lease_until=0))

    def count() -> None:
        for _ in range(10):
            with database.write() as connection:
                before = connection.execute(select(leader.c.epoch).with_for_update()).scalar_one()
                connection.execute(update(leader).values(epoch=before + 1))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as connection:
        assert connection.execute(select(leader.c.epoch)).scalar_one() == 40


def test_readers_go_on_while_somebody_writes(database: Database) -> None:
    """A write that is not yet committed neither blocks a read nor shows in it."""
    with database.write() as writing:
        writing.execute(insert(leader).values(role="r", holder="h", epoch=1, lease_until=0))
        with database.read() as reading:
            assert reading.execute(select(leader)).all() == []


def test_a_read_sees_one_moment(database: Database) -> None:
    """What commits while a read goes on does not show in its later statements."""
    with database.read() as reading:
        assert reading.execute(select(leader)).all() == []
        with database.write() as writing:
            writing.execute(insert(leader).values(role="r", holder="h", epoch=1, lease_until=0))
        assert reading.execute(select(leader)).all() == []


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("nonsense", r"which is sqlite:///PATH or postgresql://"),
        ("mysql://a/b", r"mysql is no database that the arena can use: which is sqlite:///PATH or postgresql://"),
        ("postgres://a/b", r"postgres is no database that the arena can use"),
        ("postgresql+nobody://a/b", r"which is sqlite:///PATH or postgresql://"),
        ("postgresql+pg8000://a/b", r"pg8000 is needed|cannot use the database URL"),
        ("sqlite://", r"SQLite needs a file"),
        ("sqlite:///:memory:", r"SQLite needs a file"),
    ],
)
def test_a_url_of_no_database_of_ours_says_what_one_looks_like(url: str, why: str) -> None:
    """So does one that processes cannot share."""
    with pytest.raises(UserError, match=why):
        Database(url)


def test_a_database_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    """The driver's error arrives as one that says: try again later."""
    folder = tmp_path / "is-a-folder.db"
    folder.mkdir()
    database = Database(f"sqlite:///{folder}")
    with pytest.raises(Unavailable) as caught, database.read():
        pass
    assert caught.value.retryable
