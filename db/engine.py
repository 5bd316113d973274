"""The database: one way in for writes, one for reads, and the migrations.

SQLite is opened in WAL mode with synchronous=FULL: an answer that was acknowledged survives a power cut. Nothing is
committed to a file that is not at its path any more (`db.opened_file`). Reading goes on: what was stored before is in
that file alone, and can still be looked at and exported; `Database.check` raises an error that says what has happened.
`sqlalchemy.orm.Session` used as a context manager is the unit of work; nothing wraps it again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, event, inspect, make_url, text
from sqlalchemy.orm import Session

from db.as_sqlite import read_sqlite, write_sqlite
from db.faults import is_damaged
from db.identity import Identity, Note, check_same, count_commit, read_identity
from db.lost_commits import Committing, CommitUnknownError, certain
from db.opened_file import DatabaseBusyError, DatabaseReplacedError, DatabaseUnavailableError, OpenedFile
from db.postgres_engine import PROJECT, READS, alone_with_tables, glancer_of, postgres_engine, reader_of
from db.revisions import MIGRATIONS, NewerTablesError, check_known, revisions, upgrade
from db.sqlite_engine import BUSY_SECONDS, FORGET_PAGES, PASSING, path_in, sqlite_engine
from db.stamps import Stamps

__all__ = [
    "MIGRATIONS",
    "CommitUnknownError",
    "Database",
    "DatabaseBusyError",
    "DatabaseReplacedError",
    "DatabaseUnavailableError",
    "NewerTablesError",
    "is_damaged",
    "revisions",
]


class Database:
    """One SQLite file or PostgreSQL database, for all threads of this process.

    url : SQLAlchemy URL, `sqlite:///<path>` or `postgresql+psycopg://...`; nothing is opened before first use
    note : where it is noted after every commit which database this is; None: nowhere
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
        """Where SQLite's file is; None of PostgreSQL."""
        return None if self._file is None else self._file.path

    @contextmanager
    def write(self, *, lasting: bool = True, project: int | None = None) -> Iterator[Session]:
        """A transaction that may write: committed when the block ends, rolled back when it raises.

        lasting : it is on the disk when the block has ended. False: it waits for no disk; a power cut may lose it until
            something that lasts is committed, so that nobody is to be told that it was stored
        project : whose other writers wait until the block has ended, as after `entries.lock`; None: nobody need
        On SQLite what was read inside is still true at the commit (BEGIN IMMEDIATE).
        Blocks must not be nested. Raises DatabaseBusyError; DatabaseReplacedError, before or after the commit, where
        what was written is not in the file that is there; CommitUnknownError.
        """
        with self._one_writer():
            self.check_file()
            engine = self._writer if lasting else self._passing
            with (
                certain(self._committing, self._reader),
                self._in_use(),
                Session(engine) as session,
                session.begin(),
            ):
                if project is not None and not self.is_sqlite:
                    session.connection(execution_options={PROJECT: project})
                yield session
                self._check_before_commit()
            self._after_commit()

    @contextmanager
    def read(self, *, single: bool = False) -> Iterator[Session]:
        """A transaction for reading only: writes are refused in it, and it never waits for a writer.

        All of it sees the database as it was at its first query.
        single : there is one query and no more, for which PostgreSQL needs no transaction: a third of the words to it
        """
        with suppress(DatabaseReplacedError):
            self.check_file()
        engine = self._glancer if single else self._reader
        with self._in_use(), Session(engine) as session, session.begin():
            yield session

    def is_new(self) -> bool:
        """Whether there is nothing of Winnow's in it yet; SQLite's file is not made for the question."""
        if self._file is not None and not self._file.path.exists():
            return True
        with self.read() as session:
            return not inspect(session.connection()).has_table("projects")

    def revision(self) -> str | None:
        """Of its tables; None where there is nothing of Winnow's in it yet."""
        if self.is_new():
            return None
        with self.read() as session:
            return session.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()

    def check(self) -> None:
        """Raise where the database does not answer, or would lose what is written to it now.

        Raises SQLAlchemyError, DatabaseReplacedError.
        """
        self.check_file()
        with self.read() as session:
            if self.is_sqlite:
                session.execute(text(FORGET_PAGES))
            session.execute(text("SELECT version_num FROM alembic_version")).all()

    def check_file(self) -> None:
        """Raises DatabaseReplacedError where SQLite's file is not whole at its path any more. Takes microseconds.

        Where the right one was put there meanwhile, it is taken.
        """
        if self._file is None or self._file.loss() is None:
            return
        with self._using:
            if not self._users:
                self._file.go_on(self._drop)
        self._file.check()

    @property
    def times_replaced(self) -> int:
        """How often another file was taken for the one before: whoever remembers what was read asks anew then."""
        return 0 if self._file is None else self._file.times

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """No connection is taken away from the block."""
        with self._using:
            self._users += 1
        try:
            yield
        finally:
            with self._using:
                self._users -= 1

    def stamp(self) -> tuple[int, str]:
        """A value that changes with every commit, whoever makes it. Compare it with that of an earlier call.

        It may change without a commit, too. A call takes microseconds.
        Raises DatabaseUnavailableError, SQLAlchemyError.
        """
        with suppress(DatabaseReplacedError):
            self.check_file()
        with self._in_use():
            return self._stamps.stamp()

    def identity(self) -> Identity | None:
        """Which database this is; None where its tables are from before there were identities, or are not there."""
        with self.read() as session:
            return read_identity(session.connection())

    def migrate(self) -> None:
        """Bring the tables to the newest revision; called at every start, from any working directory.

        Raises NewerTablesError where they are of one that is not known here.
        """
        with self.read() as session:
            check_known(session)
        with self._one_writer(), self._writer.begin() as connection:
            if not self.is_sqlite:  # of two servers that start at once one makes the tables
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
        """Just before a commit that lasts: the height that the database will have with it."""
        if not connection.get_execution_options().keys() & {READS, PASSING}:
            self._committing.sent = count_commit(connection)

    def _check_same(self, connection: Any, _record: Any) -> None:
        """Of a new connection to PostgreSQL."""
        if self._id is not None:
            check_same(connection, self._id)

    def _check_before_commit(self) -> None:
        if self._file is not None:
            self._file.check()

    def _after_commit(self) -> None:
        """The commit is in the file that is there, or DatabaseReplacedError; then it is noted."""
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
        """Write a consistent copy to a new file, always of SQLite, while others go on writing."""
        if not self.is_sqlite:
            with self.read() as session:
                write_sqlite(session.connection(), path)
            return
        # Raw: VACUUM refuses the BEGIN of a Connection, and query_only refuses VACUUM. It only reads this database.
        with self._in_use(), closing(self._writer.raw_connection()) as connection:
            connection.cursor().execute("VACUUM INTO ?", (str(path),))

    def fill_from(self, path: Path) -> None:
        """Put what `copy_to` has written in the place of all that is Winnow's in PostgreSQL, at once or not at all.

        Raises CommitUnknownError, and as `db.as_sqlite.read_sqlite`.
        """
        with certain(self._committing, self._reader), self._writer.begin() as connection:
            read_sqlite(path, connection)

    def close(self) -> None:
        """Close every connection; the database may be used again afterwards, whatever file is at its path then."""
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
