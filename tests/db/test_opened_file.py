"""A database file that is deleted, emptied, replaced or overwritten while it is open: nothing is stored in it."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.exc import DatabaseError

from db import people
from db.engine import Database, DatabaseReplacedError, is_damaged
from db.opened_file import OpenedFile

from .conftest import NOW


def path_of(database: Database) -> Path:
    return Path(str(database._writer.url.database))


def delete(path: Path) -> None:
    path.unlink()


def move_away(path: Path) -> None:
    path.rename(path.with_name("away.sqlite3"))


def move_the_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))


def replace_by_a_copy(path: Path) -> None:
    shutil.copy(path, path.with_name("copy.sqlite3"))
    path.with_name("copy.sqlite3").replace(path)


def replace_by_another(path: Path) -> None:
    other = Database(f"sqlite:///{path.with_name('other.sqlite3')}")
    other.migrate()
    other.close()
    path.with_name("other.sqlite3").replace(path)


def empty(path: Path) -> None:
    os.truncate(path, 0)


WAYS = [delete, move_away, move_the_folder, replace_by_a_copy, replace_by_another, empty]


def names(database: Database) -> list[str]:
    with database.read() as session:
        return [one.name for one in people.listed(session)]


def add(database: Database, name: str) -> None:
    with database.write() as session:
        people.add(session, name, "annotator", NOW)


@pytest.fixture
def database(tmp_path: Path) -> Database:
    (tmp_path / "home").mkdir()
    made = Database(f"sqlite:///{tmp_path / 'home' / 'winnow.sqlite3'}")
    made.migrate()
    add(made, "ada")
    made.check()
    return made


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_stored_in_a_file_that_is_not_at_its_path(
    database: Database, way: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    path = path_of(database)
    way(path)
    for _ in range(2):
        with pytest.raises(DatabaseReplacedError, match=r"Nothing was stored\. Fix: stop Winnow") as caught:
            add(database, "bob")
        with pytest.raises(DatabaseReplacedError):
            database.check()
        with pytest.raises(DatabaseReplacedError):
            database.migrate()
    assert str(path) not in str(caught.value), "everybody reads it"
    logging.getLogger("winnow").error("It failed.", exc_info=caught.value)
    assert str(path) in caplog.text
    if way is not empty:
        assert names(database) == ["ada"], (
            "what was stored before is in the file that was opened, and only there"
        )
    database.close()


@pytest.mark.parametrize("way", [delete, replace_by_another])
def test_no_connection_is_opened_to_another_file_nor_is_one_made(
    database: Database, way: Callable[[Path], None]
) -> None:
    path = path_of(database)
    way(path)
    before = path.read_bytes() if path.exists() else None
    database._reader.dispose()
    for _ in range(2):
        with pytest.raises(DatabaseReplacedError):
            names(database)
    assert (path.read_bytes() if path.exists() else None) == before
    database.close()


def test_after_closing_the_file_that_is_there_is_taken(database: Database) -> None:
    path = path_of(database)
    replace_by_another(path)
    with pytest.raises(DatabaseReplacedError):
        add(database, "bob")
    database.close()
    add(database, "cleo")
    database.check()
    assert names(database) == ["cleo"], "and nothing of the log of the file before"
    database.close()


def test_a_file_that_was_moved_away_has_all_that_was_stored_and_can_come_back(database: Database) -> None:
    path = path_of(database)
    away = path.with_name("away.sqlite3")
    path.rename(away)
    with pytest.raises(DatabaseReplacedError):
        add(database, "bob")
    away.rename(path)
    add(database, "cleo")
    path.rename(away)
    database.close()
    assert not path.with_name(f"{path.name}-wal").read_bytes()
    moved = Database(f"sqlite:///{away}")
    assert names(moved) == ["ada", "cleo"]
    moved.close()


def test_two_processes_with_one_file_disturb_nobody(database: Database, tmp_path: Path) -> None:
    other = Database(f"sqlite:///{path_of(database)}")
    link = tmp_path / "link.sqlite3"
    link.symlink_to(path_of(database))
    third = Database(f"sqlite:///file:{link}?uri=true")
    for number, one in enumerate((other, third, database, other, third)):
        add(one, f"bob {number}")
        one.check()
    assert len(names(database)) == 6
    link.unlink()
    link.symlink_to(tmp_path / "home" / "nowhere")
    with pytest.raises(DatabaseReplacedError):
        add(third, "cleo")
    other.close()
    add(database, "dora")
    third.close()
    database.close()


def test_a_file_that_is_overwritten_in_place_is_said_to_be_damaged(database: Database) -> None:
    """Although all of its pages are in memory: the next process would find no database."""
    database.close()  # brings everything from the log beside the file into the file
    assert names(database) == ["ada"]
    add(database, "bob")
    database.close()
    assert names(database) == ["ada", "bob"]
    path = path_of(database)
    path.write_bytes(b"x" * path.stat().st_size)
    for use in (lambda: add(database, "cleo"), database.check):
        with pytest.raises(DatabaseError) as caught:
            use()
        assert is_damaged(caught.value)
    database.close()


def test_what_somebody_did_wrong_is_no_damage(database: Database) -> None:
    with pytest.raises(DatabaseError) as caught:
        add(database, "ada")
    assert not is_damaged(caught.value)
    database.close()


def test_a_file_is_known_by_what_it_is_not_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "file"
    file = OpenedFile(path)
    file.check()  # nothing is open yet
    with pytest.raises(FileNotFoundError):
        file.opened()
    path.write_text("header")
    file.opened()
    path.write_text("more")
    file.opened()
    (tmp_path / "other").write_text("another")
    (tmp_path / "other").rename(path)
    for look in (file.check, file.opened):
        with pytest.raises(DatabaseReplacedError, match="deleted, emptied or replaced") as refusal:
            look()
        assert refusal.value.__notes__ == [f"The path: {path}"]
        assert str(path) not in str(refusal.value)
    file.forget()
    file.check()
    file.opened()
    path.write_text("")
    with pytest.raises(DatabaseReplacedError):
        file.check()
    path.unlink()
    with pytest.raises(DatabaseReplacedError):
        file.check()
