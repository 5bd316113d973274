"""Old workbooks are looked at before they are read: their cells are counted, and damage is said in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables.problems import TableError
from plcore.tables.readers.excel import MAX_CELLS, cells_of_xls
from plcore.tables.readers.recognise import read_table
from tests.plcore.tables.readers.xls import table, xls
from tests.plcore.tables.writers.tables import read_or_refuse

BIRDS = [["candidates", "w"], ["wren|robin", 1.5], ["robin", 2.0]]


@pytest.mark.parametrize("more", [0, 400])
def test_an_old_workbook_is_read(more: int) -> None:
    rows = BIRDS + [[f"wren|owl{k}", 1.0] for k in range(more)]
    data = xls({"Birds": table(rows), "Others": []})
    assert cells_of_xls(data) == 2 * len(rows)
    reading = read_table(data)
    assert reading.format == "workbook, sheet 'Birds'"
    assert reading.cells["candidates"].tolist() == [row[0] for row in rows[1:]]
    assert reading.cells["w"].tolist()[:2] == ["1.5", "2"]


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 65535), st.integers(0, 255)), max_size=4), min_size=1, max_size=3
    )
)
def test_the_rectangles_of_all_sheets_are_counted(sheets: list[list[tuple[int, int]]]) -> None:
    data = xls({f"S{k}": [(row, column, 1.0) for row, column in cells] for k, cells in enumerate(sheets)})
    wanted = 0
    for cells in filter(None, sheets):
        rows, columns = zip(*cells, strict=True)
        wanted += (max(rows) - min(rows) + 1) * (max(columns) - min(columns) + 1)
    assert cells_of_xls(data) == wanted


def test_a_small_file_of_vast_sheets_is_refused() -> None:
    corners = [(0, 0, 1.0), (65535, 255, 1.0)]
    data = xls({f"S{k}": corners for k in range(20)})
    assert len(data) < 10_000
    with pytest.raises(
        TableError, match=f"335,544,320 cells, empty ones included; at most {MAX_CELLS:,} are taken"
    ):
        read_table(data)


def test_a_circle_of_parts_and_another_stream_are_told() -> None:
    data = bytearray(xls({"Birds": table(BIRDS * 200)}))
    with pytest.raises(TableError, match="no workbook"):
        read_table(bytes(data).replace("Workbook".encode("utf-16-le"), "Workshop".encode("utf-16-le")))
    data[512 + 8 : 512 + 12] = (2).to_bytes(4, "little")  # the first part of the stream is followed by itself
    with pytest.raises(TableError, match="in a circle"):
        read_table(bytes(data))
    with pytest.raises(TableError, match="cut off"):
        read_table(bytes(data)[:60])


@given(st.integers(0, 10**6), st.binary(min_size=1, max_size=8), st.booleans())
def test_damaged_workbooks_are_a_table_or_refused(place: int, junk: bytes, cut: bool) -> None:
    data = xls({"Birds": table(BIRDS)})
    place %= len(data)
    read_or_refuse(read_table, data[:place] + junk + (b"" if cut else data[place + len(junk) :]))
