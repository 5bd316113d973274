"""How PostgreSQL is opened: what transactions see, how long they wait, when they are on disk, who may change tables."""

from __future__ import annotations

from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text

from db.sqlite_engine import PASSING

WAIT_SECONDS = 30
"""Seconds a transaction waits for another one, as on SQLite, before it gives up."""
IDLE_SECONDS = 600
"""Seconds after which PostgreSQL ends a transaction in which nothing happens: of a process that hangs, or of a machine
that is gone. The longest that Winnow does between two statements is reading a long log."""
CHANGE_SECONDS = 600
"""Seconds a start waits for another one that changes the tables."""

# What the administrator has set for the server, the database or the user is left as it is.
_LIMIT = text(
    "SELECT set_config(name, given, false) FROM (VALUES ('lock_timeout', :wait), "
    "('idle_in_transaction_session_timeout', :idle)) AS wanted (name, given) WHERE current_setting(name) = '0'"
).bindparams(wait=f"{WAIT_SECONDS}s", idle=f"{IDLE_SECONDS}s")
# What is acknowledged must be on the disk. Only `off` gives that up; the other values say on which disks, too.
_DURABLE = (
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
)
_CHANGING = 0x57494E4E4F57  # "WINNOW": the number of a lock that is about nothing else


def postgres_engine(url: URL) -> Engine:
    """For writing. A writer that has waited for `entries.lock` must see what was committed meanwhile."""
    engine = create_engine(
        url,
        connect_args={"fallback_application_name": "winnow"},
        pool_size=20,
        pool_pre_ping=True,
        isolation_level="READ COMMITTED",  # not left to the server's settings
        hide_parameters=True,  # hashes of secrets must not come into the log with an error
    )
    limit = str(_LIMIT.compile(engine, compile_kwargs={"literal_binds": True}))

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(limit)
            cursor.execute(_DURABLE)
        connection.commit()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if PASSING in connection.get_execution_options():
            connection.exec_driver_sql("SET LOCAL synchronous_commit = off")

    return engine


def reader_of(engine: Engine) -> Engine:
    """The same for reading only: it sees the database at one moment, as on SQLite."""
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def alone_with_tables(connection: Connection) -> None:
    """Until the end of the transaction nobody else who asks the same changes the tables."""
    connection.execute(text(f"SET LOCAL lock_timeout = '{CHANGE_SECONDS}s'"))
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _CHANGING})
