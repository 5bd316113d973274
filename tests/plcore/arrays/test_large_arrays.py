"""Arrays that grow with the rows: the same in memory and in a file, and gone with whoever had them."""

from __future__ import annotations

import errno
import gc
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from plcore.arrays import array_files
from plcore.arrays.array_files import large_array, let_go


@pytest.mark.parametrize("fallocate", [True, False])
@pytest.mark.parametrize("bound", [0, array_files.IN_MEMORY])
def test_what_is_written_stays_in_it_when_it_was_let_go(
    bound: int, fallocate: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(array_files, "IN_MEMORY", bound)
    monkeypatch.setattr(array_files, "_ZEROS", bytes(1000))
    if not fallocate:
        monkeypatch.delattr(os, "posix_fallocate")
    found = large_array((700, 3), np.int32)
    assert found.shape == (700, 3)
    assert found.dtype == np.int32
    assert found.flags.c_contiguous
    assert found.flags.writeable
    assert not found.any()
    found[:] = np.arange(2100).reshape(700, 3)
    other = large_array((700, 3), np.int32)
    other[:] = 7
    let_go()
    np.testing.assert_array_equal(found, np.arange(2100).reshape(700, 3))
    assert (other == 7).all()


def test_arrays_without_numbers_need_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_files, "IN_MEMORY", 0)
    monkeypatch.setattr(array_files.tempfile, "TemporaryFile", None)
    assert large_array((0, 5), np.float64).shape == (0, 5)


def test_a_large_one_lies_in_a_file_that_goes_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(array_files, "IN_MEMORY", 7)
    monkeypatch.setattr(array_files, "ON_DISK", str(tmp_path))
    monkeypatch.delenv("TMPDIR", raising=False)
    before = set(array_files._maps)
    small, large = large_array((7,), np.int8), large_array((8,), np.int8)
    assert len(set(array_files._maps) - before) == 1
    assert list(tmp_path.iterdir()) == []  # it has no name
    part = large[2:]
    del small, large
    gc.collect()
    assert len(set(array_files._maps) - before) == 1  # a part of it is held
    del part
    gc.collect()
    assert not set(array_files._maps) - before


def test_a_full_disk_is_told_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(array_files, "IN_MEMORY", 0)
    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    monkeypatch.setattr(array_files, "ON_DISK", str(tmp_path))
    monkeypatch.delenv("TMPDIR", raising=False)
    with pytest.raises(OSError, match=r"no room for 40 MB.* Fix: make room there, or let TMPDIR") as refused:
        large_array((5_000_000,), np.float64)
    assert (refused.value.errno, refused.value.filename) == (errno.ENOSPC, str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_the_file_lies_where_tmpdir_says_or_else_on_a_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = []
    make = array_files.tempfile.TemporaryFile
    monkeypatch.setattr(array_files, "IN_MEMORY", 0)
    monkeypatch.setattr(array_files, "ON_DISK", str(tmp_path))
    monkeypatch.setattr(array_files.tempfile, "tempdir", str(tmp_path.parent))
    monkeypatch.setattr(
        array_files.tempfile,
        "TemporaryFile",
        lambda **given: places.append(Path(given["dir"])) or make(**given),
    )
    monkeypatch.delenv("TMPDIR", raising=False)
    large_array((3,), np.int8)
    monkeypatch.setenv("TMPDIR", str(tmp_path.parent))
    large_array((3,), np.int8)
    monkeypatch.delenv("TMPDIR")
    monkeypatch.setattr(array_files, "ON_DISK", str(tmp_path / "none"))
    large_array((3,), np.int8)
    assert places == [tmp_path, tmp_path.parent, tmp_path.parent]


def test_threads_that_make_them_and_let_them_go_do_not_disturb_one_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A project is opened while the neighbours of another are searched."""
    monkeypatch.setattr(array_files, "IN_MEMORY", 0)
    monkeypatch.setattr(array_files, "_make_room", lambda file, size: file.truncate(size))
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(3) as threads:
            held = [threads.submit(lambda: [large_array((3,), np.int8) for _ in range(200)]) for _ in "ab"]
            going = threads.submit(lambda: [let_go() for _ in range(1000)])
            assert [len(one.result()) for one in held] == [200, 200]
            going.result()
    finally:
        sys.setswitchinterval(usual)
