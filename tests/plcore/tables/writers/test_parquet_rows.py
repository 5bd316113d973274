"""The disambiguated table as Parquet: opened by Hugging Face `datasets` and recognised by our own reader."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from plcore import LabelTable
from plcore.tables import read_table
from plcore.tables.readers.hugging_face import Told, read_features, read_told, written_metadata
from plcore.tables.text.arrow import frame_of
from plcore.tables.writers.disambiguated import Disambiguated
from plcore.tables.writers.npz import write_npz
from plcore.tables.writers.parquet import PREFIX, write_parquet, write_probabilities
from tests.hugging_face import datasets
from tests.plcore.tables.writers.tables import decided, same_candidates, small_table, written

__all__ = ["datasets"]


def test_datasets_opens_the_file_with_its_features(datasets: Any, tmp_path: Path) -> None:
    path = tmp_path / "birds.parquet"
    path.write_bytes(written(write_parquet, small_table()))
    loaded = datasets.load_dataset("parquet", data_files=str(path), cache_dir=str(tmp_path / "cache"))["train"]
    features, text = loaded.features, datasets.Value("string")
    assert features["label"] == datasets.ClassLabel(names=["wren", "robin", "film"])
    assert features["winnow_candidates"] == features["winnow_candidates_before"] == datasets.List(text)
    assert features["winnow_weights"] == datasets.List({"label": text, "weight": datasets.Value("float64")})
    assert features["name"] == features["text"] == features["winnow_source"] == text
    first, second, third = loaded
    assert features["label"].int2str(first["label"]) == "wren"
    assert [second["label"], third["label"]] == [None, 1]
    assert [row["winnow_candidates"] for row in loaded] == [["wren"], ["wren", "robin", "film"], ["robin", "film"]]
    assert [row["text"] for row in loaded] == ["some words", "b,\n", "c "]
    assert first["winnow_answers"] == [
        {
            "annotator": "ann",
            "kind": "is",
            "labels": ["wren"],
            "at": "2026-01-01T00:00:00+00:00",
            "seconds": 1.5,
            "model_version": "2",
        }
    ]
    assert [second["winnow_answers"], second["winnow_confidence"], third["winnow_model_version"]] == [[], None, "3"]


@given(decided())
@settings(max_examples=15)
def test_any_labels_and_cells_round_trip_through_datasets(
    datasets: Any, tmp_path_factory: pytest.TempPathFactory, table: Disambiguated
) -> None:
    path = tmp_path_factory.mktemp("any") / "any.parquet"
    path.write_bytes(written(write_parquet, table))
    loaded = datasets.Dataset.from_parquet(str(path), cache_dir=str(path.parent), keep_in_memory=True)
    assert loaded.features["label"].names == list(table.classes)
    assert [set(row["winnow_candidates"]) for row in loaded] == [set(left) for left in table.weighted()]
    assert [row["label"] for row in loaded] == [None if number < 0 else number for number in table.label]
    assert list(loaded["text"]) == table.cells["text"].tolist()


@settings(max_examples=settings().max_examples * 2 // 5)
@given(decided())
def test_answers_and_weights_are_in_their_rows_and_no_features_or_truth(table: Disambiguated) -> None:
    data = written(write_parquet, table)
    check_answers_and_weights(pa.parquet.read_table(pa.BufferReader(data)).to_pylist(), table)
    reading = read_table(data, "any.parquet")
    roles = reading.suggest_roles()
    added = [name for name in reading.cells if name.startswith("winnow_") or name in ("label", "label_name")]
    assert {column for _, column in roles.used()} & {*added} <= {roles.candidates, roles.id}
    assert roles.truth is None, "the labels that were decided are not the truth to measure with"
    assert reading.cells["label"].tolist() == [table.label_name(row) or "" for row in range(len(table.ids))]
    assert reading.cells["winnow_source"].tolist() == table.source.tolist()


def check_answers_and_weights(rows: list[dict[str, Any]], table: Disambiguated) -> None:
    """Every answer and weight is in its row."""
    answers = [{"row": number, **answer} for number, row in enumerate(rows) for answer in row["winnow_answers"]]
    expected = [{("annotator" if k == "person" else k): v for k, v in one.items()} for one in table.answers]
    assert answers == sorted(expected, key=lambda one: one["row"])
    for row, left, probability in zip(rows, table.weighted(), table.probability, strict=True):
        if table.weights is not None:
            assert {one["label"]: one["weight"] for one in row["winnow_weights"]} == left
        assert row["winnow_confidence"] == (None if np.isnan(probability) else probability)


def test_columns_of_equal_names_are_renamed_and_missing_ids_added() -> None:
    table = small_table()
    again = replace(table, cells=table.cells[["text"]].assign(label="x", weights="y"), weights=None)
    reading = read_table(written(write_parquet, again), "again.parquet")
    assert list(reading.cells.columns[:5]) == [
        "text", "before_label", "weights", "winnow_id", "winnow_candidates_before",
    ]  # fmt: skip
    assert reading.cells["winnow_id"].tolist() == ["p", "q", "r"]
    assert (reading.roles.id, reading.roles.candidates) == ("winnow_id", "winnow_candidates")


def test_rows_are_written_in_row_groups() -> None:
    told: list[int] = []
    data = written(write_parquet, small_table(4_500), told.append)
    metadata = pa.parquet.read_metadata(pa.BufferReader(data))
    assert [metadata.row_group(place).num_rows for place in range(3)] == [2_000, 2_000, 500]
    assert told == [2_000, 4_000, 4_500]
    assert data == written(write_parquet, small_table(4_500)), "the same table is the same bytes"


def test_metadata_describes_the_export() -> None:
    schema = pa.schema({"a": pa.string(), "l": pa.int64(), "s": pa.list_(pa.struct({"x": pa.float64()}))})
    metadata = written_metadata(schema, {"l": ["u", "v"]}, Told(("a",), "s", "a"))
    features = json.loads(metadata[b"huggingface"])["info"]["features"]
    assert features == {
        "a": {"dtype": "string", "_type": "Value"},
        "l": {"names": ["u", "v"], "_type": "ClassLabel"},
        "s": [{"x": {"dtype": "float64", "_type": "Value"}}],
    }
    told = schema.with_metadata(metadata)
    assert read_features(told).labels == {"l": ["u", "v"]}
    assert read_told(told) == Told(("a",), "s", "a")


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"original": 3, "candidates": "a", "id": "b"}', b"[" * 9_999])
def test_damaged_metadata_is_ignored(text: bytes) -> None:
    schema = pa.schema({"a": pa.string()})
    assert read_told(schema) is None
    assert read_told(schema.with_metadata({b"winnow": text})) is None


def test_chunked_text_is_written_like_a_single_chunk() -> None:
    table = small_table()
    pieces = [pa.table({str(name): column[row : row + 1] for name, column in table.cells.items()}) for row in range(3)]
    cut = pa.concat_tables(pieces)
    columns = [column.cast(pa.large_string()) for column in cut.columns]
    assert all(column.num_chunks == 3 for column in columns)
    chunked = replace(table, cells=frame_of(columns, cut.column_names))
    assert written(write_parquet, chunked) == written(write_parquet, table)


def test_metadata_about_missing_columns_is_ignored() -> None:
    table = pa.parquet.read_table(pa.BufferReader(written(write_parquet, small_table())))
    file = pa.BufferOutputStream()
    pa.parquet.write_table(table.drop_columns(["winnow_weights"]), file)
    reading = read_table(file.getvalue().to_pybytes(), "less.parquet")
    assert reading.suggest_roles().candidates != "weights"


def test_label_has_names_and_types_are_restored() -> None:
    cells = small_table().cells.assign(n=["1", "", "3"], ok=["true", "false", ""])
    types = {"n": pa.int32(), "ok": pa.bool_()}
    table = pa.parquet.read_table(
        pa.BufferReader(written(write_parquet, replace(small_table(), cells=cells, types=types)))
    )
    assert {name: table.schema.field(name).type for name in types} == types
    assert table["n"].to_pylist() == [1, None, 3]
    assert table["label_name"].to_pylist() == table["winnow_label"].to_pylist() == ["wren", None, "robin"]
    assert table["label"].to_pylist() == [0, None, 1]


def test_file_with_older_names_is_read() -> None:
    """As earlier releases wrote it: without `winnow_`."""
    found = pa.parquet.read_table(pa.BufferReader(written(write_parquet, small_table())))
    old = {"winnow_confidence": "probability"}
    names = [old.get(name, name.removeprefix("winnow_")) for name in found.column_names]
    told = json.loads(found.schema.metadata[b"winnow"]) | {"candidates": "weights", "id": "name"}
    metadata = {**found.schema.metadata, b"winnow": json.dumps(told).encode()}
    kept = [place for place, name in enumerate(found.column_names) if name not in ("winnow_label", "label_name")]
    table = found.select(kept).rename_columns([names[place] for place in kept]).replace_schema_metadata(metadata)
    file = io.BytesIO()
    pa.parquet.write_table(table, file)
    reading = read_table(file.getvalue(), "old.parquet")
    assert (reading.roles.candidates, reading.roles.truth) == ("weights", None)
    same_candidates(small_table(), LabelTable.from_cells(reading.cells, reading.roles))


SHARES = np.array([[1.0, 0, 0], [0.2, 0.5, 0.3], [0, 0.75, 0.25]])


def test_probability_columns_are_in_class_order() -> None:
    table = replace(small_table(), probabilities=SHARES)
    found = pq.read_table(io.BytesIO(written(write_probabilities, table)))
    assert found.column_names[:3] == ["winnow_id", "winnow_label", "winnow_source"]
    assert found.column_names[3:] == [f"{PREFIX}{name}" for name in table.classes]
    np.testing.assert_array_equal(np.column_stack(found.columns[3:]), SHARES)
    some = replace(table).chosen(np.array([2, 0]))
    again = pq.read_table(io.BytesIO(written(write_probabilities, some)))
    np.testing.assert_array_equal(np.column_stack(again.columns[3:]), SHARES[[2, 0]])


def test_npz_has_probabilities_and_is_still_read() -> None:
    data = written(write_npz, replace(small_table(), probabilities=SHARES))
    np.testing.assert_array_equal(np.load(io.BytesIO(data))["winnow_probabilities"], SHARES)
    assert read_table(data, "labels.npz").cells["winnow_label"].tolist() == ["wren", "", "robin"]


def test_table_without_probabilities_is_refused() -> None:
    with pytest.raises(ValueError, match="no probabilities"):
        written(write_probabilities, replace(small_table(), probabilities=None))
