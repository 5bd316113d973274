"""Column types of the source are restored in exports."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from plcore import LabelTable, Roles
from plcore.tables.readers.parquet import read_parquet
from plcore.tables.readers.stored import read_stored, store_reading
from plcore.tables.text.types import export_types, from_text, number_type, to_text, typed, types_of
from plcore.tables.writers.parquet import categories_of, typed_columns

TABLE = pa.table(
    {
        "id": pa.array([7, 8, 9], pa.int64()),
        "score": pa.array([0.1, None, 3.0], pa.float64()),
        "small": pa.array([0.1, 2.5, None], pa.float32()),
        "count": pa.array([1, None, 3], pa.int32()),
        "when": pa.array([0, 1_500_000, None], pa.timestamp("us")),
        "zone": pa.array([0, 1_500, None], pa.timestamp("ms", "UTC")),
        "day": pa.array([1, 2, None], pa.date32()),
        "ok": pa.array([True, False, None]),
        "note": pa.array(["1", "", "x"]),
        "candidates": pa.array([["a", "b"], ["b", "NA"], ["a"]], pa.list_(pa.string())),
        "sizes": pa.array([[1, 2], [], None], pa.list_(pa.int64())),
        "kind": pa.array(["x", None, "y"]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
        "price": pa.array(["0.10", None, "2.50"]).cast(pa.decimal128(10, 2)),
        "at": pa.array([0, 1_500_000, None], pa.time64("us")),
        "none": pa.nulls(3),
    }
)
KEPT = {name: kind for name, kind in zip(TABLE.column_names, TABLE.schema.types, strict=True) if name != "note"}


def written(table: pa.Table) -> bytes:
    file = io.BytesIO()
    pa.parquet.write_table(table, file)
    return file.getvalue()


def test_parquet_types_are_stored_and_restored(tmp_path: Path) -> None:
    reading = read_parquet(written(TABLE))
    assert types_of(reading.cells) == KEPT
    store_reading(reading, tmp_path)
    again = read_stored(tmp_path)
    roles = Roles(candidates="candidates", form="json", id="id", numbers=("score",))
    table = LabelTable.from_cells(again.cells, roles)
    table.write(tmp_path / "table.parquet")
    stored = LabelTable.read(tmp_path / "table.parquet")
    assert types_of(stored.cells) == KEPT
    assert export_types(stored.cells, stored.roles, stored.numbers) == KEPT
    for name, kind in KEPT.items():
        column = typed(pa.array(stored.cells[name], pa.large_string()), kind)
        assert column.to_pylist() == TABLE[name].to_pylist(), name


def test_frame_types_are_restored() -> None:
    frame = pd.DataFrame(
        {
            "n": [1, 2],
            "x": [0.5, np.nan],
            "when": pd.to_datetime(["2026-01-01 10:00", None]),
            "ok": [True, False],
            "list": [["a", "b"], ["it's"]],
            "text": ["a", "1"],
            "candidates": ["a|b", "b"],
        }
    )
    table = LabelTable.from_frame(frame, Roles(candidates="candidates", numbers=("n",)))
    found = export_types(table.cells, table.roles, table.numbers)
    assert set(found) == {"n", "x", "when", "ok", "list"}
    for name, kind in found.items():
        values = typed(pa.array(table.cells[name], pa.large_string()), kind)
        assert values.to_pylist() == pa.array(frame[name], kind, from_pandas=True).to_pylist(), name


def test_csv_numbers_are_numbers_and_text_tables_are_unchanged(tmp_path: Path) -> None:
    text = b"id,candidates,x,k,code,year,depth,zip\n1,a|b,0.5,1,007,1998,1.5,01234\n2,b|a,,2,008,2001,,99999\n"
    roles = Roles(candidates="candidates", id="id", numbers=("x", "k", "code"))
    table = LabelTable.read_csv(text, roles)
    found = export_types(table.cells, table.roles, table.numbers)
    plain = {"year": pa.int64(), "depth": pa.float64()}  # columns that no model learns from
    assert found == {"x": pa.float64(), "k": pa.int64(), **plain}, "007 would lose its zeros"
    table.write(tmp_path / "table.parquet")
    assert b'"types"' not in (pa.parquet.read_schema(tmp_path / "table.parquet").metadata or {})[b"winnow"]


def test_column_with_other_cells_stays_text() -> None:
    cells = read_parquet(written(TABLE)).cells
    cells.iloc[0, 0] = "seven"
    assert "id" not in export_types(cells, Roles(), np.zeros((3, 0)))


def test_categories_are_the_same_in_all_parts_of_a_file() -> None:
    frame = pd.DataFrame({"kind": pd.Categorical(["x", "y", "x"]), "candidates": ["a|b", "b", "a"], "n": [1, 2, 3]})
    table = LabelTable.from_frame(frame, Roles(candidates="candidates", numbers=("n",)))
    types = [export_types(table.cells, table.roles, table.numbers).get(name, pa.string()) for name in table.cells]
    words = categories_of(table.cells, types)
    parts = [typed_columns(table.cells.iloc[rows], types, words)[0] for rows in (slice(0, 1), slice(1, 3))]
    assert [part.to_pylist() for part in parts] == [["x"], ["y", "x"]]
    assert parts[0].dictionary == parts[1].dictionary


def test_types_round_trip_as_text() -> None:
    assert (to_text({}), to_text({"a": pa.string()}), from_text("")) == ("", "", {})
    assert from_text(to_text({"v": pa.list_(pa.float32(), 3)})) == {"v": pa.list_(pa.float32())}
    with pytest.raises(ValueError, match="no list"):
        typed(pa.array(["{}"], pa.large_string()), pa.list_(pa.string()))
    commas = pa.array(["0,5", "", " 3"], pa.large_string())
    assert number_type(commas, np.array([0.5, np.nan, 3.0])) == pa.float64()
    assert typed(commas, pa.float64()).to_pylist() == [0.5, None, 3.0]
    assert number_type(pa.array(["1.000,5"], pa.large_string()), np.array([1000.5])) is None
    assert number_type(pa.array(["1" * 20], pa.large_string()), np.array([1.0])) is None
