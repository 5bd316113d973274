"""Label vectors in every format: written in pieces, and read back cell for cell."""

from __future__ import annotations

import io
import json
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import TableError, read_cells
from plcore.tables import read_table
from plcore.tables.readers.hugging_face import read_features
from plcore.tables.readers.registry import joined
from plcore.tables.readers.tools.argilla_prodigy import ARGILLA_NESTED, PRODIGY, prodigy_vectors
from plcore.tables.readers.tools.label_studio import LABEL_STUDIO
from plcore.tables.writers.disambiguated import CELLS_AT_ONCE, PIECE_ROWS, LabelVectorTable, VectorCells
from plcore.tables.writers.label_studio import label_studio_vectors
from plcore.tables.writers.label_vectors import (
    VECTOR_FORMATS,
    write_long_csv,
    write_vector_lines,
    write_vector_parquet,
    write_wide_csv,
)
from plcore.tables.writers.npz import write_vector_npz
from plcore.tables.writers.records import argilla_records
from plcore.tables.writers.writing import format_of
from tests.plcore.tables.writers.tables import ends_when_listener_raises, in_small_pieces, noted, written
from tests.plcore.tables.writers.vectors import small_vectors, vector_tables

LARGE = small_vectors(1_800)


def named(table: LabelVectorTable, own: str) -> str:
    return table.id_column() or own


