"""A home is opened with its last database, or refused in one line; never restarted silently."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from db.engine import Database
from db.identity import Note
from db.opened_file import DamagedPagesError
from tests.clocks import stopped
from tests.disks import filled, read_only, small_disk
from tests.present import present
from tests.workflow.world import answer_next, small_project
from workflow.people import team
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server import store
from workflow.server.home import open_home
from workflow.server.settings import Settings, SettingsError
from workflow.server.store import BrokenHomeError


def settings(folder: Path) -> Settings:
    return Settings.from_environment({"WINNOW_HOME": str(folder)})


@pytest.fixture
def used(tmp_path: Path) -> Path:
    """A closed home that has a project."""
    home = open_home(settings(tmp_path))
    small_project(home, team.ensure_owner(home).id)
    home.close()
    return tmp_path


def refused(folder: Path, words: str, **environment: str) -> None:
    """Opening the home is refused in one line with these words and a fix, and changes nothing."""
    before = {path: path.stat() for path in folder.rglob("*")}
    with pytest.raises(BrokenHomeError, match=words) as caught:
        open_home(Settings.from_environment({"WINNOW_HOME": str(folder), **environment}))
    assert "Fix: " in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, SettingsError), "whoever starts Winnow prints it as it stands"
    after = {path: path.stat() for path in folder.rglob("*")}
    assert {path: (one.st_size, one.st_ino) for path, one in before.items()} == {
        path: (one.st_size, one.st_ino) for path, one in after.items()
    }


def test_tables_without_database_are_refused(used: Path) -> None:
    (used / "winnow.sqlite3").rename(used / "kept")
    refused(used, "no database at .*winnow.sqlite3, but .* holds 1 table of projects")
    (used / "kept").rename(used / "winnow.sqlite3")
    home = open_home(settings(used))
    assert [one.name for one in managing.list_projects(Seat(home, 1))] == ["small"]
    home.close()


def test_tables_with_empty_database_are_refused(used: Path) -> None:
    (used / "winnow.sqlite3").unlink()
    with closing(sqlite3.connect(used / "winnow.sqlite3")) as other:
        other.execute("CREATE TABLE something (x)")
    refused(used, "holds 1 table of projects")


@pytest.mark.parametrize("with_tables", [True, False])
def test_zero_byte_database_is_refused(used: Path, with_tables: bool) -> None:
    if not with_tables:
        for path in (used / "tables").iterdir():
            path.unlink()
    (used / "winnow.sqlite3").write_bytes(b"")
    refused(used, r"winnow.sqlite3 is empty \(0 bytes\)")


def test_damaged_database_is_refused(used: Path) -> None:
    path = used / "winnow.sqlite3"
    path.write_bytes(b"x" * path.stat().st_size)
    refused(used, "winnow.sqlite3 is damaged, or no database")


@pytest.mark.postgres
def test_tables_with_empty_postgres_are_refused(used: Path, postgres_url: str) -> None:
    refused(used, "no database at postgresql.*holds 1 table", WINNOW_DATABASE_URL=postgres_url)
    there = Settings.from_environment({"WINNOW_HOME": str(used), "WINNOW_DATABASE_URL": postgres_url})
    open_home(there, accept=True).close()
    open_home(there).close()  # the database is Winnow's by now
    refused(used, "winnow.sqlite3 is another one than the one that was seen last")


@pytest.mark.postgres
def test_older_postgres_is_refused(tmp_path: Path, postgres_url: str) -> None:
    there = Settings.from_environment({"WINNOW_HOME": str(tmp_path), "WINNOW_DATABASE_URL": postgres_url})
    home = open_home(there)
    first = home.database.identity()
    owner = Seat(home, team.ensure_owner(home).id)
    for name in ("Ada", "Bob", "Cleo"):
        team.make_link(owner, name)
    now = home.database.identity()
    noted = store.note_of(there).read()
    assert first is not None
    assert now is not None
    assert noted is not None
    assert (noted.id, noted.id) == (first.id, now.id)
    assert first.height < noted.height <= now.height
    with home.database.write() as session:
        session.execute(text("SELECT setval('identity_height', 1)"))
    home.close()
    store.note_of(there).write(now)
    refused(tmp_path, "is older than the one that was seen last", WINNOW_DATABASE_URL=postgres_url)


def answered(home_folder: Path, n: int) -> None:
    """Add this many answers to the first project."""
    home = open_home(settings(home_folder))
    for _ in range(n):
        answer_next(home, 1, 1)
    home.close()


def answers(home_folder: Path) -> int:
    home = open_home(settings(home_folder))
    try:
        return managing.get_project(Seat(home, 1, 1)).answered
    finally:
        home.close()


def test_older_state_is_refused_until_it_is_accepted(used: Path) -> None:
    shutil.copy(used / "winnow.sqlite3", used / "old")
    answered(used, 3)
    shutil.copy(used / "winnow.sqlite3", used / "new")
    shutil.copy(used / "old", used / "winnow.sqlite3")
    refused(used, r"older than the one that was seen last, at 20..-..-.. ..:.. UTC: \d+ changes .* would be missing")
    shutil.copy(used / "new", used / "winnow.sqlite3")
    assert answers(used) == 3, "the right one is back, and nothing had to be accepted"
    shutil.copy(used / "old", used / "winnow.sqlite3")
    refused(used, r"\(winnow restore FILE --replace\); or go on with what is there, for good \(winnow accept-store\)")
    (used / "backups").mkdir()
    for name in ("winnow-20260101-000000.zip", "winnow-20260203-040506.zip", "another.zip"):
        (used / "backups" / name).touch()
    refused(used, r"winnow restore .*/backups/winnow-20260203-040506.zip --replace")
    open_home(settings(used), accept=True).close()
    assert answers(used) == 0


def test_one_lost_answer_is_noticed(used: Path) -> None:
    answered(used, 1)
    shutil.copy(used / "winnow.sqlite3", used / "old")
    answered(used, 1)
    shutil.copy(used / "old", used / "winnow.sqlite3")
    refused(used, "older than")


def test_wal_lost_after_crash_is_noticed(used: Path) -> None:
    home = open_home(settings(used))
    answer_next(home, 1, 1)
    shutil.copy(used / "winnow.sqlite3", used / "crashed")  # without its -wal
    home.close()
    shutil.copy(used / "crashed", used / "winnow.sqlite3")
    refused(used, "older than")


def test_database_of_another_winnow_is_refused(used: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    open_home(settings(other)).close()
    shutil.copy(other / "winnow.sqlite3", used / "winnow.sqlite3")
    refused(used, "is another one than the one that was seen last")


@pytest.mark.parametrize(
    ("revision", "words"),
    [
        ("0015", r"written by an earlier Winnow .*revision 0015.* Fix: start Winnow of commit \w+ on it once"),
        ("9999", r"was written by a newer Winnow \(its tables are of revision 9999, .*Fix: start that version"),
    ],
)
def test_database_of_unknown_revision_is_refused_with_fix(used: Path, revision: str, words: str) -> None:
    with closing(sqlite3.connect(used / "winnow.sqlite3")) as other:
        other.execute("UPDATE alembic_version SET version_num = ?", (revision,))
        other.commit()
    refused(used, words)


def test_missing_database_is_noticed_without_tables(tmp_path: Path) -> None:
    open_home(settings(tmp_path)).close()
    (tmp_path / "winnow.sqlite3").unlink()
    refused(tmp_path, "There is no database at .*winnow.sqlite3, but there was one when database.seen")
    open_home(settings(tmp_path), accept=True).close()
    open_home(settings(tmp_path)).close()


@pytest.mark.parametrize("words", [b"", b"{}", b"[1]", b"\xff", b'{"id": "a", "height": "many"}'])
def test_unreadable_note_is_refused(used: Path, words: bytes) -> None:
    (used / store.NOTE).write_bytes(words)
    refused(used, f"{store.NOTE} does not say which database was seen last .*winnow accept-store")
    open_home(settings(used), accept=True).close()
    assert json.loads((used / store.NOTE).read_bytes())["height"] > 0


@pytest.mark.parametrize("what", ["empty", "damaged", "missing"])
def test_unusable_database_is_renamed_and_replaced(used: Path, what: str) -> None:
    path = used / "winnow.sqlite3"
    bad = b"x" * path.stat().st_size if what == "damaged" else b""
    path.write_bytes(bad)
    path.with_name("winnow.sqlite3-wal").write_bytes(b"left")
    if what == "missing":
        path.unlink()
    kept = store.set_aside_what_is_none(settings(used))
    assert [one.read_bytes() for one in kept] == ([] if what == "missing" else [bad, b"left"])
    assert all(one.name.startswith("winnow.sqlite3.set-aside-20") for one in kept)
    home = open_home(settings(used), accept=True)
    assert managing.list_projects(Seat(home, team.ensure_owner(home).id)) == []
    home.close()
    open_home(settings(used)).close()


def test_two_databases_renamed_within_a_second_are_kept(used: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "datetime", stopped(datetime(2026, 1, 1, tzinfo=UTC)))
    kept = []
    for data in (b"one", b"two", b"three"):
        (used / "winnow.sqlite3").write_bytes(data)
        (used / "winnow.sqlite3-wal").write_bytes(b"of " + data)
        kept += store.set_aside_what_is_none(settings(used))
    assert [one.read_bytes() for one in kept] == [*(b"one", b"of one"), *(b"two", b"of two"), *(b"three", b"of three")]


def test_valid_database_is_not_renamed(used: Path) -> None:
    answered(used, 1)
    assert store.set_aside_what_is_none(settings(used)) == []
    assert answers(used) == 1


def test_read_only_disk_is_reported(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as folder:
        open_home(settings(folder)).close()
        for home in (folder, folder / "new"):
            with read_only(folder), pytest.raises(SettingsError, match=r"this user may make and write.* Fix: "):
                open_home(settings(home))


def test_full_disk_at_first_start_is_reported(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as folder:
        (folder / "tables").mkdir()
        with filled(folder), pytest.raises(BrokenHomeError, match=r"cannot be opened for writing: .*full") as said:
            open_home(settings(folder))
        assert "\n" not in str(said.value)
        open_home(settings(folder)).close()


def test_note_is_written_with_every_changing_commit(used: Path) -> None:
    home = open_home(settings(used))
    note = store.note_of(settings(used))
    before = present(note.read())
    team.list_people(Seat(home, 1))
    with home.database.write():
        pass
    assert note.read() == before
    answer_next(home, 1, 1)
    after = present(note.read())
    assert after == home.database.identity()
    assert after.height > before.height
    assert note.path.stat().st_mode & 0o077 == 0
    note.path.unlink()
    note.path.mkdir()  # it cannot be written: the answer is stored all the same
    answer_next(home, 1, 1)
    home.close()


def test_copied_home_can_be_used(used: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    copy = tmp_path_factory.mktemp("copies") / "copy"
    shutil.copytree(used, copy)
    answered(copy, 1)
    assert answers(used) == 0
    assert Note(copy / store.NOTE).read() != Note(used / store.NOTE).read()


def test_new_databases_have_different_ids(tmp_path: Path) -> None:
    ids = set()
    for name in "ab":
        made = Database(f"sqlite:///{tmp_path / name}")
        made.migrate()
        found = present(made.identity())
        ids.add(found.id)
        made.close()
    assert len(ids) == 2


def test_zeroed_pages_are_found_at_start_and_remembered(used: Path) -> None:
    """Each page in turn except the first, whose loss every opening notices. A large database is only checked if it was
    left open; an error found later is remembered."""
    path, size = used / "winnow.sqlite3", 4096
    whole = path.read_bytes()
    assert len(whole) < store.LOOKED_THROUGH
    opened = []
    for page in range(1, len(whole) // size):
        path.write_bytes(whole[: page * size] + bytes(size) + whole[(page + 1) * size :])
        try:
            home = open_home(settings(used))
        except BrokenHomeError:
            continue
        opened.append(path.read_bytes())
        with closing(home), pytest.raises(BrokenHomeError, match="is damaged"):
            store.check_pages(home.settings, home.database, left_open=False)
    assert len(opened) > 20, "an opening alone does not notice these"
    path.write_bytes(opened[-1])
    with pytest.MonkeyPatch.context() as patch, closing(open_home(settings(used))) as home:
        patch.setattr(store, "LOOKED_THROUGH", 0)
        store.check_pages(home.settings, home.database, left_open=False)
        assert store.was_left_open(home.settings)  # opened by this home
        with pytest.raises(BrokenHomeError):
            store.check_pages(home.settings, home.database, left_open=True)
        with pytest.raises(DamagedPagesError):
            home.database.check()
    path.write_bytes(whole)
    with closing(open_home(settings(used))) as home:
        store.check_pages(home.settings, home.database, left_open=True)
        home.database.check()
