"""Which database it is and how far it has come: in the database, in the file's header, in the note."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.orm import Session

from db import people
from db.engine import Database, DatabaseUnavailableError
from db.identity import Identity, Note, NoteError
from db.sqlite import UnknownTablesError

from .conftest import NOW


def add(database: Database, name: str) -> None:
    with database.write() as session:
        people.add(session, name, "annotator", NOW)


def height(database: Database) -> int:
    found = database.identity()
    assert found is not None
    return found.height


def _add_and_fail(session: Session) -> None:
    people.add(session, "bob", "annotator", NOW)
    raise ZeroDivisionError


def test_the_height_grows_with_every_commit_that_changed_something(database: Database) -> None:
    add(database, "ada")
    before = height(database)
    with database.write() as session:
        people.listed(session)
    with pytest.raises(ZeroDivisionError), database.write() as session:
        _add_and_fail(session)
    assert height(database) == before
    add(database, "cleo")
    assert height(database) == before + 1


def test_writers_of_several_threads_and_connections_count_together(database: Database) -> None:
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


def test_the_id_is_in_the_header_of_the_file(sqlite: Database) -> None:
    sqlite.migrate()
    found = sqlite.identity()
    assert found is not None
    sqlite.close()
    assert sqlite.path is not None
    header = sqlite.path.read_bytes()[:100]
    assert int.from_bytes(header[68:72], "big") == found.mark == int(found.id[:8], 16) & 0x7FFFFFFF
    assert int.from_bytes(header[60:64], "big") == found.height


def test_a_copy_has_identity_and_height(sqlite: Database, tmp_path: Path) -> None:
    add(sqlite, "ada")
    sqlite.copy_to(tmp_path / "copy")
    copy = Database(f"sqlite:///{tmp_path / 'copy'}")
    assert copy.identity() == sqlite.identity()
    copy.close()


def test_tables_without_an_identity_have_none(database: Database) -> None:
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
def test_an_unknown_revision_is_refused_and_left_alone(database: Database, revision: str, words: str) -> None:
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": revision})
    with pytest.raises(UnknownTablesError, match=words):
        database.migrate()
    with database.read() as session:
        assert session.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == revision


def test_a_note_gives_back_what_was_noted(tmp_path: Path) -> None:
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
def test_another_postgres_database_under_the_same_name_is_not_written(postgres_url: str) -> None:
    mine, other = Database(postgres_url), str(make_url(postgres_url).database)
    mine.migrate()
    add(mine, "ada")
    admin = create_engine(make_url(postgres_url).set(database="postgres"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(
            text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name"),
            {"name": other},
        )
        connection.execute(text(f"ALTER DATABASE {other} RENAME TO {other}_away"))
        connection.execute(text(f"CREATE DATABASE {other}"))
    for _ in range(2):
        with pytest.raises(DatabaseUnavailableError, match="is another one than that which was there"):
            add(mine, "bob")
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {other} WITH (FORCE)"))
        connection.execute(text(f"ALTER DATABASE {other}_away RENAME TO {other}"))
    admin.dispose()
    add(mine, "bob")
    with mine.read() as session:
        assert [one.name for one in people.listed(session)] == ["ada", "bob"]
    mine.close()


def test_the_first_note_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
