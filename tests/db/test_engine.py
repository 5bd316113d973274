from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, StatementError

import db.engine
from db import people
from db.engine import Database, DatabaseBusyError

from .conftest import NOW


@pytest.mark.parametrize("way", ["write", "read"])
def test_sqlite_is_set_for_durability(sqlite: Database, way: str) -> None:
    expected = {"journal_mode": "wal", "synchronous": 2, "busy_timeout": 30000, "foreign_keys": 1}
    with getattr(sqlite, way)() as session:
        found = {pragma: session.execute(text(f"PRAGMA {pragma}")).scalar_one() for pragma in expected}
    assert found == expected


def test_what_need_not_last_waits_for_no_disk_and_all_after_it_does(database: Database) -> None:
    how, on_disk, not_yet = ("PRAGMA synchronous", "2", "1")
    if not database.is_sqlite:
        how, on_disk, not_yet = ("SHOW synchronous_commit", "on", "off")
    for lasting in (True, False, True, False, True):
        with database.write(lasting=lasting) as session:
            assert str(session.execute(text(how)).scalar_one()) == (on_disk if lasting else not_yet)
    with database.read() as session:
        assert str(session.execute(text(how)).scalar_one()) == on_disk


def test_what_need_not_last_is_not_counted(database: Database) -> None:
    """Or the note would be ahead of a database that has lost it, which the next start would refuse."""
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


def test_a_write_is_there_after_its_block_and_in_another_process_s_engine(database: Database) -> None:
    with database.write() as session:
        person_id = people.add(session, "ada", "owner", NOW)
    with database.read() as session:
        assert people.find(session, person_id) == people.Person(person_id, "ada", "owner", NOW, None)


def test_an_error_inside_a_write_leaves_nothing(database: Database) -> None:
    def fail() -> None:
        with database.write() as session:
            people.add(session, "ada", "owner", NOW)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with database.write() as session:  # the turn was given back
        assert people.listed(session) == []


def test_a_write_while_reading_is_refused(database: Database) -> None:
    with pytest.raises(DBAPIError, match=r"read-?only"), database.read() as session:
        people.add(session, "ada", "owner", NOW)
    with database.write() as session:  # on the connection that was read-only a moment ago
        people.add(session, "ada", "owner", NOW)


def test_a_reader_does_not_wait_for_a_writer(database: Database) -> None:
    with database.write() as session:
        people.add(session, "ada", "owner", NOW)
        with database.read() as other:
            assert people.listed(other) == []


def test_a_writer_that_gets_no_turn_says_so(sqlite: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db.engine, "BUSY_SECONDS", 0.05)
    with sqlite.write(), pytest.raises(DatabaseBusyError, match="try again"), sqlite.write():
        pass  # pragma: no cover


def test_a_copy_is_whole_and_made_while_another_writes(sqlite: Database, tmp_path: Path) -> None:
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


def test_a_read_sees_one_moment(database: Database) -> None:
    with database.read() as session:
        assert people.listed(session) == []
        with database.write() as other:
            people.add(other, "ada", "owner", NOW)
        assert people.listed(session) == []
    with database.read() as session:
        assert len(people.listed(session)) == 1


def test_times_come_back_in_utc_and_must_have_a_zone(database: Database) -> None:
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


def test_two_people_cannot_have_one_name_and_roles_are_checked(database: Database) -> None:
    with database.write() as session:
        people.add(session, "ada", "owner", NOW)
    with pytest.raises(IntegrityError, match="name"), database.write() as session:
        people.add(session, "ada", "annotator", NOW)
    with pytest.raises(IntegrityError, match="role"), database.write() as session:
        people.add(session, "ada", "emperor", NOW)


def test_foreign_keys_are_kept(database: Database) -> None:
    with pytest.raises(IntegrityError), database.write() as session:
        session.execute(
            text(
                "INSERT INTO sign_ins (secret_hash, person_id, created_at, expires_at) VALUES ('x', 99, :now, :now)"
            ),
            {"now": "2026-01-01 00:00:00"},
        )
