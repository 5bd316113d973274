"""Workbooks written by openpyxl and by hand: every cell is read as text, and sheets that are not plain tables get a
message."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables.problems import TableError
from plcore.tables.readers.excel import MAX_CELLS, read_workbook
from plcore.tables.readers.reading import TableReading
from plcore.tables.readers.recognise import read_table
from tests.plcore.tables.readers.cases import refused
from tests.plcore.tables.readers.xls import table, xls
from tests.plcore.tables.zips import make_zip


def workbook(sheets: dict[str, Sequence[Sequence[Any]]], change: Callable[[Any], None] | None = None) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    if change is not None:
        change(book)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def table_of(rows: Sequence[Sequence[Any]], change: Callable[[Any], None] | None = None) -> TableReading:
    return read_table(workbook({"Birds": rows}, change))


def test_every_kind_of_value_becomes_text() -> None:
    moment = datetime.datetime(2024, 1, 2, 3, 4, 5)
    rows = [
        ["text", "whole", "number", "yes", "day", "moment", "time", "span"],
        ["wren", 3, 2.5, True, datetime.date(2024, 1, 2), moment, datetime.time(3, 4), 30],
        [" a|b ", 1e15, -0.1, False, None, moment.replace(hour=23, second=0), None, datetime.timedelta(hours=30)],
    ]  # fmt: skip
    reading = table_of(rows)
    assert reading.format == "workbook, sheet 'Birds'"
    assert reading.cells.to_dict("list") == {
        "text": ["wren", " a|b "],
        "whole": ["3", "1000000000000000"],
        "number": ["2.5", "-0.1"],
        "yes": ["true", "false"],
        "day": ["2024-01-02", ""],
        "moment": ["2024-01-02 03:04:05", "2024-01-02 23:04:00"],
        "time": ["03:04:00", ""],
        "span": ["30", "1 day, 6:00:00"],
    }


def test_whole_numbers_keep_their_digits_without_decimal_point() -> None:
    cells = table_of([["n"], [4006381333931], [20240101123456], [None], [2.0], [10]]).cells
    assert cells["n"].tolist() == ["4006381333931", "20240101123456", "2", "10"]


def test_empty_rows_and_columns_around_and_inside_are_left_out() -> None:
    none: list[Any] = [None] * 5
    rows = [none, [None, "id", None, "n", None], [None, 1, None, 5, None], none, [None, 2, None, None, None], none]
    reading = table_of(rows)
    assert reading.cells.to_dict("list") == {"id": ["1", "2"], "n": ["5", ""]}
    assert reading.cells.index.tolist() == [3, 5]  # as the sheet numbers its rows
    assert reading.cells.index.name == "line"


def test_first_non_empty_sheet_is_read_and_the_others_are_named() -> None:
    table = [["id", "n"], [1, 2]]
    reading = read_table(workbook({"Empty": [], "Birds": table, "Notes": [["x"]]}))
    assert reading.format == "workbook, sheet 'Birds'"
    assert reading.notes == ("Only the sheet 'Birds' was read, not 'Empty', 'Notes'.",)


def test_errors_and_formulas_without_value_are_reported() -> None:
    reading = table_of([["id", "a", "b"], [1, "#N/A", "=A2*2"], [2, "#DIV/0!", 5]])
    assert reading.cells.to_dict("list") == {"id": ["1", "2"], "a": ["", ""], "b": ["", "5"]}
    assert "The workbook has 2 cells with an error" in reading.notes[0]
    assert "one cell with a formula that was never calculated" in reading.notes[1]


def test_column_with_only_errors_keeps_its_name() -> None:
    assert list(table_of([["id", "a"], [1, "#N/A"]]).cells.columns) == ["id", "a"]


def test_merged_header_cells_without_names_are_refused() -> None:
    rows = [["id", "size", None], [1, 2, 3], [4, 5, 6]]
    words = refused(workbook({"B": rows}, lambda book: book["B"].merge_cells("B1:C1")))
    assert "Line 1: the header cell 'size' reaches over 2 columns" in words


def test_merged_cells_apply_to_every_row() -> None:
    upright = [["id", "size"], [None, None], [1, 2]]
    fine = read_table(workbook({"B": upright}, lambda book: book["B"].merge_cells("A1:A2")))
    assert fine.cells.to_dict("list") == {"id": ["1"], "size": ["2"]}
    below = [["id", "size"], [1, 2], [None, 5], [None, 6]]
    fine = read_table(workbook({"B": below}, lambda book: book["B"].merge_cells("A2:A3")))
    assert fine.cells["id"].tolist() == ["1", "1", ""]


@pytest.mark.parametrize("total", ["Total", "Summe"])
def test_titles_notes_and_totals_around_the_table_are_left_out(total: str) -> None:
    head = [["Image labels, round 2", None, None, None, None], ["item", "votes", None, None, "gold"]]
    rows = [
        [None, "ann1", "ann2", "ann3", None],
        ["001", "cat", "NA", "None", "cat"],
        ["002", "dog", "cat", "dog", "dog"],
    ]
    end = [[total, 3, None, None, None], [None] * 5, ["note: blinded", None, None, None, None]]

    def merge(book: Any) -> None:
        for area in ("A1:E1", "B2:D2", "A2:A3", "E2:E3"):
            book["B"].merge_cells(area)

    reading = read_table(workbook({"README": [["Study 7"]], "B": head + rows + end}, merge))
    assert reading.cells.to_dict("list") == {
        "item": ["001", "002"],
        "ann1": ["cat", "dog"],
        "ann2": ["NA", "cat"],
        "ann3": ["None", "dog"],
        "gold": ["cat", "dog"],
    }
    assert reading.suggest_roles().annotators == ("ann1", "ann2", "ann3")
    said = f"left out, 3: 'Image labels, round 2', {total!r}, 'note: blinded'"
    assert any(said in note for note in reading.notes)


def test_sheet_of_rows_is_preferred_to_a_legend() -> None:
    legend = [["labels", "meaning"], ["wren", "small"], ["robin", "red"]]
    rows = [["text", "labels"], ["it sings", "wren|robin"], ["it hops", "robin"], ["it hides", "robin"]]
    reading = read_table(workbook({"Legend": legend, "Rows": rows}))
    assert reading.format == "workbook, sheet 'Rows'"
    assert reading.notes == ("Only the sheet 'Rows' was read, not 'Legend' (2 rows).",)


def test_rows_below_an_empty_one_are_reported() -> None:
    rows = [["text", "labels"], ["it sings", "wren|robin"], ["it hops", "robin"], [None, None]]
    more = table_of([*rows, ["it hides", "robin"], ["it sits", "wren"], ["it flies", "wren"]])
    assert more.notes == ("Line 4 is empty: the lines below it are read as more rows of the same table.",)
    other = table_of([*rows, ["label", "meaning"], ["wren", "small"], ["owl", "large"]])
    assert [ask[0] for ask in other.asks] == ["second-header"]


def test_two_header_lines_distinguish_columns() -> None:
    rows = [["id", "Ann", None, "Bob", None], [None, "label", "sure", "label", "sure"], [1, "x", 2, "y", 3]]

    def merge(book: Any) -> None:
        for area in ("A1:A2", "B1:C1", "D1:E1"):
            book["B"].merge_cells(area)

    reading = read_table(workbook({"B": rows}, merge))
    assert list(reading.cells.columns) == ["id", "Ann label", "Ann sure", "Bob label", "Bob sure"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "no cells"),
        ([["id", "n"]], "no data rows"),
        ([["id", None], [1, 2]], "column 2 of the header has no name"),
        ([["a", "a"], [1, 2]], "columns 1 and 2 of the header have the same name"),
    ],
)
def test_sheet_without_a_table_is_refused(rows: list[list[Any]], words: str) -> None:
    assert words in refused(workbook({"B": rows}))


CELL = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="\ufffe\uffff"), max_size=8),
    st.integers(-(10**9), 10**9),
    st.booleans(),
)  # fmt: skip


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=4))
def test_any_cells_round_trip(rows: list[tuple[Any, Any]]) -> None:
    data = workbook({"B": [["key", "a", "b"], *([k, *row] for k, row in enumerate(rows))]}, _as_text)
    cells = read_table(data).cells
    for place, name in enumerate("ab"):
        given = [_text(row[place]) for row in rows]
        assert cells[name].tolist() == [text if text.strip() else "" for text in given]  # XML keeps no blank text


def _as_text(book: Any) -> None:
    """No text is a formula here."""
    for row in book["B"].iter_rows():
        for cell in row:
            if isinstance(cell.value, str):
                cell.data_type = "s"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@given(st.integers(0, 10**6), st.binary(min_size=1, max_size=30))
def test_damaged_workbook_is_read_or_refused(place: int, bytes_: bytes) -> None:
    data = workbook({"B": [["id", "n"], [1, 2], [3, "x"]]})
    place %= len(data)
    damaged = data[:place] + bytes_ + data[place + len(bytes_) :]
    try:
        reading = read_table(damaged)
    except TableError:
        return
    assert len(reading.cells)


def replaced(data: bytes, part: str, pattern: bytes, by: bytes) -> bytes:
    """The workbook with a piece of one of its parts replaced."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    parts[part] = re.sub(pattern, by, parts[part])
    return make_zip(parts)


