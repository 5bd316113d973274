"""Tables on disk that are read a range of rows at a time: columns found, and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plcore.blocks.parts import map_part
from plcore.blocks.processes import Inline
from plcore.blocks.runner import BlockError
from plcore.tables.parts import PartedTable, as_numbers, find_row_files, read_columns, read_in_parts
from plcore.tables.problems import TableError
from tests.plcore.tables.large import NAMES, rows_and_sets, write_arrays, write_parquet


def test_columns_of_parquet_files_are_guessed(tmp_path: Path) -> None:
    X, sets = rows_and_sets(100)
    found = find_row_files(write_parquet(tmp_path / "t", X, sets, NAMES, [35, 80]), tmp_path)
    assert (found.n_rows, found.n_features, found.candidates) == (100, 4, "birds")
    assert found.features == ("x0", "x1", "x2", "x3")
    assert found.starts == (0, 35, 80)
    assert len(set(found.digests)) == 3
    assert not found.of_arrays


def test_ranges_can_span_files(tmp_path: Path) -> None:
    X, sets = rows_and_sets(100)
    found = find_row_files(write_parquet(tmp_path / "t", X, sets, NAMES, [35, 35, 80]), tmp_path)
    paths, ranges = found.overlapping(30, 90)
    assert [path.name for path in paths] == ["000.parquet", "002.parquet", "003.parquet"]
    assert [one[1:] for one in ranges] == [(30, 35), (0, 45), (0, 10)]
    table = read_columns(paths, ranges, ["x1", "x3"])
    np.testing.assert_array_equal(as_numbers(table, 2, 30), X[30:90, [1, 3]])


@pytest.mark.parametrize("numbers", [(), ("vector",)])
def test_list_column_of_numbers_is_read_as_features(tmp_path: Path, numbers: tuple[str, ...]) -> None:
    X, sets = rows_and_sets(50)
    found = find_row_files(
        write_parquet(tmp_path / "t", X, sets, NAMES, [20], vectors=True), tmp_path, "birds", numbers
    )
    assert (found.features, found.n_features) == (("vector",), 4)
    table = read_columns(*found.overlapping(10, 40), found.features)
    np.testing.assert_array_equal(as_numbers(table, 4, 10), X[10:40])


def test_columns_can_be_chosen(tmp_path: Path) -> None:
    X, sets = rows_and_sets(50)
    found = find_row_files(write_parquet(tmp_path / "t", X, sets, NAMES, [20]), tmp_path, numbers=("x2", "x0"))
    assert found.features == ("x2", "x0")
    assert found.n_features == 2


def test_arrays_are_found_by_name_in_a_folder_or_npz(tmp_path: Path) -> None:
    X, sets = rows_and_sets(50)
    folder = find_row_files(write_arrays(tmp_path / "t", X, sets, NAMES), tmp_path)
    assert folder.of_arrays
    assert folder.classes == NAMES
    np.savez_compressed(tmp_path / "t.npz", features=X, candidates=sets, other=np.zeros(3))
    packed = find_row_files(tmp_path / "t.npz", tmp_path)
    assert (packed.n_rows, packed.n_features, packed.classes) == (50, 4, ("0", "1", "2", "3", "4"))
    np.testing.assert_array_equal(np.load(packed.paths[0]), X)
    again = find_row_files(tmp_path / "t.npz", tmp_path)
    assert again.paths == packed.paths


def test_unsupported_input_is_refused_with_the_fix(tmp_path: Path) -> None:
    X, sets = rows_and_sets(50)
    (tmp_path / "empty").mkdir()
    (tmp_path / "t.csv").write_text("a,b\n")
    (tmp_path / "t.npz").write_bytes(b"no archive")
    (tmp_path / "t.parquet").write_bytes(b"no table")
    for name in ("empty", "t.csv", "t.npz", "t.parquet"):
        with pytest.raises(TableError, match=r"Give a folder of Parquet files"):
            find_row_files(tmp_path / name, tmp_path)
    np.savez(tmp_path / "x.npz", X=X)
    with pytest.raises(TableError, match="candidates are missing; there is 'X'"):
        find_row_files(tmp_path / "x.npz", tmp_path)
    with pytest.raises(TableError, match=r"shapes \(50, 4\) and \(49, 5\)"):
        find_row_files(write_arrays(tmp_path / "short", X, sets[:49]), tmp_path)
    with pytest.raises(TableError, match="5 columns, and 4 names of classes"):
        find_row_files(write_arrays(tmp_path / "named", X, sets, NAMES[:4]), tmp_path)


def test_ambiguous_columns_must_be_given(tmp_path: Path) -> None:
    X, sets = rows_and_sets(50)
    folder = write_parquet(tmp_path / "t", X, sets, NAMES, [])
    with pytest.raises(TableError, match=r"'x1' is none; such columns are 'birds'. Fix: Name it: --candidates"):
        find_row_files(folder, tmp_path, "x1")
    with pytest.raises(TableError, match=r"not by 'id'. Fix: Name them: --number"):
        find_row_files(folder, tmp_path, numbers=("id",))
    table = pq.read_table(folder / "000.parquet")
    pq.write_table(table.append_column("more", table["birds"]), tmp_path / "two.parquet")
    with pytest.raises(TableError, match="no column of them is named; such columns are 'birds', 'more'"):
        find_row_files(tmp_path / "two.parquet", tmp_path)
    pq.write_table(table.drop_columns(["x0"]), folder / "001.parquet")
    with pytest.raises(TableError, match=r"001\.parquet has other columns"):
        find_row_files(folder, tmp_path)


def test_missing_number_is_named_by_its_row(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="Row 43, column 'x': There is no value"):
        as_numbers(pa.table({"x": [1.0, 2.0, None]}), 1, 40)
    with pytest.raises(TableError, match="Row 42, column 'x': There is no value in a list"):
        as_numbers(pa.table({"x": [[1.0, 2.0], [3.0, None]]}), 2, 40)
    with pytest.raises(TableError, match="Not all lists have 2 numbers"):
        as_numbers(pa.table({"x": [[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]]}), 2, 40)


def read(path: Path, folder: Path, block: int = 40) -> PartedTable:
    return read_in_parts(Inline(), folder, find_row_files(path, folder), block)


@pytest.mark.parametrize("form", ["arrays", "npz", "columns", "vectors"])
def test_rows_and_candidates_match_the_table(tmp_path: Path, form: str) -> None:
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


def test_numbers_in_lists_can_be_class_names(tmp_path: Path) -> None:
    X, sets = rows_and_sets(60)
    parts = read(write_parquet(tmp_path / "t", X, sets, (10, 20, 30, 40, 50), []), tmp_path)  # type: ignore[arg-type]
    assert parts.classes == ("10", "20", "30", "40", "50")


def test_changed_table_at_the_same_path_is_detected(tmp_path: Path) -> None:
    X, sets = rows_and_sets(60)
    folder = write_arrays(tmp_path / "t", X, sets)
    before = read(folder, tmp_path)
    np.save(folder / "X.npy", X + 1)
    after = read(folder, tmp_path)
    assert not set(before.rows) & set(after.rows)
    assert before.candidates == after.candidates


def test_unreadable_block_names_its_row(tmp_path: Path) -> None:
    X, sets = rows_and_sets(130)
    X[97, 2] = np.nan
    with pytest.raises(BlockError, match=r"Reading the rows from 80 of X\.npy .* Row 98: A feature is not a finite"):
        read(write_arrays(tmp_path / "nan", X, sets), tmp_path)
    X[97, 2], sets[50] = 0, False
    with pytest.raises(BlockError, match=r"Reading the rows from 40 of S\.npy .* Row 51: There is no candidate"):
        read(write_arrays(tmp_path / "none", X, sets), tmp_path)
    with pytest.raises(BlockError, match=r"Row 51: There is no candidate"):
        read(write_parquet(tmp_path / "lists", X, sets, NAMES, [70]), tmp_path)
    with pytest.raises(BlockError, match="S holds other values than 0 and 1"):
        read(write_arrays(tmp_path / "three", X, sets * 3), tmp_path)


def test_single_class_is_refused(tmp_path: Path) -> None:
    X, _ = rows_and_sets(60)
    with pytest.raises(TableError, match="Got 1 class;"):
        read(write_parquet(tmp_path / "t", X, np.ones((60, 1), dtype=bool), ["crow"], []), tmp_path)
