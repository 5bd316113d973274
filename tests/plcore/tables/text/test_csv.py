"""CSV reading and writing, and frames as text: any bytes give a good frame or a clear TableError; text survives."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plcore.tables import read_table
from plcore.tables.problems import MAX_PROBLEMS, Problem, TableError
from plcore.tables.readers.reading import column_text
from plcore.tables.table import LabelTable
from plcore.tables.text.arrow import csv_header, csv_rows, to_csv_bytes
from plcore.tables.text.csv import LINE_INDEX, WIDE, as_text, quotes_are_regular, read_cells, records
from plcore.tables.text.frames import frame_as_text, numbers_as_text

PIECES = [
    b'"', b'""', b",", b";", b"\t", b"\n", b"\r", b"\r\n", b" ", b"a", b"1", b"|", "é".encode(), b"\xe9",
]  # fmt: skip
STARTS = [b"", b"a,b\n", b"candidates,w\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"candidates;w;id\r\n"]
CSV_LIKE = st.builds(
    lambda start, pieces: start + b"".join(pieces),
    st.sampled_from(STARTS),
    st.lists(st.sampled_from([*PIECES, b"\0", b"a|b,1\n", b"b,2\n"]), max_size=40),
)
ODD_CELLS = [
    "", " ", " x", "x ", '"', '""', ",", "a,b", "\n", "\r", "\r\n", ";", "\t", "\ufeff", "é", "😀", "\u2028",
]  # fmt: skip
CELL = st.one_of(
    st.sampled_from(ODD_CELLS),
    st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=12),
)  # fmt: skip
Result = TypeVar("Result")
NAME = CELL.filter(lambda name: name.strip())


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    names = draw(st.lists(NAME, min_size=1, max_size=4, unique=True))
    n_rows = draw(st.integers(1, 5))
    data = {name: draw(st.lists(CELL, min_size=n_rows, max_size=n_rows)) for name in names}
    return pd.DataFrame(data, dtype="str")


def parsed_by_python(data: bytes, delimiter: str) -> tuple[list[str], list[list[str]], list[int]]:
    """Header, rows and first lines as Python's own csv module reads them; blank lines left out."""
    reader = csv.reader(io.StringIO(data.decode(), newline=""), delimiter=delimiter)
    rows, lines, before = [], [], 0
    for row in reader:
        if row:
            rows.append(row)
            lines.append(before + 1)
        before = reader.line_num
    return rows[0], rows[1:], lines[1:]


@given(st.one_of(st.binary(max_size=80), CSV_LIKE))
@example(b"\xff")
@example(b'"')
@example(b'a,b\n"1,2\n')
@example(b"x\n;")
def test_any_bytes_give_a_table_or_a_table_error(data: bytes) -> None:
    cells = read_or_refuse(read_cells, data)
    if cells is None:
        return
    assert len(cells)
    assert cells.columns.is_unique
    assert cells.index.name == LINE_INDEX
    table = read_or_refuse(LabelTable.read_csv, data)
    assert table is None or table.candidates.any(axis=1).all()


def read_or_refuse(read: Callable[[bytes], Result], data: bytes) -> Result | None:
    """Reading of CSV; None if it is refused as it should be."""
    problems: tuple[Problem, ...] = ()
    try:
        return read(data)
    except TableError as error:
        problems = error.problems
    assert problems
    assert all(problem.message and problem.fix for problem in problems)
    return None


@given(CSV_LIKE)
@example(b'a,b\n1,5" x\n\n"p\r\nq",""""\n3,4')
def test_reading_matches_pythons_csv_module(data: bytes) -> None:
    try:
        cells = read_cells(data)
    except TableError:
        return
    readings = [parsed_by_python(as_text(data).data, delimiter) for delimiter in ",;\t|"]
    ours = (list(cells.columns), cells.to_numpy().tolist(), cells.index.tolist())
    assert ours in readings


@given(frames())
@example(pd.DataFrame([["1", "2"]], columns=["a", "b;c;d"]))
@example(pd.DataFrame([["1|2"], ["3|"]], columns=["a|b"]))
@example(pd.DataFrame([["\t", "\t\n"], ["x", '"']], columns=[";a", 'b;";"']))
def test_cells_to_csv_to_cells_is_exact(frame: pd.DataFrame) -> None:
    again = read_cells(to_csv_bytes(frame))
    assert list(again.columns) == list(frame.columns)
    assert again.to_numpy().tolist() == frame.to_numpy().tolist()


