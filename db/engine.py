"""The database: one way in for writes, one for reads, and the migrations.

SQLite is opened in WAL mode with synchronous=FULL: an answer that was acknowledged survives a power cut.
`sqlalchemy.orm.Session` used as a context manager is the unit of work; nothing wraps it again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, PoolProxiedConnection, create_engine, event, make_url
from sqlalchemy.orm import Session

MIGRATIONS = Path(__file__).with_name("migrations")

#: Seconds a writer waits for another process (SQLite) or another thread before it gives up.
BUSY_SECONDS = 30


_STAMP = {True: "PRAGMA data_version", False: "SELECT pg_current_wal_insert_lsn()"}


class DatabaseBusyError(RuntimeError):
    """No turn to write came within `BUSY_SECONDS`; nothing was written."""


class Database:
    """One SQLite file or PostgreSQL database, for all threads of this process.

    url : SQLAlchemy URL, `sqlite:///<path>` or `postgresql+psycopg://...`; nothing is opened before first use
    """

    def __init__(self, url: str) -> None:
        parsed = make_url(url)
        self.is_sqlite = parsed.get_backend_name() == "sqlite"
        if self.is_sqlite:
            self._writer = _sqlite_engine(url, begin="BEGIN IMMEDIATE", query_only=False)
            self._reader = _sqlite_engine(url, begin="BEGIN", query_only=True)
        else:
            # A writer that has waited for `entries.lock` must see what was committed meanwhile; a reader sees the
            # database at one moment, as on SQLite. Neither is left to the server's settings.
            self._writer = create_engine(
                parsed, pool_size=20, pool_pre_ping=True, isolation_level="READ COMMITTED"
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
        Blocks must not be nested. Raises DatabaseBusyError.
        """
        with self._one_writer(), Session(self._writer) as session, session.begin():
            yield session

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A transaction for reading only: writes are refused in it, and it never waits for a writer.

        All of it sees the database as it was at its first query.
        """
        with Session(self._reader) as session, session.begin():
            yield session

    def stamp(self) -> tuple[int, str]:
        """Something that is another after every commit of anybody's; it costs microseconds, so ask often.

        It may be another without one, too.
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

    def copy_to(self, path: Path) -> None:
        """Write a consistent copy of the SQLite database to a new file while others go on writing."""
        # Raw: VACUUM refuses the BEGIN of a Connection, and query_only refuses VACUUM. It only reads this database.
        connection = self._writer.raw_connection()
        try:
            connection.cursor().execute("VACUUM INTO ?", (str(path),))
        finally:
            connection.close()

    def close(self) -> None:
        """Close every connection; the database may be used again afterwards."""
        with self._watching:
            if self._watcher is not None:
                self._watcher.close()
                self._watcher = None
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


def _sqlite_engine(url: str, begin: str, query_only: bool) -> Engine:
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, pool_size=20)

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
        if query_only:
            connection.execute("PRAGMA query_only=ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine
