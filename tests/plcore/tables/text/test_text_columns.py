"""Columns of text become a frame equal to that of pandas, and are read back from it."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables.text.arrow import (
    GatheredText,
    columns_of_text,
    frame_of,
    has_empty,
    has_sign,
    in_one_piece,
    surely_differ,
)

TEXT = pa.large_string()


def test_columns_give_the_same_frame_as_pandas() -> None:
    columns = [pa.array(["a", ""], TEXT), pa.chunked_array([["ä"], ["x\n"]], TEXT)]
    frame = frame_of(columns, ["one", "two words"])
    wanted = pd.DataFrame({"one": ["a", ""], "two words": ["ä", "x\n"]}, dtype="str")
    pd.testing.assert_frame_equal(frame, wanted)
    assert frame.dtypes.tolist() == wanted.dtypes.tolist()
    back = list(columns_of_text(frame))
    assert [one.to_pylist() for one in back] == [["a", ""], ["ä", "x\n"]]
    assert all(isinstance(one, pa.LargeStringArray) for one in back)


def test_duplicate_names_and_empty_tables_are_accepted() -> None:
    frame = frame_of([pa.array([], TEXT)] * 2, ["a", "a"])
    assert frame.shape == (0, 2)
    assert list(frame.columns) == ["a", "a"]
    assert [len(one) for one in columns_of_text(frame)] == [0, 0]


def test_frames_of_other_origin_are_read() -> None:
    frame = pd.DataFrame({"a": pd.Series(["x", "y"], dtype=pd.StringDtype("python"))})
    assert [one.to_pylist() for one in columns_of_text(frame)] == [["x", "y"]]


@pytest.mark.parametrize("pieces", [1, 3])
def test_chunks_are_combined(pieces: int) -> None:
    column = pa.chunked_array([["a", "b"]] * pieces, TEXT)
    assert in_one_piece(column).to_pylist() == ["a", "b"] * pieces


@pytest.mark.parametrize("chunks", [["a", "b\0"], ["\0", "b"], ["", "\0"], ["a", "b"], ["a", ""]])
def test_character_is_found_in_any_chunk(chunks: list[str]) -> None:
    column = pa.chunked_array([["x", one] for one in chunks], TEXT)
    assert has_sign(column, b"\0") == any("\0" in one for one in chunks)
    assert has_sign(column.combine_chunks(), b"\0") == any("\0" in one for one in chunks)
    assert not has_sign(column.slice(0, 1), b"\0")  # cells outside the slice do not count


@given(st.lists(st.lists(st.text(max_size=2), max_size=4), max_size=3), st.integers(0, 3))
def test_empty_cell_is_found_in_any_chunk(pieces: list[list[str]], start: int) -> None:
    column = pa.chunked_array(pieces, TEXT).slice(start)
    assert has_empty(column) == ("" in column.to_pylist())


@given(st.lists(st.lists(st.text(max_size=3), max_size=6), max_size=4), st.integers(0, 2))
def test_surely_differ_means_no_empty_or_repeated_cells(pieces: list[list[str]], start: int) -> None:
    column = pa.chunked_array(pieces, TEXT).slice(start)
    cells = column.to_pylist()
    assert surely_differ(column.chunks, len(column)) == ("" not in cells and len(set(cells)) == len(cells))


def test_cells_are_hashed_completely_and_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plcore.tables.text.arrow._HASHED", 3)
    cells = [f"{'ä' * 40}{number:03}" for number in range(200)]
    halves = [pa.array(cells[:90], TEXT), pa.array(cells[90:], TEXT)]
    assert surely_differ(halves, 200)
    assert not surely_differ([*halves, pa.array([cells[7]], TEXT)], 201)


def test_long_cells_are_never_reported_as_distinct() -> None:
    assert not surely_differ([pa.array(["a" * 101, "b"], TEXT)], 2)
    assert surely_differ([pa.array(["a" * 100, "b"], TEXT)], 2)


@given(st.lists(st.lists(st.lists(st.text(max_size=5), max_size=4), max_size=4), max_size=3))
def test_gathered_pieces_form_one_column_and_the_next_starts_empty(columns: list[list[list[str]]]) -> None:
    gathered = GatheredText()
    for pieces in columns:
        for piece in pieces:
            gathered.add(pa.array(["before", *piece, "after"], TEXT).slice(1, len(piece)))
        column = gathered.take()
        column.validate(full=True)
        assert column.to_pylist() == [cell for piece in pieces for cell in piece]


def test_gathering_buffer_grows_as_needed() -> None:
    gathered, cells = GatheredText(), [f"cell {number}" for number in range(3000)]
    for start in range(0, 3000, 700):
        gathered.add(pa.array(cells[start : start + 700], TEXT))
    assert gathered.take().to_pylist() == cells
