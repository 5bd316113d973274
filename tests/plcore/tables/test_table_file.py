"""The stored table: exact, deterministic, complete or missing, and other files are not mistaken for one."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import LabelTable, Roles, TableError
from plcore.tables.text.arrow import to_csv_bytes

CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=10)
NAME = CELL.filter(lambda name: name.strip())
NUMBER = st.one_of(st.just(""), st.floats(-1e100, 1e100).map(repr))


@st.composite
def tables(draw: st.DrawFn) -> LabelTable:
    names = draw(st.lists(NAME, min_size=4, max_size=6, unique=True))
    n_rows = draw(st.integers(2, 6))
    labels = st.lists(st.sampled_from(["wren", "robin", "finch", "é"]), min_size=1, max_size=4)
    candidates = [["wren", "robin"], *(draw(labels) for _ in range(n_rows - 1))]
    data = {name: [draw(CELL) for _ in range(n_rows)] for name in names}
    data[names[0]] = ["|".join(each) for each in candidates]
    data[names[1]] = [draw(NUMBER) for _ in range(n_rows)]
    data[names[2]] = [draw(st.sampled_from(["", *each])) for each in candidates]
    roles = Roles(
        candidates=names[0], truth=draw(st.sampled_from([None, names[2]])), numbers=(names[1],), categories=(names[3],)
    )
    return LabelTable.from_cells(pd.DataFrame(data, dtype="str"), roles)


@pytest.fixture
def table() -> LabelTable:
    cells = {"c": ["a|b", "b", "b|c"], "w": ["1", "", "3.5"], "t": ["a", "", "c"], "note": ["x", "", "é\n,"]}
    return LabelTable.from_frame(pd.DataFrame(cells), Roles(candidates="c", truth="t", numbers=("w",)))


def assert_same(one: LabelTable, other: LabelTable) -> None:
    assert one.cells.equals(other.cells)
    assert list(one.cells.columns) == list(other.cells.columns)
    assert one.roles == other.roles
    assert one.classes == other.classes
    for name in ("ids", "numbers", "candidates", "truth", "candidate_weights"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert getattr(getattr(one, name), "dtype", None) == getattr(getattr(other, name), "dtype", None)


@given(tables())
def test_table_round_trips_exactly_and_deterministically(
    tmp_path_factory: pytest.TempPathFactory, table: LabelTable
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    digest = table.write(folder / "one.parquet")
    again = LabelTable.read(folder / "one.parquet")
    assert_same(table, again)
    assert again.write(folder / "two.parquet") == digest
    from_csv = LabelTable.read_csv(to_csv_bytes(table.cells), table.roles)
    assert from_csv.write(folder / "three.parquet") == digest
    assert digest == hashlib.sha256((folder / "two.parquet").read_bytes()).hexdigest()


def test_different_tables_have_different_hashes(table: LabelTable, tmp_path: Path) -> None:
    cells = table.cells.copy()
    cells.loc[0, "note"] = "x "
    other = LabelTable.from_cells(cells, table.roles)
    assert other.write(tmp_path / "a") != table.write(tmp_path / "b")
    without = LabelTable.from_cells(table.cells, Roles(candidates="c", numbers=("w",)))
    assert without.write(tmp_path / "c") != table.write(tmp_path / "b")


def test_chunking_of_text_does_not_affect_the_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    cells = pd.DataFrame({"c": ["a|b"] * 30_000, "w": rng.normal(size=30_000).astype(str)}, dtype="str")
    parts = pd.concat([cells.iloc[:7], cells.iloc[7:20_001], cells.iloc[20_001:]], ignore_index=True)
    roles = Roles(candidates="c", numbers=("w",))
    assert LabelTable.from_cells(parts, roles).write(tmp_path / "a") == (
        LabelTable.from_cells(cells, roles).write(tmp_path / "b")
    )


def test_file_describes_itself(table: LabelTable, tmp_path: Path) -> None:
    table.write(tmp_path / "table.parquet")
    stored = pq.read_table(tmp_path / "table.parquet")
    assert stored.column_names == [
        "cell:c", "cell:w", "cell:t", "cell:note", "number:w", "candidates", "truth",
    ]  # fmt: skip
    assert stored["candidates"].to_pylist() == [["a", "b"], ["b"], ["b", "c"]]
    assert stored["truth"].to_pylist() == ["a", None, "c"]
    assert stored["number:w"].to_pylist() == [1.0, None, 3.5]
    assert b'"classes": ["a", "b", "c"]' in stored.schema.metadata[b"winnow"]


def test_numbers_are_not_compressed_and_have_no_statistics(table: LabelTable, tmp_path: Path) -> None:
    table.write(tmp_path / "table.parquet")
    group = pq.ParquetFile(tmp_path / "table.parquet").metadata.row_group(0)
    columns = [group.column(place) for place in range(group.num_columns)]
    packed = {one.path_in_schema: one.compression for one in columns}
    assert packed.pop("number:w") == packed.pop("cell:w") == "UNCOMPRESSED"
    assert set(packed.values()) == {"LZ4"}
    assert "candidates.list.element" in packed
    assert not any(one.is_stats_set for one in columns)


def test_file_with_other_compression_is_read_and_rewritten(table: LabelTable, tmp_path: Path) -> None:
    digest = table.write(tmp_path / "new")
    pq.write_table(pq.read_table(tmp_path / "new"), tmp_path / "old", compression="zstd")
    old = LabelTable.read(tmp_path / "old")
    assert_same(old, table)
    assert old.write(tmp_path / "again") == digest


VOTES = {"x": ["a", "b", "c"], "y": ["a", "", "b"], "z": ["b", "b", "c"], "w": ["1", "2", "3"]}
VOTERS = Roles(annotators=("x", "y", "z"), numbers=("w",))


def test_candidate_weights_are_stored_next_to_candidates(tmp_path: Path) -> None:
    table = LabelTable.from_frame(pd.DataFrame(VOTES), VOTERS)
    digest = table.write(tmp_path / "one")
    stored = pq.read_table(tmp_path / "one")
    assert stored["candidates"].to_pylist() == [["a", "b"], ["b"], ["b", "c"]]
    assert stored["candidate_weights"].to_pylist() == [[2.0, 1.0], [2.0], [1.0, 2.0]]
    again = LabelTable.read(tmp_path / "one")
    assert_same(table, again)
    assert again.candidate_weights is not None
    assert again.write(tmp_path / "two") == digest
    shares = replace(table, candidate_weights=np.array([[1 / 3, 2 / 3, 0], [0, 1e-300, 0], [0, 0.1, 5e8]]))
    shares.write(tmp_path / "three")
    assert_same(shares, LabelTable.read(tmp_path / "three"))


def test_file_without_weights_from_before_is_read(tmp_path: Path) -> None:
    table = LabelTable.from_frame(pd.DataFrame(VOTES), VOTERS)
    table.write(tmp_path / "new")
    pq.write_table(pq.read_table(tmp_path / "new").drop_columns(["candidate_weights"]), tmp_path / "old")
    old = LabelTable.read(tmp_path / "old")
    assert old.candidate_weights is None
    assert_same(old, replace(table, candidate_weights=None))


def test_failed_write_leaves_no_trace(table: LabelTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("plcore.tables.storing.os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        table.write(tmp_path / "table.parquet")
    assert list(tmp_path.iterdir()) == []


def test_file_that_is_no_table_is_refused(table: LabelTable, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    table.write(path)
    good = path.read_bytes()
    pq.write_table(pa.table({"x": [1]}), tmp_path / "foreign.parquet")
    foreign = (tmp_path / "foreign.parquet").read_bytes()
    for data in (b"", b"PAR1", b"id,candidates\n", good[:-5], good[: len(good) // 2], foreign):
        path.write_bytes(data)
        with pytest.raises(TableError, match=r"table.parquet is not a Winnow table"):
            LabelTable.read(path)


def test_every_damaged_byte_of_text_is_detected(table: LabelTable, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    table.write(path)
    good = path.read_bytes()
    column = pq.read_metadata(path).row_group(0).column(3)
    end = column.data_page_offset + column.total_compressed_size
    for place in range(end - 12, end):  # the end of the column is page data, not its header
        data = bytearray(good)
        data[place] ^= 0x01
        path.write_bytes(data)
        with pytest.raises(TableError, match="damaged"):
            LabelTable.read(path)


def test_file_name_is_synced_to_disk(table: LabelTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[bool, int]] = []

    def sync(handle: int) -> None:
        synced.append((stat.S_ISDIR(os.fstat(handle).st_mode), len(list(tmp_path.glob("*.parquet")))))

    monkeypatch.setattr("plcore.tables.storing.os.fsync", sync)
    table.write(tmp_path / "table.parquet")
    assert synced == [(False, 0), (True, 1)]  # the bytes before the name, then the folder that has the name
    digest = table.write_named(tmp_path)
    assert synced[2:] == [(False, 1), (True, 2)]
    assert (tmp_path / f"{digest}.parquet").read_bytes() == (tmp_path / "table.parquet").read_bytes()


@pytest.mark.parametrize("number", [errno.EACCES, errno.EMFILE, errno.EIO])
def test_system_error_is_not_reported_as_damage(
    table: LabelTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    table.write(tmp_path / "table.parquet")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("plcore.tables.storing.pa.parquet.ParquetFile", refuse)
    with pytest.raises(OSError, match=re.escape(os.strerror(number))):
        LabelTable.read(tmp_path / "table.parquet")


def test_missing_file_is_not_reported_as_a_bad_table(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        LabelTable.read(tmp_path / "nowhere.parquet")
