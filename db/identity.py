"""Identity of a database and its progress, so that another database, or an older copy, is not mistaken for it.

Every database has a random id. Its height grows with every commit that changed something: on SQLite it is
`user_version`, which is in the header of the file, on PostgreSQL the sequence `identity_height`. Both are noted in a
file outside of the database, after the commit, so that the note is never ahead of what is stored.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import tempfile
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, make_url, text

from db.opened_file import DatabaseUnavailableError

if TYPE_CHECKING:
    import psycopg
    from psycopg.rows import TupleRow
    from sqlalchemy.orm import Session

# Notices about logs: PostgreSQL notifies every listening process which project's log has grown, and to which entry.
#
# A notification is sent with the commit of the entries, and lost if no one listens. That does no harm: every process
# reads the log before it shows or answers anything. SQLite sends no notifications.

CHANNEL = "winnow_log"
_NEWS = "winnow_news"
"""Execution option of a connection: {project: seq of its latest entry}, to be reported with the commit."""


def tell(session: Session, project_id: int, seq: int) -> None:
    """Notify listeners, once this transaction is committed, that the project's log ends with this entry."""
    if session.get_bind().dialect.name == "sqlite":
        return
    connection = session.connection()
    news = connection.get_execution_options().get(_NEWS, {})
    connection.execution_options(**{_NEWS: {**news, project_id: seq}})


def words_of(connection: Connection) -> str:
    """Statements that notify listeners, to be sent just before the commit; empty if there is no news."""
    news: dict[int, int] = connection.get_execution_options().get(_NEWS, {})
    return "".join(f"NOTIFY {CHANNEL}, '{int(project)} {int(seq)}'; " for project, seq in news.items())


class Listener:
    """A separate connection that listens from its creation on.

    url : of a PostgreSQL database, as for `db.engine.Database`      Raises DatabaseUnavailableError, here and later
    """

    def __init__(self, url: str) -> None:
        import psycopg  # loaded if there is PostgreSQL

        self._fault = psycopg.Error
        place = make_url(url)
        words, named = place.get_dialect()().create_connect_args(place)
        named = {**named, "autocommit": True, "fallback_application_name": "winnow"}
        try:
            self._connection: psycopg.Connection[TupleRow] = psycopg.connect(*words, **named)
            self._connection.execute(f"LISTEN {CHANNEL}")
        except psycopg.Error as error:
            raise _away(error) from error

    def wait(self, seconds: float) -> dict[int, int]:
        """{project: seq of its latest entry} of the news since the last call; waits up to this many seconds for
        some."""
        try:
            told = [*self._connection.notifies(timeout=seconds, stop_after=1)]
            told += self._connection.notifies(timeout=0)
        except self._fault as error:
            raise _away(error) from error
        found: dict[int, int] = {}
        for project, _, seq in (one.payload.partition(" ") for one in told):
            found[int(project)] = max(int(seq), found.get(int(project), 0))
        return found

    def close(self) -> None:
        self._connection.close()


def _away(error: Exception) -> DatabaseUnavailableError:
    return DatabaseUnavailableError(f"PostgreSQL sends no notifications now: {error}.")


_WIDTH = 128
"""Bytes of a note, small enough to be overwritten in one piece."""
_COUNT = """
    SELECT CASE WHEN mine IS NOT NULL THEN nextval(to_regclass('identity_height')) END, mine::text,
        pg_stat_get_bgwriter_stat_reset_time()::text
    FROM pg_current_xact_id_if_assigned() AS mine
"""
"""For PostgreSQL. The height is NULL in tables from before there was one, the number if nothing was written. The
commit is a word of its own: where its answer is lost, the number is known by which to ask (`db.engine`)."""


_LOCK = {True: text("SELECT id FROM identity"), False: text("SELECT id FROM identity FOR UPDATE")}


@dataclass(frozen=True)
class Identity:
    """id : 32 hex digits      height : how many commits that changed something it has seen, or more"""

    id: str
    height: int

    @property
    def mark(self) -> int:
        """The part of the id in the header of SQLite's file: 31 bits."""
        return int(self.id[:8], 16) & 0x7FFFFFFF


@dataclass(frozen=True)
class Commit:
    """A commit that changes something and is about to be sent. height : of the database after it; None in tables from
    before there was one
    number, since : of PostgreSQL, the transaction's, and when the server began its figures (`db.engine`)
    """

    height: int | None
    number: str | None = None
    since: str | None = None


