"""What changes with every commit."""

from __future__ import annotations

import pytest
from sqlalchemy.exc import DBAPIError

from db import people
from db.engine import Database, DatabaseUnavailableError, Stamps, is_damaged
from db.opened_file import LOG
from tests.db.conftest import NOW


def test_the_stamp_moves_with_every_commit_of_anybody(database: Database) -> None:
    before = database.stamp()
    with database.read() as session:
        people.listed(session)
    if database.is_sqlite:  # elsewhere it may move by itself
        assert database.stamp() == before
    with database.write() as session:
        people.add(session, "ada", "owner", NOW)
    after = database.stamp()
    assert after != before
    other = Database(database._writer.url.render_as_string(hide_password=False))
    with other.write() as session:
        people.add(session, "bob", "annotator", NOW)
    other.close()
    assert database.stamp() not in (before, after)
    database.close()
    assert database.stamp() not in (before, after), "a new connection says nothing about the one before"


def test_the_stamp_comes_back_after_its_connection_was_lost(database: Database) -> None:
    stamps = Stamps(database._reader)
    before = stamps.stamp()
    assert stamps._watcher is not None
    stamps._watcher.driver_connection.close()  # type: ignore[union-attr]
    with pytest.raises(DatabaseUnavailableError, match="closed"):
        stamps.stamp()
    assert stamps.stamp() != before, "a new connection says nothing about the one before"
    stamps.close()


def test_a_damaged_database_says_so_as_it_does_to_every_question(sqlite: Database) -> None:
    with sqlite.write() as session:
        people.add(session, "ada", "owner", NOW)
    sqlite._drop()
    assert sqlite.path is not None
    log = sqlite.path.with_name(f"{sqlite.path.name}{LOG}")
    log.write_bytes(b"\xff" * log.stat().st_size)
    for _ in range(2):
        with pytest.raises(DBAPIError) as told:
            sqlite.stamp()
        assert is_damaged(told.value)
