"""PostgreSQL: engine, cursors, notifications."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import DBAPIError

from db import entries, people
from db import postgres as postgres_engine
from db.base import is_cut_off, is_gone, is_held
from db.engine import Database, DatabaseUnavailableError
from db.identity import Listener
from db.postgres import short_cursor
from tests.db.conftest import NOW, add_project, new_entry
from tests.postgres import Server

# Opening PostgreSQL: no one waits forever, and only one of two simultaneous starts makes the tables


pytestmark = pytest.mark.postgres


def setting(database: Database, name: str) -> str:
    with database.read() as session:
        return str(session.execute(text("SELECT current_setting(:name)"), {"name": name}).scalar_one())


def test_connections_have_lock_and_idle_timeouts(postgres_url: str) -> None:
    database = Database(postgres_url)
    assert setting(database, "lock_timeout") == "30s"
    assert setting(database, "idle_in_transaction_session_timeout") == "10min"
    database.close()


def test_timeouts_set_by_administrator_are_kept(postgres_url: str) -> None:
    name = postgres_url.partition("?")[0].rpartition("/")[2]
    database = Database(postgres_url)
    with database.write() as session:
        session.execute(text(f"ALTER DATABASE {name} SET lock_timeout = '7s'"))
    database.close()
    assert setting(database, "lock_timeout") == "7s"
    assert setting(database, "idle_in_transaction_session_timeout") == "10min"
    database.close()


@pytest.mark.parametrize(
    ("given", "has"), [("off", "on"), ("local", "local"), ("remote_write", "remote_write"), ("on", "on")]
)
@pytest.mark.parametrize("of", ["DATABASE {name}", "ROLE winnow IN DATABASE {name}"])
def test_commits_are_durable_despite_server_settings(postgres_url: str, of: str, given: str, has: str) -> None:
    """`off` would lose acknowledged answers; other settings are up to the administrator."""
    name = postgres_url.partition("?")[0].rpartition("/")[2]
    database = Database(postgres_url)
    with database.write() as session:
        session.execute(text(f"ALTER {of.format(name=name)} SET synchronous_commit = '{given}'"))
    database.close()
    for _ in range(2):  # also of a connection that was returned to the pool
        with database.write() as session:
            assert session.execute(text("SHOW synchronous_commit")).scalar_one() == has
    database.close()


def rename(database: Database, person: int, wait: str | None = None) -> None:
    with database.write() as session:
        if wait is not None:
            session.execute(text(f"SET LOCAL lock_timeout = '{wait}'"))
        session.execute(RENAME, {"id": person})


RENAME = text("UPDATE people SET name = 'B' WHERE id = :id")


def hang(hangs: Database, waits: Database, person: int) -> None:
    with hangs.write() as held:
        held.execute(RENAME, {"id": person})
        with pytest.raises(DBAPIError) as caught:
            rename(waits, person)
        assert is_held(caught.value)
        held.execute(text("SET idle_in_transaction_session_timeout = '1ms'"))
        rename(waits, person, "60s")  # waits until the other was ended
        held.execute(RENAME, {"id": person})


def test_hanging_transaction_is_ended_and_next_continues(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(postgres_url)
    database.migrate()
    with database.write() as session:
        ada = people.add(session, "Ada", "owner", NOW)
    database.close()
    short = postgres_engine._LIMIT.bindparams(wait="300ms", idle="10min")
    monkeypatch.setattr(postgres_engine, "_LIMIT", short)
    waits = Database(postgres_url)
    hangs = Database(postgres_url)
    with pytest.raises(DBAPIError) as cut:
        hang(hangs, waits, ada)
    for one in (waits, hangs):
        one.close()
    # Its last words do not always arrive before the end of the connection does.
    assert is_cut_off(cut.value) or is_gone(cut.value)


def test_two_servers_starting_together_migrate_once(postgres_server: Server) -> None:
    faults: list[BaseException] = []

    def start(database: Database, together: threading.Barrier) -> None:
        try:
            together.wait()
            database.migrate()
        except BaseException as error:
            faults.append(error)

    for _ in range(3):
        with postgres_server.empty_database() as url:
            servers, together = [Database(url) for _ in range(3)], threading.Barrier(3)
            threads = [threading.Thread(target=start, args=(one, together)) for one in servers]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert faults == []
            assert len({one.identity() for one in servers}) == 1
            for one in servers:
                one.close()


def statements(database: Database) -> list[str]:
    """Record statements to PostgreSQL from now on, with a delay in both directions."""
    said: list[str] = []

    @event.listens_for(database._writer, "before_cursor_execute")
    def _note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        said.append(statement)

    return said


def test_write_needs_few_statements(postgres: Database) -> None:
    project = add_project(postgres)
    said = statements(postgres)
    with postgres.write(lasting=False, project=project) as session:
        last = entries.last_seq(session, project)
        assert session.execute(text("SHOW synchronous_commit")).scalar_one() == "off"
        assert session.execute(text("SHOW transaction_isolation")).scalar_one() == "read committed"
    assert said[0].count(";") == 2
    assert "FOR NO KEY UPDATE" in said[0]
    assert len(said) == 4
    said.clear()
    with postgres.write(project=project) as session:
        entries.append(session, new_entry(project), last)
    assert len(said) == 3
    assert "nextval" in said[-1]
    assert "NOTIFY" in said[-1]
    assert "COMMIT" not in said[-1], "a word of its own: its answer may be lost"
    said.clear()
    with postgres.read() as session:
        assert entries.last_seq(session, project) == last + 1, "it is committed"
        assert session.execute(text("SHOW transaction_isolation")).scalar_one() == "repeatable read"
        assert session.execute(text("SHOW transaction_read_only")).scalar_one() == "on"
    assert len(said) == 4
    said.clear()
    with postgres.read(single=True) as session:
        assert entries.last_seq(session, project) == last + 1
    assert len(said) == 1


def test_second_writer_of_project_waits_for_first(postgres: Database) -> None:
    one, other = add_project(postgres, "birds"), add_project(postgres, "frogs")
    with postgres.write(project=one) as first:
        with postgres.write(project=other) as session:  # of another project: at once
            session.execute(text("SET lock_timeout = '50ms'"))
        with pytest.raises(DBAPIError) as caught, postgres.write(project=one):  # over the same connection
            pass
        assert is_held(caught.value)
        entries.append(first, new_entry(one), 0)
    with postgres.write(project=one) as second:
        assert entries.last_seq(second, one) == 1


END = text(
    "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


def test_terminated_connection_is_replaced(postgres: Database) -> None:
    with postgres.read(), postgres.read() as session, postgres.read() as another:
        for held in (session, another):  # three connections in the pool
            held.execute(text("SELECT 1"))
    with postgres.read() as session:
        assert session.execute(END).scalar_one() >= 1
    for _ in range(3):
        with postgres.write() as session:
            assert session.execute(text("SELECT 1")).scalar_one() == 1


def test_long_idle_connection_is_checked_before_use(postgres: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy between the two may have dropped the connection silently."""
    with postgres.read() as session:
        raw = session.connection().connection.driver_connection
        assert raw is not None
        descriptor = raw.pgconn.socket
    with socket.socket(fileno=os.dup(descriptor)) as line:
        line.shutdown(socket.SHUT_WR)  # requests do not arrive; replies cannot be read
    monkeypatch.setattr(postgres_engine, "QUIET", 0.0)
    with postgres.write() as session:
        assert session.connection().connection.driver_connection is not raw


