"""The export formats: found by file name, written in pieces, stopped by a listener."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet
import pytest

from plcore import LabelTable, read_cells
from plcore.tables import read_table, shape_name, shaped
from plcore.tables.writers.writing import FILE_FORMATS, format_of
from tests.plcore.tables.writers.tables import ends_when_listener_raises, in_small_pieces, small_table, written

LARGE = small_table(1_800)
CONFIG = "labelstudio-config"
"""The only format that contains no rows: a labelling interface."""


def test_formats_have_names_and_texts() -> None:
    assert list(FILE_FORMATS) == [
        *(
            "csv", "parquet", "arrow", "jsonl", "npz", "xlsx", "probabilities", "labelstudio", CONFIG,
            "votes", "prodigy", "doccano", "argilla",
        ),
    ]  # fmt: skip
    suffixes = [each.suffix for each in FILE_FORMATS.values()]
    assert len(set(suffixes)) == len(suffixes)
    for name, each in FILE_FORMATS.items():
        assert each.name == name
        assert each.title
        assert each.about.endswith(".")
        assert each.suffix.startswith(".")


@pytest.mark.parametrize("name", FILE_FORMATS)
def test_ending_selects_the_format(name: str) -> None:
    each = FILE_FORMATS[name]
    assert format_of(f"/some/where.csv/birds{each.suffix}") is each
    assert format_of(f"BIRDS{each.suffix.upper()}") is each


def test_other_endings_are_refused_with_those_allowed() -> None:
    for name in ("birds", "birds.xls", "birds.csv.gz", "csv", ""):
        with pytest.raises(ValueError, match=r"one of \.csv, .*\.argilla\.json\. Got"):
            format_of(name)


class Counted(io.RawIOBase):
    """A file that keeps the largest piece it was given."""

    largest = 0

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.largest = max(self.largest, len(data))
        return len(data)


@pytest.mark.parametrize("name", FILE_FORMATS)
def test_writing_in_pieces_reports_progress_and_can_be_stopped(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    in_small_pieces(monkeypatch)
    told: list[int] = []
    whole = len(written(FILE_FORMATS[name].write, LARGE, told.append))
    assert told == sorted(told)
    assert told[-1] == len(LARGE.ids)
    file = Counted()
    FILE_FORMATS[name].write(LARGE, file, lambda _rows: None)  # type: ignore[arg-type]
    assert file.largest < whole / 2 or name in ("npz", "xlsx", "votes", CONFIG), (
        "arrays are packed, and there is one answer alone"
    )
    ends_when_listener_raises(FILE_FORMATS[name].write, LARGE, io.BytesIO())


NOT_TABLES = ("votes", "probabilities", CONFIG)


@pytest.mark.parametrize("name", [name for name in FILE_FORMATS if name not in NOT_TABLES])
def test_written_files_are_read_by_our_importer(name: str) -> None:
    each = FILE_FORMATS[name]
    reading = read_table(written(each.write, small_table()), f"birds{each.suffix}")
    if name in ("csv", "xlsx"):
        assert reading.cells["winnow_candidates"].tolist() == ["wren", "wren|robin|film", "robin|film"]
        return
    column = reading.suggest_roles().candidates
    assert [sorted(names_in(cell)) for cell in reading.cells[column]] == [
        ["wren"],
        ["film", "robin", "wren"],
        ["film", "robin"],
    ]


@pytest.mark.parametrize("name", ["csv", "parquet", "jsonl", "npz"])
def test_rows_at_risk_are_written_if_known(name: str) -> None:
    plain = written(FILE_FORMATS[name].write, small_table())
    assert b"outside" not in plain
    table = replace(small_table(), outside=np.array([np.nan, 0.125, 0.0]))
    data = written(FILE_FORMATS[name].write, table)
    if name == "csv":
        assert read_cells(data)["winnow_outside"].tolist() == ["", "0.1250", "0.0000"]
    if name == "parquet":
        assert pa.parquet.read_table(io.BytesIO(data))["winnow_outside"].to_pylist() == [None, 0.125, 0.0]
    if name == "jsonl":
        lines = [json.loads(line) for line in data.decode().splitlines()]
        assert [line["winnow_outside"] for line in lines] == [None, 0.125, 0.0]
        assert "outside" not in read_table(data, "birds.jsonl").cells  # it is not a column of the rows
    if name == "npz":
        with np.load(io.BytesIO(data)) as arrays:
            np.testing.assert_array_equal(arrays["winnow_outside"], [np.nan, 0.125, 0.0])


@pytest.mark.parametrize("name", FILE_FORMATS)
def test_excluded_rows_are_written_without_candidates(name: str) -> None:
    """They have no label either, but are still written in every format."""
    table = small_table()
    table.candidates_after[1] = False
    table.source[1] = "bad"
    data = written(FILE_FORMATS[name].write, table)
    if name == "csv":
        cells = read_cells(data)
        assert cells[["winnow_candidates", "winnow_weights", "winnow_label"]].iloc[1].tolist() == ["", "", ""]
        assert cells["winnow_source"].iloc[1] == "bad"
    if name == "parquet":
        assert read_table(data).cells[["winnow_candidates", "winnow_weights", "winnow_label"]].iloc[1].tolist() == [
            "[]",
            "[]",
            "",
        ]
    if name == "jsonl":
        assert json.loads(data.decode().split("\n")[1])["winnow_candidates"] == []
    if name == "labelstudio":
        assert json.loads(data)[1]["predictions"] == []
    if name == "prodigy":
        assert json.loads(data.decode().split("\n")[1])["options"] == []
    if name == "npz":
        with np.load(io.BytesIO(data)) as arrays:
            assert not arrays["winnow_candidates"][1].any()
            assert not arrays["winnow_weights"][1].any()
    if name == "votes":
        assert b"q" not in data.split(b"\n", 1)[1]


@pytest.mark.parametrize("name", FILE_FORMATS)
def test_empty_selection_writes_no_rows(name: str) -> None:
    data = written(FILE_FORMATS[name].write, small_table().chosen(np.array([], dtype=np.int64)))
    if name in ("csv", "votes"):
        assert data.count(b"\n") == 1
        assert b"," in data
    elif name in ("jsonl", "prodigy", "doccano"):
        assert data == b""
    elif name == CONFIG:
        assert data.count(b"<Choice ") == 3
    elif name in ("labelstudio", "argilla"):
        assert json.loads(data) == []
    elif name == "xlsx":
        assert len(list(openpyxl.load_workbook(io.BytesIO(data)).active.rows)) == 1, "the head alone"
    elif name == "npz":
        with np.load(io.BytesIO(data)) as arrays:
            assert arrays["winnow_candidates"].shape == (0, 3)
    elif name == "arrow":
        assert pa.ipc.open_file(pa.BufferReader(data)).read_all().num_rows == 0
    else:
        assert pa.parquet.read_table(pa.BufferReader(data)).num_rows == 0


def names_in(cell: str) -> list[str]:
    return [one["label"] if isinstance(one, dict) else one for one in json.loads(cell)]


@pytest.mark.parametrize("name", ["csv", "parquet", "jsonl", "npz", "xlsx"])
@pytest.mark.parametrize("source", ["pending", "disputed"])
def test_undecided_row_keeps_all_its_candidates(name: str, source: str) -> None:
    table = small_table()
    table.source[0] = source
    each = FILE_FORMATS[name]
    reading = read_table(written(each.write, table), f"birds{each.suffix}")
    reading = reading if shape_name(reading) is None else shaped(reading)
    cells = reading.cells.assign(shown="a text")
    read = LabelTable.from_cells(cells, replace(reading.suggest_roles(), text="shown", numbers=(), categories=()))
    assert [read.classes[k] for k in np.flatnonzero(read.candidates[0])] == ["robin", "wren"]


def test_lines_with_older_names_are_read() -> None:
    """As earlier releases wrote them: without `winnow_`."""
    names = {"winnow_confidence": "probability"}
    lines = [json.loads(line) for line in written(FILE_FORMATS["jsonl"].write, small_table()).splitlines()]
    old = [{names.get(name, name.removeprefix("winnow_")): one[name] for name in one} for one in lines]
    reading = read_table("\n".join(map(json.dumps, old)).encode(), "old.jsonl")
    assert [sorted(names_in(cell)) for cell in reading.cells["winnow_candidates"]] == [
        ["wren"],
        ["film", "robin", "wren"],
        ["film", "robin"],
    ]
    assert "source" not in reading.cells


def test_argilla_and_doccano_distinguish_votes_from_candidates() -> None:
    (first, *_) = json.loads(written(FILE_FORMATS["argilla"].write, small_table()))
    reading = read_table(written(FILE_FORMATS["argilla"].write, small_table()), "a.argilla.json")
    assert first["suggestions"]["label"] == {"value": ["wren"], "score": [0.5], "agent": "winnow"}
    assert json.loads(reading.cells["sources"].iloc[0]) == {"wren": ["ann"]}
    lines = [json.loads(line) for line in written(FILE_FORMATS["doccano"].write, small_table()).splitlines()]
    lines[1]["label"] = ["film"]  # someone has chosen there
    lines[1]["id"] = 7
    read = read_table("\n".join(map(json.dumps, lines)).encode(), "back.jsonl").cells
    assert read["id"].tolist() == ["p", "q", "r"]
    assert names_in(read["candidates"].iloc[1]) == ["film"]
