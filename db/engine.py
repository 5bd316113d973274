"""The database: one way in for writes, one for reads, and the migrations.

SQLite is opened in WAL mode with synchronous=FULL: an answer that was acknowledged survives a power cut. Nothing is
committed to a file that is not at its path any more (`db.opened_file`). Reading goes on: what was stored before is in
that file alone, and can still be looked at and exported; `Database.check` raises an error that says what has happened.
`sqlalchemy.orm.Session` used as a context manager is the unit of work; nothing wraps it again.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from alembic import command
from alembic.config import Config
from sqlalchemy import (
    Connection,
    Engine,
    PoolProxiedConnection,
    create_engine,
    event,
    inspect,
    make_url,
    text,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from db.opened_file import DatabaseBusyError, DatabaseReplacedError, DatabaseUnavailableError, OpenedFile

MIGRATIONS = Path(__file__).with_name("migrations")

#: Seconds a writer waits for another process (SQLite) or another thread before it gives up.
BUSY_SECONDS = 30


_FORGET_PAGES = "PRAGMA shrink_memory"
_STAMP = {True: "PRAGMA data_version", False: "SELECT pg_current_wal_insert_lsn()"}


__all__ = ["Database", "DatabaseBusyError", "DatabaseReplacedError", "DatabaseUnavailableError", "is_damaged"]


class Database:
    """One SQLite file or PostgreSQL database, for all threads of this process.

    url : SQLAlchemy URL, `sqlite:///<path>` or `postgresql+psycopg://...`; nothing is opened before first use
    """

    def __init__(self, url: str) -> None:
        parsed = make_url(url)
        self.is_sqlite = parsed.get_backend_name() == "sqlite"
        if self.is_sqlite:
            self._file: OpenedFile | None = OpenedFile(_path(parsed.database or ""))
            self._writer = _sqlite_engine(url, self._file, writes=True)
            self._reader = _sqlite_engine(url, self._file, writes=False)
        else:
            self._file = None
            # A writer that has waited for `entries.lock` must see what was committed meanwhile; a reader sees the
            # database at one moment, as on SQLite. Neither is left to the server's settings.
            self._writer = create_engine(
                parsed,
                pool_size=20,
                pool_pre_ping=True,
                isolation_level="READ COMMITTED",
                hide_parameters=True,  # hashes of secrets must not come into the log with an error
            )
            self._reader = self._writer.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
        # SQLite's busy handler polls and is unfair: without the lock a writing thread can wait for seconds.
        self._turn = threading.Lock()
        self._watching = threading.Lock()
        self._watcher: PoolProxiedConnection | None = None
        self._watchers = 0

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction that may write: committed when the block ends, rolled back when it raises.

        On SQLite what was read inside is still true at the commit (BEGIN IMMEDIATE).
        Blocks must not be nested. Raises DatabaseBusyError, DatabaseReplacedError.
        """
        with self._one_writer(), Session(self._writer) as session, session.begin():
            yield session
            self.check_file()

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A transaction for reading only: writes are refused in it, and it never waits for a writer.

        All of it sees the database as it was at its first query.
        """
        with Session(self._reader) as session, session.begin():
            yield session

    def is_new(self) -> bool:
        """Whether there is nothing of Winnow's in it yet; SQLite's file is not made for the question."""
        if self._file is not None and not self._file.path.exists():
            return True
        with self.read() as session:
            return not inspect(session.connection()).has_table("projects")

    def is_emptied(self) -> bool:
        """Whether SQLite's file is there with 0 bytes. A database that SQLite has opened for writing has a header."""
        return self._file is not None and self._file.path.is_file() and not self._file.path.stat().st_size

    def check(self) -> None:
        """Raise where the database does not answer, or would lose what is written to it now.

        Raises SQLAlchemyError, DatabaseReplacedError.
        """
        self.check_file()
        with self.read() as session:
            if self.is_sqlite:
                session.execute(text(_FORGET_PAGES))
            session.execute(text("SELECT version_num FROM alembic_version")).all()

    def check_file(self) -> None:
        """Raises DatabaseReplacedError where SQLite's file is not at its path any more. Takes microseconds."""
        if self._file is not None:
            self._file.check()

    def stamp(self) -> tuple[int, str]:
        """A value that changes with every commit, whoever makes it. Compare it with that of an earlier call.

        It may change without a commit, too. A call takes microseconds.
        """
        with self._watching:
            if self._watcher is None:
                # Raw, and outside of any transaction, which would see the database as it was at its beginning.
                self._watcher = self._reader.raw_connection()
                self._watchers += 1  # what two connections say cannot be compared
            try:
                with closing(self._watcher.cursor()) as cursor:
                    cursor.execute(_STAMP[self.is_sqlite])
                    found = cursor.fetchone()
                self._watcher.rollback()  # PostgreSQL has begun a transaction for it, and would never end it
            except Exception:
                # The server went away, perhaps. The next look has a new connection.
                self._watcher.invalidate()
                self._watcher = None
                raise
            return self._watchers, str(found)

    def migrate(self) -> None:
        """Bring the tables to the newest revision; called at every start, from any working directory."""
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        with self._one_writer(), self._writer.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            self.check_file()

    def copy_to(self, path: Path) -> None:
        """Write a consistent copy of the SQLite database to a new file while others go on writing."""
        # Raw: VACUUM refuses the BEGIN of a Connection, and query_only refuses VACUUM. It only reads this database.
        connection = self._writer.raw_connection()
        try:
            connection.cursor().execute("VACUUM INTO ?", (str(path),))
        finally:
            connection.close()

    def close(self) -> None:
        """Close every connection; the database may be used again afterwards, whatever file is at its path then."""
        with self._watching:
            if self._watcher is not None:
                self._watcher.close()
                self._watcher = None
        self._leave_no_log()
        self._writer.dispose()
        self._reader.dispose()
        if self._file is not None:
            self._file.forget()

    def _leave_no_log(self) -> None:
        """Where SQLite's file is not at its path any more, bring all that was stored into it.

        SQLite leaves the log of such a file (`-wal`) beside the path, and whatever file is there next would be opened
        with it, which would mix the two.
        """
        try:
            self.check_file()
        except DatabaseReplacedError:
            with (
                suppress(DatabaseReplacedError, sqlite3.Error),
                closing(self._writer.raw_connection()) as raw,
            ):
                raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")

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


def is_damaged(error: DBAPIError) -> bool:
    """Whether SQLite found its file overwritten: it is no database, or not a whole one."""
    code = (
        getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
    )  # an extended code has the plain one in its last byte
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _path(database: str) -> Path:
    """The file of a URL's database, which may be a URI of SQLite's own."""
    return Path(unquote(urlsplit(database).path) if database.startswith("file:") else database).absolute()


def _sqlite_engine(url: str, file: OpenedFile, *, writes: bool) -> Engine:
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, pool_size=20, hide_parameters=True)

    @event.listens_for(engine, "do_connect")
    def _look(*_: Any) -> None:
        file.check()  # or a file that was deleted would be made anew, empty

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # the listener below begins transactions, not the driver
        # recursive_triggers: without it INSERT OR REPLACE deletes a row past the append-only trigger.
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            f"busy_timeout={BUSY_SECONDS * 1000}",
            "foreign_keys=ON",
            "recursive_triggers=ON",
        ):
            connection.execute("PRAGMA " + pragma)
        if not writes:
            connection.execute("PRAGMA query_only=ON")
        try:
            file.opened()
        except BaseException:
            connection.close()
            raise

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if writes:
            # Or it would go by pages that were read before somebody overwrote the file.
            connection.exec_driver_sql(_FORGET_PAGES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
