"""Arrays written in pieces: the same as NumPy writes at once."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from plcore.tables.writers.npz import ArrayRows, array_rows, text_type, write_arrays


def again(**arrays: ArrayRows) -> dict[str, Any]:
    file = io.BytesIO()
    write_arrays(file, arrays, 10, lambda _rows: None)
    with np.load(io.BytesIO(file.getvalue()), allow_pickle=False) as found:
        return dict(found)


@given(
    hnp.arrays(st.sampled_from(["f8", "i8", "i1", "?"]), hnp.array_shapes(max_dims=2, min_side=0, max_side=6))
)
def test_any_array_is_read_as_it_was(array: Any) -> None:
    found = again(a=array_rows(array))["a"]
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(found, array)


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5), max_size=5
    )
)
def test_text_is_as_wide_as_the_longest(texts: list[str]) -> None:
    found = again(t=array_rows(np.array(texts, dtype=object)))["t"]
    assert found.tolist() == texts
    assert found.dtype == text_type(texts)
    assert found.dtype.itemsize == 4 * max([1, *map(len, texts)])


def test_views_of_any_order_are_written_row_by_row() -> None:
    wide = np.arange(24).reshape(4, 6)
    found = again(turned=array_rows(wide.T), every=array_rows(wide[:, ::2]), as_float=array_rows(wide, "<f8"))
    assert (found["turned"] == wide.T).all()
    assert (found["every"] == wide[:, ::2]).all()
    assert found["as_float"].dtype == np.float64


def test_more_rows_than_a_piece_are_asked_for_in_slices() -> None:
    asked: list[slice] = []

    def rows(part: slice) -> Any:
        asked.append(part)
        return np.arange(5_000)[part]

    assert (again(n=ArrayRows(np.dtype("<i8"), (5_000,), rows))["n"] == np.arange(5_000)).all()
    assert [part.start for part in asked] == [0, 2_000, 4_000]


def test_what_the_listener_raises_ends_the_writing() -> None:
    def stop(rows: int) -> None:
        raise InterruptedError(rows)

    with pytest.raises(InterruptedError):
        write_arrays(io.BytesIO(), {"a": array_rows(np.zeros(5_000))}, 5_000, stop)