# PostgreSQL only. The other tests of this folder run on it as well, through the `database` fixture


def test_truncating_log_is_refused(postgres: Database) -> None:
    with pytest.raises(DBAPIError, match="append-only"), postgres.write() as session:
        session.execute(text("TRUNCATE entries"))


def test_only_entries_of_same_project_wait_for_each_other(postgres: Database) -> None:
    one, two = add_project(postgres, "one"), add_project(postgres, "two")
    with postgres.write() as first:
        entries.append(first, new_entry(one))
        with postgres.write() as second:
            entries.append(second, new_entry(two))
        with postgres.write() as third:
            third.execute(text("SET LOCAL lock_timeout = '50ms'"))
            with pytest.raises(DBAPIError, match="lock timeout"):
                entries.append(third, new_entry(one, row=4))
    with postgres.write() as session:
        assert entries.append(session, new_entry(one, row=4)).seq == 2


def test_stamp_leaves_no_transaction_open(postgres: Database) -> None:
    postgres.stamp()
    with postgres.read() as session:
        states = session.execute(
            text(
                "SELECT state FROM pg_stat_activity WHERE datname = current_database() "
                "AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )
        )
        assert states.scalars().all() == ["idle"]


# Column types for SQLAlchemy


QUERY = "SELECT 1 AS one, 'wren' AS \"grüne Vögel\", now() AS at, NULL::json AS nothing"


def test_short_cursor_describes_columns_by_name_and_type(postgres_url: str) -> None:
    with psycopg.connect(postgres_url.replace("+psycopg", "")) as connection:
        whole = connection.execute(QUERY)
        short = short_cursor()(connection).execute(QUERY)
        assert whole.description is not None
        assert [one[:2] for one in short.description] == [(one.name, one.type_code) for one in whole.description]
        assert {one[2:] for one in short.description} == {(None,) * 5}, "as many parts as PEP 249 names"
        assert short.fetchall() == whole.fetchall()


def test_short_cursor_without_columns_has_no_description(postgres_url: str) -> None:
    with psycopg.connect(postgres_url.replace("+psycopg", "")) as connection:
        cursor = short_cursor()(connection)
        assert cursor.description is None
        assert cursor.execute("CREATE TEMPORARY TABLE birds (name text)").description is None


# PostgreSQL's notices of new entries, and when they come


LONG = 60.0
"""Seconds that notifications may take; they arrive in milliseconds."""


@pytest.fixture
def listener(postgres: Database, postgres_url: str) -> Iterator[Listener]:
    made = Listener(postgres_url)
    yield made
    made.close()


def give_up(database: Database, project: int) -> None:
    with database.write() as session:
        entries.append(session, new_entry(project, row=2))
        raise RuntimeError("given up")


def test_commit_notifies_listener_of_log_heights(postgres: Database, listener: Listener) -> None:
    birds, frogs = add_project(postgres, "birds"), add_project(postgres, "frogs")
    with postgres.write() as session:
        entries.append(session, new_entry(birds, row=0))
        entries.append(session, new_entry(frogs, row=0))
        entries.append(session, new_entry(birds, row=1))
        assert listener.wait(0) == {}, "it may still be undone"
    assert listener.wait(LONG) == {birds: 2, frogs: 1}
    with pytest.raises(RuntimeError, match="given up"):
        give_up(postgres, birds)
    with postgres.write() as session:
        entries.append(session, new_entry(frogs, row=1))
    assert listener.wait(LONG) == {frogs: 2}, "of what was undone nothing is told, then or later"
    with postgres.write() as session:
        session.execute(text("UPDATE projects SET name = 'toads' WHERE id = :id"), {"id": frogs})
    assert listener.wait(0) == {}


def test_listener_reports_lost_connection(postgres: Database, postgres_url: str, listener: Listener) -> None:
    with postgres.read() as session:
        session.execute(
            text(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        ).all()
    with pytest.raises(DatabaseUnavailableError, match="sends no notifications"):
        listener.wait(LONG)
    with pytest.raises(DatabaseUnavailableError, match="sends no notifications"):
        Listener(postgres_url.replace("host=", "host=/nowhere"))
