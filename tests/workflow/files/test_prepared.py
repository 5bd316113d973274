"""Files for download: prepared in the scratch folder, complete."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from tests.clocks import Clock
from tests.present import present
from tests.workflow.world import full_disk
from workflow.files import stored
from workflow.files.prepared import (
    AT_ONCE,
    FAILED,
    KEPT,
    KEPT_FETCHED,
    READY,
    WAITING,
    WRITING,
    PreparedFile,
    PreparedFiles,
    Taken,
    Whose,
    clear,
)
from workflow.files.stored import make_folder, whole_file

# Files written in threads: whose they are, how they end, and when they go


OWNER = Whose(1, 7)
Tell = Callable[[int], None]


@pytest.fixture
def files(clock: Clock) -> Iterator[PreparedFiles]:
    made = PreparedFiles(clock)
    yield made
    made.close()


def rows(content: bytes, count: int = 3) -> Taken:
    """Writes the content `count` times."""

    def write(file: BinaryIO, tell: Tell) -> None:
        for number in range(count):
            file.write(content)
            tell(number + 1)

    return Taken(count, 5, write)


class Held:
    """A file of three rows, one of which is written; the others follow when released."""

    def __init__(self) -> None:
        self.begun, self.go_on, self.stopped = threading.Event(), threading.Event(), False

    def taken(self) -> Taken:
        def write(file: BinaryIO, tell: Tell) -> None:
            file.write(b"1")
            tell(1)
            self.begun.set()
            self.go_on.wait()
            try:
                tell(2)
            except BaseException:
                self.stopped = True
                raise
            file.write(b"23")

        return Taken(3, 5, write)


def only(files: PreparedFiles, whose: Whose = OWNER) -> PreparedFile:
    (one,) = files.of(whose)
    return one


def test_file_is_written_and_fetched(files: PreparedFiles, tmp_path: Path) -> None:
    key = files.begin(tmp_path / "exports", OWNER, "birds.csv", rows(b"ab"))
    files.wait(key)
    assert only(files) == PreparedFile(key, "birds.csv", READY, 3, 3, 5, size=6)
    assert not only(files).unfinished
    found = present(files.fetch(OWNER, key))
    path, name = found
    assert (path.read_bytes(), name, path.parent) == (b"ababab", "birds.csv", tmp_path / "exports")
    assert path.parent.stat().st_mode & 0o777 == 0o700, "no one else of this machine looks in"
    assert len(key) >= 32
    assert files.fetch(OWNER, key) == found, "a download may be tried again"


def test_log_position_is_known_after_writing(files: PreparedFiles, tmp_path: Path) -> None:
    """It is the latest entry in the file, if more have arrived since the request."""
    key = files.begin(tmp_path, OWNER, "p.zip", Taken(1000, 5, lambda _file, _tell: 9, counts_rows=False))
    files.wait(key)
    (one,) = files.of(OWNER)
    assert (one.seq, one.counts_rows) == (9, False)
    other = files.begin(tmp_path, OWNER, "b.csv", rows(b"a"))
    files.wait(other)
    assert (files.of(OWNER)[0].seq, files.of(OWNER)[0].counts_rows) == (5, True)


def test_prepared_file_belongs_to_person_and_project(files: PreparedFiles, tmp_path: Path) -> None:
    key = files.begin(tmp_path, OWNER, "birds.csv", rows(b"ab"))
    files.wait(key)
    for other in (Whose(2, 7), Whose(1, 8)):
        assert files.of(other) == ()
        assert files.fetch(other, key) is None
        files.remove(other, key)
    assert files.fetch(OWNER, key) is not None
    assert files.fetch(OWNER, "other") is None


def test_file_being_written_can_be_cancelled(files: PreparedFiles, tmp_path: Path) -> None:
    held = Held()
    key = files.begin(tmp_path, OWNER, "birds.csv", held.taken())
    held.begun.wait()
    assert only(files) == PreparedFile(key, "birds.csv", WRITING, 1, 3, 5)
    assert files.fetch(OWNER, key) is None, "half a file is no one's"
    files.remove(OWNER, key)
    assert files.of(OWNER) == ()
    held.go_on.set()
    files.close()
    assert held.stopped
    assert not list(tmp_path.iterdir())


def test_limited_number_of_files_is_written_at_once(files: PreparedFiles, tmp_path: Path) -> None:
    held = [Held() for _ in range(AT_ONCE)]
    for number, one in enumerate(held):
        files.begin(tmp_path, OWNER, f"{number}.csv", one.taken())
    for one in held:
        one.begun.wait()
    last = files.begin(tmp_path, OWNER, "last.csv", rows(b"x"))
    gone = files.begin(tmp_path, OWNER, "gone.csv", rows(b"x"))
    assert [one.state for one in files.of(OWNER)] == [WAITING, WAITING, *[WRITING] * AT_ONCE]
    files.remove(OWNER, gone)
    for one in held:
        one.go_on.set()
    files.wait(last)
    files.close()
    assert not list(tmp_path.iterdir())


def test_files_of_two_people_are_written_in_parallel(files: PreparedFiles, tmp_path: Path) -> None:
    other, first, second = Whose(2, 7), Held(), Held()
    keys = [
        files.begin(tmp_path, whose, "birds.csv", held.taken()) for whose, held in ((OWNER, first), (other, second))
    ]
    for held in (first, second):
        held.begun.wait()
        held.go_on.set()
    for key in keys:
        files.wait(key)
    for whose, key in zip((OWNER, other), keys, strict=True):
        found = present(files.fetch(whose, key))
        assert found[0].read_bytes() == b"123"


def test_second_file_of_same_name_replaces_first(files: PreparedFiles, tmp_path: Path) -> None:
    held = Held()
    files.begin(tmp_path, OWNER, "birds.csv", held.taken())
    held.begun.wait()
    second = files.begin(tmp_path, OWNER, "birds.csv", rows(b"new"))
    held.go_on.set()
    files.wait(second)
    assert only(files).key == second
    third = files.begin(tmp_path, OWNER, "birds.csv", rows(b"newer"))
    files.wait(third)
    assert only(files).key == third
    while list(tmp_path.glob(".*.part")):  # the first ends its writing in a thread of its own
        time.sleep(0.001)
    assert [path.name for path in tmp_path.iterdir()] == [third]


def test_full_disk_is_reported_and_leaves_no_file(
    files: PreparedFiles, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with full_disk():
        key = files.begin(tmp_path, OWNER, "birds.csv", rows(b"x" * 100_000))
        files.wait(key)
    failed = only(files)
    assert (failed.state, failed.unfinished, failed.size) == (FAILED, False, 0)
    assert failed.fault == (
        "The file could not be written (File too large). Fix: make room on the disk, then try again."
    )
    assert "could not be written" in caplog.text
    assert files.fetch(OWNER, key) is None
    assert not list(tmp_path.iterdir())
    files.remove(OWNER, key)
    assert files.of(OWNER) == ()


def test_writer_error_is_reported(files: PreparedFiles, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def write(_file: BinaryIO, _tell: Tell) -> None:
        raise ValueError("Row 3 cannot be written so.")

    files.wait(files.begin(tmp_path, OWNER, "birds.csv", Taken(3, 5, write)))
    assert (only(files).state, only(files).fault) == (FAILED, "Row 3 cannot be written so.")
    assert "An export failed" in caplog.text


def test_file_expires_after_a_day_or_an_hour_after_download(files: PreparedFiles, clock: Clock, tmp_path: Path) -> None:
    kept, fetched = (files.begin(tmp_path, OWNER, name, rows(b"x")) for name in ("kept.csv", "fetched.csv"))
    for key in (kept, fetched):
        files.wait(key)
    clock.now = 10.0
    assert files.fetch(OWNER, fetched) is not None
    clock.now += KEPT_FETCHED - 1
    files.sweep()
    assert len(files.of(OWNER)) == 2
    clock.now += 1
    files.sweep()
    assert [path.name for path in tmp_path.iterdir()] == [kept]
    clock.now = KEPT
    assert files.of(OWNER) == ()
    assert not list(tmp_path.iterdir())


def test_deleted_prepared_file_is_not_found(files: PreparedFiles, tmp_path: Path) -> None:
    key = files.begin(tmp_path, OWNER, "birds.csv", rows(b"x"))
    files.wait(key)
    (tmp_path / key).unlink()
    assert files.fetch(OWNER, key) is None


def test_closing_removes_all_prepared_files(clock: Clock, tmp_path: Path) -> None:
    files, held = PreparedFiles(clock), Held()
    done = files.begin(tmp_path, OWNER, "done.csv", rows(b"x"))
    files.wait(done)
    files.begin(tmp_path, OWNER, "half.csv", held.taken())
    held.begun.wait()
    held.go_on.set()
    files.close()
    assert not list(tmp_path.iterdir())
    files.close()


def test_leftovers_of_killed_server_are_removed_but_not_of_running_ones(tmp_path: Path) -> None:
    clear(tmp_path / "none")
    for name in ("old", ".half.part", "new", ".begun.part"):
        (tmp_path / name).write_bytes(b"x")
    for name in (".set-old", ".set-new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data.parquet").write_bytes(b"x")
    for name in ("old", ".half.part", ".set-old"):
        os.utime(tmp_path / name, (0, 0))
    clear(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"new", ".begun.part", ".set-new"}


# A file exists completely or not at all, no matter how writing ends


def test_file_appears_only_when_complete(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    with whole_file(path) as file:
        file.write(b"a,b\n")
        assert not path.exists()
        file.write(b"1,2\n")
    assert path.read_bytes() == b"a,b\n1,2\n"
    assert list(tmp_path.iterdir()) == [path]


def test_file_is_synced_before_and_after_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, synced = tmp_path / "out.csv", []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append((os.fstat(descriptor).st_ino, path.exists()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with whole_file(path) as file:
        file.write(b"a,b\n")
    assert synced == [(path.stat().st_ino, False), (tmp_path.stat().st_ino, True)]


@pytest.mark.parametrize("why", [KeyboardInterrupt, OSError, ValueError])
def test_interrupted_write_keeps_existing_file(tmp_path: Path, why: type[BaseException]) -> None:
    path = tmp_path / "out.csv"
    path.write_bytes(b"before")

    def write() -> None:
        with whole_file(path) as file:
            file.write(b"half")
            raise why

    with pytest.raises(why):
        write()
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_full_disk_leaves_no_trace(tmp_path: Path) -> None:
    with full_disk(), pytest.raises(OSError, match="File too large"), whole_file(tmp_path / "out.csv") as file:
        file.write(b"x" * 100_000)
    assert not list(tmp_path.iterdir())


def test_new_file_whose_name_is_not_synced_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same command would find it and refuse. A file that was there before keeps its new content."""

    def lost(_folder: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    def write(name: str) -> None:
        with pytest.raises(OSError, match="Input/output"), whole_file(tmp_path / name) as file:
            file.write(b"after")

    monkeypatch.setattr(stored, "sync_folder", lost)
    (tmp_path / "old").write_bytes(b"before")
    write("old")
    write("new")
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("old", b"after")]


def test_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "nowhere" / "out.csv"):
        pytest.fail("there is nothing to write into")


def test_symbolic_link_and_device_are_preserved(tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_bytes(b"before")
    link.symlink_to(real)
    with whole_file(link) as file:
        file.write(b"after")
    assert link.is_symlink()
    assert real.read_bytes() == b"after"
    with whole_file(Path(os.devnull)) as file:
        file.write(b"gone")
    assert Path(os.devnull).is_char_device()


def test_new_file_has_default_permissions(tmp_path: Path) -> None:
    with whole_file(tmp_path / "out.csv") as file:
        file.write(b"1")
    (tmp_path / "plain").write_bytes(b"1")
    assert (tmp_path / "out.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_rewritten_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with whole_file(path) as file:
        file.write(b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o600)


def test_new_folders_are_synced_with_missing_parents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[int, bool]] = []
    folder = tmp_path / "a" / "b"
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append((os.fstat(handle).st_ino, folder.is_dir())))
    make_folder(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert sorted(synced) == sorted([(tmp_path.stat().st_ino, True), (folder.parent.stat().st_ino, True)])
    make_folder(folder)
    assert len(synced) == 2, "what is there was named before"
