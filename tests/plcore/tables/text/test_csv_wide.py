"""The reader of wide tables matches Arrow, or leaves the file to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables import TableError, read_cells
from plcore.tables.text import csv
from plcore.tables.text.csv import WIDE, wide_columns

CELL = st.text(st.sampled_from('ab,;"\n\r é1'), max_size=4)


def quoted(cell: str, always: bool) -> str:
    return '"' + cell.replace('"', '""') + '"' if always or set(cell) & set('",\n\r') else cell


@given(
    st.integers(2, 4).flatmap(lambda n: st.lists(st.lists(CELL, min_size=n, max_size=n), min_size=1, max_size=4)),
    st.booleans(),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)
def test_cells_match_those_read_by_arrow(rows: list[list[str]], always: bool, end: str, ended: bool) -> None:
    lines = [",".join(quoted(cell, always) for cell in row) for row in rows]
    text = end.join(lines) + end * ended
    head = ",".join(f"c{k}" for k in range(len(rows[0]))) + end
    monkeypatch = pytest.MonkeyPatch()
    found = []
    for wide in (10**9, 1):
        monkeypatch.setattr(csv, "WIDE", wide)
        try:
            cells = read_cells((head + text).encode())
        except TableError as error:
            found.append(str(error))
        else:
            found.append((cells.to_numpy().tolist(), cells.index.tolist(), cells.dtypes.tolist()))
    monkeypatch.undo()
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "body",
    [b"", b"\n", b"1,2\n3\n", b"1,2,3\n", b"1\n2,3\n4\n", b"1,2\n\n3,4\n", b'"a,b"\n', b'1,"a""b"\n', b"1,2\r3,4"],
)  # fmt: skip
def test_irregular_files_are_left_to_the_other_readers(body: bytes) -> None:
    assert wide_columns(body, b",", 2) is None


def test_plain_rows_are_split_at_delimiters() -> None:
    for body in (b"1;\xc3\xa4\n3;4\n", b"1;\xc3\xa4\r\n3;4", b'"1";"\xc3\xa4"\n"3";"4"\n'):
        columns = wide_columns(body, b";", 2)
        assert columns is not None
        assert [one.to_pylist() for one in columns] == [["1", "3"], ["ä", "4"]]


def test_too_many_columns_are_refused_from_the_header() -> None:
    with pytest.raises(TableError, match=r"100,000 columns; at most 20,000 are taken"):
        read_cells(b"," * 99_999 + b"\n")


def test_wide_table_is_read_and_errors_have_places() -> None:
    names = [f"c{k}" for k in range(WIDE)]
    head = ",".join(names).encode() + b"\n"
    row = ",".join(map(str, range(WIDE))).encode() + b"\n"
    cells = read_cells(head + row + row)
    assert cells.to_numpy().tolist() == [list(map(str, range(WIDE)))] * 2
    assert cells.index.tolist() == [2, 3]
    with pytest.raises(TableError, match=r"Row 2 \(line 3\), column 'c255': the row goes on"):
        read_cells(head + row + row.rstrip() + b",x\n")
