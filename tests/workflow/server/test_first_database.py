"""The database at a server's start: created, migrated, backed up before."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from db.engine import Database, revisions
from tests.disks import filled, small_disk
from tests.migrated import LATER, a_step_more
from tests.workflow.backups.drill import rows_of, settings_of
from tests.workflow.world import answer_next, small_project
from workflow.backups.archive import check_archive
from workflow.backups.manifest import ALONE, DATABASE, BackupError
from workflow.backups.restoring import restore
from workflow.server import store
from workflow.server.home import Home, open_home
from workflow.server.running import Terminal
from workflow.server.settings import Settings, SettingsError
from workflow.server.store import NOTE, copy_before, open_database

# The first database is on the disk, whole, before it has its name; a start that is cut short leaves none


def revision_of(path: Path) -> str | None:
    database = Database(f"sqlite:///{path}")
    try:
        return database.revision()
    finally:
        database.close()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_first_database_is_one_complete_file(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite3"
    store.begin(path)
    assert names(tmp_path) == ["a.sqlite3"]
    assert revision_of(path) == revisions()[0]


def test_first_database_is_synced_before_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_interrupted_first_database_is_started_again(
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


def test_leftovers_of_power_cut_are_no_database(tmp_path: Path) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        (tmp_path / f".winnow.sqlite3{store.BEGUN}{ending}").write_bytes(b"\0" * 5000)
    (tmp_path / "tables").mkdir()
    settings = Settings.from_environment({"WINNOW_HOME": str(tmp_path)})
    open_database(settings, tmp_path / "tables").close()
    assert names(tmp_path) == ["database.seen", "tables", "winnow.sqlite3"]


def test_stale_wal_does_not_enter_new_database(tmp_path: Path) -> None:
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
    with closing(sqlite3.connect(path)) as made, pytest.raises(sqlite3.OperationalError, match="no such table"):
        made.execute("SELECT * FROM stale")


def test_concurrent_starts_make_one_database(tmp_path: Path) -> None:
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


def test_existing_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite3"
    path.write_bytes(b"whatever")
    store.begin(path)
    assert path.read_bytes() == b"whatever"


def test_full_disk_leaves_no_database(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as folder:
        with filled(folder), pytest.raises(OperationalError, match="full"):
            store.begin(folder / "a.sqlite3")
        assert names(folder) == []


def test_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        store.begin(tmp_path / "nowhere" / "a.sqlite3")


# Before its tables are changed a database is copied; where that cannot be done nothing is changed


OLD = revisions()[0]


@pytest.fixture
def older(home: Home, owner: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a used Winnow, with the tables of the previous version."""
    project = small_project(home, owner)
    answer_next(home, owner, project)
    home.close()
    (home.settings.home / NOTE).unlink()  # as an earlier version, which wrote none
    with a_step_more(tmp_path_factory.mktemp("later")):
        yield home.settings.home


def test_migration_at_start_leaves_backup(older: Path) -> None:
    before = rows_of(older / DATABASE)
    open_home(settings_of(older)).close()
    (copy,) = (older / "backups").glob("before-*.zip")
    assert copy.name.startswith(f"before-{LATER}-")
    manifest = check_archive(copy)
    assert (manifest.kind, manifest.schema) == (ALONE, OLD)
    after = rows_of(older / DATABASE)
    assert after != before
    open_home(settings_of(older)).close()
    assert len(list((older / "backups").iterdir())) == 1, "once"
    restore(settings_of(older), copy, replace=True)
    assert rows_of(older / DATABASE) == before


def test_new_and_current_winnow_need_no_migration(tmp_path: Path) -> None:
    for _ in range(2):
        open_home(settings_of(tmp_path)).close()
    assert not (tmp_path / "backups").exists()


def test_migration_needs_backup_first(older: Path) -> None:
    before = rows_of(older / DATABASE)
    (older / "backups").write_text("no folder")
    with pytest.raises(SettingsError, match=rf"from revision {OLD} to .* no copy could be made before: .*Nothing was"):
        open_home(settings_of(older))
    assert rows_of(older / DATABASE) == before
    (older / "backups").unlink()
    open_home(settings_of(older)).close()


def test_full_disk_during_backup_is_reported(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workflow.backups.archive._add", full)
    database = Database(settings_of(older).database_url)
    try:
        with pytest.raises(BackupError, match="Fix: make room"):
            copy_before(database, older / "backups")
        assert list((older / "backups").iterdir()) == []
    finally:
        database.close()


def test_migration_backup_belongs_to_its_folder(older: Path, tmp_path: Path) -> None:
    open_home(settings_of(older)).close()
    (copy,) = (older / "backups").glob("before-*.zip")
    with pytest.raises(BackupError, match="It is only the database"):
        restore(settings_of(tmp_path / "new"), copy)
    (table,) = (older / "tables").iterdir()
    table.rename(tmp_path / table.name)
    with pytest.raises(BackupError, match=rf"{table.stem} is missing\. Nothing was changed"):
        restore(settings_of(older), copy, replace=True)
    with closing(sqlite3.connect(older / DATABASE)) as there:
        assert there.execute("SELECT version_num FROM alembic_version").fetchone() == (LATER,)


def test_foreign_triggers_block_start_but_indices_do_not(older: Path) -> None:
    with closing(sqlite3.connect(older / DATABASE)) as there:
        there.executescript(
            "CREATE INDEX mine ON entries (at); CREATE TABLE _litestream_seq (x); CREATE VIEW evil AS SELECT 1"
        )
        with pytest.raises(SettingsError, match=r'view \'evil\' .* Fix: drop it \(DROP VIEW "evil"\)') as raised:
            open_home(settings_of(older))
        assert "restore" not in str(raised.value)
        there.execute("DROP VIEW evil")
    open_home(settings_of(older)).close()


# At start


def test_start_message_is_text_or_json(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    link = "https://a.example/signin?link=x"
    for as_json, words in (
        (False, f"  Winnow is ready. Sign in (once, within an hour):\n\n  {link}\n\n"),
        (True, "  Winnow is ready.\n\n"),  # the link is a secret, which words next to the document have not
    ):
        terminal.as_json = as_json
        terminal.say("Compiling.")
        terminal.ready("https://a.example", link)
        said = capsys.readouterr()
        assert (said.err if as_json else said.out) == f"  Compiling.\n\n{words}"
    assert json.loads(said.out) == {"address": "https://a.example", "link": link}


def test_compiling_shows_progress_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = ((0.0, None), (0.5, 12.4), (1.0, 0.0))
    for is_terminal in (True, False):
        terminal = Terminal()
        monkeypatch.setattr(sys.stdout, "isatty", lambda found=is_terminal: found, raising=False)
        for share, left in steps:
            terminal.compiling(share, left)
        said = capsys.readouterr().out
        if is_terminal:
            assert [line.strip() for line in said.split("\r")[1:]] == [
                "Compiling the numeric kernels (once) [----------] 0%",
                "Compiling the numeric kernels (once) [#####-----] 50%, about 12 s left",
                "Compiling the numeric kernels (once) [##########] 100%",
            ]
            assert said.count("\n") == 1
        else:
            assert said == "  Compiling the numeric kernels (once) ...\n"
