"""Label vectors in every format: written in pieces, and read again cell for cell."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings

from plcore import LabelTable, read_cells
from plcore.tables import read_table
from plcore.tables.readers.hugging_face import read_features
from plcore.tables.roles.roles import Roles
from plcore.tables.writers.disambiguated import LabelVectorTable
from plcore.tables.writers.label_vectors import (
    VECTOR_FORMATS,
    write_long_csv,
    write_vector_lines,
    write_vector_parquet,
    write_wide_csv,
)
from plcore.tables.writers.writing import format_of
from tests.plcore.tables.writers.tables import written
from tests.plcore.tables.writers.vectors import same_vectors, small_vectors, vector_tables

LARGE = small_vectors(4_500)


def named(table: LabelVectorTable, own: str) -> str:
    return table.id_column() or own


@given(vector_tables())
@settings(max_examples=60, deadline=None)
def test_wide_csv_written_and_read_again(table: LabelVectorTable) -> None:
    cells = read_cells(written(write_wide_csv, table))
    kept = table.kept()
    first = [*table.replaced] or [
        cells.columns[table.original.shape[1] + place] for place in range(len(table.found.labels))
    ]
    roles = Roles(label_columns=tuple(first), label_vectors=True, id=named(table, "winnow_id"), text="text")
    read = LabelTable.from_cells(cells, roles)
    assert read.ids.tolist() == list(table.found.ids)
    assert read.label_vectors is not None
    assert read.label_vectors.tolist() == table.found.cells.tolist()
    assert cells[list(kept.columns)].to_numpy().tolist() == kept.to_numpy().tolist()


@given(vector_tables())
@settings(max_examples=40, deadline=None)
def test_long_csv_has_a_line_for_every_cell(table: LabelVectorTable) -> None:
    lines = read_cells(written(write_long_csv, table))
    assert lines.to_dict("list") == table.found.long().to_dict("list")


@given(vector_tables())
@settings(max_examples=60, deadline=None)
def test_lines_of_json_written_and_read_again(table: LabelVectorTable) -> None:
    data = written(write_vector_lines, table)
    cells = read_table(data, "any.jsonl").cells
    roles = Roles(
        candidates="labels", not_labels="not_labels", form="json", label_vectors=True,
        id=named(table, "winnow_id"), text="text",
    )  # fmt: skip
    same_vectors(table, LabelTable.from_cells(cells, roles))
    kept = table.kept()
    assert cells[list(kept.columns)].to_numpy().tolist() == kept.to_numpy().tolist()
    lines = [json.loads(line) for line in data.decode().split("\n")[:-1]]
    known = [pd.DataFrame(line["winnow_cells"], dtype=object).to_dict("records") for line in lines]
    assert known == [row["cells"] for row in table.lists()]


@given(vector_tables())
@settings(max_examples=60, deadline=None)
def test_parquet_written_and_read_again(table: LabelVectorTable) -> None:
    """By the roles that it tells itself."""
    data = written(write_vector_parquet, table)
    reading = read_table(data, "any.parquet")
    roles = reading.suggest_roles()
    assert (roles.id, roles.truth) == (named(table, "id"), None)
    same_vectors(
        table, LabelTable.from_cells(reading.cells, replace(roles, text="text", numbers=(), categories=()))
    )
    kept = table.kept()
    assert reading.cells[list(kept.columns)].to_numpy().tolist() == kept.to_numpy().tolist()
    features = read_features(pa.parquet.read_schema(pa.BufferReader(data)))
    assert features.sets == {name: list(table.found.labels) for name in ("labels", "not_labels")}
    rows = pa.parquet.read_table(pa.BufferReader(data)).to_pylist()
    assert [row["cells"] for row in rows] == [row["cells"] for row in table.lists()]


def test_columns_of_the_same_names_give_way() -> None:
    table = small_vectors()
    again = replace(
        table,
        original=table.original[["sea", "sand"]].assign(labels="x", winnow_cells="y", id="z", cells="w"),
    )
    cells = read_table(written(write_vector_lines, again), "again.jsonl").cells
    assert cells["before_labels"].tolist() == ["x"] * 3
    assert cells["before_winnow_cells"].tolist() == ["y"] * 3
    assert json.loads(cells["winnow_cells.label"].iloc[0]) == ["sea", "sand"]
    reading = read_table(written(write_vector_parquet, again), "again.parquet")
    assert list(reading.cells.columns[:5]) == [
        "before_labels",
        "winnow_cells",
        "before_id",
        "before_cells",
        "id",
    ]
    wide = read_cells(written(write_wide_csv, again))
    assert wide["winnow_id"].tolist() == ["n0", "n1", "n2"]


@pytest.mark.parametrize("name", VECTOR_FORMATS)
def test_formats_are_found_by_name_followed_and_stopped(name: str) -> None:
    each = VECTOR_FORMATS[name]
    assert each.name == name
    assert each.about.endswith(".")
    assert format_of(f"birds{each.suffix}", VECTOR_FORMATS) is each
    told: list[int] = []
    data = written(each.write, LARGE, told.append)
    assert told == sorted(told)
    assert told[-1] == 4_500
    assert len(told) >= 3
    assert data == written(each.write, LARGE), "the same table is the same bytes"

    def stop(rows: int) -> None:
        raise InterruptedError(rows)

    with pytest.raises(InterruptedError):
        each.write(LARGE, io.BytesIO(), stop)


@pytest.mark.parametrize("name", VECTOR_FORMATS)
def test_a_choice_of_no_rows_is_a_file_without_rows(name: str) -> None:
    data = written(VECTOR_FORMATS[name].write, small_vectors().chosen(np.array([], dtype=np.int64)))
    if name == "csv":
        assert data.decode().split(",")[:4] == ["name", "sea", "text", "sand"]
        assert data.count(b"\n") == 1
    if name == "cells":
        assert data == b"id,label,value,probability,predicted,source\n"
    if name == "jsonl":
        assert data == b""
    if name == "parquet":
        assert pa.parquet.read_table(pa.BufferReader(data)).shape == (0, 5)
    if name == "npz":
        with np.load(io.BytesIO(data)) as arrays:
            assert arrays["values"].shape == (0, 2)


def test_a_name_of_no_format_is_refused_with_those_of_label_vectors() -> None:
    with pytest.raises(
        ValueError, match=r"one of \.csv, \.cells\.csv, \.jsonl, \.parquet, \.npz\. Got 'birds\.xml'"
    ):
        format_of("birds.xml", VECTOR_FORMATS)
    assert format_of("birds.cells.csv", VECTOR_FORMATS).name == "cells"


def test_what_is_not_asked_is_never_a_no() -> None:
    table = small_vectors()
    open_cells = np.full_like(table.found.cells, -1)
    line = json.loads(
        written(write_vector_lines, replace(table, found=replace(table.found, cells=open_cells))).split(
            b"\n"
        )[0]
    )
    assert line["labels"] == line["not_labels"] == []
    assert line["winnow_cells"]["value"] == [None, None]


def test_columns_of_parquet_keep_the_types_of_their_source() -> None:
    table = small_vectors()
    name = str(table.kept().columns[0])
    n = len(table.original)
    typed = replace(
        table, original=table.original.assign(**{name: [str(k) for k in range(n)]}), types={name: pa.int32()}
    )
    found = pa.parquet.read_table(pa.BufferReader(written(write_vector_parquet, typed)))
    assert found.schema.field(name).type == pa.int32()
    assert found[name].to_pylist() == list(range(n))