def test_cells_without_a_reference_are_placed_by_counting() -> None:
    plain = workbook({"B": [["a", "b"], [1, 2]]})
    sheet = "xl/worksheets/sheet1.xml"
    assert read_table(replaced(plain, sheet, rb' r="[A-Z0-9]+"', b"")).cells.shape == (1, 2)


def ods(rows: str) -> bytes:
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    sheet = f'<table:table table:name="S">{rows}</table:table>'
    body = f"<office:body><office:spreadsheet>{sheet}</office:spreadsheet></office:body>"
    content = f'<?xml version="1.0"?><office:document-content {spaces}>{body}</office:document-content>'
    manifest = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    kind = b"application/vnd.oasis.opendocument.spreadsheet"
    return make_zip({"mimetype": kind, "content.xml": content.encode(), "META-INF/manifest.xml": manifest.encode()})


def cell(text: str, more: str = "") -> str:
    return f'<table:table-cell office:value-type="string"{more}><text:p>{text}</text:p></table:table-cell>'


def row(*cells: str, more: str = "") -> str:
    return f"<table:table-row{more}>{''.join(cells)}</table:table-row>"


EMPTY = '<table:table-cell table:number-columns-repeated="16382"/>'


def test_open_document_sheets_of_libreoffice_are_read() -> None:
    """The rest of the sheet is one empty row and one empty cell, repeated a million times."""
    rows = [
        row(cell("id"), cell("label"), EMPTY),
        row(cell("1"), cell("wren"), EMPTY),
        row(cell("x", ' table:number-columns-repeated="2"'), EMPTY, more=' table:number-rows-repeated="2"'),
        row('<table:table-cell table:number-columns-repeated="16384"/>', more=' table:number-rows-repeated="1048571"'),
    ]  # fmt: skip
    reading = read_table(ods("".join(rows)))
    assert reading.cells.to_dict("list") == {"id": ["1", "x", "x"], "label": ["wren", "x", "x"]}


