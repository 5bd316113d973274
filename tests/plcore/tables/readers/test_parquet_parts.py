"""A folder of Parquet files is read like one file with all rows; other folders are left to other readers."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables import TableError, TableReading, find_parts, read_stored, read_table, store_parts
from plcore.tables.readers import parquet_parts

LABELS = {"info": {"features": {"label": {"names": ["wren", "robin"], "_type": "ClassLabel"}}}}
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)


def table(n: int, first: int = 0) -> pa.Table:
    """Names, numbers, candidates as lists, and vectors, of rows first..first + n - 1."""
    rows = range(first, first + n)
    return pa.table(
        {
            "name": pa.array([f"row {row}" for row in rows], pa.string()),
            "x": pa.array([None if row % 5 == 3 else row / 4 for row in rows], pa.float64()),
            "candidates": pa.array([["wren", 'ro"bin'][: 1 + row % 2] for row in rows], pa.list_(pa.string())),
            "embedding": pa.array([[row, 0.5, -row] for row in rows], pa.list_(pa.float32())),
        }
    )


def written(folder: Path, *parts: pa.Table) -> Path:
    folder.mkdir()
    for number, part in enumerate(parts):
        pq.write_table(part, folder / f"part-{number}.parquet", row_group_size=3)
    return folder


def read(folder: Path, out: Path) -> TableReading:
    parts = find_parts(folder)
    assert parts is not None
    out.mkdir()
    store_parts(parts, out)
    return read_stored(out)


def assert_alike(found: TableReading, wanted: TableReading) -> None:
    pd.testing.assert_frame_equal(found.cells, wanted.cells, check_column_type=False)
    assert found.arrays.keys() == wanted.arrays.keys()
    for name, array in wanted.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)
        assert found.arrays[name].dtype == array.dtype
    assert found.suggest_roles() == wanted.suggest_roles()
    assert found.notes[1:] == wanted.notes


@pytest.mark.parametrize("at_once", [2, 1 << 16])
def test_parts_are_read_like_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(parquet_parts, "_ROWS_AT_ONCE", at_once)
    parts = [table(7), table(0), table(4, 7)]
    found = read(written(tmp_path / "parts", *parts), tmp_path / "out")
    pq.write_table(pa.concat_tables(parts), tmp_path / "whole.parquet")
    assert_alike(found, read_table(tmp_path / "whole.parquet"))
    assert found.format == "Parquet in 3 files"
    assert "The 3 files were read" in found.notes[0]


@given(st.lists(st.none() | st.lists(st.none() | TEXT, max_size=3), min_size=2, max_size=9), st.data())
def test_any_lists_are_read_alike_in_parts(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str | None] | None], data: Any
) -> None:
    whole = pa.table({"sets": pa.array(rows, pa.list_(pa.string())), "row": range(len(rows))})
    cut = data.draw(st.integers(0, len(rows)))
    place = tmp_path_factory.mktemp("lists")
    found = read(written(place / "parts", whole.slice(0, cut), whole.slice(cut)), place / "out")
    pq.write_table(whole, place / "whole.parquet")
    assert_alike(found, read_table(place / "whole.parquet"))


def test_hugging_face_metadata_is_used_in_parts(tmp_path: Path) -> None:
    bare = pa.table({"text": ["a", "b", "c", "d"], "label": pa.array([0, 1, 1, -1], pa.int64())})
    whole = bare.replace_schema_metadata({"huggingface": json.dumps(LABELS)})
    found = read(written(tmp_path / "parts", whole.slice(0, 2), whole.slice(2)), tmp_path / "out")
    pq.write_table(whole, tmp_path / "whole.parquet")
    assert_alike(found, read_table(tmp_path / "whole.parquet"))
    assert found.cells["label"].tolist() == ["wren", "robin", "robin", ""]
    assert found.format == "Parquet of Hugging Face in 2 files"


@pytest.mark.parametrize("name", ["_SUCCESS", ".part-9.parquet", ".hidden/part.parquet"])
def test_auxiliary_files_next_to_parts_are_ignored(tmp_path: Path, name: str) -> None:
    folder = written(tmp_path / "parts", table(2), table(2, 2))
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"")
    parts = find_parts(folder)
    assert (len(parts.files), parts.n_rows) == (2, 4)


def test_digest_covers_the_files_in_name_order(tmp_path: Path) -> None:
    one = find_parts(written(tmp_path / "one", table(2), table(2, 2)))
    same = find_parts(written(tmp_path / "same", table(2), table(2, 2)))
    other = find_parts(written(tmp_path / "other", table(2, 2), table(2)))
    assert one.digest() == same.digest() != other.digest()


def test_other_folders_are_left_to_other_readers(tmp_path: Path) -> None:
    assert find_parts(tmp_path / "none") is None
    assert find_parts(written(tmp_path / "single", table(2))) is None
    assert find_parts(written(tmp_path / "two", table(2), table(2).drop_columns("x"))) is None
    beside = written(tmp_path / "beside", table(2), table(2))
    (beside / "rows.csv").write_text("a,b\n1,2\n")
    assert find_parts(beside) is None
    picture = pa.table({"image": pa.array([{"bytes": b"1", "path": "a.png"}])})
    assert find_parts(written(tmp_path / "pictures", picture, picture)) is None
    index = table(2).append_column("__index_level_0__", pa.array([0, 1]))
    assert find_parts(written(tmp_path / "index", index, index)) is None


def test_partition_columns_missing_from_the_files_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    for number, name in enumerate(["x=0", "x=1"]):
        written(folder / name, table(2, 2 * number))
    found = read(folder, tmp_path / "out")
    assert found.cells["name"].tolist() == ["row 0", "row 1", "row 2", "row 3"]
    (folder / "x=1").rename(folder / "year=1")
    with pytest.raises(TableError, match=r"The column 'year' is only in names of folders, as in 'year=1'"):
        find_parts(folder)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no file that is always full")
def test_full_disk_raises_a_system_error(tmp_path: Path) -> None:
    parts = find_parts(written(tmp_path / "parts", table(2), table(2, 2)))
    assert parts is not None
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "array-0.npy").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as refused:
        store_parts(parts, tmp_path / "out")
    assert refused.value.errno == errno.ENOSPC


def test_damaged_part_is_named(tmp_path: Path) -> None:
    folder = written(tmp_path / "parts", table(2), table(2))
    whole = (folder / "part-1.parquet").read_bytes()
    (folder / "part-1.parquet").write_bytes(whole[:40])
    with pytest.raises(TableError, match=r"The Parquet file 'part-1.parquet' cannot be read"):
        find_parts(folder)


@pytest.mark.parametrize("more", [-1, 1])
def test_files_with_false_row_counts_are_refused(tmp_path: Path, more: int) -> None:
    parts = find_parts(written(tmp_path / "parts", table(2), table(3)))
    assert parts is not None
    (tmp_path / "out").mkdir()
    with pytest.raises(TableError, match=rf"5 rows, not {5 + more} as they say"):
        store_parts(replace(parts, n_rows=5 + more), tmp_path / "out")


def test_lists_of_different_length_across_parts_are_refused(tmp_path: Path) -> None:
    shorter = table(2, 2).set_column(3, "embedding", pa.array([[1.0, 2.0]] * 2, pa.list_(pa.float32())))
    folder = written(tmp_path / "parts", table(2), shorter)
    with pytest.raises(TableError, match=r"'embedding' has other lists from row 3 on, in 'part-1.parquet'"):
        read(folder, tmp_path / "out")


def test_wrong_label_names_its_row_in_the_whole_table(tmp_path: Path) -> None:
    bare = pa.table({"label": pa.array([0, 1, 0, 7], pa.int64())})
    whole = bare.replace_schema_metadata({"huggingface": json.dumps(LABELS)})
    folder = written(tmp_path / "parts", whole.slice(0, 3), whole.slice(3))
    with pytest.raises(TableError) as refused:
        read(folder, tmp_path / "out")
    assert [problem.row for problem in refused.value.problems] == [4]


def test_parts_without_rows_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="has no rows"):
        read(written(tmp_path / "parts", table(0), table(0)), tmp_path / "out")
