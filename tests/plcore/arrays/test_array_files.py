"""Arrays are written as NumPy reads them, come back mapped, and damage is noticed."""

from __future__ import annotations

import errno
import gc
import os
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as some

from plcore.arrays import array_files
from plcore.arrays.array_files import large_array, let_go, write_arrays
from plcore.arrays.disk import no_room
from plcore.arrays.types import AnyArray

ARRAYS = some.arrays(
    st.sampled_from([np.int32, np.int64, np.float64, np.bool_, "U3"]), some.array_shapes(min_dims=0, min_side=0)
)


def map_arrays(path: Path) -> dict[str, AnyArray]:
    with path.open("rb") as file:
        return array_files.map_arrays(file)


def written(path: Path, arrays: dict[str, AnyArray]) -> Path:
    with path.open("wb") as file:
        write_arrays(file, arrays)
    return path


@given(st.dictionaries(st.text("abcö_", min_size=1, max_size=9), ARRAYS, max_size=4))
def test_any_arrays_round_trip(tmp_path_factory: pytest.TempPathFactory, arrays: dict[str, AnyArray]) -> None:
    path = written(tmp_path_factory.mktemp("arrays") / "a.npz", arrays)
    found = map_arrays(path)
    with np.load(path, allow_pickle=False) as read:
        assert list(found) == list(arrays) == list(read)
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[name], array)
            np.testing.assert_array_equal(read[name], array)
            assert found[name].dtype == array.dtype


def test_mapped_arrays_are_aligned_contiguous_and_writeable(tmp_path: Path) -> None:
    path = written(tmp_path / "a.npz", {"one": np.arange(3), "another": np.ones((2, 5))})
    for array in map_arrays(path).values():
        assert not array.flags.owndata
        assert array.flags.aligned
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert array.ctypes.data % 64 == 0


def test_writing_to_a_mapped_array_leaves_the_file_unchanged(tmp_path: Path) -> None:
    path = written(tmp_path / "a.npz", {"one": np.arange(3)})
    map_arrays(path)["one"][0] = 7
    assert map_arrays(path)["one"].tolist() == [0, 1, 2]


def test_mapped_arrays_outlive_the_deleted_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.npz", {"one": np.arange(3)})
    found = map_arrays(path)
    path.unlink()
    assert found["one"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("packed", [False, True])
def test_files_written_by_numpy_are_read(tmp_path: Path, packed: bool) -> None:
    write = np.savez_compressed if packed else np.savez
    write(tmp_path / "a.npz", one=np.arange(3), two=np.asfortranarray(np.arange(6).reshape(2, 3)))
    found = map_arrays(tmp_path / "a.npz")
    assert found["one"].tolist() == [0, 1, 2]
    assert found["two"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_one_changed_bit_in_an_array_is_reported_as_damage(tmp_path: Path) -> None:
    path = written(tmp_path / "a.npz", {"one": np.arange(40)})
    whole = path.read_bytes()
    place = whole.index(np.arange(40).tobytes())
    for at in range(place, place + 320, 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(zipfile.BadZipFile, match=r"one\.npy is damaged"):
            map_arrays(path)


@pytest.mark.parametrize("place", [10, 44])  # the compression method, the offset of the entry
def test_damaged_directory_is_reported_as_damage(tmp_path: Path, place: int) -> None:
    path = written(tmp_path / "a.npz", {"one": np.arange(40)})
    whole = path.read_bytes()
    at = whole.index(b"PK\1\2") + place
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 64]) + whole[at + 1 :])
    with pytest.raises(zipfile.BadZipFile):
        map_arrays(path)


def test_file_that_ends_early_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.npz", {"one": np.arange(40)})
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(zipfile.BadZipFile):
        map_arrays(path)


def test_objects_are_neither_written_nor_read(tmp_path: Path) -> None:
    objects = np.array([{}, None], dtype=object)
    with pytest.raises(ValueError, match="Object arrays"):
        written(tmp_path / "a.npz", {"one": objects})
    np.savez(tmp_path / "b.npz", one=objects)
    with pytest.raises(ValueError, match="Object arrays"):
        map_arrays(tmp_path / "b.npz")


# Large arrays behave the same in memory and in a file; the file is freed with the last reference.


@pytest.mark.parametrize("fallocate", [True, False])
@pytest.mark.parametrize("bound", [0, array_files.IN_MEMORY])
def test_large_array_keeps_its_data_until_released(
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


def test_empty_array_needs_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_files, "IN_MEMORY", 0)
    monkeypatch.setattr(array_files.tempfile, "TemporaryFile", None)
    assert large_array((0, 5), np.float64).shape == (0, 5)


def test_large_array_is_in_an_unnamed_file_freed_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_files, "IN_MEMORY", 7)
    monkeypatch.setattr(array_files, "ON_DISK", str(tmp_path))
    monkeypatch.delenv("TMPDIR", raising=False)
    before = set(array_files._maps)
    small, large = large_array((7,), np.int8), large_array((8,), np.int8)
    assert len(set(array_files._maps) - before) == 1
    assert list(tmp_path.iterdir()) == []  # the file is already unlinked
    part = large[2:]
    del small, large
    gc.collect()
    assert len(set(array_files._maps) - before) == 1  # the slice keeps the file alive
    del part
    gc.collect()
    assert not set(array_files._maps) - before


def test_full_disk_is_reported_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_file_is_created_in_tmpdir_or_in_the_default_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = []
    make = array_files.tempfile.TemporaryFile
    monkeypatch.setattr(array_files, "IN_MEMORY", 0)
    monkeypatch.setattr(array_files, "ON_DISK", str(tmp_path))
    monkeypatch.setattr(array_files.tempfile, "tempdir", str(tmp_path.parent))
    monkeypatch.setattr(
        array_files.tempfile, "TemporaryFile", lambda **given: places.append(Path(given["dir"])) or make(**given)
    )
    monkeypatch.delenv("TMPDIR", raising=False)
    large_array((3,), np.int8)
    monkeypatch.setenv("TMPDIR", str(tmp_path.parent))
    large_array((3,), np.int8)
    monkeypatch.delenv("TMPDIR")
    monkeypatch.setattr(array_files, "ON_DISK", str(tmp_path / "none"))
    large_array((3,), np.int8)
    assert places == [tmp_path, tmp_path.parent, tmp_path.parent]


def test_threads_can_create_and_release_large_arrays_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """For example, a project is opened while the neighbours of another are searched."""
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


# Errors that mean a full disk.


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_full_disk_and_exhausted_quota_count_as_no_room(number: int) -> None:
    assert no_room(OSError(number, os.strerror(number)))


@pytest.mark.parametrize("error", [OSError(errno.EACCES, "no"), OSError("no"), ValueError(errno.ENOSPC)])
def test_other_errors_do_not_count_as_no_room(error: Exception) -> None:
    assert not no_room(error)
