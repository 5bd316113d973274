"""The disambiguated table as a workbook: other programs open it, and so do we."""

from __future__ import annotations

import io
from dataclasses import replace

import openpyxl
import pyarrow as pa
import pytest

from plcore.tables import read_table
from plcore.tables.writers import sheets as module
from plcore.tables.writers.sheets import csv_layout, write_xlsx
from tests.plcore.tables.writers.tables import small_table, written


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
    assert sheet.cell(2, layout.names.index("f") + 1).data_type != "f", "text is no formula"


def test_workbook_is_read_again() -> None:
    reading = read_table(written(write_xlsx, small_table()), "labels.xlsx")
    assert reading.cells["winnow_label"].tolist() == ["wren", "", "robin"]


def test_what_no_sheet_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    long = replace(small_table(), cells=small_table().cells.assign(text="x" * 32_768))
    with pytest.raises(ValueError, match='Row 1, column "text": a cell of a workbook holds 32,767'):
        written(write_xlsx, long)
    monkeypatch.setattr(module, "MOST_ROWS", 3)
    with pytest.raises(ValueError, match="Fix: export CSV or Parquet"):
        written(write_xlsx, small_table())
