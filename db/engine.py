"""The database: one way in for writes, one for reads, and the migrations.

SQLite is opened in WAL mode with synchronous=FULL: an acknowledged answer survives a power cut. Nothing is committed
to a file that is no longer at its path (`db.opened_file`). Reading continues, since only that file has what was
stored before, and it can still be read and exported. `Database.check` raises an error that says what has happened.
`sqlalchemy.orm.Session` used as a context manager is the unit of work; nothing wraps it again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    JSON,
    URL,
    ColumnElement,
    Connection,
    DateTime,
    Engine,
    MetaData,
    Table,
    TableClause,
    Text,
    TypeDecorator,
    cast,
    column,
    create_engine,
    event,
    func,
    insert,
    inspect,
    make_url,
    select,
    table,
    text,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from sqlalchemy.types import TypeEngine

from db.base import Base, UtcTime, is_damaged, is_gone
from db.identity import Commit, Identity, Note, check_same, count_commit, read_identity
from db.opened_file import DatabaseBusyError, DatabaseReplacedError, DatabaseUnavailableError, OpenedFile
from db.postgres import PROJECT, READS, alone_with_tables, glancer_of, postgres_engine, reader_of
from db.sqlite import (
    BRIDGE,
    BUSY_SECONDS,
    FORGET_PAGES,
    MIGRATIONS,
    PASSING,
    UnknownTablesError,
    check_known,
    how_to_open,
    is_older,
    is_whole,
    path_in,
    revisions,
    sqlite_engine,
    upgrade,
    writer_of,
)

if TYPE_CHECKING:
    import psycopg
    from psycopg.rows import TupleRow
    from sqlalchemy import PoolProxiedConnection

__all__ = [
    "BRIDGE",
    "MIGRATIONS",
    "CommitUnknownError",
    "Database",
    "DatabaseBusyError",
    "DatabaseReplacedError",
    "DatabaseUnavailableError",
    "UnknownTablesError",
    "how_to_open",
    "is_damaged",
    "is_older",
    "revisions",
    "writer_of",
]


# Copying a PostgreSQL database to an SQLite file with the same tables, and such a file back into PostgreSQL.
#
# So backups of both databases have one form, and can be checked and restored on either. Values are copied exactly:
# moments to the microsecond, JSON letter for letter. The tables may be of any version that this Winnow knows: their
# columns are read from the file, which the migrations have made.

LEAVING = 10.0
"""Seconds within which the connections of a Winnow that was just stopped end."""
_PIECE = 2000  # rows at once in memory
_VERSION = "alembic_version"
_REVISION = text("SELECT version_num FROM alembic_version")
_TEXT: TypeEngine[str] = Text()  # SQLite stores JSON as text
_OTHERS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user "
    "AND application_name = current_setting('application_name') AND pid <> pg_backend_pid()"
)
_FUNCTIONS = ("entries_are_append_only", "events_are_append_only")  # of the triggers


class _JsonText(TypeDecorator[str]):
    """JSON of PostgreSQL as its text, so that numbers are not parsed and rewritten."""

    impl = Text
    cache_ok = True

    def bind_expression(self, bindvalue: object) -> ColumnElement[str]:
        return cast(bindvalue, JSON)

    def column_expression(self, column: object) -> ColumnElement[str]:
        return cast(column, Text)


def write_sqlite(source: Connection, path: Path) -> None:
    """Write all of a PostgreSQL database to a new SQLite file, which is complete once this returns.

    source : in a transaction that sees the database at one moment
    Raises RuntimeError if the file's number of rows of a table differs from the database's; SQLAlchemyError.
    """
    with _file(path) as target:
        for pragma in ("journal_mode=OFF", "synchronous=OFF"):  # no process reads it before it is complete
            target.exec_driver_sql(f"PRAGMA {pragma}")
        upgrade(target, source.execute(_REVISION).scalar_one())
        for one in _tables(target):
            _carry(source, _of(one, _JsonText()), target, _of(one, _TEXT), one)
        if inspect(source).has_table("identity"):
            mine = str(source.execute(text("SELECT id FROM identity")).scalar_one())
            height = int(source.execute(text("SELECT last_value FROM identity_height")).scalar_one())
            target.exec_driver_sql(f"PRAGMA application_id = {int(mine[:8], 16) & 0x7FFFFFFF}")
            target.exec_driver_sql(f"PRAGMA user_version = {height}")
        target.commit()


def read_sqlite(path: Path, target: Connection) -> None:
    """Replace all of Winnow's tables in PostgreSQL with the content of an SQLite file; the caller commits.

    target : in a transaction, whose commit makes everything visible at once
    Raises DatabaseBusyError if others are connected to the database, RuntimeError and SQLAlchemyError.
    """
    alone_with_tables(target)
    _wait_for_others(target)
    _drop(target)
    with _file(path) as source:
        upgrade(target, source.execute(_REVISION).scalar_one())
        ours = set(inspect(target).get_table_names())  # the file may also have tables of other programs
        for one in _tables(source, ours):
            _carry(source, _of(one, _TEXT), target, _of(one, _JsonText()), one)
            _number_on(target, one)
        if inspect(target).has_table("identity"):
            height = int(source.exec_driver_sql("PRAGMA user_version").scalar_one())
            target.execute(text("SELECT setval('identity_height', :height)"), {"height": max(1, height)})


@contextmanager
def _file(path: Path) -> Iterator[Connection]:
    engine = create_engine(URL.create("sqlite", database=str(path)))
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _tables(file: Connection, ours: set[str] | None = None) -> list[Table]:
    """The tables of an SQLite file, each after those that it refers to. ours : leave out all other tables"""
    found = MetaData()
    found.reflect(file, only=lambda name, _: ours is None or name in ours)
    return [one for one in found.sorted_tables if one.name != _VERSION]


def _of(one: Table, json: TypeEngine[str]) -> TableClause:
    """The table with the column types of one of the two databases."""

    def kind(found: TypeEngine[Any]) -> TypeEngine[Any]:
        if isinstance(found, JSON):
            return json
        return UtcTime() if isinstance(found, DateTime) else found.as_generic()

    return table(one.name, *(column(name, kind(found.type)) for name, found in one.c.items()))


def _carry(source: Connection, there: TableClause, target: Connection, here: TableClause, one: Table) -> None:
    """Copy all rows of a table, in the order of their keys."""
    wanted = select(*there.c).order_by(*(there.c[key.name] for key in one.primary_key))
    if one.name == "identity":
        target.execute(here.delete())  # rows that the migrations have added to a new table
    carried = 0
    with source.execute(wanted, execution_options={"yield_per": _PIECE}) as rows:
        for piece in rows.mappings().partitions():
            target.execute(insert(here), [dict(row) for row in piece])
            carried += len(piece)
    found = [
        at.execute(select(func.count()).select_from(which)).scalar_one()
        for at, which in ((source, there), (target, here))
    ]
    if found != [carried, carried]:
        raise RuntimeError(f"the table {one.name} and its copy differ in their rows: {found[0]:,} and {found[1]:,}")


def _number_on(target: Connection, one: Table) -> None:
    """Have new rows numbered from the largest number on."""
    if "id" not in one.c or one.c["id"].type.python_type is not int:
        return
    target.execute(
        text(
            f"SELECT setval(pg_get_serial_sequence('{one.name}', 'id'), coalesce(max(id), 1), max(id) IS NOT NULL) "  # noqa: S608 - names of ours
            f"FROM {one.name}"
        )
    )


def _wait_for_others(target: Connection) -> None:
    given_up = time.monotonic() + LEAVING
    while others := target.execute(_OTHERS).scalar_one():
        if time.monotonic() >= given_up:
            raise DatabaseBusyError(
                f"The database is in use: {others} other connection{'' if others == 1 else 's'} of Winnow's. "
                "Nothing was changed. Fix: stop every server, worker and command of Winnow that uses it."
            )
        time.sleep(LEAVING / 100)


def _drop(target: Connection) -> None:
    """Remove all that migrations make, of any version."""
    names = ", ".join(f'"{name}"' for name in (*Base.metadata.tables, _VERSION))
    target.execute(text(f"DROP TABLE IF EXISTS {names}"))
    target.execute(text("DROP SEQUENCE IF EXISTS identity_height"))
    for name in _FUNCTIONS:
        target.execute(text(f"DROP FUNCTION IF EXISTS {name}()"))


# Find out whether a commit was stored whose reply was lost with the connection.
#
# PostgreSQL knows by the number of the transaction. After a crash it may give that number to another transaction.
# It then resets its statistics, so their age shows whether it still knows.

PATIENCE = 5.0
"""Seconds for which the server is asked: after a mere restart it is back by then."""
PAUSE = 0.1
"""Seconds between two tries."""
# After a crash the number may be a future one, which PostgreSQL reports as an error: asked only if there was none.
_LOOK = text(
    "SELECT since.is_same, CASE WHEN since.is_same THEN pg_xact_status(CAST(:number AS xid8)) END FROM (SELECT "
    "pg_stat_get_bgwriter_stat_reset_time()::text IS NOT DISTINCT FROM CAST(:since AS text) AS is_same) AS since"
)


class CommitUnknownError(DatabaseUnavailableError):
    """No one can say whether the transaction was committed. The message is for everyone to read."""

    def __init__(self) -> None:
        super().__init__(
            "The connection to PostgreSQL was lost while this was being stored. It is unknown whether it was stored: "
            "check before you repeat it. An answer may be pressed again, it is stored once. Fix: start PostgreSQL; "
            "Winnow then continues by itself."
        )


class Committing(threading.local):
    """The last commit that each thread has sent; None if it has sent none."""

    sent: Commit | None = None


@contextmanager
def certain(committing: Committing, engine: Engine) -> Iterator[None]:
    """Wrap a transaction: if the connection is lost during its commit, ask the server whether the commit was stored.
    Arguments and errors as in `came_through`."""
    committing.sent = None  # not the notice of an earlier commit
    try:
        yield
    except DBAPIError as error:
        sent = committing.sent
        if sent is None or sent.number is None or not is_gone(error) or not came_through(engine, sent):
            raise


def came_through(engine: Engine, sent: Commit) -> bool:
    """Whether this commit is stored. Raises CommitUnknownError.

    engine : leads to the same database by another connection
    """
    until = time.monotonic() + PATIENCE
    while True:
        with suppress(DBAPIError):
            with engine.connect() as connection:
                knows, status = connection.execute(_LOOK, {"number": sent.number, "since": sent.since}).one()
            if not knows or status is None:
                break
            if status != "in progress":
                return bool(status == "committed")
        if time.monotonic() >= until:
            break
        time.sleep(PAUSE)
    raise CommitUnknownError


# A value that changes with every commit, so that callers who wait for news need not query for it.

_STAMP = {True: "PRAGMA data_version", False: "SELECT pg_current_wal_insert_lsn()"}


class Stamps:
    """Reads the stamp by its own connection, which stays open. reader : an engine for reading"""

    def __init__(self, reader: Engine) -> None:
        self._reader = reader
        self._lock = threading.Lock()
        self._watcher: PoolProxiedConnection | None = None
        self._watchers = 0

    def stamp(self) -> tuple[int, str]:
        """See `db.engine.Database.stamp`."""
        with self._lock:
            if self._watcher is None:
                # Used raw, outside of any transaction, which would see the database as it was at its beginning.
                # `raw_connection` would raise the driver's own errors.
                self._watcher = self._reader.connect().connection
                self._watchers += 1  # values of two connections cannot be compared
            try:
                with closing(self._watcher.cursor()) as cursor:
                    cursor.execute(_STAMP[self._reader.dialect.name == "sqlite"])
                    found = cursor.fetchone()
            except Exception as error:
                # The server may have gone away. The next call opens a new connection.
                self._watcher.invalidate()
                self._watcher = None
                raise DatabaseUnavailableError(f"The database does not answer now: {error}.") from error
            return self._watchers, str(found)

    def close(self) -> None:
        """Close the connection; the next stamp opens another."""
        with self._lock:
            if self._watcher is not None:
                self._watcher.close()
                self._watcher = None


class Database:
    """One SQLite file or PostgreSQL database, for all threads of this process.

    url : SQLAlchemy URL, `sqlite:///<path>` or `postgresql+psycopg://...`; nothing is opened before first use
    note : file in which the database's identity is noted after every commit; None: none
    """

    def __init__(self, url: str, note: Note | None = None) -> None:
        self._note = note
        self._id: str | None = None
        self._committing = Committing()
        parsed = make_url(url)
        self.is_sqlite = parsed.get_backend_name() == "sqlite"
        if self.is_sqlite:
            self._file: OpenedFile | None = OpenedFile(path_in(parsed.database or ""))
            self._writer = sqlite_engine(url, self._file, writes=True)
            self._reader = self._glancer = sqlite_engine(url, self._file, writes=False)
        else:
            self._file = None
            self._writer = postgres_engine(parsed)
            self._reader, self._glancer = reader_of(self._writer), glancer_of(self._writer)
            event.listen(self._writer, "connect", self._check_same)
        self._passing = self._writer.execution_options(**{PASSING: True})
        event.listen(self._writer, "commit", self._count)
        # SQLite's busy handler polls and is unfair: without the lock a writing thread can wait for seconds.
        self._turn = threading.Lock()
        self._stamps = Stamps(self._reader)
        self._using = threading.Lock()
        self._users = 0

    @property
    def path(self) -> Path | None:
        """Path of SQLite's file; None on PostgreSQL."""
        return None if self._file is None else self._file.path

    @contextmanager
    def write(self, *, lasting: bool = True, project: int | None = None) -> Iterator[Session]:
        """A transaction that may write: committed when the block ends, rolled back when it raises.

        lasting : it is on the disk when the block has ended. False: do not wait for the disk; a power cut may lose it
            until a lasting commit follows, so it must not be acknowledged as stored
        project : its other writers wait until the block has ended, as after `entries.lock`; None: no one need wait
        On SQLite, data read in the block is still true at the commit (BEGIN IMMEDIATE).
        Blocks must not be nested. Raises DatabaseBusyError; DatabaseReplacedError, before or after the commit, if the
        file at the path does not have what was written; CommitUnknownError.
        """
        with self._one_writer():
            self.check_file()
            engine = self._writer if lasting else self._passing
            with certain(self._committing, self._reader), self._in_use(), Session(engine) as session, session.begin():
                if project is not None and not self.is_sqlite:
                    session.connection(execution_options={PROJECT: project})
                yield session
                self._check_before_commit()
            self._after_commit()

    @contextmanager
    def read(self, *, single: bool = False) -> Iterator[Session]:
        """A transaction for reading only: writes are refused in it, and it never waits for a writer.

        The whole block sees the database as of its first query.
        single : the block runs one query only, for which PostgreSQL needs no transaction: a third of the round trips
        """
        with suppress(DatabaseReplacedError):
            self.check_file()
        engine = self._glancer if single else self._reader
        with self._in_use(), Session(engine) as session, session.begin():
            yield session

    def is_new(self) -> bool:
        """Whether there is nothing of Winnow's in it yet. Does not create SQLite's file."""
        if self._file is not None and not self._file.path.exists():
            return True
        with self.read() as session:
            return not inspect(session.connection()).has_table("projects")

    def revision(self) -> str | None:
        """The revision of its tables; None if Winnow has no tables in it yet."""
        if self.is_new():
            return None
        with self.read() as session:
            return session.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()

    def check(self) -> None:
        """Raise an error if the database does not answer, or would lose what is written to it now.

        Raises SQLAlchemyError, DatabaseReplacedError; DamagedPagesError once a page was found damaged.
        """
        self.check_file()
        if self._file is not None:
            self._file.check_pages()
        with self.read() as session:
            if self.is_sqlite:
                session.execute(text(FORGET_PAGES))
            session.execute(text("SELECT version_num FROM alembic_version")).all()

    def check_pages(self) -> None:
        """Raise DamagedPagesError if a page of SQLite's file is damaged. Takes half a second for 200 MB."""
        if self._file is not None:
            with self.read() as session:
                self._file.damaged |= not is_whole(session)
            self._file.check_pages()

    def check_file(self) -> None:
        """Raise DatabaseReplacedError if SQLite's file is no longer complete at its path. Takes microseconds.

        If the right file was put there meanwhile, it is opened.
        """
        if self._file is None or self._file.loss() is None:
            return
        with self._using:
            if not self._users:
                self._file.go_on(self._drop)
        self._file.check()

    @property
    def times_replaced(self) -> int:
        """How often another file was opened instead of the previous one; caches must then be read again."""
        return 0 if self._file is None else self._file.times

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Keep connections open as long as the block runs."""
        with self._using:
            self._users += 1
        try:
            yield
        finally:
            with self._using:
                self._users -= 1

    def stamp(self) -> tuple[int, str]:
        """A value that changes with every commit, no matter who makes it. Compare it with the result of an earlier
        call.

        It may change without a commit, too. A call takes microseconds.
        Raises DatabaseUnavailableError, SQLAlchemyError.
        """
        with suppress(DatabaseReplacedError):
            self.check_file()
        with self._in_use():
            return self._stamps.stamp()

    def identity(self) -> Identity | None:
        """The identity of this database; None if its tables are older than identities, or missing."""
        with self.read() as session:
            return read_identity(session.connection())

    def migrate(self) -> None:
        """Bring the tables to the newest revision; called at every start, from any working directory.

        Raises UnknownTablesError if they are of a revision that is not known here.
        """
        with self.read() as session:
            check_known(session)
        with self._one_writer(), self._writer.begin() as connection:
            if not self.is_sqlite:  # of two servers that start at once, one makes the tables
                alone_with_tables(connection)
            upgrade(connection)
            self._check_before_commit()
        found = self.identity()
        self._id = None if found is None else found.id
        if found is not None and self._file is not None:
            self._file.height, self._file.mark = found.height, found.mark
        if found is not None and self._note is not None:
            self._note.try_to_write(found)

    def _count(self, connection: Connection) -> None:
        """Count a lasting commit just before it is sent: the database's height grows with it."""
        if not connection.get_execution_options().keys() & {READS, PASSING}:
            self._committing.sent = count_commit(connection)

    def _check_same(self, connection: psycopg.Connection[TupleRow], _record: object) -> None:
        """Check that a new connection to PostgreSQL leads to the same database."""
        if self._id is not None:
            check_same(connection, self._id)

    def _check_before_commit(self) -> None:
        if self._file is not None:
            self._file.check()

    def _after_commit(self) -> None:
        """Check that the commit is in the file at the path, then note it. Raises DatabaseReplacedError."""
        sent = self._committing.sent
        if sent is None or sent.height is None:
            return
        height = sent.height
        if self._file is not None:
            before, self._file.height = self._file.height, height
            try:
                self.check_file()
            except DatabaseReplacedError:
                self._file.height = before
                raise
        if self._note is not None and self._id is not None:
            self._note.try_to_write(Identity(self._id, height))

    def copy_to(self, path: Path) -> None:
        """Write a consistent copy to a new file, always of SQLite, while others continue writing."""
        if not self.is_sqlite:
            with self.read() as session:
                write_sqlite(session.connection(), path)
            return
        # Raw: VACUUM refuses the BEGIN of a Connection, and query_only refuses VACUUM. It only reads this database.
        with self._in_use(), closing(self._writer.raw_connection()) as connection:
            connection.cursor().execute("VACUUM INTO ?", (str(path),))

    def fill_from(self, path: Path) -> None:
        """Replace all of Winnow's tables in PostgreSQL with the copy of `copy_to`, completely or not at all.

        Raises CommitUnknownError, and the errors of `read_sqlite`.
        """
        with certain(self._committing, self._reader), self._writer.begin() as connection:
            read_sqlite(path, connection)

    def close(self) -> None:
        """Close every connection; a later use opens the file that is at the path at that time."""
        if self._file is not None:
            self._file.leave()
        self._drop()
        if self._file is not None:
            self._file.forget()

    def _drop(self) -> None:
        """Close every connection that is not in use."""
        self._stamps.close()
        self._writer.dispose()
        self._reader.dispose()

    @contextmanager
    def _one_writer(self) -> Iterator[None]:
        if not self.is_sqlite:
            yield  # PostgreSQL orders its writers itself: entries.append locks the project's row
            return
        if not self._turn.acquire(timeout=BUSY_SECONDS):
            raise DatabaseBusyError(
                f"No turn to write within {BUSY_SECONDS} s: another thread holds the database. "
                "Nothing was written; try again."
            )
        try:
            yield
        finally:
            self._turn.release()
