"""The probabilities of all classes, as Parquet and in NPZ files."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from plcore.tables import read_table
from plcore.tables.writers.npz import write_npz
from plcore.tables.writers.parquet import PREFIX, write_probabilities
from tests.plcore.tables.writers.tables import small_table, written

SHARES = np.array([[1.0, 0, 0], [0.2, 0.5, 0.3], [0, 0.75, 0.25]])


def test_a_column_a_class_in_their_order() -> None:
    table = replace(small_table(), probabilities=SHARES)
    found = pq.read_table(io.BytesIO(written(write_probabilities, table)))
    assert found.column_names[:3] == ["winnow_id", "winnow_label", "winnow_source"]
    assert found.column_names[3:] == [f"{PREFIX}{name}" for name in table.classes]
    np.testing.assert_array_equal(np.column_stack(found.columns[3:]), SHARES)
    some = replace(table).chosen(np.array([2, 0]))
    again = pq.read_table(io.BytesIO(written(write_probabilities, some)))
    np.testing.assert_array_equal(np.column_stack(again.columns[3:]), SHARES[[2, 0]])


def test_npz_has_them_and_is_read_as_before() -> None:
    data = written(write_npz, replace(small_table(), probabilities=SHARES))
    np.testing.assert_array_equal(np.load(io.BytesIO(data))["probabilities"], SHARES)
    assert read_table(data, "labels.npz").cells["winnow_label"].tolist() == ["wren", "", "robin"]


def test_a_table_without_them_is_refused() -> None:
    with pytest.raises(ValueError, match="no probabilities"):
        written(write_probabilities, replace(small_table(), probabilities=None))
