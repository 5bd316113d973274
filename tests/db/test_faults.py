"""What errors of the database say, told apart on real ones."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError

from db import people
from db.base import is_damaged, is_gone, is_read_only, lacks_a_table
from db.engine import Database

from .conftest import NOW


def kinds(error: DBAPIError) -> set[str]:
    return {one.__name__ for one in (is_damaged, is_gone, is_read_only, lacks_a_table) if one(error)}


def error_of(database: Database, statement: str) -> DBAPIError:
    with pytest.raises(DBAPIError) as caught, database.read() as session:
        session.execute(text(statement))
    return caught.value


def test_a_table_or_column_that_is_not_there(database: Database) -> None:
    assert kinds(error_of(database, "SELECT 1 FROM nowhere")) == {"lacks_a_table"}
    assert kinds(error_of(database, "SELECT no_column FROM people")) == {"lacks_a_table"}
    assert kinds(error_of(database, "SELECT SELECT")) == set()


def test_what_somebody_did_wrong_is_no_fault_of_the_store(database: Database) -> None:
    with database.write() as session:
        people.add(session, "ada", "owner", NOW)
    with pytest.raises(IntegrityError) as caught, database.write() as session:
        people.add(session, "ada", "owner", NOW)
    assert kinds(caught.value) == set()


def test_a_file_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 8192)
    assert kinds(error_of(Database(f"sqlite:///{tmp_path / 'a'}"), "SELECT 1")) == {"is_damaged"}


def test_a_file_that_may_not_be_opened_or_written(sqlite: Database, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert kinds(error_of(Database(f"sqlite:///{tmp_path / 'folder'}"), "SELECT 1")) == {"is_read_only"}
    assert kinds(error_of(sqlite, "CREATE TABLE t (x)")) == {"is_read_only"}


@pytest.mark.postgres
def test_a_postgres_that_does_not_answer(postgres_url: str) -> None:
    elsewhere = Database(postgres_url.replace("host=", "host=/nowhere"))
    assert kinds(error_of(elsewhere, "SELECT 1")) == {"is_gone"}
    there = Database(postgres_url)
    assert kinds(error_of(there, "SELECT pg_terminate_backend(pg_backend_pid())")) == {"is_gone"}
    with there.read() as session:
        assert session.execute(text("SELECT 1")).scalar_one() == 1
    there.close()


def test_an_error_without_a_code_is_of_no_kind_but_its_words() -> None:
    assert kinds(DBAPIError("SELECT 1", None, sqlite3.OperationalError("odd"))) == set()