@given(frames(), st.sampled_from([",", ";", "\t"]), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]), st.booleans())
@example(pd.DataFrame([["", ""]], columns=[" x", ","]), ";", "utf-8", False)
def test_files_of_other_writers_are_read_exactly(
    frame: pd.DataFrame, delimiter: str, encoding: str, crlf: bool
) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\r\n" if crlf else "\n")
    writer.writerows([list(frame.columns), *frame.to_numpy().tolist()])
    again = read_cells(text.getvalue().encode(encoding))
    assert list(again.columns) == list(frame.columns)
    assert again.to_numpy().tolist() == frame.to_numpy().tolist()


@given(CSV_LIKE)
def test_fast_quote_check_agrees_with_the_full_scan(data: bytes) -> None:
    faults = [record.fault for record in records(data, b",") if record.fault]
    if quotes_are_regular(data, b","):
        assert not faults


def test_regular_quotes_need_no_full_scan() -> None:
    assert quotes_are_regular(b'a,b\n"x ""y"", z",""\n"""","\n"', b",")
    assert not quotes_are_regular(b'a,5" x\n1,6" y', b",")


def test_byte_order_mark_inside_the_file_is_text() -> None:
    assert read_cells(b"\xef\xbb\xbfa,b\n\xef\xbb\xbf1,2\n").to_dict("list") == {"a": ["\ufeff1"], "b": ["2"]}


def test_quotes_are_written_only_if_needed() -> None:
    frame = pd.DataFrame({"id": ["a", 'b"'], "x": ["1", "2,5"], "y": ["", " "]})
    assert to_csv_bytes(frame) == b'id,x,y\na,1,\n"b""","2,5", \n'


def test_pipe_is_delimiter_if_header_has_no_other() -> None:
    cells = read_cells(b"id|text|label\n1|a, b|x\n2|c, d|y\n")
    assert cells.to_dict("list") == {"id": ["1", "2"], "text": ["a, b", "c, d"], "label": ["x", "y"]}


@pytest.mark.parametrize(
    "data", [b"candidates\nwren|robin\nrobin|finch\n", b"id,a|b\n1,wren|robin\n2,x|y\n", b"a|b\nwren|robin\nrobin\n"]
)
def test_pipe_inside_cells_separates_labels(data: bytes) -> None:
    assert not [name for name in read_cells(data).columns if name in ("a", "b")]


@pytest.mark.parametrize(("said", "delimiter"), [("sep=;", ";"), ("SEP=,", ","), ("sep=\t", "\t"), ("sep=|", "|")])
def test_sep_line_of_excel_sets_the_delimiter(said: str, delimiter: str) -> None:
    rows = [["id", "note"], ["1", "a"], ["2", "b"]]
    lines = [said, *(delimiter.join(row) for row in rows)]
    cells = read_cells("\r\n".join(lines).encode())
    assert list(cells.columns) == rows[0]
    assert cells.to_numpy().tolist() == rows[1:]
    assert cells.index.tolist() == [3, 4]
    with pytest.raises(TableError, match=r"Row 3 \(line 5\)"):
        read_cells("\r\n".join([*lines, "3"]).encode())


def test_declared_delimiter_overrides_detection() -> None:
    assert list(read_cells(b"sep=;\na,b;c\n1,2;3\n").columns) == ["a,b", "c"]


def test_column_named_like_a_sep_line_is_a_column() -> None:
    for name in ("sep=;", "sep=|", "sep="):
        frame = pd.DataFrame({name: ["x", "y"]}, dtype="str")
        assert read_cells(to_csv_bytes(frame)).to_dict("list") == frame.to_dict("list")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiter_is_found(delimiter: str) -> None:
    other = next(each for each in ",;\t" if each != delimiter)  # inside cells, but not in all rows
    rows = [["id", "x|cand", "note"], ["1", "a|b", f"one{other} two"], ["2", f"b{other}c{other}", "é"]]
    cells = read_cells("\n".join(delimiter.join(row) for row in rows).encode())
    assert list(cells.columns) == rows[0]
    assert cells.to_numpy().tolist() == rows[1:]


def test_decimal_commas_do_not_hide_semicolon() -> None:
    cells = read_cells(b"a;b\n1,5;2,5\n3,5;4,5\n")
    assert cells.to_numpy().tolist() == [["1,5", "2,5"], ["3,5", "4,5"]]


