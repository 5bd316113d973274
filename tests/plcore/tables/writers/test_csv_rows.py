"""Rows written as CSV and Excel."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import LabelTable, read_cells
from plcore.tables import find_doubts, read_table, shaped, suggest_roles
from plcore.tables.roles.named_votes import NamedVotes
from plcore.tables.writers import sheets as module
from plcore.tables.writers.disambiguated import Disambiguated
from plcore.tables.writers.sheets import ADDED, OUTSIDE, OWN_SHEET, csv_layout, write_csv, write_xlsx
from tests.plcore.tables.writers.tables import TEXTS, decided, frame, small_table, written

SOMETIMES = {
    "winnow_id", "winnow_weights", OUTSIDE, "winnow_truth", "winnow_voters", "winnow_people",
    "winnow_answers",
}  # fmt: skip
"""Columns that tables have only if there are values for them."""


def read(table: Disambiguated) -> pd.DataFrame:
    return read_cells(written(write_csv, table))


@given(decided())
def test_labels_are_written_with_their_confidence_and_deciding_answer(table: Disambiguated) -> None:
    cells = read(table)
    assert cells["winnow_label"].tolist() == [table.label_name(row) or "" for row in range(len(table.ids))]
    assert cells["winnow_source"].tolist() == table.source.tolist()
    for cell, share in zip(cells["winnow_confidence"], table.probability, strict=True):
        assert (cell == "") == bool(np.isnan(share))
        assert cell == "" or float(cell) == pytest.approx(share, abs=5e-5)
    for row in range(len(table.ids)):
        given_here = [answer for answer in table.answers if answer["row"] == row and answer["kind"] != "skip"]
        told = cells[["winnow_annotator", "winnow_answered_at", "winnow_seconds"]].iloc[row].tolist()
        if not given_here:
            assert told == ["", "", ""]
            continue
        last = given_here[-1]
        assert told[:2] == [last["person"], last["at"]]
        assert (float(told[2]) if told[2] else None) == last["seconds"]
    versions = [table.model_version or "" if source == "model" else "" for source in table.source]
    assert cells["winnow_model_version"].tolist() == versions


@given(decided(), st.sampled_from(ADDED), TEXTS)
def test_original_cells_round_trip_exactly(table: Disambiguated, name: str, text: str) -> None:
    """Even if the table was exported before, with columns named like the new ones."""
    again = replace(table, cells=table.cells.assign(**{name: text, f"before_{name}": "kept"}))
    cells = read(again)
    names = [f"before_before_{name}" if column == name else column for column in again.cells.columns]
    if name not in SOMETIMES:
        assert list(cells.columns[: len(names)]) == names
    found = cells.iloc[:, : len(names)]
    assert found.to_numpy().tolist() == again.cells.to_numpy().tolist()
    assert len(set(cells.columns)) == cells.shape[1]


def test_columns_are_ordered_and_only_written_if_needed() -> None:
    table = small_table()
    header = read(table).columns.tolist()
    only_some = SOMETIMES - {"winnow_id", "winnow_weights"}
    assert header == ["name", "text", *(one for one in ADDED if one not in only_some)]
    votes = NamedVotes.of([0], [0], [0], ["ann"])
    outside, truth = np.full(len(table.ids), 0.5), np.array([0, -1, 2])
    whole = replace(table, several=True, outside=outside, truth=truth, votes=votes)
    assert read(whole).columns.tolist() == ["name", "text", *ADDED]
    assert read(whole)[["winnow_truth", "winnow_voters"]].to_numpy().tolist() == [
        ["wren", '{"wren": ["ann"]}'], ["", ""], ["film", ""],
    ]  # fmt: skip
    assert "winnow_weights" not in read(replace(table, weights=None)).columns
    called = read(replace(table, cells=table.cells.rename(columns={"name": "id"})))
    assert "winnow_id" not in called, "a column called id holds the ids"
    one = next(csv.reader(io.StringIO(written(write_csv, table).decode().split("\n")[1])))
    assert one == [
        "p", "some words", "p", "wren|robin", "wren", "wren:0.5", "wren", "person", "1.0000", "ann",
        "2026-01-01T00:00:00+00:00", "1.5", "",
    ]  # fmt: skip


def test_file_with_another_separator_is_not_our_export() -> None:
    """Earlier releases used another separator for labels with a bar; splitting at bars would change these labels."""
    cells = frame(
        {"text": "x", "winnow_candidates_before": "a|b;c", "winnow_candidates": "a|b", "winnow_label": "a|b",
         "winnow_source": "person"},
    )  # fmt: skip
    assert not OWN_SHEET.fits(cells)
    assert OWN_SHEET.fits(cells.assign(winnow_label="a", winnow_candidates="a"))


def test_added_columns_are_not_suggested_as_truth_or_feature() -> None:
    cells = read(replace(small_table(), cells=small_table().cells.assign(size=["1.5", "2.5", "3.25"])))
    roles = suggest_roles(cells)
    assert not [column for _, column in roles.used() if column.startswith("winnow_")]


def test_file_of_an_earlier_release_keeps_its_ids() -> None:
    """Earlier releases did not write `winnow_id`."""
    cells = read(small_table()).drop(columns="winnow_id").rename(columns={"name": "item_id"})
    reading = shaped(read_table(cells.to_csv(index=False).encode()))
    assert reading.format == OWN_SHEET.name
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles())
    assert table.ids.tolist() == ["p", "q", "r"]


def test_names_in_capitals_as_some_databases_return_them_are_ours() -> None:
    lines = written(write_csv, small_table()).decode().partition("\n")
    capitals = shaped(read_table((lines[0].upper() + lines[1] + lines[2]).encode()))
    plain = shaped(read_table("".join(lines).encode()))
    assert capitals.roles is not None
    assert plain.roles is not None
    assert capitals.roles.candidates == plain.roles.candidates
    tables = [LabelTable.from_cells(one.cells, one.suggest_roles()) for one in (capitals, plain)]
    np.testing.assert_array_equal(np.asarray(tables[0].candidates), np.asarray(tables[1].candidates))


def test_numeric_classes_round_trip_without_doubts() -> None:
    cells = frame(*({"text": f"some words {row}", "labels": sets} for row, sets in enumerate(("2|1", "1", "2|1"))))
    table = replace(small_table(), cells=cells, classes=("1", "2"))
    both = np.array([[True, True], [True, False], [True, True]])
    table = replace(table, candidates_before=both, candidates_after=both, weights=None, label=np.full(3, -1))
    table = replace(table, source=np.array([""] * 3, dtype=object), answers=[])
    reading = shaped(read_table(written(write_csv, table)))
    assert reading.format == OWN_SHEET.name
    again = LabelTable.from_cells(reading.cells, reading.suggest_roles())
    assert np.asarray(again.candidates).tolist() == both.tolist()
    assert [doubt.name for doubt in find_doubts(again) if doubt.stops] == []


def test_rows_are_written_in_pieces() -> None:
    told: list[int] = []
    table = small_table(4_500)
    cells = read_cells(written(write_csv, table, told.append))
    assert told == [2_000, 4_000, 4_500]
    assert cells["name"].tolist() == table.ids.tolist()


def test_workbook_has_the_cells_of_the_csv_file() -> None:
    cells = small_table().cells.assign(n=["1", "", "-3"], f=["=1+1", "a<b&c", "x_x0041_\x0b"])
    table = replace(small_table(), cells=cells, types={"n": pa.int32()})
    layout = csv_layout(table)
    sheet = openpyxl.load_workbook(io.BytesIO(written(write_xlsx, table))).active
    head, *rows = [list(row) for row in sheet.iter_rows(values_only=True)]
    assert head == layout.names
    expected = [column.to_pylist() for column in next(iter(layout.pieces()))]
    for place, name in enumerate(layout.names):
        found = [row[place] for row in rows]
        if name in ("n", *module.NUMBERS):
            assert found == [float(text) if text else None for text in expected[place]], name
        else:
            plain = [openpyxl.utils.escape.unescape(one) if one else one for one in found]
            assert plain == [text or None for text in expected[place]], name
    assert sheet.cell(2, layout.names.index("f") + 1).data_type != "f", "text is not a formula"


def test_workbook_round_trips() -> None:
    reading = read_table(written(write_xlsx, small_table()), "labels.xlsx")
    assert reading.cells["winnow_label"].tolist() == ["wren", "", "robin"]


def test_data_too_large_for_a_sheet_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    long = replace(small_table(), cells=small_table().cells.assign(text="x" * 32_768))
    with pytest.raises(ValueError, match='Row 1, column "text": a cell of a workbook holds 32,767'):
        written(write_xlsx, long)
    monkeypatch.setattr(module, "MOST_ROWS", 3)
    with pytest.raises(ValueError, match="Fix: export CSV or Parquet"):
        written(write_xlsx, small_table())
