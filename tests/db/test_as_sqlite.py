"""PostgreSQL's database as an SQLite file, and back: every value of every table, of every version."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import inspect, select, text

from db import engine, people
from db.base import Base
from db.copies import check_copy
from db.engine import Database, DatabaseBusyError, revisions
from db.sqlite import upgrade
from tests.migrated import LATER, a_step_more
from tests.postgres import Server

from .conftest import NOW
from .filled import AT, SAID, fill

pytestmark = pytest.mark.postgres


@contextmanager
def opened(url: str) -> Iterator[Database]:
    database = Database(url)
    try:
        yield database
    finally:
        database.close()


@pytest.fixture
def used(postgres_url: str) -> Iterator[Database]:
    with opened(postgres_url) as made:
        made.migrate()
        with made.write() as session:
            fill(session)
        yield made


@pytest.fixture
def other(postgres_server: Server) -> Iterator[Database]:
    with postgres_server.empty_database() as url, opened(url) as made:
        yield made


def rows(database: Database) -> dict[str, list[str]]:
    """Every value of every table; JSON as the stored text."""
    with database.read() as session:
        return {
            one: sorted(
                map(str, session.execute(text(f"SELECT t::text FROM {one} AS t")))  # noqa: S608 - our own
            )
            for one in inspect(session.connection()).get_table_names()
        }


def test_copying_to_sqlite_and_back_keeps_every_value(used: Database, other: Database, tmp_path: Path) -> None:
    used.copy_to(tmp_path / "a.sqlite3")
    assert check_copy(tmp_path / "a.sqlite3", "rows").counts == {"projects": 2, "entries": 2, "people": 2}
    other.fill_from(tmp_path / "a.sqlite3")
    assert rows(other) == rows(used)
    assert set(rows(used)) == {*Base.metadata.tables, "alembic_version"}


def test_sqlite_copy_of_postgres_is_readable(used: Database, tmp_path: Path) -> None:
    used.copy_to(tmp_path / "a.sqlite3")
    with opened(f"sqlite:///{tmp_path / 'a.sqlite3'}") as copy:
        copy.migrate()
        for one in Base.metadata.sorted_tables:
            found = []
            for database in (used, copy):
                with database.read() as session:
                    found.append(session.execute(select(one).order_by(*one.primary_key)).all())
            assert found[0] == found[1], one.name
        projects = Base.metadata.tables["projects"]
        with copy.read() as session:
            (project, _) = session.execute(select(projects.c.roles, projects.c.created_at)).all()
        assert tuple(project) == (SAID, AT)
        assert copy.identity() == used.identity() is not None


def test_restored_database_continues_its_numbering(used: Database, other: Database, tmp_path: Path) -> None:
    used.copy_to(tmp_path / "a.sqlite3")
    other.fill_from(tmp_path / "a.sqlite3")
    before, after = used.identity(), other.identity()
    assert before is not None
    assert after is not None
    assert (after.id, after.height) == (before.id, before.height + 1), "putting it back was a commit"
    other.migrate()
    with other.write() as session:
        assert people.add(session, "Zoe", "annotator", NOW) == 3
    later = other.identity()
    assert later is not None
    assert later.height == after.height + 1


def test_empty_database_can_be_copied(other: Database, postgres_server: Server, tmp_path: Path) -> None:
    with postgres_server.empty_database() as url, opened(url) as new:
        new.migrate()
        new.copy_to(tmp_path / "a.sqlite3")
        other.fill_from(tmp_path / "a.sqlite3")
    with other.write() as session:
        assert people.add(session, "Ada", "owner", NOW) == 1


@pytest.mark.proof
def test_foreign_tables_in_copy_are_not_restored(used: Database, other: Database, tmp_path: Path) -> None:
    used.copy_to(tmp_path / "a.sqlite3")
    with closing(sqlite3.connect(tmp_path / "a.sqlite3")) as there:
        there.executescript("CREATE TABLE _litestream_seq (x); CREATE INDEX mine ON entries (at)")
    other.fill_from(tmp_path / "a.sqlite3")
    assert rows(other) == rows(used)


@pytest.mark.proof
def test_copy_of_earlier_version_replaces_database(used: Database, other: Database, tmp_path: Path) -> None:
    """As before a migration; the content of the other database is replaced."""
    before = revisions()[0]
    with a_step_more(tmp_path):
        other.migrate()
        assert other.revision() == LATER
        with used._writer.begin() as connection:
            engine._drop(connection)
            upgrade(connection, before)
            connection.execute(
                text("INSERT INTO people (name, role, created_at) VALUES ('Ada', 'owner', '2026-01-01')")
            )
        used.copy_to(tmp_path / "a.sqlite3")
        found = check_copy(tmp_path / "a.sqlite3", "rows")
        assert (found.revision, found.counts["people"]) == (before, 1)
        other.fill_from(tmp_path / "a.sqlite3")
        assert rows(other) == rows(used)


def test_copy_leaves_out_concurrent_commits(used: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = engine._carry

    def late(*given: object) -> None:
        with used.write() as session:
            session.execute(text("UPDATE people SET name = name || '.'"))
            session.execute(text("INSERT INTO groups (name, created_at) VALUES (now()::text || random(), now())"))
        plain(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(engine, "_carry", late)
    before = rows(used)
    used.copy_to(tmp_path / "a.sqlite3")
    with closing(sqlite3.connect(tmp_path / "a.sqlite3")) as copy:
        assert copy.execute("SELECT count(*) FROM groups").fetchone() == (2,)
        names = [name for (name,) in copy.execute("SELECT name FROM people")]
    assert not any(name.endswith(".") for name in names)
    assert rows(used) != before


def test_restore_is_refused_while_another_client_is_connected(
    used: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used.copy_to(tmp_path / "a.sqlite3")
    monkeypatch.setattr(engine, "LEAVING", 0.1)
    before = rows(used)
    with (
        opened(used._writer.url.render_as_string(hide_password=False)) as mine,
        pytest.raises(DatabaseBusyError, match="1 other connection of Winnow's"),
    ):
        mine.fill_from(tmp_path / "a.sqlite3")
    assert rows(used) == before


def test_failed_restore_changes_nothing(used: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used.copy_to(tmp_path / "a.sqlite3")
    before = rows(used)
    with closing(sqlite3.connect(tmp_path / "a.sqlite3")) as copy:
        copy.execute("PRAGMA ignore_check_constraints = ON")
        copy.execute("UPDATE people SET role = 'king' WHERE id = 2")
        copy.commit()
    with pytest.raises(Exception, match="ck_people_role"):
        used.fill_from(tmp_path / "a.sqlite3")
    assert rows(used) == before


def test_copy_with_missing_rows_is_refused(used: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "insert", lambda _table: text("DELETE FROM people WHERE id < 0"))
    with pytest.raises(RuntimeError, match="the table groups and its copy differ in their rows: 2 and 0"):
        used.copy_to(tmp_path / "a.sqlite3")
    with used.read() as session:
        assert session.execute(text("SELECT count(*) FROM people")).scalar_one() == 2
