"""A file is there whole or not at all, whatever ends its writing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.workflow.world import full_disk
from workflow.files.stored import make_folder, whole_file


def test_it_is_there_when_it_is_whole_and_not_before(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    with whole_file(path) as file:
        file.write(b"a,b\n")
        assert not path.exists()
        file.write(b"1,2\n")
    assert path.read_bytes() == b"a,b\n1,2\n"
    assert list(tmp_path.iterdir()) == [path]


def test_bytes_are_on_the_disk_before_the_name_and_the_name_before_the_block_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
def test_what_ends_early_leaves_what_was_there(tmp_path: Path, why: type[BaseException]) -> None:
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


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    with (
        full_disk(),
        pytest.raises(OSError, match="File too large"),
        whole_file(tmp_path / "out.csv") as file,
    ):
        file.write(b"x" * 100_000)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "nowhere" / "out.csv"):
        pytest.fail("there is nothing to write into")


def test_a_link_stays_one_and_a_device_is_written_as_it_is(tmp_path: Path) -> None:
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


def test_it_may_be_read_by_those_who_may_read_any_new_file(tmp_path: Path) -> None:
    with whole_file(tmp_path / "out.csv") as file:
        file.write(b"1")
    (tmp_path / "plain").write_bytes(b"1")
    assert (tmp_path / "out.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_who_may_read_it_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with whole_file(path) as file:
        file.write(b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o600)


def test_a_folder_is_named_on_the_disk_with_all_above_it_that_were_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[int, bool]] = []
    folder = tmp_path / "a" / "b"
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append((os.fstat(handle).st_ino, folder.is_dir())))
    make_folder(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert sorted(synced) == sorted([(tmp_path.stat().st_ino, True), (folder.parent.stat().st_ino, True)])
    make_folder(folder)
    assert len(synced) == 2, "what is there was named before"
