"""An SQLite file whose tables, triggers or indices are not Winnow's is told, whatever way it is written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from db.sqlite import Differences, Extra, revisions, what_differs
from tests.migrated import LATER, a_step_more, lay_database, lay_steps

NEWEST = revisions()[0]


@pytest.fixture
def file(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(lay_database(tmp_path))) as there:
        yield there


def rewrite(file: sqlite3.Connection, name: str, old: str, new: str) -> None:
    """Change the text that something is made by, as it stands in the file."""
    file.execute("PRAGMA writable_schema=ON")
    changed = file.execute(
        "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ? AND instr(sql, ?)",
        (old, new, name, old),
    )
    assert changed.rowcount == 1
    file.execute("PRAGMA writable_schema=RESET")


FAULTS = {
    "DROP TRIGGER entries_no_delete": "the trigger 'entries_no_delete' is missing",
    "ALTER TABLE people ADD COLUMN x": "the table 'people' is not as Winnow makes it",
    "DROP TABLE snapshots": "the table 'snapshots' is missing",
    "ALTER TABLE members RENAME TO evil; CREATE VIEW members AS SELECT * FROM evil": (
        "the table 'members' is missing"
    ),
    "DROP TABLE goals; CREATE VIEW goals AS SELECT 1 AS x": "the table 'goals' is missing",
    "DROP TRIGGER entries_no_delete; CREATE TRIGGER entries_no_delete BEFORE DELETE ON people "
    "BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END": (
        "the trigger 'entries_no_delete' is not as Winnow makes it"
    ),
}


@pytest.mark.parametrize("statements", FAULTS)
def test_what_is_missing_or_altered_is_named(file: sqlite3.Connection, statements: str) -> None:
    assert what_differs(file, NEWEST) == Differences(None, ())
    file.executescript(statements)
    assert what_differs(file, NEWEST).fault == FAULTS[statements]


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
def test_what_is_beside_winnow_s_is_named_and_can_be_dropped(
    file: sqlite3.Connection, statement: str
) -> None:
    file.execute(statement)
    assert what_differs(file, NEWEST) == Differences(None, (EXTRAS[statement],))
    file.execute(EXTRAS[statement].drop)
    assert what_differs(file, NEWEST) == Differences(None, ())


def test_what_acts_by_itself_comes_first(file: sqlite3.Connection) -> None:
    file.executescript(
        "CREATE TABLE a (x); CREATE INDEX b ON a (x); CREATE VIEW c AS SELECT * FROM a; "
        "CREATE TRIGGER d INSTEAD OF INSERT ON c BEGIN SELECT 1; END"
    )
    assert [str(one) for one in what_differs(file, NEWEST).extras] == [
        "the trigger 'd'",
        "the view 'c'",
        "the index 'b'",
        "the table 'a'",
    ]


def test_a_trigger_that_is_called_as_sqlite_s_own_is_found(file: sqlite3.Connection) -> None:
    file.execute("CREATE TRIGGER evil AFTER INSERT ON entries BEGIN DELETE FROM people; END")
    file.execute("PRAGMA writable_schema=ON")
    file.execute(
        "UPDATE sqlite_master SET name = 'sqlite_evil', sql = replace(sql, 'evil', 'sqlite_evil') WHERE name = 'evil'"
    )
    assert what_differs(file, NEWEST).extras == (Extra("trigger", "sqlite_evil", harmless=False),)


def test_what_only_says_that_it_is_a_table_is_not_harmless(file: sqlite3.Connection) -> None:
    file.execute("CREATE TRIGGER evil AFTER INSERT ON entries BEGIN DELETE FROM people; END")
    file.execute("PRAGMA writable_schema=ON")
    file.execute("UPDATE sqlite_master SET type = 'table' WHERE name = 'evil'")
    assert what_differs(file, NEWEST).extras == (Extra("table", "evil", harmless=False),)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("people", "'owner', 'annotator'", "'owner', 'Annotator'"),
        ("people", "NOT NULL", ""),
        ("people", "PRIMARY KEY (id)", "PRIMARY KEY (name)"),
        ("entries_no_update", "entries are append-only", "entries are"),
    ],
)
def test_what_is_made_by_other_words_is_named(
    file: sqlite3.Connection, name: str, old: str, new: str
) -> None:
    rewrite(file, name, old, new)
    assert f"{name!r} is not as Winnow makes it" in str(what_differs(file, NEWEST).fault)


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
def test_how_it_is_written_does_not_count(file: sqlite3.Connection, name: str, old: str, new: str) -> None:
    rewrite(file, name, old, new)
    assert what_differs(file, NEWEST) == Differences(None, ())


def test_what_sqlite_makes_for_itself_and_an_index_that_is_missing_are_no_difference(
    file: sqlite3.Connection,
) -> None:
    file.executescript("DROP INDEX ix_entries_row; ANALYZE")
    assert what_differs(file, NEWEST) == Differences(None, ())


def test_tables_of_another_version_are_compared_with_that(file: sqlite3.Connection, tmp_path: Path) -> None:
    with a_step_more(tmp_path):
        assert what_differs(file, NEWEST) == Differences(None, ())
        assert what_differs(file, LATER).fault == "the table 'projects' is not as Winnow makes it"


def test_tables_made_by_the_steps_before_are_those_of_now(tmp_path: Path) -> None:
    lay_steps(tmp_path / "steps.sqlite3")
    with closing(sqlite3.connect(tmp_path / "steps.sqlite3")) as file:
        assert what_differs(file, NEWEST) == Differences(None, ())
