"""The file of an opened SQLite database."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from db import opened_file, people
from db.engine import Database, DatabaseReplacedError, is_damaged
from db.opened_file import INDEX, LOG, MAGIC, FileHeader, OpenedFile, is_empty, is_no_sqlite, read_header
from tests.db.conftest import NOW

# A database file that is deleted, emptied, replaced or overwritten while it is open: nothing is stored in
# it


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
def opened_file_database(tmp_path: Path) -> Database:
    (tmp_path / "home").mkdir()
    made = Database(f"sqlite:///{tmp_path / 'home' / 'winnow.sqlite3'}")
    made.migrate()
    add(made, "ada")
    made.check()
    return made


@pytest.mark.parametrize("way", WAYS)
def test_moved_or_replaced_file_is_not_written(
    opened_file_database: Database, way: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    path = path_of(opened_file_database)
    way(path)
    for _ in range(2):
        with pytest.raises(DatabaseReplacedError, match=r"Nothing was stored\..* Fix: put the right file") as caught:
            add(opened_file_database, "bob")
        with pytest.raises(DatabaseReplacedError):
            opened_file_database.check()
        with pytest.raises(DatabaseReplacedError):
            opened_file_database.migrate()
    assert str(path) not in str(caught.value), "everyone reads it"
    logging.getLogger("winnow").error("It failed.", exc_info=caught.value)
    assert str(path) in caplog.text
    if way is not empty:
        assert names(opened_file_database) == ["ada"], (
            "what was stored before is in the file that was opened, and only there"
        )
    opened_file_database.close()


@pytest.mark.parametrize("way", [delete, replace_by_another])
def test_replaced_file_is_neither_opened_nor_created(
    opened_file_database: Database, way: Callable[[Path], None]
) -> None:
    path = path_of(opened_file_database)
    way(path)
    before = path.read_bytes() if path.exists() else None
    opened_file_database._reader.dispose()
    for _ in range(2):
        with pytest.raises(DatabaseReplacedError):
            names(opened_file_database)
    assert (path.read_bytes() if path.exists() else None) == before
    opened_file_database.close()


def test_reopening_accepts_replaced_file(opened_file_database: Database) -> None:
    path = path_of(opened_file_database)
    replace_by_another(path)
    with pytest.raises(DatabaseReplacedError):
        add(opened_file_database, "bob")
    opened_file_database.close()
    add(opened_file_database, "cleo")
    opened_file_database.check()
    assert names(opened_file_database) == ["cleo"], "and nothing of the log of the file before"
    opened_file_database.close()


def test_file_moved_away_and_back_loses_nothing(opened_file_database: Database) -> None:
    path = path_of(opened_file_database)
    away = path.with_name("away.sqlite3")
    path.rename(away)
    with pytest.raises(DatabaseReplacedError):
        add(opened_file_database, "bob")
    away.rename(path)
    add(opened_file_database, "cleo")
    path.rename(away)
    opened_file_database.close()
    assert not path.with_name(f"{path.name}-wal").read_bytes()
    moved = Database(f"sqlite:///{away}")
    assert names(moved) == ["ada", "cleo"]
    moved.close()


def test_several_connections_to_one_file_do_not_disturb_each_other(
    opened_file_database: Database, tmp_path: Path
) -> None:
    other = Database(f"sqlite:///{path_of(opened_file_database)}")
    link = tmp_path / "link.sqlite3"
    link.symlink_to(path_of(opened_file_database))
    third = Database(f"sqlite:///file:{link}?uri=true")
    for number, one in enumerate((other, third, opened_file_database, other, third)):
        add(one, f"bob {number}")
        one.check()
    assert len(names(opened_file_database)) == 6
    link.unlink()
    link.symlink_to(tmp_path / "home" / "nowhere")
    with pytest.raises(DatabaseReplacedError):
        add(third, "cleo")
    other.close()
    add(opened_file_database, "dora")
    third.close()
    opened_file_database.close()


def test_file_overwritten_in_place_is_not_written(opened_file_database: Database) -> None:
    """Although all its pages are in memory: the next process would find no database."""
    path = path_of(opened_file_database)
    path.write_bytes(b"x" * path.stat().st_size)
    for use in (lambda: add(opened_file_database, "cleo"), opened_file_database.check):
        with pytest.raises(DatabaseReplacedError, match="was overwritten while Winnow"):
            use()
    opened_file_database.close()


def test_integrity_error_is_no_damage(opened_file_database: Database) -> None:
    with pytest.raises(DatabaseError) as caught:
        add(opened_file_database, "ada")
    assert not is_damaged(caught.value)
    opened_file_database.close()


def rescued(path: Path) -> Path:
    (found,) = path.parent.glob(f"{path.name}.rescued-*")
    return found


def test_deleted_file_is_rescued_and_usable_when_put_back(opened_file_database: Database) -> None:
    path = path_of(opened_file_database)
    path.unlink()
    for _ in range(2):
        with pytest.raises(
            DatabaseReplacedError, match=r"All that it held is in the file winnow\.sqlite3\.rescued-"
        ) as said:
            add(opened_file_database, "bob")
    assert rescued(path).name in str(said.value)
    assert rescued(path).stat().st_mode & 0o077 == 0
    assert not [one for one in path.parent.iterdir() if one.name.startswith(".")]
    rescued(path).rename(path)
    before = opened_file_database.times_replaced
    add(opened_file_database, "cleo")
    assert names(opened_file_database) == ["ada", "cleo"]
    assert opened_file_database.times_replaced == before + 1
    opened_file_database.check()
    opened_file_database.close()
    assert names(opened_file_database) == ["ada", "cleo"]
    opened_file_database.close()


def test_earlier_rescue_is_kept_if_inode_is_reused(
    opened_file_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system reuses the number of a deleted file."""
    path = path_of(opened_file_database)
    backup = path.with_name("backup")
    opened_file_database.copy_to(backup)
    opened_file_database.close()
    monkeypatch.setattr(opened_file, "_place", lambda _: (1, 1))
    for people_after in (["bob"], ["cleo", "dora"]):
        for name in people_after:
            add(opened_file_database, name)
        path.unlink()
        with pytest.raises(DatabaseReplacedError, match="All that it held"):
            add(opened_file_database, "emil")
        opened_file_database.close()
        shutil.copy(backup, path)
        opened_file_database = Database(f"sqlite:///{path}")
    opened_file_database.close()
    found = [Database(f"sqlite:///{one}") for one in path.parent.glob(f"{path.name}.rescued-*")]
    assert sorted(map(names, found)) == [["ada", "bob"], ["ada", "cleo", "dora"]]
    for one in found:
        one.close()


