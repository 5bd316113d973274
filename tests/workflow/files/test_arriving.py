"""Uploaded files while they arrive, and those that a server left behind."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clocks import Clock
from tests.workflow.backups.drill import reopened, settings_of
from tests.workflow.files.test_finding import upload
from tests.workflow.world import opened, small_table
from workflow.files import arriving, stored
from workflow.files.arriving import (
    KEPT,
    SPARE,
    Arrivals,
    Arrived,
    NoRoom,
    NotTaken,
    OneAtATime,
    Room,
    TooLarge,
    clear,
    plain_name,
)
from workflow.kinds.one_label.build import keep_graph
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings

# Files being uploaded: stored parts, owners, limits, and removal


ROOM = Room(file=100, person=150, all=220)
ADA, BOB, EVE = 1, 2, 3


@pytest.fixture
def store(clock: Clock) -> Iterator[Arrivals]:
    made = Arrivals(clock)
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "uploads"


def send(store: Arrivals, folder: Path, person: int, data: bytes, size: int | None = None) -> Arrived:
    """Send all of it, in two pieces."""
    coming = store.begin(folder, person, "birds.csv", size, ROOM)
    try:
        coming.write(data[:1])
        coming.write(data[1:])
        return coming.finish()
    finally:
        coming.end()


def lying(folder: Path) -> list[int]:
    return sorted(path.stat().st_size for path in folder.iterdir())


def test_file_on_disk_is_readable_by_its_user_only(store: Arrivals, folder: Path) -> None:
    file = send(store, folder, ADA, b"id,labels\n")
    assert (file.name, file.size, file.path.read_bytes()) == ("birds.csv", 10, b"id,labels\n")
    assert file.path.parent == folder
    assert folder.stat().st_mode & 0o777 == 0o700
    assert store.find(ADA, file.key) == file
    assert store.find(BOB, file.key) is None
    store.remove(BOB, file.key)
    assert store.find(ADA, file.key) == file
    store.remove(ADA, file.key)
    assert store.find(ADA, file.key) is None
    assert lying(folder) == []


def test_upload_key_is_hexadecimal(store: Arrivals, folder: Path) -> None:
    """Streamlit refuses a component whose name holds "__": one key in 130 did while they were base64."""
    assert set(send(store, folder, ADA, b"").key) <= set("0123456789abcdef")


def test_empty_file_is_accepted(store: Arrivals, folder: Path) -> None:
    assert send(store, folder, ADA, b"").path.read_bytes() == b""


def test_interrupted_upload_leaves_no_file(store: Arrivals, folder: Path) -> None:
    coming = store.begin(folder, ADA, "birds.csv", 10, ROOM)
    coming.write(b"first half")
    assert len(lying(folder)) == 1
    coming.end()
    assert lying(folder) == []
    assert send(store, folder, ADA, b"again").size == 5


@pytest.mark.parametrize("announced", [None, 5, 101, 10**15])
def test_oversized_file_is_refused_with_or_without_length(store: Arrivals, folder: Path, announced: int | None) -> None:
    with pytest.raises(TooLarge, match=r"^The file is larger than .* MB\. Fix: "):
        send(store, folder, ADA, b"x" * 101, announced)
    assert not folder.exists() or lying(folder) == []
    assert send(store, folder, ADA, b"x" * 100).size == 100


def test_person_uploads_one_file_at_a_time(store: Arrivals, folder: Path) -> None:
    first = store.begin(folder, ADA, "a", None, ROOM)
    with pytest.raises(OneAtATime, match="is being uploaded"):
        store.begin(folder, ADA, "b", None, ROOM)
    store.begin(folder, BOB, "c", None, ROOM).end()
    first.end()
    store.begin(folder, ADA, "b", None, ROOM).end()


@pytest.mark.parametrize("announced", [True, False])
def test_oldest_files_of_person_are_dropped(store: Arrivals, folder: Path, clock: Clock, announced: bool) -> None:
    files = []
    for _ in range(2):
        clock.now += 1
        files.append(send(store, folder, ADA, b"x" * 70))
    clock.now += 1
    assert store.find(ADA, files[0].key) is not None, "which makes the other one the oldest"
    clock.now += 1
    latest = send(store, folder, ADA, b"x" * 60, 60 if announced else None)
    assert [store.find(ADA, one.key) is not None for one in (*files, latest)] == [True, False, True]
    assert lying(folder) == [60, 70]


def test_upload_over_personal_limit_is_refused(store: Arrivals, folder: Path) -> None:
    room = Room(file=100, person=50, all=1000)
    with pytest.raises(NoRoom, match="WINNOW_UPLOAD_MB"):
        store.begin(folder, ADA, "a", 51, room)
    coming = store.begin(folder, ADA, "a", None, room)
    coming.write(b"x" * 50)
    with pytest.raises(NoRoom, match="WINNOW_UPLOAD_MB"):
        coming.write(b"x")
    coming.end()


def test_uploads_share_limit_without_evicting_other_people(store: Arrivals, folder: Path) -> None:
    files = {person: send(store, folder, person, b"x" * 100) for person in (ADA, BOB)}
    with pytest.raises(NoRoom, match="WINNOW_UPLOADS_MB"):
        send(store, folder, EVE, b"x" * 21, 21)
    with pytest.raises(NoRoom, match="WINNOW_UPLOADS_MB"):
        send(store, folder, EVE, b"x" * 21)
    assert all(store.find(person, file.key) for person, file in files.items())
    assert send(store, folder, EVE, b"x" * 20).size == 20


def test_concurrent_uploads_share_space(store: Arrivals, folder: Path) -> None:
    coming = [store.begin(folder, person, "a", None, ROOM) for person in (ADA, BOB, EVE)]
    for one in coming[:2]:
        one.write(b"x" * 100)
    coming[2].write(b"x" * 20)
    with pytest.raises(NoRoom):
        coming[2].write(b"x")
    for one in coming:
        one.end()
    assert lying(folder) == []


def test_files_of_another_server_count_towards_limit(store: Arrivals, folder: Path) -> None:
    folder.mkdir()
    (folder / "another").write_bytes(b"x" * 200)
    with pytest.raises(NoRoom, match="WINNOW_UPLOADS_MB"):
        store.begin(folder, ADA, "a", 21, ROOM)
    store.begin(folder, ADA, "a", 20, ROOM).end()


def test_upload_leaves_disk_space_for_database(store: Arrivals, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        free = SPARE + 9

    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage)
    with pytest.raises(NoRoom, match="nearly full"):
        store.begin(folder, ADA, "a", 10, ROOM)
    store.begin(folder, ADA, "a", 9, ROOM).end()


def test_disk_that_cannot_be_written_is_reported(store: Arrivals, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NoRoom, match="cannot be written"):
        store.begin(tmp_path / "file" / "uploads", ADA, "a", 1, ROOM)
    coming = store.begin(tmp_path / "uploads", ADA, "a", 1, ROOM)
    shutil.rmtree(tmp_path / "uploads")
    with pytest.raises(NoRoom, match="cannot be written"):
        coming.write(b"x")
    coming.end()


def test_disk_that_is_full_at_end_is_reported(store: Arrivals, folder: Path) -> None:
    coming = store.begin(folder, ADA, "a", 1, ROOM)
    coming.write(b"x")
    full: Any = open("/dev/full", "wb")  # noqa: PTH123, SIM115
    coming._file, real = full, coming._file
    full.write(b"x")
    with pytest.raises(NoRoom, match="No space left"):
        coming.finish()
    coming.end()
    assert real is not None
    real.close()
    assert lying(folder) == []


def test_upload_expires_when_no_page_asks(store: Arrivals, folder: Path, clock: Clock) -> None:
    file = send(store, folder, ADA, b"x")
    clock.now = KEPT - 1
    assert store.find(ADA, file.key) is not None
    clock.now = 2 * KEPT - 2
    assert store.find(ADA, file.key) is not None, "kept from the last time on"
    clock.now = 3 * KEPT
    store.sweep()
    assert lying(folder) == []
    assert store.find(ADA, file.key) is None


def test_deleted_upload_is_not_found(store: Arrivals, folder: Path) -> None:
    file = send(store, folder, ADA, b"x")
    file.path.unlink()
    assert store.find(ADA, file.key) is None


def test_closing_store_removes_uploads(store: Arrivals, folder: Path) -> None:
    send(store, folder, ADA, b"x")
    store.close()
    assert lying(folder) == []


def test_leftovers_of_killed_server_are_removed_when_old(folder: Path) -> None:
    clear(folder)  # there is none yet
    folder.mkdir()
    for name, age in (("old", KEPT + 60), ("young", KEPT - 60)):
        (folder / name).write_bytes(b"x")
        os.utime(folder / name, (time.time() - age,) * 2)
    clear(folder)
    assert [path.name for path in folder.iterdir()] == ["young"]


def test_concurrent_people_never_exceed_limit(folder: Path) -> None:
    store, most, seen = Arrivals(), Room(file=60, person=60, all=200), []

    def work(person: int) -> None:
        for _ in range(20):
            try:
                coming = store.begin(folder, person, "a", None, most)
            except NotTaken:
                continue
            try:
                for _ in range(6):
                    coming.write(b"x" * 10)
                coming.finish()
            except NotTaken:
                pass
            finally:
                coming.end()
            with store._lock:
                seen.append(sum(one.file.size for one in store._kept.values()))

    threads = [threading.Thread(target=work, args=(person,)) for person in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(seen) <= most.all
    assert sum(lying(folder)) == sum(one.file.size for one in store._kept.values())
    store.close()


def test_plain_name_strips_paths(subtests: pytest.Subtests) -> None:
    for name, plain in [
        ("birds.csv", "birds.csv"),
        ("../../winnow.sqlite3", "winnow.sqlite3"),
        (r"C:\data\birds.csv", "birds.csv"),
        ("a\nb\x00\x1b[2J.csv", "ab[2J.csv"),
        ("\u202egpj.exe", "gpj.exe"),
        ("", "file"),
        ("..", "file"),
        ("a/", "file"),
        ("x" * 500 + ".csv", "x" * (arriving.LONGEST_NAME - 4) + ".csv"),
        ("Vögel 鳥.csv", "Vögel 鳥.csv"),
    ]:
        with subtests.test(ascii(name)):
            assert plain_name(name) == plain


# Leftovers of a killed process in the data folder are removed; files in use stay


NAMES = (".restoring-abc", ".bringing-abc", ".winnow.sqlite3.restored")


def lay(home: Path, age: float) -> None:
    for name in NAMES:
        path = home / name
        if name.endswith(".restored"):
            path.write_bytes(b"a database")
        else:
            path.mkdir()
            (path / "winnow.sqlite3").write_bytes(b"a database")
        moment = time.time() - age
        os.utime(path, (moment, moment))


def names(home: Path) -> set[str]:
    return {path.name for path in home.iterdir()}


def test_start_removes_leftovers_older_than_a_day(tmp_path: Path) -> None:
    lay(tmp_path, stored.DAY + 60)
    (tmp_path / "of someone else").mkdir()
    reopened(tmp_path).close()
    assert not names(tmp_path) & set(NAMES)
    assert "of someone else" in names(tmp_path)


def test_start_keeps_recent_leftovers(tmp_path: Path) -> None:
    lay(tmp_path, 60)
    reopened(tmp_path).close()
    assert names(tmp_path) >= set(NAMES)
    stored.clear(settings_of(tmp_path), older=0.0)
    assert not names(tmp_path) & set(NAMES)


def test_start_removes_half_written_files_only(tmp_path: Path) -> None:
    """For tables, images, neighbours, rescued databases, and copies before a migration: each may have gigabytes."""
    settings = settings_of(tmp_path)
    gone = [
        *(".doctor-abcdefgh", ".winnow.sqlite3.rescued-7-9.123", "tables/.new-abc_d.part"),
        *("media/.new-abcdefgh", "graphs/.new-abcdefgh", "backups/.backup-abcdefgh"),
        *("backups/.before-0019-20260101-000000-7.zip-12345678.part", "backups/.winnow-2026.zip-12345678.part"),
    ]
    stay = [
        *(".other", "winnow.sqlite3.rescued-7-9", "tables/a.parquet", "media/ab/a.png", "graphs/a.npz"),
        *("backups/.part", "backups/.of-another.part", "backups/before-0019-20260101-000000-7.zip"),
    ]
    for name in (*gone, *stay):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"half")
        os.utime(path, (0, 0))
    (tmp_path / "media/.new-young123").mkdir()
    stored.clear(settings)
    there = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert there == set(stay)
    assert (tmp_path / "media/.new-young123").exists()


class Killed(BaseException):
    """Raised where the process is killed."""


def killed(*_: object) -> None:
    raise Killed


def there_is_no_time(*_: object, **__: object) -> None:
    """Leave no time to remove leftovers."""


@pytest.mark.parametrize("what", ["tables", "media", "graphs"])
def test_leftover_names_match_cleanup(
    what: str, home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill just when the file gets its name."""
    (home.settings.home / what).mkdir(exist_ok=True)
    with opened(home, owner, project) as learner:
        table = upload() if what == "media" else small_table(70)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        patch.setattr(Path, "unlink", there_is_no_time)
        patch.setattr(shutil, "rmtree", there_is_no_time)
        with pytest.raises(Killed):
            keep_graph(home, "0" * 64, learner) if what == "graphs" else home.store_table(table)
    (left,) = stored.left(home.settings)
    assert left.parent == home.settings.home / what
    stored.clear(home.settings, older=-60)
    assert not left.exists()


def test_cleanup_next_to_external_database_removes_own_files_only(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (ours, other) = (elsewhere / ".a.sqlite3.restored", elsewhere / ".b.sqlite3.restored")
    for path in (ours, other):
        path.write_bytes(b"a database")
        os.utime(path, (0, 0))
    url = f"sqlite:///{elsewhere / 'a.sqlite3'}"
    settings = Settings.from_environment({"WINNOW_HOME": str(tmp_path / "home"), "WINNOW_DATABASE_URL": url})
    open_home(settings).close()
    assert names(elsewhere) >= {"a.sqlite3", other.name}
    assert not ours.exists()
