"""Rows written as NumPy arrays."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from plcore import TableError
from plcore.tables import read_table
from plcore.tables.writers.disambiguated import Disambiguated
from plcore.tables.writers.npz import ArrayRows, array_rows, text_type, write_arrays, write_npz
from tests.plcore.tables.writers.tables import decided, ends_when_listener_raises, small_table, written


def arrays_of(table: Disambiguated) -> dict[str, Any]:
    with np.load(io.BytesIO(written(write_npz, table)), allow_pickle=False) as file:
        return dict(file)


@given(decided())
def test_every_array_is_read_by_numpy(table: Disambiguated) -> None:
    found = arrays_of(table)
    assert found["winnow_id"].tolist() == table.ids.tolist()
    assert found["winnow_classes"].tolist() == list(table.classes)
    assert found["winnow_source"].tolist() == table.source.tolist()
    assert (found["winnow_candidates_before"] == table.candidates_before).all()
    assert (found["winnow_candidates"] == table.candidates_after).all()
    assert found["winnow_label"].tolist() == [table.label_name(row) or "" for row in range(len(table.ids))]
    assert (found["winnow_label_index"] == table.label).all()
    np.testing.assert_array_equal(found["winnow_confidence"], table.probability)
    assert ("winnow_weights" in found) == (table.weights is not None)
    if table.weights is not None:
        assert (found["winnow_weights"] == np.where(table.candidates_after, table.weights, 0)).all()


def test_file_with_older_names_is_read() -> None:
    """As earlier releases wrote it: without `winnow_`, and with the index as the label."""
    arrays = arrays_of(small_table())
    index = arrays.pop("winnow_label_index")
    old = {"ids": arrays.pop("winnow_id")} | {k.removeprefix("winnow_"): one for k, one in arrays.items()}
    file = io.BytesIO()
    np.savez(file, **(old | {"label": index}))
    found, now = (read_table(one, "a.npz") for one in (file.getvalue(), written(write_npz, small_table())))
    assert found.cells.equals(now.cells)
    assert found.cells["winnow_label"].tolist() == ["wren", "", "robin"]


def test_rows_are_written_in_pieces_with_progress() -> None:
    told: list[int] = []
    data = written(write_npz, small_table(4_500), told.append)
    assert told == sorted(told)
    assert told[-1] == 4_500
    assert len(told) == 1 + 9 * 3, "the classes at once, every array of rows in three pieces"
    assert data == written(write_npz, small_table(4_500)), "the same table is the same bytes"


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("ids", np.array([["a"]])),
        ("ids", np.array(["a", "b"])),
        ("classes", np.array(["a", "b"])),
        ("candidates", np.ones((3, 3))),
        ("candidates", np.ones((3, 4), dtype=bool)),
        ("weights", np.ones(3)),
        ("weights", np.ones((3, 3), dtype=int)),
        ("label_index", np.array([0, 1, 3])),
        ("label_index", np.array([0.0, 1.0, 2.0])),
    ],
)
def test_too_large_arrays_are_refused_with_a_message(name: str, array: Any) -> None:
    file = io.BytesIO()
    np.savez(file, **(arrays_of(small_table()) | {name: array}))
    with pytest.raises(TableError, match=r"The arrays do not fit: .*Give ids \(n,\)"):
        read_table(file.getvalue(), "wrong.npz")


def again(**arrays: ArrayRows) -> dict[str, Any]:
    file = io.BytesIO()
    write_arrays(file, arrays, 10, lambda _rows: None)
    with np.load(io.BytesIO(file.getvalue()), allow_pickle=False) as found:
        return dict(found)


@given(hnp.arrays(st.sampled_from(["f8", "i8", "i1", "?"]), hnp.array_shapes(max_dims=2, min_side=0, max_side=6)))
def test_any_array_round_trips(array: Any) -> None:
    found = again(a=array_rows(array))["a"]
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(found, array)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5), max_size=5))
def test_text_width_is_that_of_the_longest(texts: list[str]) -> None:
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


def test_rows_are_requested_in_slices() -> None:
    asked: list[slice] = []

    def rows(part: slice) -> Any:
        asked.append(part)
        return np.arange(5_000)[part]

    assert (again(n=ArrayRows(np.dtype("<i8"), (5_000,), rows))["n"] == np.arange(5_000)).all()
    assert [part.start for part in asked] == [0, 2_000, 4_000]


def test_exception_from_the_listener_stops_writing() -> None:
    ends_when_listener_raises(write_arrays, io.BytesIO(), {"a": array_rows(np.zeros(5_000))}, 5_000)
