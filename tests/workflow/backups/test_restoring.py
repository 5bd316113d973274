"""The drill: a backup restores everything, row for row and byte for byte, and the next question is the same."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from db import people
from db.events import EventFilter
from tests.workflow.backups.drill import files_of, reopened, rows_of, settings_of, three_projects
from tests.workflow.vector_world import answer_truly, vector_project
from tests.workflow.world import annotator, answer_next, full_disk
from workflow.answering import loop, undoing
from workflow.backups import making, restoring
from workflow.backups.archive import check_archive, extract_all, write_archive
from workflow.backups.manifest import DATABASE, BackupError, DamagedError
from workflow.backups.restoring import SqlitePlace, restore
from workflow.people import audited, browsers, passwords, team
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture(scope="session")
def backend() -> str:
    """These tests are about SQLite's files; PostgreSQL has its drill in `test_places.py`."""
    return "sqlite"


def question_of(home: Home, person: int, project: int) -> Any:
    return loop.next_question(Seat(home, person, project))


def state_of(folder: Path) -> tuple[dict[str, list[str]], dict[str, str]]:
    return rows_of(folder / DATABASE), files_of(folder)


def backed_up(home: Home, path: Path) -> object:
    """Make a backup while nothing is being written, as by a training thread; returns the state at that time."""
    while True:
        before = state_of(home.settings.home)
        making.make(home, path)
        if state_of(home.settings.home) == before:
            return before
        path.unlink()


def test_restored_winnow_is_the_same(home: Home, owner: int, tmp_path: Path) -> None:
    one, vectors, pictures = three_projects(home, owner)
    ada = annotator(home, owner, "Ada")
    for person in (owner, ada):
        answer_next(home, person, one)
        answer_next(home, person, pictures)
    answer_truly(home, owner, vectors)
    asked = {
        (person, project): question_of(home, person, project)
        for person in (owner, ada)
        for project in (one, vectors, pictures)
    }
    before = backed_up(home, tmp_path / "b.zip")
    answer_next(home, ada, one)
    done = restore(settings_of(tmp_path / "new"), tmp_path / "b.zip")
    assert done.before is None
    assert state_of(tmp_path / "new") == before
    assert (tmp_path / "new" / DATABASE).stat().st_mode & 0o777 == 0o600
    there = reopened(tmp_path / "new")
    try:
        again = {key: question_of(there, *key) for key in asked}
        assert [one and one.token for one in again.values()] == [one and one.token for one in asked.values()]
        assert again[ada, one] == asked[ada, one], "with the same reason"
        answer_next(there, ada, one)
        assert question_of(there, ada, one) == question_of(home, ada, one), "and what comes after it"
    finally:
        there.close()


def test_twenty_backups_are_restored_byte_for_byte(home: Home, owner: int, tmp_path: Path) -> None:
    """After each of twenty steps of using Winnow."""
    one, vectors, pictures = three_projects(home, owner)
    owner_at = Seat(home, owner, one)
    steps = [
        *[lambda: answer_next(home, owner, one)] * 6,
        *[lambda: answer_truly(home, owner, vectors)] * 4,
        *[lambda: answer_next(home, owner, pictures)] * 2,
        lambda: undoing.undo(owner_at, 1),
        lambda: managing.rename_project(owner_at, "renamed", "with a description"),
        lambda: annotator(home, owner, "Ada"),
        lambda: answer_next(home, owner, one, 1),
        lambda: managing.archive_project(owner_at),
        lambda: managing.bin_project(owner_at.at(vectors)),
        lambda: managing.restore_project(owner_at),
        lambda: vector_project(home, owner, "another"),
    ]
    assert len(steps) == 20
    for number, step in enumerate(steps):
        step()
        backup, folder = tmp_path / f"{number}.zip", tmp_path / str(number)
        before = backed_up(home, backup)
        restore(settings_of(folder), backup)
        assert state_of(folder) == before, number


@pytest.fixture
def backup(home: Home, project: int, tmp_path: Path) -> Path:
    making.make(home, tmp_path / "b.zip")
    return tmp_path / "b.zip"