def test_moved_file_is_not_rescued(opened_file_database: Database) -> None:
    path = path_of(opened_file_database)
    path.rename(path.with_name("away.sqlite3"))
    with pytest.raises(DatabaseReplacedError, match=r"Nothing was stored\. Fix"):
        add(opened_file_database, "bob")
    assert not list(path.parent.glob("*rescued*"))
    opened_file_database.close()


@pytest.mark.parametrize("ending", [LOG, INDEX])
def test_deleted_wal_is_rebuilt_without_loss(opened_file_database: Database, ending: str) -> None:
    path = path_of(opened_file_database)
    before = opened_file_database.times_replaced
    for name in ("bob", "cleo"):
        path.with_name(path.name + ending).unlink()
        add(opened_file_database, name)
        opened_file_database.check()
    assert path.with_name(path.name + ending).exists()
    assert opened_file_database.times_replaced == before, "it is the same file"
    kept = path.with_name("kept")  # as another process would find it after this one was killed
    shutil.copy(path, kept)
    shutil.copy(f"{path}{LOG}", f"{kept}{LOG}")
    other = Database(f"sqlite:///{kept}")
    assert names(other) == names(opened_file_database) == ["ada", "bob", "cleo"]
    other.close()
    opened_file_database.close()


def test_wal_deleted_during_transaction_aborts_it(opened_file_database: Database) -> None:
    path = path_of(opened_file_database)

    def write() -> None:
        with opened_file_database.write() as session:
            people.add(session, "bob", "annotator", NOW)
            path.with_name(path.name + LOG).unlink()

    with pytest.raises(DatabaseReplacedError, match="separated from its log"):
        write()
    add(opened_file_database, "cleo")
    assert names(opened_file_database) == ["ada", "cleo"]
    opened_file_database.close()


