"""The engine on SQLite, tables, schema and migrations."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError, DBAPIError, IntegrityError, OperationalError, StatementError
from sqlalchemy.orm import Session

import db.engine
from db import models, people
from db.base import Base, is_damaged
from db.engine import MIGRATIONS, Database, DatabaseBusyError, revisions
from db.opened_file import OpenedFile
from db.sqlite import BUSY_SECONDS, Differences, Extra, find_differences, path_in, sqlite_engine, upgrade
from db.sqlite import revisions as sqlite_revisions
from tests.db.conftest import NOW
from tests.migrated import LATER, a_step_more, lay_database, lay_steps

# engine


@pytest.mark.parametrize("way", ["write", "read"])
def test_sqlite_is_set_for_durability(sqlite: Database, way: str) -> None:
    expected = {"journal_mode": "wal", "synchronous": 2, "busy_timeout": 30000, "foreign_keys": 1}
    with getattr(sqlite, way)() as session:
        found = {pragma: session.execute(text(f"PRAGMA {pragma}")).scalar_one() for pragma in expected}
    assert found == expected


def test_non_lasting_write_skips_sync_and_later_writes_do_not(database: Database) -> None:
    how, on_disk, not_yet = ("PRAGMA synchronous", "2", "1")
    if not database.is_sqlite:
        how, on_disk, not_yet = ("SHOW synchronous_commit", "on", "off")
    for lasting in (True, False, True, False, True):
        with database.write(lasting=lasting) as session:
            assert str(session.execute(text(how)).scalar_one()) == (on_disk if lasting else not_yet)
    with database.read() as session:
        assert str(session.execute(text(how)).scalar_one()) == on_disk


def test_non_lasting_write_does_not_raise_height(database: Database) -> None:
    """Otherwise the note would be ahead of a database that has lost it, which the next start would refuse."""
    with database.write() as session:
        people.add(session, "eve", "owner", NOW)
    before = database.identity()
    with database.write(lasting=False) as session:
        people.add(session, "ada", "owner", NOW)
    assert database.identity() == before
    with database.write() as session:
        people.add(session, "bob", "owner", NOW)
    assert before is not None
    after = database.identity()
    assert after is not None
    assert after.height > before.height
    with database.read() as session:
        assert {one.name for one in people.listed(session)} == {"ada", "bob", "eve"}


def test_committed_write_is_visible_to_readers(database: Database) -> None:
    with database.write() as session:
        person_id = people.add(session, "ada", "owner", NOW)
    with database.read() as session:
        assert people.find(session, person_id) == people.Person(person_id, "ada", "owner", NOW, None)


def test_error_inside_write_rolls_back(database: Database) -> None:
    def fail() -> None:
        with database.write() as session:
            people.add(session, "ada", "owner", NOW)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with database.write() as session:  # the turn was returned
        assert people.listed(session) == []


def test_write_in_read_session_is_refused(database: Database) -> None:
    with pytest.raises(DBAPIError, match=r"read-?only"), database.read() as session:
        people.add(session, "ada", "owner", NOW)
    with database.write() as session:  # on the connection that was read-only a moment ago
        people.add(session, "ada", "owner", NOW)


def test_reader_does_not_wait_for_writer(database: Database) -> None:
    with database.write() as session:
        people.add(session, "ada", "owner", NOW)
        with database.read() as other:
            assert people.listed(other) == []


def test_writer_waiting_too_long_raises_busy_error(sqlite: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db.engine, "BUSY_SECONDS", 0.05)
    with sqlite.write(), pytest.raises(DatabaseBusyError, match="try again"), sqlite.write():
        pass  # pragma: no cover


def test_copy_is_consistent_during_another_write(sqlite: Database, tmp_path: Path) -> None:
    with sqlite.write() as session:
        people.add(session, "ada", "owner", NOW)
    with sqlite.write() as session:
        people.add(session, "bob", "annotator", NOW)
        sqlite.copy_to(tmp_path / "copy.sqlite3")
    copy = Database(f"sqlite:///{tmp_path / 'copy.sqlite3'}")
    with copy.read() as session:
        assert [one.name for one in people.listed(session)] == ["ada"]
    copy.close()
    with pytest.raises(OperationalError, match="readonly"), sqlite.read() as session:
        people.add(session, "cleo", "annotator", NOW)


def test_writers_take_turns(sqlite: Database) -> None:
    inside = 0
    most = 0

    def write() -> None:
        nonlocal inside, most
        with sqlite.write():
            inside += 1
            most = max(most, inside)
            threading.Event().wait(0.005)
            inside -= 1

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_read_session_sees_one_snapshot(database: Database) -> None:
    with database.read() as session:
        assert people.listed(session) == []
        with database.write() as other:
            people.add(other, "ada", "owner", NOW)
        assert people.listed(session) == []
    with database.read() as session:
        assert len(people.listed(session)) == 1


def test_times_are_stored_in_utc_and_need_time_zone(database: Database) -> None:
    paris = datetime(2026, 7, 1, 2, 30, 0, 123456, tzinfo=timezone(timedelta(hours=2)))
    with database.write() as session:
        person_id = people.add(session, "ada", "owner", paris)
    with database.read() as session:
        found = people.find(session, person_id)
    assert found is not None
    assert found.created_at == paris
    assert found.created_at.tzinfo is UTC
    with pytest.raises(StatementError, match="time zone"), database.write() as session:
        people.add(session, "bob", "owner", datetime(2026, 1, 1))


def test_names_are_unique_and_roles_are_checked(database: Database) -> None:
    with database.write() as session:
        people.add(session, "ada", "owner", NOW)
    with pytest.raises(IntegrityError, match="name"), database.write() as session:
        people.add(session, "ada", "annotator", NOW)
    with pytest.raises(IntegrityError, match="role"), database.write() as session:
        people.add(session, "ada", "emperor", NOW)


def test_foreign_keys_are_enforced(database: Database) -> None:
    with pytest.raises(IntegrityError), database.write() as session:
        session.execute(
            text("INSERT INTO sign_ins (secret_hash, person_id, created_at, expires_at) VALUES ('x', 99, :now, :now)"),
            {"now": "2026-01-01 00:00:00"},
        )


# How SQLite is opened, and messages about its files


def test_connections_have_durable_pragmas(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite3"
    engine = sqlite_engine(f"sqlite:///{path}", OpenedFile(path), writes=True)
    wanted = {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "recursive_triggers": 1,
        "busy_timeout": BUSY_SECONDS * 1000,
        "query_only": 0,
    }
    with engine.begin() as connection:
        assert {name: connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in wanted} == wanted
    engine.dispose()


def test_database_path_may_be_file_uri(tmp_path: Path) -> None:
    assert path_in(str(tmp_path / "a b.sqlite3")) == tmp_path / "a b.sqlite3"
    assert path_in(f"file:{tmp_path}/a%20b.sqlite3?mode=rw") == tmp_path / "a b.sqlite3"


def test_file_that_is_no_database_counts_as_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite3"
    path.write_bytes(b"x" * 8192)
    engine = sqlite_engine(f"sqlite:///{path}", OpenedFile(path), writes=False)
    with pytest.raises(DatabaseError) as caught, engine.begin():
        pass  # pragma: no cover
    assert is_damaged(caught.value)
    engine.dispose()


# The tables, in one file


def tables_of(module: object) -> set[str]:
    found = vars(module).values()
    return {one.__tablename__ for one in found if isinstance(one, type) and issubclass(one, Base) and one is not Base}


def test_every_table_is_in_models() -> None:
    found = tables_of(models)
    assert found == set(Base.metadata.tables)
    assert {"entries", "questions", "people", "members", "events"} <= found


def test_every_table_is_known_after_importing_any_module() -> None:
    code = "import db.trained; from db.base import Base; print(*sorted(Base.metadata.tables))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == sorted(Base.metadata.tables)


# Migrations


def add_people(session: Session, **roles: str) -> None:
    """Add people in the columns that every version of the tables had. roles : {name: role}"""
    for name, role in roles.items():
        session.execute(
            text("INSERT INTO people (name, role, created_at) VALUES (:name, :role, '2026-01-01')"),
            {"name": name, "role": role},
        )


def test_migrations_make_tables_of_models(database: Database) -> None:
    with database.write() as session:
        context = MigrationContext.configure(session.connection(), opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
        assert context.get_current_revision() == ScriptDirectory(str(MIGRATIONS)).get_current_head()


def test_migrating_again_changes_nothing(database: Database) -> None:
    with database.write() as session:
        add_people(session, ada="owner")
    database.migrate()
    with database.read() as session:
        assert session.execute(text("SELECT name FROM people")).scalars().all() == ["ada"]


def test_current_tables_need_no_migration(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alembic.command.upgrade", lambda *_: pytest.fail("read every migration"))
    database.migrate()


def test_revisions_match_alembic_order() -> None:
    assert revisions() == tuple(one.revision for one in ScriptDirectory(str(MIGRATIONS)).walk_revisions())


def test_migration_works_from_any_directory(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = Database(sqlite_url)
    made.migrate()
    with made.read() as session:
        assert session.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == revisions()[0]
    made.close()


def test_token_made_before_narrowing_keeps_all_rights(sqlite_url: str) -> None:
    made = Database(sqlite_url)
    with made._writer.begin() as connection:
        upgrade(connection, "0021")
        for line in (
            "INSERT INTO people (id, name, role, created_at) VALUES (1, 'Ada', 'owner', '2026-01-01')",
            "INSERT INTO tokens (secret_hash, person_id, purpose, created_at) VALUES ('h', 1, 'survey', '2026-01-01')",
        ):
            connection.execute(text(line))
    made.migrate()
    with made.read() as session:
        used = people.find_token(session, "h", NOW)
    assert used is not None
    assert (used.may, used.projects) == ("own", None)
    made.close()


def test_failed_migration_is_rolled_back(sqlite_url: str) -> None:
    made = Database(sqlite_url)
    with made.write() as session:
        session.execute(text("CREATE TABLE questions (nonsense TEXT)"))  # the last table of the first migration
    with pytest.raises(Exception, match="questions already exists"):
        made.migrate()
    with made.read() as session:
        tables = session.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'")).scalars().all()
    assert tables == ["questions"]
    made.close()


# An SQLite file whose tables, triggers or indices are not Winnow's is reported, however the statements are written


NEWEST = sqlite_revisions()[0]


@pytest.fixture
def file(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(lay_database(tmp_path))) as there:
        yield there


def rewrite(file: sqlite3.Connection, name: str, old: str, new: str) -> None:
    """Change the definition of a schema object in the file."""
    file.execute("PRAGMA writable_schema=ON")
    changed = file.execute(
        "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ? AND instr(sql, ?)", (old, new, name, old)
    )
    assert changed.rowcount == 1
    file.execute("PRAGMA writable_schema=RESET")


FAULTS = {
    "DROP TRIGGER entries_no_delete": "the trigger 'entries_no_delete' is missing",
    "ALTER TABLE people ADD COLUMN x": "the table 'people' is not as Winnow makes it",
    "DROP TABLE snapshots": "the table 'snapshots' is missing",
    "ALTER TABLE members RENAME TO evil; CREATE VIEW members AS SELECT * FROM evil": ("the table 'members' is missing"),
    "DROP TABLE goals; CREATE VIEW goals AS SELECT 1 AS x": "the table 'goals' is missing",
    "DROP TRIGGER entries_no_delete; CREATE TRIGGER entries_no_delete BEFORE DELETE ON people "
    "BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END": (
        "the trigger 'entries_no_delete' is not as Winnow makes it"
    ),
}


@pytest.mark.parametrize("statements", FAULTS)
def test_missing_or_altered_schema_part_is_named(file: sqlite3.Connection, statements: str) -> None:
    assert find_differences(file, NEWEST) == Differences(None, ())
    file.executescript(statements)
    assert find_differences(file, NEWEST).fault == FAULTS[statements]


EXTRAS = {
    "CREATE TRIGGER evil AFTER INSERT ON entries BEGIN UPDATE people SET role = 'owner'; END": Extra(
        "trigger", "evil", harmless=False
    ),
    'CREATE VIEW "a ""b" AS SELECT * FROM people': Extra("view", 'a "b', harmless=False),
    "CREATE UNIQUE INDEX mine ON people (role)": Extra("index", "mine", harmless=False),
    "CREATE VIRTUAL TABLE mine USING dbstat": Extra("table", "mine", harmless=False),
    "CREATE TABLE mine (x)": Extra("table", "mine", harmless=True),
    "create  index mine ON people (role)": Extra("index", "mine", harmless=True),
}


@pytest.mark.parametrize("statement", EXTRAS)
def test_foreign_schema_part_is_named_and_can_be_dropped(file: sqlite3.Connection, statement: str) -> None:
    file.execute(statement)
    assert find_differences(file, NEWEST) == Differences(None, (EXTRAS[statement],))
    file.execute(EXTRAS[statement].drop)
    assert find_differences(file, NEWEST) == Differences(None, ())


def test_triggers_are_listed_before_other_foreign_parts(file: sqlite3.Connection) -> None:
    file.executescript(
        "CREATE TABLE a (x); CREATE INDEX b ON a (x); CREATE VIEW c AS SELECT * FROM a; "
        "CREATE TRIGGER d INSTEAD OF INSERT ON c BEGIN SELECT 1; END"
    )
    assert [str(one) for one in find_differences(file, NEWEST).extras] == [
        "the trigger 'd'",
        "the view 'c'",
        "the index 'b'",
        "the table 'a'",
    ]


def test_trigger_named_like_internal_sqlite_object_is_found(file: sqlite3.Connection) -> None:
    file.execute("CREATE TRIGGER evil AFTER INSERT ON entries BEGIN DELETE FROM people; END")
    file.execute("PRAGMA writable_schema=ON")
    file.execute(
        "UPDATE sqlite_master SET name = 'sqlite_evil', sql = replace(sql, 'evil', 'sqlite_evil') WHERE name = 'evil'"
    )
    assert find_differences(file, NEWEST).extras == (Extra("trigger", "sqlite_evil", harmless=False),)


def test_trigger_disguised_as_table_is_not_harmless(file: sqlite3.Connection) -> None:
    file.execute("CREATE TRIGGER evil AFTER INSERT ON entries BEGIN DELETE FROM people; END")
    file.execute("PRAGMA writable_schema=ON")
    file.execute("UPDATE sqlite_master SET type = 'table' WHERE name = 'evil'")
    assert find_differences(file, NEWEST).extras == (Extra("table", "evil", harmless=False),)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("people", "'owner', 'annotator'", "'owner', 'Annotator'"),
        ("people", "NOT NULL", ""),
        ("people", "PRIMARY KEY (id)", "PRIMARY KEY (name)"),
        ("entries_no_update", "entries are append-only", "entries are"),
    ],
)
def test_schema_part_with_other_definition_is_named(file: sqlite3.Connection, name: str, old: str, new: str) -> None:
    rewrite(file, name, old, new)
    assert f"{name!r} is not as Winnow makes it" in str(find_differences(file, NEWEST).fault)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("people", "CREATE TABLE people", 'create  table "people"'),
        ("people", "id INTEGER NOT NULL, ", "[id] integer not null,\n"),
        ("entries", '"row" INTEGER NOT NULL, ', "`row` INTEGER NOT NULL,"),
        (
            "people",
            "role TEXT NOT NULL, \n\tcreated_at DATETIME NOT NULL",
            "created_at DATETIME NOT NULL, role TEXT NOT NULL",
        ),
    ],
)
def test_schema_comparison_ignores_formatting(file: sqlite3.Connection, name: str, old: str, new: str) -> None:
    rewrite(file, name, old, new)
    assert find_differences(file, NEWEST) == Differences(None, ())


def test_sqlite_statistics_and_missing_index_are_no_difference(file: sqlite3.Connection) -> None:
    file.executescript("DROP INDEX ix_entries_row; ANALYZE")
    assert find_differences(file, NEWEST) == Differences(None, ())


def test_tables_are_compared_with_schema_of_their_version(file: sqlite3.Connection, tmp_path: Path) -> None:
    with a_step_more(tmp_path):
        assert find_differences(file, NEWEST) == Differences(None, ())
        assert find_differences(file, LATER).fault == "the table 'projects' is not as Winnow makes it"


def test_tables_of_former_migration_steps_match_current_schema(tmp_path: Path) -> None:
    lay_steps(tmp_path / "steps.sqlite3")
    with closing(sqlite3.connect(tmp_path / "steps.sqlite3")) as file:
        assert find_differences(file, revisions()[-1]) == Differences(None, ())