def test_damaged_backup_changes_nothing(home: Home, owner: int, project: int, backup: Path) -> None:
    data = backup.read_bytes()
    backup.write_bytes(data[:9000] + b"?" + data[9001:])
    home.close()
    before = sorted((path, path.read_bytes()) for path in home.settings.home.rglob("*") if path.is_file())
    with pytest.raises(DamagedError, match=r"winnow\.sqlite3: expected .* bytes with SHA-256"):
        restore(home.settings, backup, replace=True)
    assert sorted((path, path.read_bytes()) for path in home.settings.home.rglob("*") if path.is_file()) == before


def test_damaged_backup_creates_no_folder(backup: Path, tmp_path: Path) -> None:
    backup.write_bytes(backup.read_bytes()[:-1])
    with pytest.raises(DamagedError):
        restore(settings_of(tmp_path / "new"), backup)
    assert not (tmp_path / "new").exists()


def test_running_server_blocks_restore(home: Home, backup: Path) -> None:
    with pytest.raises(BackupError, match="is open in a running Winnow"):
        restore(home.settings, backup, replace=True)
    home.close()
    restore(home.settings, backup, replace=True)


def test_non_empty_folder_is_replaced_only_on_request(home: Home, owner: int, project: int, backup: Path) -> None:
    saved = state_of(home.settings.home)
    answer_next(home, owner, project)
    stale = home.model_path(project, "key", 1)
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"of the project that had this number")
    home.close()
    answered = rows_of(home.settings.home / DATABASE)
    with pytest.raises(BackupError, match="is not empty"):
        restore(home.settings, backup)
    assert rows_of(home.settings.home / DATABASE) == answered
    done = restore(home.settings, backup, replace=True)
    assert state_of(home.settings.home) == saved
    assert not stale.exists()
    assert done.before is not None
    assert rows_of(done.before) == answered, "what was there can be had again"


def test_replaced_database_is_kept_with_its_last_entries(home: Home, owner: int, project: int, backup: Path) -> None:
    """As after a kill: its last entries are only in the file next to it."""
    home.close()
    path = home.settings.home / DATABASE
    with closing(sqlite3.connect(path)) as killed:
        killed.execute("PRAGMA journal_mode=WAL")
        killed.execute("INSERT INTO people (name, role, created_at) VALUES ('Zoe', 'annotator', '2026-01-01')")
        killed.commit()
        log = path.with_name(path.name + "-wal").read_bytes()
        data = path.read_bytes()
    path.write_bytes(data)
    path.with_name(path.name + "-wal").write_bytes(log)
    done = restore(home.settings, backup, replace=True)
    assert done.before is not None
    assert "Zoe" in str(rows_of(done.before)["people"])
    assert "Zoe" not in str(rows_of(path)["people"])