def test_file_deleted_during_commit_is_noticed_after_it(
    opened_file_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = path_of(opened_file_database)
    monkeypatch.setattr(opened_file_database, "_check_before_commit", path.unlink)
    with pytest.raises(DatabaseReplacedError, match="deleted or moved away"):
        add(opened_file_database, "bob")
    opened_file_database.close()


def test_wal_deleted_during_commit_loses_nothing(
    opened_file_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = path_of(opened_file_database)
    with monkeypatch.context() as once:
        once.setattr(opened_file_database, "_check_before_commit", path.with_name(path.name + LOG).unlink)
        add(opened_file_database, "bob")
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    there = Database(f"sqlite:///{copy}")
    assert names(there) == ["ada", "bob"], "what was said to be stored is in the file itself"
    there.close()
    opened_file_database.close()


def test_older_copy_in_place_is_refused_and_newer_one_accepted(opened_file_database: Database) -> None:
    path = path_of(opened_file_database)
    opened_file_database.copy_to(path.with_name("old"))
    add(opened_file_database, "bob")
    opened_file_database.copy_to(path.with_name("new"))
    shutil.copyfile(path.with_name("old"), path)
    with pytest.raises(DatabaseReplacedError, match="was overwritten"):
        add(opened_file_database, "cleo")
    shutil.copyfile(path.with_name("new"), path)
    add(opened_file_database, "cleo")
    assert names(opened_file_database) == ["ada", "bob", "cleo"]
    opened_file_database.close()
    found = Database(f"sqlite:///{path}")
    with found.read() as session:
        assert session.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"
    assert names(found) == ["ada", "bob", "cleo"]
    found.close()


def test_truncated_file_is_noticed(opened_file_database: Database) -> None:
    path = path_of(opened_file_database)
    opened_file_database.close()
    assert names(opened_file_database) == ["ada"]
    whole = path.read_bytes()
    os.truncate(path, 8192)
    with pytest.raises(DatabaseReplacedError, match="was cut short"):
        add(opened_file_database, "bob")
    with path.open("r+b") as file:
        file.write(whole)
    add(opened_file_database, "bob")
    assert names(opened_file_database) == ["ada", "bob"]
    opened_file_database.close()


def test_checkpoint_vacuum_and_foreign_tables_are_no_damage(opened_file_database: Database) -> None:
    """Its log is moved into the file, another process adds tables, and the database shrinks."""
    other = Database(f"sqlite:///{path_of(opened_file_database)}")
    for number in range(4):
        add(opened_file_database, f"bob {number}")
        with closing(sqlite3.connect(path_of(opened_file_database), isolation_level=None)) as third:
            third.execute(f"CREATE TABLE more_{number} (x)")
            third.execute(f"INSERT INTO more_{number} VALUES (zeroblob(100000))")  # noqa: S608 - a number of ours
            third.execute(f"DROP TABLE more_{number}")
            third.execute("VACUUM")
            third.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        add(other, f"cleo {number}")
        for one in (opened_file_database, other):
            one.check()
    assert opened_file_database.times_replaced == other.times_replaced == 0
    other.close()
    opened_file_database.close()


@pytest.fixture
def migrated_by_another(opened_file_database: Database) -> Iterator[sqlite3.Connection]:
    """Another process changes tables twice: the first change is in the file by now, the second only in the log."""
    assert names(opened_file_database) == ["ada"]
    with closing(sqlite3.connect(path_of(opened_file_database))) as other:
        other.execute("CREATE TABLE one (x)")
        other.execute("PRAGMA wal_checkpoint(FULL)").fetchall()
        other.execute("CREATE TABLE two (x)")
        yield other


def test_tables_that_another_process_changed_twice_are_not_damage(
    opened_file_database: Database, migrated_by_another: sqlite3.Connection
) -> None:
    file = opened_file_database._file
    assert file is not None
    assert file.loss() is None
    add(opened_file_database, "bob")
    assert names(opened_file_database) == ["ada", "bob"]


def test_wal_written_by_another_process_is_kept(
    opened_file_database: Database, migrated_by_another: sqlite3.Connection
) -> None:
    size = path_of(opened_file_database).with_name(path_of(opened_file_database).name + LOG).stat().st_size
    assert size
    opened_file_database.close()
    found = migrated_by_another.execute("SELECT count(*) FROM sqlite_master WHERE name = 'two'").fetchone()
    assert found == (1,)
    assert path_of(opened_file_database).with_name(path_of(opened_file_database).name + LOG).stat().st_size == size


def test_torn_header_read_keeps_wal(opened_file_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(path_of(opened_file_database))) as other:
        add(opened_file_database, "bob")
        plain, torn = opened_file.read_header, [None]
        monkeypatch.setattr(opened_file, "read_header", lambda file: torn.pop() if torn else plain(file))
        opened_file_database.close()
        assert other.execute("SELECT count(*) FROM people").fetchone() == (2,)


def test_file_is_known_by_content_not_name(opened_file_database: Database, tmp_path: Path) -> None:
    path = path_of(opened_file_database)
    opened_file_database.close()
    file = OpenedFile(path)
    file.check()  # nothing is open yet
    assert file.loss() is None
    file.opened()
    file.opened()
    other = tmp_path / "other"
    shutil.copy(path, other)
    other.rename(path)
    for look in (file.check, file.opened):
        with pytest.raises(DatabaseReplacedError, match="replaced by another one") as refusal:
            look()
        assert refusal.value.__notes__ == [f"The path: {path}"]
        assert str(path) not in str(refusal.value)
    file.forget()
    file.check()
    file.opened()
    file.forget()
    with pytest.raises(FileNotFoundError):
        OpenedFile(tmp_path / "nowhere").opened()


# The header of SQLite's file, as SQLite itself says it


def header_of(path: Path) -> FileHeader | None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return read_header(descriptor)
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("page", [512, 4096, 65536])
def test_file_header_matches_sqlite(tmp_path: Path, page: int) -> None:
    path = tmp_path / "a.sqlite3"
    with closing(sqlite3.connect(path)) as made:
        made.execute(f"PRAGMA page_size = {page}")
        made.execute("CREATE TABLE t (x)")
        made.execute("PRAGMA application_id = 2147483647")
        made.execute("PRAGMA user_version = 123456789")
        cookie = made.execute("PRAGMA schema_version").fetchone()[0]
    assert header_of(path) == FileHeader(2147483647, 123456789, cookie, path.stat().st_size)


@pytest.mark.parametrize("content", [b"", b"x" * 4096, MAGIC, MAGIC + b"\0" * 40])
def test_file_without_sqlite_header_has_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    assert header_of(tmp_path / "a") is None


@pytest.mark.parametrize(
    ("content", "said"), [(b"", (True, True)), (b"x" * 4096, (False, True)), (MAGIC, (False, False))]
)
def test_unopened_path_is_checked_for_sqlite(tmp_path: Path, content: bytes, said: tuple[bool, bool]) -> None:
    path = tmp_path / "a"
    assert (is_empty(path), is_no_sqlite(path)) == (False, False), "there is nothing"
    path.write_bytes(content)
    assert (is_empty(path), is_no_sqlite(path)) == said