def test_line_numbers_match_the_file() -> None:
    cells = read_cells(b'\r\na,b\r\n\r\n"x\ny",1\r\n\r\n5" z,2\r\nlast,3')
    assert cells.index.tolist() == [4, 7, 8]


def test_long_cell_can_cross_reader_blocks() -> None:
    long = "x\n" * 6_000_000
    cells = read_cells(f'a,b\n1,"{long}"\n2,y\n'.encode())
    assert cells["b"].tolist() == [long, "y"]
    assert cells.index.tolist() == [2, 6_000_003]


BAD = {
    "empty": (b"", (None, None, None), "empty"),
    "only blank lines": (b"\n\r\n", (None, None, None), "empty"),
    "header only": (b"candidates,w\n", (None, None, None), "no data rows"),
    "no text": (b"candidates,w\na|b,1\n\x90\x01b|a,2\n", (2, 3, "candidates"), "byte 0x90"),
    "no text in the header": (b"candidates,\x90\x01\na|b,1\n", (None, 1, None), "byte 0x90"),
    "damaged UTF-8": ("c,w\né|è,1\nà|ü,2\na,é".encode()[:-1], (3, 4, "w"), "byte 0xC3"),
    "a web page": (b"<!DOCTYPE html>\n<html><body>Sign in, please\n", (None, None, None), "web page"),
    "a web page behind a comment": (b"<!-- 1, 2 -->\n<HTML lang=en>\n1, 2\n", (None, None, None), "web page"),
    "half a UTF-16 character": ("id,c\n1,a".encode("utf-16")[:-1], (1, 2, "c"), "UTF-16"),
    "NUL": (b"candidates,w\na|b,1\na,\x002\n", (2, 3, "w"), "NUL"),
    "row too short": (b"candidates,w,v\na|b,1,2\n\na\n", (2, 4, "w"), "has 1 cell, the header has 3 columns"),
    "row too long": (b"candidates,w\na|b,1\na,2,3\n", (2, 3, "w"), "has 3 cells, the header has 2 columns"),
    "open quote": (b'candidates,w\na|b,1\n"a,2\nb,3\n', (2, 3, "candidates"), "never closed"),
    "text after quote": (b'candidates,w\na|b,"1"5\n', (1, 2, "w"), "after the double quote"),
    "open quote in the header": (b'candidates,"w\na|b,1\n', (None, 1, "w\na|b,1\n"), "never closed"),
    "no name": (b"candidates,,w\na,1,2\n", (None, 1, None), "column 2 of the header has no name"),
    "name twice": (b"\ncandidates,w,w\na,1,2\n", (None, 2, "w"), "columns 2 and 3"),
    "workbook": (b"PK\x03\x04\x14\x00", (None, None, None), "workbook"),
    "gzip": (b"\x1f\x8b\x08\x00", (None, None, None), "gzip"),
}


def test_first_column_without_a_name_holds_row_names() -> None:
    frame = read_cells(b",text,labels\n0,far away,a|b\n1,near by,a\n")
    assert list(frame.columns) == ["index", "text", "labels"]
    assert frame["index"].tolist() == ["0", "1"]
    with pytest.raises(TableError, match="column 1 of the header has no name"):
        read_cells(b",index,labels\n0,1,a|b\n1,2,a\n")


@pytest.mark.parametrize("name", BAD)
def test_invalid_file_is_refused_with_place_and_fix(name: str) -> None:
    data, (row, line, column), words = BAD[name]
    with pytest.raises(TableError) as caught:
        read_cells(data)
    problem = caught.value.problems[0]
    assert (problem.row, problem.line) == (row, line)
    assert problem.column == column or (name == "open quote in the header" and problem.column)
    assert words in problem.message
    assert problem.fix.endswith(".")
    assert str(problem) in str(caught.value)


def test_ragged_rows_are_named_up_to_a_limit() -> None:
    with pytest.raises(TableError) as caught:
        read_cells(b"a,b\n1,2\n1\n1,2,3\n" + b"1\n" * 100)
    problems = caught.value.problems
    assert [problem.row for problem in problems[:3]] == [2, 3, 4]
    assert len(problems) == MAX_PROBLEMS
    assert "first 50 problems" in str(caught.value)


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)


@given(st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[CELLS] * width), min_size=1, max_size=4)))
def test_written_csv_is_read_equally_by_the_csv_module(rows: list[tuple[str, ...]]) -> None:
    columns = [pa.array(column, pa.large_string()) for column in zip(*rows, strict=True)]
    found = list(csv.reader(io.StringIO(csv_rows(columns).decode(), newline="")))
    assert found == [list(row) for row in rows]