def test_too_many_cells_are_refused() -> None:
    """Areas that leave no memory end the reader: tests/workflow/importing/bombs.py."""
    wide = cell("a", ' table:number-columns-repeated="5"')
    message = refused(ods(row(wide, more=' table:number-rows-repeated="1048576"')))
    assert "reach over 5,242,880 cells, empty ones included" in message
    gap = row("<table:table-cell/>", more=' table:number-rows-repeated="5000"')
    far = cell("a", ' table:number-columns-repeated="5000"')
    assert "cells" in refused(ods(row(cell("b")) + gap + row(far)))
    data = xls({"S": [(0, 0, 1.0), (65_535, 99, 1.0)]})
    assert f"at most {MAX_CELLS:,} are allowed" in refused(data)


def test_unsupported_and_damaged_workbooks_are_refused_with_a_message() -> None:
    with pytest.raises(TableError, match="is damaged, or of a kind that cannot be read"):
        read_workbook(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    assert "damaged" in refused(make_zip({"[Content_Types].xml": b"", "xl/workbook.xml": b""}))
    cut = replaced(workbook({"B": [["a"], [1]]}), "xl/worksheets/sheet1.xml", b"</row>.*", b"")
    assert "The workbook is damaged" in refused(cut)


BIRDS = [["candidates", "w"], ["wren|robin", 1.5], ["robin", 2.0]]


@pytest.mark.parametrize("more", [0, 400])
def test_old_workbook_is_read(more: int) -> None:
    rows = BIRDS + [[f"wren|owl{k}", 1.0] for k in range(more)]
    data = xls({"Birds": table(rows), "Others": []})
    reading = read_table(data)
    assert reading.format == "workbook, sheet 'Birds'"
    assert reading.cells["candidates"].tolist() == [row[0] for row in rows[1:]]
    assert reading.cells["w"].tolist()[:2] == ["1.5", "2"]


def test_cyclic_sectors_and_a_missing_stream_are_reported() -> None:
    data = bytearray(xls({"Birds": table(BIRDS * 200)}))
    with pytest.raises(TableError, match="cannot be read"):
        read_table(bytes(data).replace("Workbook".encode("utf-16-le"), "Workshop".encode("utf-16-le")))
    data[512 + 8 : 512 + 12] = (2).to_bytes(4, "little")  # the first part of the stream is followed by itself
    with pytest.raises(TableError, match="damaged"):
        read_table(bytes(data))
    with pytest.raises(TableError, match="damaged"):
        read_table(bytes(data)[:60])