def test_existing_data_is_synced_before_it_is_replaced(
    home: Home, project: int, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut may come at any moment: until everything is flushed, the name leads to the old data."""
    home.close()
    path = home.settings.home / DATABASE
    there, flushed = path.stat().st_ino, []

    def flush() -> None:
        kept = [one.stat().st_size for one in (home.settings.home / "backups").glob("before-restore-*")]
        flushed.append((path.stat().st_ino == there, kept))

    monkeypatch.setattr(restoring, "flush_all", flush)
    done = restore(home.settings, backup, replace=True)
    assert done.before is not None
    kept = [done.before.stat().st_size]
    assert flushed == [(True, kept), (False, kept)], "before the backup takes its place, and after"


def test_wal_that_cannot_be_copied_stays_with_its_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database is on another disk than the backups, which fills up; SQLite could not merge the log, because another
    program has the database open."""
    path, copy = tmp_path / DATABASE, tmp_path / "copy"
    there = {path.with_name(path.name + ending): ending.encode() for ending in ("", "-wal", "-shm")}
    for one, data in (*there.items(), (copy, b"another")):
        one.write_bytes(data)
    real = shutil.copy

    def carry(source: Path, target: Path) -> None:
        real(source, target)
        if source.name.endswith("-shm"):
            raise OSError(errno.ENOSPC, "no room")

    def move(source: Path, target: Path) -> None:
        carry(source, target)
        source.unlink()

    def connect(_: Path) -> sqlite3.Connection:
        raise sqlite3.OperationalError("database is locked")

    monkeypatch.setattr(restoring, "shutil", SimpleNamespace(copy=carry, move=move, copyfile=shutil.copyfile))
    monkeypatch.setattr(restoring, "sqlite3", SimpleNamespace(connect=connect, Error=sqlite3.Error))
    with pytest.raises(OSError, match="no room"):
        SqlitePlace(path).put(tmp_path, copy)
    assert {one: one.read_bytes() for one in there} == there
    assert list((tmp_path / "backups").iterdir()) == []


def test_stale_wal_does_not_enter_restored_database(home: Home, project: int, backup: Path) -> None:
    """Someone has deleted it, and left its log: SQLite would apply that to the next file of that name."""
    saved = state_of(home.settings.home)
    home.close()
    path = home.settings.home / DATABASE
    beside = {name: path.with_name(path.name + name) for name in ("-wal", "-shm", "-journal")}
    with closing(sqlite3.connect(path)) as killed:
        killed.execute("PRAGMA journal_mode=WAL")
        killed.execute("PRAGMA wal_autocheckpoint=0")
        killed.executescript("BEGIN; CREATE TABLE alien AS SELECT * FROM projects; COMMIT;")
        log = beside["-wal"].read_bytes()
    path.unlink()
    beside["-wal"].write_bytes(log)
    beside["-shm"].write_bytes(b"of old")
    beside["-journal"].write_bytes(b"of old")
    done = restore(home.settings, backup, replace=True)
    assert done.before is None
    assert state_of(home.settings.home) == saved
    assert not any(one.exists() for one in beside.values())
    moved = sorted(one.name for one in (home.settings.home / "backups").iterdir())
    assert [one.rpartition("-")[2] for one in moved] == ["journal", "shm", "wal"], "they can be looked at"
    reopened(home.settings.home).close()


def test_leftovers_of_killed_restore_are_removed(backup: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    (new / ".restoring-abc").mkdir(parents=True)
    (new / ".restoring-abc" / DATABASE).write_bytes(b"with the hashes of passwords")
    (new / f".{DATABASE}.restored").write_bytes(b"with the hashes of passwords")
    restore(settings_of(new), backup)
    assert not [path.name for path in new.iterdir() if path.name.startswith(".")]


def test_damaged_database_is_replaced(home: Home, project: int, backup: Path) -> None:
    saved = state_of(home.settings.home)
    home.close()
    path = home.settings.home / DATABASE
    path.write_bytes(b"no database" * 1000)
    path.with_name(path.name + "-wal").write_bytes(b"no log")
    restore(home.settings, backup, replace=True)
    assert state_of(home.settings.home) == saved
    reopened(home.settings.home).close()


def test_restore_repairs_damaged_table_and_keeps_good_one(home: Home, project: int, tmp_path: Path) -> None:
    good = tmp_path / "good.zip"
    making.make(home, good)
    (table,) = home.tables_dir.glob("*.parquet")
    data = table.read_bytes()
    table.write_bytes(b"damaged")
    bad = tmp_path / "bad.zip"
    assert making.make(home, bad).damaged
    home.close()
    restore(home.settings, good, replace=True)
    assert table.read_bytes() == data
    restore(home.settings, bad, replace=True)
    assert table.read_bytes() == data


def test_full_disk_leaves_existing_data(home: Home, owner: int, project: int, backup: Path) -> None:
    answer_next(home, owner, project)
    home.close()
    before = state_of(home.settings.home)
    with full_disk(), pytest.raises(BackupError, match="could not be restored"):
        restore(home.settings, backup, replace=True)
    assert state_of(home.settings.home) == before
    assert not [path.name for path in home.settings.home.iterdir() if path.name.startswith(".")]


def test_failed_restore_leaves_no_tables_without_database(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home with tables and no database would not start."""
    new = tmp_path / "new"
    with monkeypatch.context() as broken:
        broken.setattr(restoring, "flush_all", lambda: (_ for _ in ()).throw(OSError(errno.EIO, "disk")))
        with pytest.raises(BackupError, match="could not be restored"):
            restore(settings_of(new), backup)
    assert not list((new / "tables").iterdir())
    reopened(new).close()


def test_missing_disk_space_is_reported_before_restore(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 10}))
    with pytest.raises(BackupError, match="has 10 bytes free"):
        restore(settings_of(tmp_path / "new"), backup)


def test_backup_of_newer_version_is_refused(home: Home, project: int, tmp_path: Path) -> None:
    home.close()
    with closing(sqlite3.connect(home.settings.home / DATABASE)) as there:
        there.execute("UPDATE alembic_version SET version_num = '9999'")
        there.commit()
    making.make(home, tmp_path / "b.zip")
    home.close()
    with pytest.raises(BackupError, match=r"written by a newer Winnow \(its tables are of revision 9999"):
        restore(settings_of(tmp_path / "new"), tmp_path / "b.zip")


def forged(backup: Path, folder: Path, statements: str) -> Path:
    """A backup that is intact, made by someone who has changed its tables."""
    manifest, out = check_archive(backup), folder / "out"
    extract_all(backup, manifest, out)
    with closing(sqlite3.connect(out / DATABASE)) as there:
        there.executescript(statements)
    write_archive(folder / "forged.zip", manifest, [(one.name, out / one.name) for one in manifest.members])
    return folder / "forged.zip"


def test_backup_with_altered_schema_is_refused(backup: Path, tmp_path: Path) -> None:
    path = forged(backup, tmp_path, "DROP TRIGGER entries_no_update")
    with pytest.raises(
        BackupError, match=r"none that works: the trigger 'entries_no_update' is missing\. Nothing was changed"
    ):
        restore(settings_of(tmp_path / "new"), path)
    assert not (tmp_path / "new" / DATABASE).exists()


def test_harmless_foreign_tables_are_restored(backup: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    harmless = "CREATE TABLE seq (x); CREATE INDEX mine ON entries (at)"
    evil = (
        "CREATE TRIGGER evil AFTER UPDATE ON sign_ins BEGIN UPDATE people SET role = 'owner'; END; "
        "CREATE TRIGGER worse AFTER INSERT ON events BEGIN UPDATE people SET name = 'Eve'; END; "
        "CREATE VIEW mine_too AS SELECT * FROM people; CREATE UNIQUE INDEX once ON people (name)"
    )
    restore(settings_of(tmp_path / "new"), forged(backup, tmp_path, f"{harmless}; {evil}"))
    with closing(sqlite3.connect(tmp_path / "new" / DATABASE)) as there:
        found = {name for (name,) in there.execute("SELECT name FROM sqlite_master")}
        assert there.execute("SELECT count(*) FROM people WHERE name = 'Eve'").fetchone() == (0,)
    assert {"seq", "mine"} <= found
    assert not found & {"evil", "worse", "mine_too", "once"}
    assert [record.message for record in caplog.records] == [
        f"the {what} in forged.zip is not Winnow's, and was left out"
        for what in ("trigger 'evil'", "trigger 'worse'", "view 'mine_too'", "index 'once'")
    ]
    reopened(tmp_path / "new").close()


def test_passwords_continue_to_work(home: Home, owner: int, tmp_path: Path) -> None:
    passwords.set_password(Seat(home, owner), "a long password indeed")
    making.make(home, tmp_path / "b.zip")
    restore(settings_of(tmp_path / "new"), tmp_path / "b.zip")
    assert rows_of(tmp_path / "new" / DATABASE)["accounts"] == rows_of(home.settings.home / DATABASE)["accounts"] != []


def test_ended_access_stays_ended_after_restore(home: Home, owner: int, tmp_path: Path) -> None:
    """A browser that was signed out, a link that was used, a person who was disabled; people who were signed in must
    sign in again."""
    seat = Seat(home, owner)
    used, unused = team.make_link(seat, "Eve"), team.make_link(seat, "Bob")
    signed_in = team.redeem_link(home, team.make_link(seat, "Ada"))
    (ada,) = (one.id for one in team.list_people(seat) if one.name == "Ada")
    making.make(home, tmp_path / "b.zip")
    team.redeem_link(home, used)
    team.disable_person(seat, ada)
    restore(settings_of(tmp_path / "new"), tmp_path / "b.zip")
    there = reopened(tmp_path / "new")
    try:
        assert browsers.person_of(there, signed_in) is None
        for link in (used, unused):
            with pytest.raises(team.LinkError, match="has expired"):
                team.redeem_link(there, link)
        came = browsers.person_of(there, team.redeem_link(there, team.make_start_link(there)))
        assert came is not None
        assert came.is_owner
        line = next(one for one in audited.audit_lines(Seat(there, came.id), EventFilter()) if "restored" in one.what)
        assert (line.what, line.who) == ("backup restored", "")
        assert "b.zip" in line.details
        with there.database.read() as session:
            ends = [one.disabled_at for one in people.listed(session) if one.id == ada]
        assert ends == [None], "as the docs say"
    finally:
        there.close()