class NoteError(ValueError):
    """The note cannot be read or is not a note."""


class Note:
    """The file with the identity that the database had when it was last seen."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Identity | None:
        """The noted identity; None if nothing is. Raises NoteError."""
        try:
            found = json.loads(self.path.read_bytes())
            return Identity(str(found["id"]), int(found["height"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NoteError(f"{self.path} does not say which database was seen last ({error}).") from error

    def seen_at(self) -> datetime:
        """When it was noted. Raises OSError."""
        return datetime.fromtimestamp(self.path.stat().st_mtime, UTC)

    def write(self, identity: Identity) -> None:
        """Note it. Raises OSError.

        After a power cut an earlier note may be there, or none, but not a part of one: the first is named once it is
        on the disk, and those that follow are written over it within one sector.
        """
        line = (json.dumps(asdict(identity)).ljust(_WIDTH - 1) + "\n").encode()
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            self._begin(line)
            return
        try:
            os.pwrite(descriptor, line, 0)
        finally:
            os.close(descriptor)

    def _begin(self, line: bytes) -> None:
        descriptor, aside = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}-")  # for this user alone
        try:
            try:
                os.write(descriptor, line)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            Path(aside).replace(self.path)
        except BaseException:
            Path(aside).unlink(missing_ok=True)
            raise

    def try_to_write(self, identity: Identity) -> None:
        """Note it if possible: an outdated note detects less, but is never wrong."""
        with contextlib.suppress(OSError):
            self.write(identity)


def read_identity(connection: Connection) -> Identity | None:
    """The identity of the database; None if its tables are older than identities."""
    if not inspect(connection).has_table("identity"):
        return None
    mine = connection.execute(text("SELECT id FROM identity")).scalar_one()
    sqlite = connection.dialect.name == "sqlite"
    height = "PRAGMA user_version" if sqlite else "SELECT last_value FROM identity_height"
    return Identity(mine, int(connection.execute(text(height)).scalar_one()))


def lock_for_writing(session: Session) -> None:
    """Take the write lock that SQLite's transactions take anyway; on PostgreSQL lock the row of the identity, which a
    standby or a database that is to read only refuses. Raises DBAPIError."""
    session.execute(_LOCK[session.get_bind().dialect.name == "sqlite"])


def begin_counting(connection: Connection) -> None:
    """Start counting; call it when an SQLite transaction begins that may write."""
    connection.info["changes"] = _sqlite(connection).total_changes


def count_commit(connection: Connection) -> Commit | None:
    """Count a commit and notify listeners of it; call it just before the commit. None if nothing was changed."""
    if connection.dialect.name == "sqlite":
        driver = _sqlite(connection)
        if driver.total_changes == connection.info["changes"]:
            return None
        height = int(driver.execute("PRAGMA user_version").fetchone()[0]) + 1
        driver.execute(f"PRAGMA user_version = {height}")
        return Commit(height)
    driver_of_postgres = connection.connection.driver_connection
    if driver_of_postgres is not None and driver_of_postgres.info.transaction_status.name == "INERROR":
        return None  # an error in the transaction was ignored: PostgreSQL will roll it back
    height, number, since = connection.exec_driver_sql(f"{_COUNT}; {words_of(connection)}").one()
    return None if number is None else Commit(None if height is None else int(height), number, since)


def check_same(connection: psycopg.Connection[TupleRow], mine: str) -> None:
    """Check that a new psycopg connection leads to the database with this id; close it if it does not.

    Raises DatabaseUnavailableError.
    """
    with connection.cursor() as cursor:
        there = cursor.execute("SELECT to_regclass('identity')").fetchone() not in (None, (None,))
        found = cursor.execute("SELECT id FROM identity").fetchone() if there else None
    connection.rollback()
    if found is None or found[0] != mine:
        connection.close()
        raise DatabaseUnavailableError(
            "The database in PostgreSQL is not the one that Winnow was started with. Nothing was "
            "stored. Fix: put the right one back, and Winnow continues by itself; or stop Winnow, accept this one "
            "(winnow accept-store), and start it again."
        )


def _sqlite(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        raise TypeError(f"A connection of SQLite was expected, not {driver!r}.")
    return driver