@settings(max_examples=settings().max_examples * 2 // 5)
@given(vector_tables())
def test_all_known_labels_are_in_long_csv_json_parquet_and_arrays(table: LabelVectorTable) -> None:
    cells = read_cells(written(write_long_csv, table))
    assert cells.to_dict("list") == table.found.long().to_dict("list")
    check_lists(table)
    wanted = [row["cells"] for row in table.lists()]
    lines = [json.loads(line) for line in written(write_vector_lines, table).decode().split("\n")[:-1]]
    known = [pd.DataFrame(line["winnow_cells"], dtype=object).to_dict("records") for line in lines]
    assert known == wanted
    data = pa.BufferReader(written(write_vector_parquet, table))
    features = read_features(pa.parquet.read_schema(data))
    labels = list(table.found.labels)
    assert features.sets == {"winnow_labels": labels, "winnow_not_labels": labels}
    assert pa.parquet.read_table(data)["winnow_cells"].to_pylist() == wanted
    check_arrays(arrays_of(table), table.found)


def test_probabilities_have_column_for_each_label() -> None:
    table = small_vectors()
    found = pa.parquet.read_table(io.BytesIO(written(VECTOR_FORMATS["probabilities"].write, table)))
    wanted = table.found.probabilities
    assert found["winnow_id"].to_pylist() == list(table.ids)
    for place, label in enumerate(table.found.labels):
        shares = [None if np.isnan(one) else one for one in wanted[:, place]]
        assert found[f"winnow_probability:{label}"].to_pylist() == shares
    assert found.num_columns == 1 + len(table.found.labels)


def test_files_with_older_names_are_read() -> None:
    """As earlier releases wrote them: without `winnow_`."""
    table = small_vectors()
    line = json.loads(written(write_vector_lines, table).split(b"\n")[0])
    del line["winnow_id"]
    old = {name if name == "winnow_cells" else name.removeprefix("winnow_"): value for name, value in line.items()}
    cells = read_table(json.dumps(old).encode(), "old.jsonl").cells
    assert cells.to_dict("records") == [{"name": "n0", "text": "a b", "sea": "1", "sand": "0"}]
    names = {
        "winnow_id": "ids",
        "winnow_classes": "labels",
        "winnow_probability": "probabilities",
        "winnow_source": "sources",
    }
    file = io.BytesIO()
    np.savez(file, **{names.get(name, name.removeprefix("winnow_")): one for name, one in arrays_of(table).items()})
    assert read_table(file.getvalue(), "old.npz").cells["sand"].tolist() == ["0", "1", ""]


PEOPLE = {"ann": {0: ("yes", "sea"), 1: ("no", "sand")}, "bob": {1: ("yes", "sand")}}


def answered_vectors() -> LabelVectorTable:
    """Ann and bob differ about the sand of the second row; a skip is not an answer."""
    said = [
        {"row": row, "person": person, "kind": kind, "labels": [label]}
        for person, rows in PEOPLE.items()
        for row, (kind, label) in rows.items()
    ]
    said.append({"row": 2, "person": "bob", "kind": "skip", "labels": []})
    about = {"at": "2026-01-01T00:00:00+00:00", "seconds": 1.5, "model_version": None}
    return replace(small_vectors(), answers=[one | about for one in said])


def test_label_studio_has_answers_per_person_and_its_edits_are_read() -> None:
    tasks = json.loads("".join(label_studio_vectors(answered_vectors())))
    assert [[one["winnow_person"] for one in task["annotations"]] for task in tasks] == [
        ["ann"], ["ann", "bob"], ["bob"],
    ]  # fmt: skip
    assert tasks[2]["annotations"][0]["was_cancelled"]
    before = LABEL_STUDIO.read(json.loads(json.dumps(tasks)))
    assert before.cells["sand"].tolist() == ["0", "1", ""], "what is known counts, not what one of them said"
    (result,) = tasks[0]["annotations"][0]["result"]
    result["value"]["choices"] = ["sand"]
    new = {"from_name": "not_label", "to_name": "item", "type": "choices", "value": {"choices": ["sea"]}}
    tasks[1]["annotations"].append({"completed_by": 1, "result": [new]})
    after = LABEL_STUDIO.read(tasks)
    assert after.cells["sea"].tolist() == ["", "0", ""], "a label that is chosen no more is not known"
    assert after.cells["sand"].tolist() == ["1", "1", ""]


def test_votes_on_labels_are_joined_to_their_rows() -> None:
    data = written(VECTOR_FORMATS["votes"].write, answered_vectors())
    votes, rows = read_table(data, "a.votes.csv"), read_table(b"name,text\nn0,a\nn1,b\nn2,c\n", "rows.csv")
    found = joined(votes, rows)
    assert found.suggest_roles().label_columns == ("sea", "sand")
    assert found.cells[["sea", "sand"]].to_numpy().tolist() == [["1", ""], ["", ""], ["", ""]]
    assert noted(found, "labels about which people differ, which are read as not asked: 1.")


def test_arrays_of_vectors_are_joined_to_their_rows() -> None:
    arrays = read_table(written(write_vector_npz, small_vectors()), "a.npz")
    found = joined(arrays, read_table(b"name,text\nn0,a\nn2,c\nn3,d\n", "rows.csv"))
    assert found.cells[["sea", "sand"]].to_numpy().tolist() == [["1", "0"], ["", ""], ["", ""]]
    assert noted(found, "n1")


def test_label_studio_has_the_confidence_of_predictions() -> None:
    tasks = json.loads("".join(label_studio_vectors(small_vectors())))
    scores = [{one["model_version"]: one.get("score") for one in task["predictions"]} for task in tasks]
    assert scores == [{"known": None}, {"known": None, "model": 0.75}, {"model": 0.5}]


def test_argilla_has_a_field_even_without_other_columns() -> None:
    table = small_vectors()
    bare = replace(table, original=table.original[["sea", "sand"]])
    records = json.loads("".join(argilla_records(bare)))
    assert [one["fields"] for one in records] == [{"winnow_id": name} for name in table.ids]
    assert "winnow_id" not in ARGILLA_NESTED.read(records).cells


def test_answers_added_in_prodigy_and_argilla_are_read() -> None:
    tasks = [json.loads(line) for line in prodigy_vectors(small_vectors())]
    tasks[0] |= {"accept": ["sand"], "answer": "accept"}
    assert PRODIGY.read(tasks).cells[["sea", "sand"]].iloc[0].tolist() == ["0", "1"]
    records = json.loads("".join(argilla_records(small_vectors())))
    records[1]["responses"] = {"not_label": [{"value": ["sea"], "user_id": "u"}]}
    assert ARGILLA_NESTED.read(records).cells[["sea", "sand"]].iloc[1].tolist() == ["0", "1"]


def test_columns_of_equal_names_are_renamed() -> None:
    table = small_vectors()
    again = replace(
        table, original=table.original[["sea", "sand"]].assign(labels="x", winnow_cells="y", id="z", cells="w")
    )
    cells = read_table(written(write_vector_lines, again), "again.jsonl").cells
    assert cells["labels"].tolist() == ["x"] * 3
    assert cells["before_winnow_cells"].tolist() == ["y"] * 3
    reading = read_table(written(write_vector_parquet, again), "again.parquet")
    assert list(reading.cells.columns[:5]) == ["labels", "before_winnow_cells", "id", "cells", "winnow_id"]
    wide = read_cells(written(write_wide_csv, again))
    assert wide["winnow_id"].tolist() == ["n0", "n1", "n2"]


@pytest.mark.parametrize("name", VECTOR_FORMATS)
def test_formats_are_found_by_name_with_progress_and_stop(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    in_small_pieces(monkeypatch)
    each = VECTOR_FORMATS[name]
    assert each.name == name
    assert each.about.endswith(".")
    assert format_of(f"birds{each.suffix}", VECTOR_FORMATS) is each
    told: list[int] = []
    data = written(each.write, LARGE, told.append)
    assert told == sorted(told)
    assert told[-1] == 1_800
    assert len(told) >= 3 or name in ("labelstudio-config", "votes"), "which hold no row of it"
    assert data == written(each.write, LARGE), "the same table is the same bytes"
    ends_when_listener_raises(each.write, LARGE, io.BytesIO())


@pytest.mark.parametrize("name", VECTOR_FORMATS)
def test_empty_selection_writes_no_rows(name: str) -> None:
    data = written(VECTOR_FORMATS[name].write, small_vectors().chosen(np.array([], dtype=np.int64)))
    if name == "csv":
        assert data.decode().split(",")[:4] == ["name", "sea", "text", "sand"]
        assert data.count(b"\n") == 1
    if name == "cells":
        assert data == b"id,label,value,probability,predicted,source\n"
    if name in ("jsonl", "prodigy", "doccano"):
        assert data == b""
    if name in ("labelstudio", "argilla"):
        assert json.loads(data) == []
    if name == "parquet":
        assert pa.parquet.read_table(pa.BufferReader(data)).shape == (0, 5)
    if name == "npz":
        with np.load(io.BytesIO(data)) as arrays:
            assert arrays["winnow_values"].shape == (0, 2)


def test_unknown_format_lists_those_of_label_vectors() -> None:
    with pytest.raises(
        ValueError, match=r"one of \.csv, \.xlsx, \.cells\.csv, \.jsonl, .*\.argilla\.json\. Got 'birds\.txt'"
    ):
        format_of("birds.txt", VECTOR_FORMATS)
    assert format_of("birds.cells.csv", VECTOR_FORMATS).name == "cells"


def test_cell_not_asked_is_never_written_as_no() -> None:
    table = small_vectors()
    open_cells = np.full_like(table.found.cells, -1)
    line = json.loads(
        written(write_vector_lines, replace(table, found=replace(table.found, cells=open_cells))).split(b"\n")[0]
    )
    assert line["winnow_labels"] == line["winnow_not_labels"] == []
    assert line["winnow_cells"]["value"] == [None, None]


def test_parquet_columns_keep_the_source_types() -> None:
    table = small_vectors()
    name = str(table.kept().columns[0])
    n = len(table.original)
    typed = replace(
        table, original=table.original.assign(**{name: [str(k) for k in range(n)]}), types={name: pa.int32()}
    )
    found = pa.parquet.read_table(pa.BufferReader(written(write_vector_parquet, typed)))
    assert found.schema.field(name).type == pa.int32()
    assert found[name].to_pylist() == list(range(n))


def test_labels_replace_their_source_columns() -> None:
    table = small_vectors()
    wide = table.wide()
    assert wide.columns[:4].tolist() == ["name", "sea", "text", "sand"]
    assert wide["sea"].tolist() == ["1", "", ""]
    assert wide["sand"].tolist() == ["0", "1", ""]
    assert wide["winnow_probability:sea"].tolist() == ["1.0000", "0.7500", "0.5000"]
    assert wide["winnow_predicted:sea"].tolist() == ["", "1", "0"]
    assert wide["winnow_source:sand"].tolist() == ["person", "truth", "bad"]
    assert wide.shape == (3, 4 + 3 * 2)


def test_cells_round_trip() -> None:
    table = small_vectors()
    came = table.original.assign(sea=["yes", "n/a", "?"], sand=["no", "", ""])
    wide = replace(table, original=came).wide()
    assert wide["sea"].tolist() == ["yes", "n/a", "?"]
    assert wide["sand"].tolist() == ["no", "yes", ""], "what is new is said in the words of the file"


def test_labels_given_as_lists_stay_lists() -> None:
    table = replace(small_vectors(), replaced=())
    wide = table.wide()
    assert wide.columns[:6].tolist() == ["name", "sea", "text", "sand", "before_sea", "before_sand"]
    assert wide["sea"].tolist() == ["", "", ""], "the text that came"
    assert wide["before_sea"].tolist() == ["1", "", ""]


@settings(max_examples=settings().max_examples * 2 // 5)
@given(vector_tables(), st.integers(1, 4), st.data())
def test_pieces_make_up_the_whole_and_selected_rows_are_written(
    table: LabelVectorTable, size: int, data: st.DataObject
) -> None:
    pieces = list(table.pieces(size))
    whole, parts = table.wide(), [piece.wide() for piece in pieces]
    assert [row for part in parts for row in part.to_numpy().tolist()] == whole.to_numpy().tolist()
    assert all(part.columns.equals(whole.columns) for part in parts)
    assert [name for piece in pieces for name in piece.found.ids] == list(table.found.ids)
    order = data.draw(st.permutations(range(len(table.original))))
    rows = np.array(order[: data.draw(st.integers(1, len(order)))])
    found = table.chosen(rows)
    assert found.wide().to_numpy().tolist() == whole.iloc[rows].to_numpy().tolist()
    assert list(found.found.ids) == [table.found.ids[row] for row in rows]
    assert found.lists() == [table.lists()[row] for row in rows]


def test_selecting_all_rows_makes_no_copy_and_pieces_are_bounded() -> None:
    table = small_vectors()
    assert table.chosen(np.arange(3)) is table
    (piece,) = table.pieces()
    assert np.shares_memory(piece.found.cells, table.found.cells)
    many = np.zeros((3, CELLS_AT_ONCE), dtype=np.int8)
    wide = replace(
        table.found, labels=("x",) * CELLS_AT_ONCE, cells=many, probabilities=many, predicted=many, origins=many
    )
    assert len(list(replace(table, found=wide).pieces())) == 3


def check_lists(table: LabelVectorTable) -> None:
    """Lists hold the labels that are right, those that are not, and what is known of each."""
    found = table.found
    for row, lists in enumerate(table.lists()):
        assert {*lists["labels"]} == {n for n, value in zip(found.labels, found.cells[row], strict=True) if value == 1}
        assert {*lists["not_labels"]} == {n for n, v in zip(found.labels, found.cells[row], strict=True) if v == 0}
        assert [cell["label"] for cell in lists["cells"]] == list(found.labels)
        for place, cell in enumerate(lists["cells"]):
            assert (-1 if cell["value"] is None else cell["value"]) == found.cells[row, place]
            assert (-1 if cell["predicted"] is None else cell["predicted"]) == found.predicted[row, place]
            share = found.probabilities[row, place]
            assert cell["probability"] == (None if np.isnan(share) else share)
            assert cell["source"] == found.sources[row, place]


def test_replaced_column_is_not_the_id_column() -> None:
    table = small_vectors()
    assert table.id_column() == "name"
    assert replace(table, replaced=("name", "sand")).id_column() is None
    assert list(table.kept().columns) == ["name", "text"]


def arrays_of(table: LabelVectorTable) -> dict[str, Any]:
    with np.load(io.BytesIO(written(write_vector_npz, table)), allow_pickle=False) as file:
        return dict(file)


def check_arrays(found: dict[str, Any], given_out: VectorCells) -> None:
    assert found["winnow_id"].tolist() == list(given_out.ids)
    assert found["winnow_classes"].tolist() == list(given_out.labels)
    assert (found["winnow_values"] == given_out.cells).all()
    assert (found["winnow_predicted"] == given_out.predicted).all()
    assert (found["winnow_source"] == given_out.sources).all()
    np.testing.assert_array_equal(found["winnow_probability"], given_out.probabilities)


def test_label_can_be_named_like_the_id_column() -> None:
    table = small_vectors()
    called = replace(table, found=replace(table.found, labels=("id", "before_id")))
    reading = read_table(written(write_vector_npz, called), "ids.npz")
    assert list(reading.cells.columns) == ["before_before_id", "id", "before_id"]
    assert reading.suggest_roles().id == "before_before_id"


def test_one_long_id_does_not_widen_all_ids_in_memory() -> None:
    table = small_vectors(60_000)
    ids = ("n" * 4_000, *table.found.ids[1:])  # as an array of text: 60,000 times 16 kB
    long = replace(table, found=replace(table.found, ids=ids))

    def stop(_rows: int) -> None:
        raise InterruptedError

    tracemalloc.start()
    try:
        with pytest.raises(InterruptedError):
            write_vector_npz(long, io.BytesIO(), stop)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * PIECE_ROWS * 16_000 + 10_000_000


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("winnow_id", np.array(["a"])),
        ("winnow_classes", np.array([["a", "b"]])),
        ("winnow_values", np.zeros((3, 2))),
        ("winnow_values", np.full((3, 2), 2)),
        ("winnow_values", np.zeros((3, 3), dtype=np.int8)),
    ],
)
def test_too_large_arrays_are_refused_with_a_message(name: str, array: Any) -> None:
    file = io.BytesIO()
    np.savez(file, **(arrays_of(small_vectors()) | {name: array}))
    with pytest.raises(TableError, match=r"The arrays do not fit: .*1 yes, 0 no, -1 not asked"):
        read_table(file.getvalue(), "wrong.npz")
