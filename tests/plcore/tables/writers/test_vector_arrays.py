"""Label vectors as arrays: NumPy opens them without pickle, and our own reader knows them again."""

from __future__ import annotations

import io
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from plcore import LabelTable, TableError
from plcore.tables import read_table
from plcore.tables.writers.disambiguated import PIECE_ROWS, LabelVectorTable
from plcore.tables.writers.npz import write_vector_npz
from tests.plcore.tables.writers.tables import noted, written
from tests.plcore.tables.writers.vectors import same_vectors, small_vectors, vector_tables


def arrays_of(table: LabelVectorTable) -> dict[str, Any]:
    with np.load(io.BytesIO(written(write_vector_npz, table)), allow_pickle=False) as file:
        return dict(file)


@given(vector_tables())
@settings(max_examples=40, deadline=None)
def test_numpy_gives_back_every_array(table: LabelVectorTable) -> None:
    found, given_out = arrays_of(table), table.found
    assert found["ids"].tolist() == list(given_out.ids)
    assert found["labels"].tolist() == list(given_out.labels)
    assert (found["values"] == given_out.cells).all()
    assert (found["predicted"] == given_out.predicted).all()
    assert (found["sources"] == given_out.sources).all()
    np.testing.assert_array_equal(found["probabilities"], given_out.probabilities)


@given(vector_tables())
@settings(max_examples=40, deadline=None)
def test_written_and_read_again_as_a_table(table: LabelVectorTable) -> None:
    reading = read_table(written(write_vector_npz, table), "any.npz")
    assert noted(reading, "table of the rows is needed")
    shown = next(name for name in ("shown", "shown 2") if name not in reading.cells)
    cells = reading.cells.assign(**{shown: "a text"})
    read = LabelTable.from_cells(cells, replace(reading.suggest_roles(), text=shown))
    same_vectors(table, read)
    assert read.classes == tuple(table.found.labels), "in their order"


def test_a_label_may_be_called_like_the_column_of_ids() -> None:
    table = small_vectors()
    called = replace(table, found=replace(table.found, labels=("id", "before_id")))
    reading = read_table(written(write_vector_npz, called), "ids.npz")
    assert list(reading.cells.columns) == ["before_before_id", "id", "before_id"]
    assert reading.suggest_roles().id == "before_before_id"


def test_one_long_id_does_not_make_all_of_them_long_in_memory() -> None:
    table = small_vectors(60_000)
    ids = ("n" * 4_000, *table.found.ids[1:])  # as an array of text: 60,000 times 16 kB
    long = replace(table, found=replace(table.found, ids=ids))

    def stop(_rows: int) -> None:
        raise InterruptedError

    tracemalloc.start()
    try:
        with pytest.raises(InterruptedError):
            write_vector_npz(long, io.BytesIO(), stop)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * PIECE_ROWS * 16_000 + 10_000_000


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("ids", np.array(["a"])),
        ("labels", np.array([["a", "b"]])),
        ("values", np.zeros((3, 2))),
        ("values", np.full((3, 2), 2)),
        ("values", np.zeros((3, 3), dtype=np.int8)),
    ],
)
def test_arrays_that_do_not_fit_are_refused_in_words(name: str, array: Any) -> None:
    file = io.BytesIO()
    np.savez(file, **(arrays_of(small_vectors()) | {name: array}))
    with pytest.raises(TableError, match=r"The arrays do not fit: .*1 yes, 0 no, -1 not asked"):
        read_table(file.getvalue(), "wrong.npz")
