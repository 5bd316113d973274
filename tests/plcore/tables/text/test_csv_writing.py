"""CSV as it is written: line by line the same text as the `csv` module makes, and quotes only where they are needed."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables.text.arrow import csv_header, csv_rows, to_csv_bytes

CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)


@given(st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[CELLS] * width), min_size=1, max_size=4)))
def test_the_csv_module_reads_the_same_cells(rows: list[tuple[str, ...]]) -> None:
    columns = [pa.array(column, pa.large_string()) for column in zip(*rows, strict=True)]
    found = list(csv.reader(io.StringIO(csv_rows(columns).decode(), newline="")))
    assert found == [list(row) for row in rows]


def test_quotes_stand_only_where_they_are_needed() -> None:
    assert csv_header(["a", "b c", "d;e", 'say "so"']) == b'a,b c,"d;e","say ""so"""\n'
    assert csv_header(["a|b", "c"]) == b"a|b,c\n", "beside commas a bar is taken for no delimiter"
    assert csv_header(["a|b"]) == b'"a|b"\n', "alone it would be"
    assert csv_rows([pa.array(["", "x"], pa.large_string())]) == b'""\nx\n', "a blank line is no row"


def test_pieces_and_the_whole_are_the_same_bytes() -> None:
    frame = pd.DataFrame({"n": [str(row) for row in range(25_000)], "even": ["a,b"] * 25_000}, dtype="str")
    columns = [pa.array(frame[name], pa.large_string()) for name in frame]
    starts = range(0, len(frame), 7_000)
    pieces = [csv_rows([column.slice(start, 7_000) for column in columns]) for start in starts]
    assert to_csv_bytes(frame) == csv_header(["n", "even"]) + b"".join(pieces)
