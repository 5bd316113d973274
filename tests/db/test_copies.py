"""A copy of the database is looked into before anybody relies on it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from db.copies import AlienObjectError, DamagedCopyError, drop_aliens, look_into
from db.engine import revisions
from tests.migrated import lay_database


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


def test_it_says_what_is_in_it(tmp_path: Path) -> None:
    found = look_into(change(lay_database(tmp_path), PERSON, PROJECT, ROWS), "rows")
    assert found.revision == revisions()[0]
    assert found.counts == {"projects": 1, "entries": 1, "people": 1}
    assert found.table_hashes == {"first", "then", "now"}, (
        "also the tables that projects had before rows were added"
    )


def test_a_page_that_was_overwritten_is_found(tmp_path: Path) -> None:
    path = change(lay_database(tmp_path), PERSON)
    data = path.read_bytes()
    page = data.rindex(b"Ada") // 4096 * 4096
    path.write_bytes(data[:page] + b"\xff" * 4096 + data[page + 4096 :])
    with pytest.raises(DamagedCopyError):
        look_into(path, "rows")


def test_a_row_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    path = change(lay_database(tmp_path), PROJECT)
    with pytest.raises(DamagedCopyError, match="row 1 of projects names a row of people that is not there"):
        look_into(path, "rows")


@pytest.mark.parametrize("data", [b"", b"no database" * 1000])
def test_what_is_no_database_of_ours_is_said(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.sqlite3"
    path.write_bytes(data)
    with pytest.raises(DamagedCopyError):
        look_into(path, "rows")


def test_tables_that_are_not_winnow_s_are_said(tmp_path: Path) -> None:
    path = change(lay_database(tmp_path), PERSON, "DROP TRIGGER entries_no_update")
    with pytest.raises(DamagedCopyError, match="the trigger 'entries_no_update' is missing"):
        look_into(path, "rows")
    change(path, "UPDATE alembic_version SET version_num = '9999'")
    assert look_into(path, "rows").revision == "9999", "whoever asked says that a newer Winnow has made it"


def test_tables_and_indices_of_others_are_passed_over(tmp_path: Path) -> None:
    path = change(
        lay_database(tmp_path),
        PERSON,
        "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER REFERENCES people (id))",
        "INSERT INTO _litestream_seq VALUES (1, 99)",
        "CREATE INDEX mine ON entries (at)",
    )
    assert look_into(path, "rows").beside == ("the index 'mine'", "the table '_litestream_seq'")
    assert drop_aliens(path) == []
    assert look_into(path, "rows").counts["people"] == 1


ALIENS = {
    "CREATE TRIGGER evil AFTER INSERT ON people BEGIN SELECT 1; END": 'DROP TRIGGER "evil"',
    "CREATE VIEW evil AS SELECT * FROM people": 'DROP VIEW "evil"',
    "CREATE UNIQUE INDEX evil ON people (role)": 'DROP INDEX "evil"',
}


@pytest.mark.parametrize("statement", ALIENS)
def test_what_may_change_what_winnow_does_is_no_damage_but_is_not_taken(
    tmp_path: Path, statement: str
) -> None:
    path = change(lay_database(tmp_path), PERSON, statement)
    with pytest.raises(AlienObjectError, match=r"'evil' in it is not Winnow's$") as raised:
        look_into(path, "rows")
    assert raised.value.fix == f"drop it ({ALIENS[statement]})."
    assert len(drop_aliens(path)) == 1
    assert look_into(path, "rows").beside == ()


def test_damage_is_said_before_what_others_have_put_in(tmp_path: Path) -> None:
    path = change(lay_database(tmp_path), "CREATE VIEW evil AS SELECT 1", "DROP TRIGGER entries_no_update")
    with pytest.raises(DamagedCopyError, match="is missing"):
        look_into(path, "rows")
    assert drop_aliens(path) == ["the view 'evil'"]
    with pytest.raises(DamagedCopyError, match="is missing"):
        look_into(path, "rows")


def test_nothing_is_dropped_from_what_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "x.sqlite3").write_bytes(b"no database" * 1000)
    with pytest.raises(DamagedCopyError):
        drop_aliens(tmp_path / "x.sqlite3")
