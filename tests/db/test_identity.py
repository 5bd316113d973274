"""The identity of a database, and copies of it."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.orm import Session

from db import copies, people
from db.copies import AlienObjectError, DamagedCopyError, check_copy, drop_aliens
from db.engine import Database, DatabaseUnavailableError, revisions
from db.events import EventFilter, listed
from db.identity import Identity, Note, NoteError
from db.sqlite import UnknownTablesError
from tests.databases import on_sqlite
from tests.db.conftest import NOW
from tests.migrated import lay_database
from tests.present import present

# Which database it is and how far it has come: in the database, in the file's header, in the note


def add(database: Database, name: str) -> None:
    with database.write() as session:
        people.add(session, name, "annotator", NOW)


def height(database: Database) -> int:
    found = present(database.identity())
    return found.height


def _add_and_fail(session: Session) -> None:
    people.add(session, "bob", "annotator", NOW)
    raise ZeroDivisionError


def test_height_grows_with_every_changing_commit(database: Database) -> None:
    add(database, "ada")
    before = height(database)
    with database.write() as session:
        people.listed(session)
    with pytest.raises(ZeroDivisionError), database.write() as session:
        _add_and_fail(session)
    assert height(database) == before
    add(database, "cleo")
    assert height(database) == before + 1


def test_height_counts_commits_of_all_connections(database: Database) -> None:
    add(database, "first")
    before = height(database)
    other = Database(database._writer.url.render_as_string(hide_password=False))
    threads = [
        threading.Thread(target=add, args=(one, f"{number} {name}"))
        for number in range(4)
        for name, one in (("a", database), ("b", other))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert height(database) == height(other) == before + 8
    other.close()


def test_id_is_in_header_of_file(sqlite: Database) -> None:
    sqlite.migrate()
    found = present(sqlite.identity())
    sqlite.close()
    assert sqlite.path is not None
    header = sqlite.path.read_bytes()[:100]
    assert int.from_bytes(header[68:72], "big") == found.mark == int(found.id[:8], 16) & 0x7FFFFFFF
    assert int.from_bytes(header[60:64], "big") == found.height


def test_copy_has_same_identity_and_height(sqlite: Database, tmp_path: Path) -> None:
    add(sqlite, "ada")
    sqlite.copy_to(tmp_path / "copy")
    copy = Database(f"sqlite:///{tmp_path / 'copy'}")
    assert copy.identity() == sqlite.identity()
    copy.close()


def test_tables_without_identity_have_none(database: Database) -> None:
    with database.write() as session:
        session.execute(text("DROP TABLE identity"))
        if not database.is_sqlite:
            session.execute(text("DROP SEQUENCE identity_height"))
    assert database.identity() is None
    add(database, "ada")  # and it can be written


@pytest.mark.parametrize(
    ("revision", "words"),
    [
        ("9999", r"by a newer Winnow .*revision 9999, known here up to 0\d+"),
        ("0007", r"by an earlier Winnow .*revision 0007, known here from 0\d+ on"),
    ],
)
def test_unknown_revision_is_refused_and_left_alone(database: Database, revision: str, words: str) -> None:
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": revision})
    with pytest.raises(UnknownTablesError, match=words):
        database.migrate()
    with database.read() as session:
        assert session.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == revision


def test_note_reads_what_was_written(tmp_path: Path) -> None:
    note = Note(tmp_path / "note")
    assert note.read() is None
    for identity in (Identity("a" * 32, 7), Identity("b" * 32, 12_345_678), Identity("c" * 32, 0)):
        note.write(identity)
        assert note.read() == identity
    size = note.path.stat().st_size
    note.write(Identity("d" * 32, 2**31 - 1))
    assert note.path.stat().st_size == size, "it is written over in one piece"
    assert note.seen_at().tzinfo is not None
    note.path.write_text("nonsense")
    with pytest.raises(NoteError, match="does not say which database"):
        note.read()
    missing = Note(tmp_path / "no folder" / "note")
    missing.try_to_write(Identity("a" * 32, 1))
    with pytest.raises(FileNotFoundError):
        missing.write(Identity("a" * 32, 1))


@pytest.mark.postgres
def test_replaced_postgres_database_is_not_written(postgres_url: str) -> None:
    mine, other = Database(postgres_url), str(make_url(postgres_url).database)
    mine.migrate()
    add(mine, "ada")
    admin = create_engine(make_url(postgres_url).set(database="postgres"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(
            text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name"), {"name": other}
        )
        connection.execute(text(f"ALTER DATABASE {other} RENAME TO {other}_away"))
        connection.execute(text(f"CREATE DATABASE {other}"))
    for _ in range(2):
        with pytest.raises(DatabaseUnavailableError, match="is not the one that Winnow was started with"):
            add(mine, "bob")
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {other} WITH (FORCE)"))
        connection.execute(text(f"ALTER DATABASE {other}_away RENAME TO {other}"))
    admin.dispose()
    add(mine, "bob")
    with mine.read() as session:
        assert [one.name for one in people.listed(session)] == ["ada", "bob"]
    mine.close()


def test_first_note_is_synced_before_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note, synced = Note(tmp_path / "seen"), []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append((os.fstat(descriptor).st_ino, os.fstat(descriptor).st_size, note.path.exists()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    note.write(Identity("ab" * 16, 1))
    first = note.path.stat()
    assert synced == [(first.st_ino, first.st_size, False)]
    assert first.st_mode & 0o777 == 0o600
    note.write(Identity("ab" * 16, 2))
    assert (note.path.stat().st_ino, note.path.stat().st_size) == (first.st_ino, first.st_size)
    assert [path.name for path in tmp_path.iterdir()] == ["seen"]
    assert note.read() == Identity("ab" * 16, 2)


# A copy of the database is looked into before anyone relies on it


def change(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as there:
        for statement in statements:
            there.execute(statement)
        there.commit()
        there.execute("PRAGMA journal_mode=DELETE")
    return path


PERSON = "INSERT INTO people (id, name, role, created_at) VALUES (1, 'Ada', 'owner', '2026-01-01')"
PROJECT = (
    "INSERT INTO projects (id, name, table_hash, roles, settings, description, n_rows, n_classes, n_to_ask, "
    "created_at, created_by, room) VALUES (1, 'p', 'now', '{}', '{}', '', 1, 2, 1, '2026-01-01', 1, '{}')"
)
ROWS = (
    "INSERT INTO entries (project_id, seq, kind, row, label, labels, person_id, token, revision, model_version, "
    "before, after, at, flagged) VALUES (1, 1, 'rows', -1, '', '[]', 1, 't', 0, 0, '[\"first\"]', '[\"then\"]', "
    "'2026-01-01', 0)"
)


def test_database_copy_lists_its_contents(tmp_path: Path) -> None:
    found = check_copy(change(lay_database(tmp_path), PERSON, PROJECT, ROWS), "rows")
    assert found.revision == revisions()[0]
    assert found.counts == {"projects": 1, "entries": 1, "people": 1}
    assert found.table_hashes == {"first", "then", "now"}, "also the tables that projects had before rows were added"


def test_overwritten_page_is_found(tmp_path: Path) -> None:
    path = change(lay_database(tmp_path), PERSON)
    data = path.read_bytes()
    page = data.rindex(b"Ada") // 4096 * 4096
    path.write_bytes(data[:page] + b"\xff" * 4096 + data[page + 4096 :])
    with pytest.raises(DamagedCopyError):
        check_copy(path, "rows")


def test_dangling_foreign_key_is_found(tmp_path: Path) -> None:
    path = change(lay_database(tmp_path), PROJECT)
    with pytest.raises(DamagedCopyError, match="row 1 of projects names a row of people that is not there"):
        check_copy(path, "rows")


@pytest.mark.parametrize("data", [b"", b"no database" * 1000])
def test_file_that_is_no_winnow_database_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.sqlite3"
    path.write_bytes(data)
    with pytest.raises(DamagedCopyError):
        check_copy(path, "rows")


def test_copy_with_altered_schema_is_refused(tmp_path: Path) -> None:
    path = change(lay_database(tmp_path), PERSON, "DROP TRIGGER entries_no_update")
    with pytest.raises(DamagedCopyError, match="the trigger 'entries_no_update' is missing"):
        check_copy(path, "rows")
    change(path, "UPDATE alembic_version SET version_num = '9999'")
    assert check_copy(path, "rows").revision == "9999", "whoever asked says that a newer Winnow has made it"


def test_foreign_tables_and_indices_are_ignored(tmp_path: Path) -> None:
    path = change(
        lay_database(tmp_path),
        PERSON,
        "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER REFERENCES people (id))",
        "INSERT INTO _litestream_seq VALUES (1, 99)",
        "CREATE INDEX mine ON entries (at)",
    )
    assert check_copy(path, "rows").beside == ("the index 'mine'", "the table '_litestream_seq'")
    assert drop_aliens(path) == []
    assert check_copy(path, "rows").counts["people"] == 1


ALIENS = {
    "CREATE TRIGGER evil AFTER INSERT ON people BEGIN SELECT 1; END": 'DROP TRIGGER "evil"',
    "CREATE VIEW evil AS SELECT * FROM people": 'DROP VIEW "evil"',
    "CREATE UNIQUE INDEX evil ON people (role)": 'DROP INDEX "evil"',
}


@pytest.mark.parametrize("statement", ALIENS)
def test_foreign_triggers_and_views_are_refused_as_alien(tmp_path: Path, statement: str) -> None:
    path = change(lay_database(tmp_path), PERSON, statement)
    with pytest.raises(AlienObjectError, match=r"'evil' in it is not Winnow's$") as raised:
        check_copy(path, "rows")
    assert raised.value.fix == f"drop it ({ALIENS[statement]})."
    assert len(drop_aliens(path)) == 1
    assert check_copy(path, "rows").beside == ()


def test_damage_is_reported_before_alien_objects(tmp_path: Path) -> None:
    path = change(lay_database(tmp_path), "CREATE VIEW evil AS SELECT 1", "DROP TRIGGER entries_no_update")
    with pytest.raises(DamagedCopyError, match="is missing"):
        check_copy(path, "rows")
    assert drop_aliens(path) == ["the view 'evil'"]
    with pytest.raises(DamagedCopyError, match="is missing"):
        check_copy(path, "rows")


def test_dropping_foreign_objects_refuses_other_files(tmp_path: Path) -> None:
    (tmp_path / "x.sqlite3").write_bytes(b"no database" * 1000)
    with pytest.raises(DamagedCopyError):
        drop_aliens(tmp_path / "x.sqlite3")


# Ended sign-ins and tokens stay ended after a restore, with tables of any version


LATER = NOW + timedelta(hours=1)


@pytest.fixture
def copy(database: Database, tmp_path: Path) -> Path:
    """With an open sign-in and an open link, an expired one of each, an ended sign-in and a used link."""
    with database.write() as session:
        ada = people.add(session, "Ada", "annotator", NOW)
        for name, until in (("open", LATER), ("over", NOW), ("ended", LATER)):
            common: dict[str, Any] = {"secret_hash": name, "person_id": ada, "created_at": NOW, "expires_at": until}
            people.add_sign_in(session, **common)
            people.add_link(session, created_by=None, **common)
        people.take(session, "ended", NOW)
        people.end(session, 3, ada, NOW)
        for name, end in (("for ever", None), ("an hour", LATER), ("over", NOW), ("ended", None)):
            people.add_token(session, secret_hash=name, person_id=ada, purpose=name, created_at=NOW, expires_at=end)
        people.end_token(session, 4, ada, NOW)
    database.copy_to(tmp_path / "copy.sqlite3")
    return tmp_path / "copy.sqlite3"


def test_ending_access_closes_sign_ins_links_and_tokens(copy: Path) -> None:
    at = NOW + timedelta(minutes=1)
    copies.end_access(copy, at, "restored", "b.zip")
    there = Database(f"sqlite:///{copy}")
    try:
        with there.read() as session:
            assert [people.find_sign_in(session, name, at) for name in ("open", "over", "ended")] == [None] * 3
            assert people.open_counts(session, at) == {}
            assert people.list_tokens(session, at, 1) == []
            found = [people.find_link(session, name) for name in ("open", "over", "ended")]
            assert [one and (one.expires_at, one.used_at) for one in found] == [(at, None), (NOW, None), (LATER, NOW)]
            (event,) = listed(session, EventFilter(what="restored"))
        assert (event.at, event.person_id, event.address) == (at, None, "")
        assert event.details == {"file": "b.zip", "sign_ins": 1, "links": 1, "tokens": 2}
    finally:
        there.close()


@on_sqlite
def test_ending_access_works_without_events_and_tokens_tables(copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as there, there:
        there.execute("DROP TABLE events")
        there.execute("DROP TABLE tokens")
    copies.end_access(copy, NOW, "restored", "b.zip")
    with closing(sqlite3.connect(copy)) as there:
        over = there.execute("SELECT count(*) FROM sign_ins WHERE ended_at IS NOT NULL").fetchone()
    assert over == (2,), "the one that was open, and the one that had been ended"