def test_quotes_in_pieces_are_written_only_if_needed() -> None:
    assert csv_header(["a", "b c", "d;e", 'say "so"']) == b'a,b c,"d;e","say ""so"""\n'
    assert csv_header(["a|b", "c"]) == b"a|b,c\n", "next to commas a bar is taken for no delimiter"
    assert csv_header(["a|b"]) == b'"a|b"\n', "alone it would be"
    assert csv_rows([pa.array(["", "x"], pa.large_string())]) == b'""\nx\n', "a blank line is not a row"


def test_writing_in_pieces_gives_the_same_bytes() -> None:
    frame = pd.DataFrame({"n": [str(row) for row in range(25_000)], "even": ["a,b"] * 25_000}, dtype="str")
    columns = [pa.array(frame[name], pa.large_string()) for name in frame]
    starts = range(0, len(frame), 7_000)
    pieces = [csv_rows([column.slice(start, 7_000) for column in columns]) for start in starts]
    assert to_csv_bytes(frame) == csv_header(["n", "even"]) + b"".join(pieces)


@pytest.mark.parametrize("number", [12_345_678_901, 4_006_381_333_931, 20_240_101_123_456, -(10**10), 10**16 - 2])
def test_long_ids_stored_as_floats_keep_their_digits(number: int) -> None:
    """Workbooks store all numbers as floats, and so does pandas if a cell of the column is empty."""
    text = [str(number), ""]
    assert numbers_as_text(np.array([number, np.nan])).to_pylist() == text
    assert list(column_text([float(number), None]).to_pylist()) == text  # type: ignore[union-attr]
    assert frame_as_text(pd.DataFrame({"id": [number, None]}))["id"].tolist() == text
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(pa.table({"id": pa.array([float(number), None]), "x": ["a", "b"]}), sink)
    assert read_table(sink.getvalue().to_pybytes()).cells["id"].tolist() == text


@given(st.lists(st.floats() | st.floats(1e9, 1e17) | st.integers(-(10**17), 10**17).map(float)))
def test_every_number_round_trips(numbers: list[float]) -> None:
    texts = numbers_as_text(np.array(numbers, dtype=np.float64)).to_pylist()
    again = [float(text) if text else np.nan for text in texts]
    np.testing.assert_array_equal(again, numbers)


def test_too_many_columns_are_refused_from_the_header() -> None:
    with pytest.raises(TableError, match=r"100,000 columns; at most 20,000 are allowed"):
        read_cells(b"," * 99_999 + b"\n")


ODD_CELL = st.text(st.sampled_from('ab,;"\n\r é1'), max_size=4)


def quoted(cell: str, always: bool) -> str:
    return '"' + cell.replace('"', '""') + '"' if always or set(cell) & set('",\n\r') else cell


@given(
    st.integers(2, 4).flatmap(lambda n: st.lists(st.lists(ODD_CELL, min_size=n, max_size=n), min_size=1, max_size=4)),
    st.booleans(),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)
def test_wide_tables_match_those_read_by_arrow(rows: list[list[str]], always: bool, end: str, ended: bool) -> None:
    lines = [",".join(quoted(cell, always) for cell in row) for row in rows]
    text = end.join(lines) + end * ended
    head = ",".join(f"c{k}" for k in range(len(rows[0]))) + end
    monkeypatch = pytest.MonkeyPatch()
    found = []
    for wide in (10**9, 1):
        monkeypatch.setattr("plcore.tables.text.csv.WIDE", wide)
        try:
            cells = read_cells((head + text).encode())
        except TableError as error:
            found.append(str(error))
        else:
            found.append((cells.to_numpy().tolist(), cells.index.tolist(), cells.dtypes.tolist()))
    monkeypatch.undo()
    assert found[0] == found[1]


def test_wide_table_is_read_and_errors_have_places() -> None:
    names = [f"c{k}" for k in range(WIDE)]
    head = ",".join(names).encode() + b"\n"
    row = ",".join(map(str, range(WIDE))).encode() + b"\n"
    cells = read_cells(head + row + row)
    assert cells.to_numpy().tolist() == [list(map(str, range(WIDE)))] * 2
    assert cells.index.tolist() == [2, 3]
    with pytest.raises(TableError, match=r"Row 2 \(line 3\), column 'c999': the row goes on"):
        read_cells(head + row + row.rstrip() + b",x\n")
