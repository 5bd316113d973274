"""Arrays are written as NumPy reads them, come back mapped, and damage is noticed."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as some

from plcore.arrays import array_files
from plcore.arrays.array_files import write_arrays
from plcore.arrays.types import AnyArray

ARRAYS = some.arrays(
    st.sampled_from([np.int32, np.int64, np.float64, np.bool_, "U3"]),
    some.array_shapes(min_dims=0, min_side=0),
)


def map_arrays(path: Path) -> dict[str, AnyArray]:
    with path.open("rb") as file:
        return array_files.map_arrays(file)


def written(path: Path, arrays: dict[str, AnyArray]) -> Path:
    with path.open("wb") as file:
        write_arrays(file, arrays)
    return path


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text("abcö_", min_size=1, max_size=9), ARRAYS, max_size=4))
def test_any_arrays_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, arrays: dict[str, AnyArray]
) -> None:
    path = written(tmp_path_factory.mktemp("arrays") / "a.npz", arrays)
    found = map_arrays(path)
    with np.load(path, allow_pickle=False) as read:
        assert list(found) == list(arrays) == list(read)
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[name], array)
            np.testing.assert_array_equal(read[name], array)
            assert found[name].dtype == array.dtype


def test_arrays_lie_in_the_file_in_places_that_compiled_loops_want(tmp_path: Path) -> None:
    path = written(tmp_path / "a.npz", {"one": np.arange(3), "another": np.ones((2, 5))})
    for array in map_arrays(path).values():
        assert not array.flags.owndata
        assert array.flags.aligned
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert array.ctypes.data % 64 == 0


def test_what_is_written_to_an_array_stays_with_who_wrote_it(tmp_path: Path) -> None:
    path = written(tmp_path / "a.npz", {"one": np.arange(3)})
    map_arrays(path)["one"][0] = 7
    assert map_arrays(path)["one"].tolist() == [0, 1, 2]


def test_arrays_outlive_the_name_of_their_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.npz", {"one": np.arange(3)})
    found = map_arrays(path)
    path.unlink()
    assert found["one"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("packed", [False, True])
def test_files_that_numpy_has_written_are_read(tmp_path: Path, packed: bool) -> None:
    write = np.savez_compressed if packed else np.savez
    write(tmp_path / "a.npz", one=np.arange(3), two=np.asfortranarray(np.arange(6).reshape(2, 3)))
    found = map_arrays(tmp_path / "a.npz")
    assert found["one"].tolist() == [0, 1, 2]
    assert found["two"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_every_bit_of_the_arrays_counts(tmp_path: Path) -> None:
    path = written(tmp_path / "a.npz", {"one": np.arange(40)})
    whole = path.read_bytes()
    place = whole.index(np.arange(40).tobytes())
    for at in range(place, place + 320, 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(zipfile.BadZipFile, match=r"one\.npy is damaged"):
            map_arrays(path)


@pytest.mark.parametrize("place", [10, 44])  # how it is packed, where it lies
def test_a_damaged_directory_is_told_as_damage(tmp_path: Path, place: int) -> None:
    path = written(tmp_path / "a.npz", {"one": np.arange(40)})
    whole = path.read_bytes()
    at = whole.index(b"PK\1\2") + place
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 64]) + whole[at + 1 :])
    with pytest.raises(zipfile.BadZipFile):
        map_arrays(path)


def test_a_file_that_ends_early_is_refused(tmp_path: Path) -> None:
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
