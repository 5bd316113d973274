"""The first database is on the disk, whole, before it has its name; a start that is cut short leaves none."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from db.engine import Database, revisions
from tests.disks import filled, small_disk
from workflow.server import store
from workflow.server.settings import Settings
from workflow.server.store import open_database


def revision_of(path: Path) -> str | None:
    database = Database(f"sqlite:///{path}")
    try:
        return database.revision()
    finally:
        database.close()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_it_is_whole_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite3"
    store.begin(path)
    assert names(tmp_path) == ["a.sqlite3"]
    assert revision_of(path) == revisions()[0]


def test_bytes_are_on_the_disk_before_the_name_and_the_name_before_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real, synced = tmp_path / "a.sqlite3", os.fsync, list[tuple[int, int, bool]]()

    def fsync(handle: int) -> None:
        real(handle)
        found = os.fstat(handle)
        synced.append((found.st_ino, found.st_size, path.exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    store.begin(path)
    database, folder = path.stat(), tmp_path.stat()
    assert synced == [(database.st_ino, database.st_size, False), (folder.st_ino, folder.st_size, True)]


@pytest.mark.parametrize("step", ["migrate", "close"])
def test_one_that_is_cut_short_leaves_nothing_and_the_next_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "a.sqlite3"
    whole = getattr(Database, step)

    def cut(self: Database) -> None:
        whole(self)
        raise KeyboardInterrupt

    with monkeypatch.context() as late:
        late.setattr(Database, step, cut)
        with pytest.raises(KeyboardInterrupt):
            store.begin(path)
    assert names(tmp_path) == []
    store.begin(path)
    assert names(tmp_path) == ["a.sqlite3"]


def test_what_a_power_cut_has_left_of_one_is_no_database(tmp_path: Path) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        (tmp_path / f".winnow.sqlite3{store.BEGUN}{ending}").write_bytes(b"\0" * 5000)
    (tmp_path / "tables").mkdir()
    settings = Settings.from_environment({"WINNOW_HOME": str(tmp_path)})
    open_database(settings, tmp_path / "tables").close()
    assert names(tmp_path) == ["database.seen", "tables", "winnow.sqlite3"]


def test_the_log_of_a_database_that_is_gone_is_not_brought_into_the_new_one(tmp_path: Path) -> None:
    path, kept = tmp_path / "a.sqlite3", tmp_path / "kept"
    store.begin(path)
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("CREATE TABLE stale (x)")
        other.commit()
        kept.write_bytes((tmp_path / "a.sqlite3-wal").read_bytes())
    path.unlink()
    kept.rename(tmp_path / "a.sqlite3-wal")
    store.begin(path)
    assert names(tmp_path) == ["a.sqlite3"]
    with (
        closing(sqlite3.connect(path)) as made,
        pytest.raises(sqlite3.OperationalError, match="no such table"),
    ):
        made.execute("SELECT * FROM stale")


def test_of_many_starts_at_once_one_makes_it(tmp_path: Path) -> None:
    settings = Settings.from_environment({"WINNOW_HOME": str(tmp_path)})
    (tmp_path / "tables").mkdir()
    go, found = threading.Barrier(6), list[object]()

    def start() -> None:
        go.wait()
        database = open_database(settings, tmp_path / "tables")
        found.append(database.identity())
        database.close()

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len({str(one) for one in found}) == 1
    assert names(tmp_path) == ["database.seen", "tables", "winnow.sqlite3"]


def test_what_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite3"
    path.write_bytes(b"whatever")
    store.begin(path)
    assert path.read_bytes() == b"whatever"


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as folder:
        with filled(folder), pytest.raises(OperationalError, match="full"):
            store.begin(folder / "a.sqlite3")
        assert names(folder) == []


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        store.begin(tmp_path / "nowhere" / "a.sqlite3")
