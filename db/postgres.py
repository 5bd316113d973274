"""How PostgreSQL is opened: what transactions see, how long they wait, when they are on disk, who may change tables.

Each round trip to the server costs both sides a wakeup, while others wait for a lock. So one round trip begins a
transaction, applies its settings and takes the lock on its project.
"""

from __future__ import annotations

import select
import time
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

from db.sqlite import PASSING

if TYPE_CHECKING:
    import psycopg
    from psycopg.rows import TupleRow
    from sqlalchemy.orm import Session

# The cursor by which SQLAlchemy asks PostgreSQL.

_NOTHING = (None,) * 5


@cache
def short_cursor() -> type[psycopg.Cursor[TupleRow]]:
    """Return a cursor class that describes a column by name and type only, which is all that SQLAlchemy needs of a
    result: the full description of the columns takes as long as a statement."""
    from psycopg import Cursor  # loaded if there is PostgreSQL
    from psycopg.rows import TupleRow

    class ShortCursor(Cursor[TupleRow]):
        @property
        def description(self) -> Any:
            found = self.pgresult
            if found is None or not found.nfields:
                return None
            return [(_name(found.fname(at)), found.ftype(at), *_NOTHING) for at in range(found.nfields)]

    return ShortCursor


@lru_cache(1_000)
def _name(given: bytes | None) -> str:
    return (given or b"").decode()


WAIT_SECONDS = 30
"""Seconds a transaction waits for another one, as on SQLite, before it gives up."""
IDLE_SECONDS = 600
"""Seconds after which PostgreSQL ends a transaction in which nothing happens: of a process that hangs, or of a machine
that is gone. The longest that Winnow does between two statements is reading a long log."""
CHANGE_SECONDS = 600
"""Seconds a start waits for another one that changes the tables."""

# Settings of the administrator for server, database or user stay.
_LIMIT = text(
    "SELECT set_config(name, given, false) FROM (VALUES ('lock_timeout', :wait), "
    "('idle_in_transaction_session_timeout', :idle)) AS wanted (name, given) WHERE current_setting(name) = '0'"
).bindparams(wait=f"{WAIT_SECONDS}s", idle=f"{IDLE_SECONDS}s")
# Acknowledged data must be on the disk. Only `off` gives that up; the other values say on which disks, too.
_DURABLE = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
_CHANGING = 0x57494E4E4F57  # "WINNOW": the number of a lock used for nothing else


PROJECT = "winnow_project"
"""Execution option of a connection: number of the project whose other writers wait until the transaction has ended."""
READS, SINGLE = "winnow_reads", "winnow_single"
"""Execution options of an engine: transactions are for reading; there is one query, which needs no transaction."""
QUIET = 60.0
"""Seconds after which an idle connection is tested before use: a firewall between may have dropped it silently."""


def postgres_engine(url: URL) -> Engine:
    """For writing. A writer that has waited for `entries.lock` must see what was committed meanwhile."""
    engine = create_engine(
        url,
        # The listener below begins transactions, not the driver.
        connect_args={"fallback_application_name": "winnow", "autocommit": True, "cursor_factory": short_cursor()},
        pool_size=20,
        pool_use_lifo=True,  # statements are prepared in those that are used
        hide_parameters=True,  # an error must not write hashes of secrets to the log
    )
    limit = str(_LIMIT.compile(engine, compile_kwargs={"literal_binds": True}))

    @event.listens_for(engine, "connect")
    def _set_up(connection: psycopg.Connection[TupleRow], _record: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute(limit)
            cursor.execute(_DURABLE)

    @event.listens_for(engine, "checkin")
    def _note(_connection: object, record: ConnectionPoolEntry) -> None:
        record.info["used"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def _look(connection: psycopg.Connection[TupleRow], record: ConnectionPoolEntry, _proxy: object) -> None:
        quiet = time.monotonic() - record.info.get("used", -QUIET)
        if not _hears(connection, quiet):
            raise InvalidatePoolError  # the other connections are older, too; a new one is opened

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if SINGLE not in options:
            connection.exec_driver_sql(_beginning(options))

    return engine


def _beginning(options: Mapping[str, Any]) -> str:
    """Statement that begins a transaction. It sets the isolation level, which the server's settings could change."""
    if READS in options:
        return "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    parts = ["BEGIN ISOLATION LEVEL READ COMMITTED"]
    if PASSING in options:
        parts.append("SET LOCAL synchronous_commit = off")
    if PROJECT in options:
        parts.append(f"SELECT FROM projects WHERE id = {int(options[PROJECT])} FOR NO KEY UPDATE")
    return "; ".join(parts)


def _hears(connection: psycopg.Connection[TupleRow], quiet: float) -> bool:
    """Whether the server is there. A connection that the server has ended becomes readable. Checking that takes
    microseconds, without a round trip.

    quiet : seconds since the connection was used
    """
    try:
        ready = select.poll()
        ready.register(connection.pgconn.socket, select.POLLIN)
        if quiet >= QUIET or ready.poll(0):
            connection.execute("")
    except connection.Error:
        return False
    return True


def reader_of(engine: Engine) -> Engine:
    """The same for reading only: it sees the database at one moment, as on SQLite."""
    return engine.execution_options(**{READS: True})


def glancer_of(engine: Engine) -> Engine:
    """The same for one query, without a transaction around it."""
    return engine.execution_options(**{READS: True, SINGLE: True})


def database_size(session: Session) -> int:
    """Return the bytes of the database on the server's disk."""
    return int(session.execute(text("SELECT pg_database_size(current_database())")).scalar_one())


def alone_with_tables(connection: Connection) -> None:
    """Lock out all others that call this, until the end of the transaction, so that one process changes the
    tables."""
    connection.execute(text(f"SET LOCAL lock_timeout = '{CHANGE_SECONDS}s'"))
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _CHANGING})
