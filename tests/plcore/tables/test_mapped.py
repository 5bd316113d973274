"""Mapped files: what lies in them stays readable when its name is gone, and when its pages were given back."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

from plcore.arrays import let_go
from plcore.tables import columns


def test_what_is_mapped_outlives_its_name_and_its_pages(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    numbers = np.arange(10_000.0)
    numbers.tofile(path)
    found = columns.mapped_numbers(path)
    path.unlink()
    np.testing.assert_array_equal(found, numbers)
    let_go()
    np.testing.assert_array_equal(found, numbers)
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1


def test_a_nameless_file_lies_in_the_folder_and_leaves_nothing(tmp_path: Path) -> None:
    with columns.nameless_file(tmp_path) as file:
        file.write(b"abc")
        held = columns.mapped_file(file)
    assert held.to_pybytes() == b"abc"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_nobody_may_write_has_its_file_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = columns.tempfile.TemporaryFile
    asked: list[Path | None] = []

    def refuse(dir: Path | None = None) -> object:  # noqa: A002 - as the library calls it
        asked.append(dir)
        if dir is not None:
            raise OSError(errno.EROFS, "read-only")
        return made()

    monkeypatch.setattr(columns.tempfile, "TemporaryFile", refuse)
    with columns.nameless_file(tmp_path) as file:
        assert file.write(b"abc") == 3
    assert asked == [tmp_path, None]

    def full(**_: object) -> object:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(columns.tempfile, "TemporaryFile", full)
    with pytest.raises(OSError, match="full"):
        columns.nameless_file(tmp_path)


@pytest.mark.parametrize(
    "array", [np.arange(6.0).reshape(2, 3), np.asfortranarray(np.eye(3)), np.zeros((0, 4))]
)
def test_an_array_is_mapped_as_it_lies_in_its_file(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "a.npy", array)
    found = columns.mapped_array(tmp_path / "a.npy")
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype
    assert found.size == 0 or not found.flags.writeable


def test_an_array_of_objects_is_not_mapped(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="holds objects"):
        columns.mapped_array(tmp_path / "a.npy")
