"""Tables brought into parts: the same rows from every form, and blocks that cannot be read are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from plcore.blocks.parts import map_part
from plcore.blocks.processes import Inline
from plcore.blocks.runner import BlockError
from plcore.tables.parts import PartedTable, find_row_files, read_in_parts
from plcore.tables.problems import TableError
from tests.plcore.tables.large import NAMES, rows_and_sets, write_arrays, write_parquet


def read(path: Path, folder: Path, block: int = 40) -> PartedTable:
    return read_in_parts(Inline(), folder, find_row_files(path, folder), block)


@pytest.mark.parametrize("form", ["arrays", "npz", "columns", "vectors"])
def test_rows_and_candidates_are_those_of_the_table(tmp_path: Path, form: str) -> None:
    X, sets = rows_and_sets(130)
    if form == "arrays":
        path = write_arrays(tmp_path / "t", X, sets, NAMES)
    elif form == "npz":
        path = tmp_path / "t.npz"
        np.savez(path, X=X.astype(np.float64), S=sets.astype(np.int64), classes=np.array(NAMES))
    else:
        path = write_parquet(tmp_path / "t", X, sets, NAMES, [35, 80, 80], vectors=form == "vectors")
    parts = read(path, tmp_path)
    assert parts.classes == NAMES
    pieces = [map_part(tmp_path / name) for name in parts.rows]
    assert [len(piece) for piece in pieces] == [40, 40, 40, 10]
    np.testing.assert_array_equal(np.concatenate(pieces), X)
    packed = map_part(tmp_path / parts.candidates)
    assert packed.shape == (130, 1)
    np.testing.assert_array_equal(np.unpackbits(packed, axis=1, bitorder="little", count=5), sets)


def test_lists_of_numbers_can_be_names_of_classes(tmp_path: Path) -> None:
    X, sets = rows_and_sets(60)
    parts = read(write_parquet(tmp_path / "t", X, sets, (10, 20, 30, 40, 50), []), tmp_path)  # type: ignore[arg-type]
    assert parts.classes == ("10", "20", "30", "40", "50")


def test_another_table_at_the_same_place_is_another(tmp_path: Path) -> None:
    X, sets = rows_and_sets(60)
    folder = write_arrays(tmp_path / "t", X, sets)
    before = read(folder, tmp_path)
    np.save(folder / "X.npy", X + 1)
    after = read(folder, tmp_path)
    assert not set(before.rows) & set(after.rows)
    assert before.candidates == after.candidates


def test_a_block_that_cannot_be_read_is_named_with_its_row(tmp_path: Path) -> None:
    X, sets = rows_and_sets(130)
    X[97, 2] = np.nan
    with pytest.raises(
        BlockError, match=r"Reading the rows from 80 of X\.npy .* Row 98: A feature is not a finite"
    ):
        read(write_arrays(tmp_path / "nan", X, sets), tmp_path)
    X[97, 2], sets[50] = 0, False
    with pytest.raises(
        BlockError, match=r"Reading the rows from 40 of S\.npy .* Row 51: There is no candidate"
    ):
        read(write_arrays(tmp_path / "none", X, sets), tmp_path)
    with pytest.raises(BlockError, match=r"Row 51: There is no candidate"):
        read(write_parquet(tmp_path / "lists", X, sets, NAMES, [70]), tmp_path)
    with pytest.raises(BlockError, match="S holds other values than 0 and 1"):
        read(write_arrays(tmp_path / "three", X, sets * 3), tmp_path)


def test_one_class_is_nothing_to_tell_apart(tmp_path: Path) -> None:
    X, _ = rows_and_sets(60)
    with pytest.raises(TableError, match="There are 1 classes"):
        read(write_parquet(tmp_path / "t", X, np.ones((60, 1), dtype=bool), ["crow"], []), tmp_path)
